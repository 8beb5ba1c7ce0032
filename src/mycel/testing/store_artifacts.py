"""What every store promises about artifacts."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from mycel.contracts.store import Store, Transaction
from mycel.domain.artifact import Artifact, ArtifactDetail, ArtifactFilters, ArtifactType
from mycel.domain.ids import MemoryId
from mycel.domain.memory import MemoryType, Status, Visibility
from mycel.domain.query import Filters
from mycel.errors import InvalidInput
from mycel.retrieval.terms import packed_terms
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERYTHING,
    START,
    TEAMMATE,
    change,
    delete,
    purge,
    put,
    reader,
    restore,
    sample,
)

PATHS = ("src/app.py", "src/app", "src/app/deep.py", "src0", "src/ä.py", "docs/app.py")


def a_detail(path: str = "src/app.py", **fields: Any) -> ArtifactDetail:
    plain: dict[str, Any] = {"agent_id": AUTHOR, "type": ArtifactType.FILE, "path": path, "checksum": "0" * 64}
    return ArtifactDetail(**{**plain, **fields})


def an_artifact(
    content: str = "The pricing module.", *, detail: ArtifactDetail | None = None, **fields: Any
) -> Artifact:
    return Artifact(sample(content, type=MemoryType.ARTIFACT, **fields), detail or a_detail())


def put_artifact(store: Store, artifact: Artifact | None = None) -> Artifact:
    one = artifact or an_artifact()

    def work(transaction: Transaction) -> None:
        transaction.artifacts.insert(one.memory, packed_terms(one.memory), one.detail, by=one.memory.agent_id)

    store.transact(work)
    return one


def listed(store: Store, wanted: ArtifactFilters, **fields: Any) -> list[Artifact]:
    return list(store.artifacts.page(reader(), Filters(**fields), wanted, limit=1000, cursor=None))


class StoreArtifacts:
    """Needs the fixture `store`."""

    def test_an_artifact_is_a_memory_with_a_detail(self, store: Store) -> None:
        full = a_detail(size_bytes=12, description_end=3, text_start=5, agent_id=TEAMMATE, type=ArtifactType.TEST)
        for one in (put_artifact(store), put_artifact(store, an_artifact("abc\n\ntext", detail=full, task_id="T"))):
            assert store.artifacts.find(reader(), one.id) == one
            assert store.memories.find(reader(), one.id) == one.memory
            assert store.artifacts.details(reader(), [one.id]) == {one.id: one.detail}

    def test_a_memory_without_a_detail_is_none(self, store: Store) -> None:
        plain = put(store, type=MemoryType.ARTIFACT)
        assert store.artifacts.find(EVERYTHING, plain.id) is None
        assert store.artifacts.details(EVERYTHING, [plain.id]) == {}
        assert listed(store, ArtifactFilters()) == []
        assert store.transact(lambda transaction: transaction.memories.has_detail(plain.id)) is False

    def test_a_detail_is_seen_within_its_own_transaction(self, store: Store) -> None:
        one = an_artifact()

        def work(transaction: Transaction) -> tuple[object, ...]:
            transaction.artifacts.insert(one.memory, packed_terms(one.memory), one.detail, by=AUTHOR)
            return transaction.artifacts.find(reader(), one.id), transaction.memories.has_detail(one.id)

        assert store.transact(work) == (one, True)

    def test_what_fails_leaves_neither_memory_nor_detail(self, store: Store) -> None:
        one = an_artifact()

        def work(transaction: Transaction) -> None:
            transaction.artifacts.insert(one.memory, packed_terms(one.memory), one.detail, by=AUTHOR)
            raise KeyError("undone")

        with pytest.raises(KeyError):
            store.transact(work)
        again = put_artifact(store)
        assert listed(store, ArtifactFilters()) == [again]

    @pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.ROLE])
    def test_hidden_artifacts_are_absent(self, store: Store, visibility: Visibility) -> None:
        one = put_artifact(store, an_artifact(visibility=visibility))
        stranger = reader(TEAMMATE)
        assert store.artifacts.find(stranger, one.id) is None
        assert store.artifacts.details(stranger, [one.id]) == {}
        assert list(store.artifacts.page(stranger, ANY_STATUS, ArtifactFilters(), limit=9, cursor=None)) == []
        assert store.transact(lambda transaction: transaction.artifacts.find(stranger, one.id)) is None
        assert store.transact(lambda transaction: transaction.artifacts.find_same(stranger, one)) is None
        assert store.artifacts.find(reader(), one.id) == one

    def test_filters_agree_with_the_rule(self, store: Store) -> None:
        put_all = product(PATHS, (ArtifactType.FILE, ArtifactType.PATCH), (AUTHOR, TEAMMATE))
        made = [
            put_artifact(store, an_artifact(detail=a_detail(path, type=type, agent_id=agent)))
            for path, type, agent in put_all
        ]
        paths = (None, *PATHS, "src/", "src/app/", "doc/", "nowhere")
        for path, type, agent in product(paths, (None, *ArtifactType), (None, AUTHOR, TEAMMATE, "nobody")):
            wanted = ArtifactFilters(type, path, agent)
            expected = {one.id for one in made if wanted.matches(one.detail)}
            assert {one.id for one in listed(store, wanted)} == expected, wanted

    def test_filters_of_the_memory_hold_too(self, store: Store) -> None:
        mine = put_artifact(store, an_artifact(task_id="T-1", project_id="p"))
        put_artifact(store, an_artifact(task_id="T-2", status=Status.INBOX))
        assert listed(store, ArtifactFilters(), task_id="T-1") == [mine]
        assert listed(store, ArtifactFilters(), project_id="p") == [mine]
        assert listed(store, ArtifactFilters()) == [mine]
        assert len(listed(store, ArtifactFilters(), statuses=())) == 2

    def test_pages_go_from_new_to_old_and_miss_nothing(self, store: Store) -> None:
        made = [put_artifact(store, an_artifact(at=START)).id for _ in range(5)]
        found: list[MemoryId] = []
        cursor = None
        while True:
            page = store.artifacts.page(reader(), ANY_STATUS, ArtifactFilters(), limit=2, cursor=cursor)
            found += [one.id for one in page]
            if (cursor := page.next_cursor) is None:
                break
        assert found == made[::-1]

    @pytest.mark.parametrize("cursor", ["", "x", "1", "1.2.3", "-1.2", "1.-2", "9" * 40 + ".1"])
    def test_a_foreign_cursor_is_refused(self, store: Store, cursor: str) -> None:
        put_artifact(store)
        with pytest.raises(InvalidInput):
            store.artifacts.page(reader(), ANY_STATUS, ArtifactFilters(), limit=2, cursor=cursor)

    def test_the_same_is_found_and_another_is_not(self, store: Store) -> None:
        one = put_artifact(store, an_artifact(task_id="T", visibility=Visibility.PRIVATE))

        def same(like: Artifact) -> Artifact | None:
            return store.transact(lambda transaction: transaction.artifacts.find_same(reader(), like))

        assert same(one) == one
        memory, detail = one.memory, one.detail
        for other in (
            replace(memory, content="x"), replace(memory, task_id=None), replace(memory, agent_id=TEAMMATE),
            replace(memory, visibility=Visibility.TEAM), replace(memory, project_id="p"), replace(memory, repo_id="r"),
        ):  # fmt: skip
            assert same(Artifact(other, detail)) is None
        for changed in (
            replace(detail, checksum=None), replace(detail, checksum="1" * 64), replace(detail, path="src"),
            replace(detail, type=ArtifactType.TEST), replace(detail, agent_id=TEAMMATE),
        ):  # fmt: skip
            assert same(Artifact(memory, changed)) is None

    def test_what_has_ended_is_not_the_same(self, store: Store) -> None:
        one = put_artifact(store)
        endings: list[dict[str, Any]] = [{"deleted_at": START}, {"status": Status.ARCHIVED}, {"expires_at": START}]
        for ending in endings:
            change(store, one.id, **ending)
            assert store.transact(lambda transaction: transaction.artifacts.find_same(reader(), one)) is None
            change(store, one.id, deleted_at=None, status=Status.ACTIVE, expires_at=None)
        found = store.transact(lambda transaction: transaction.artifacts.find_same(reader(), one))
        assert found is not None
        assert found.id == one.id

    def test_deleted_ones_are_gone_until_restored(self, store: Store) -> None:
        one = put_artifact(store)
        delete(store, one.id)
        assert store.artifacts.find(reader(), one.id) is None
        assert listed(store, ArtifactFilters()) == []
        restore(store, one.id)
        found = store.artifacts.find(reader(), one.id)
        assert found is not None
        assert found.detail == one.detail

    def test_purge_takes_the_detail_along(self, store: Store) -> None:
        one, other = put_artifact(store), put_artifact(store)
        purge(store, one.id)
        assert store.artifacts.details(EVERYTHING, [one.id, other.id]) == {other.id: other.detail}

    def test_many_at_once_keep_their_own_details(self, store: Store) -> None:
        ready = [an_artifact(detail=a_detail(f"{number}.py")) for number in range(40)]
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(partial(put_artifact, store), ready))
        found = {one.id: one.path for one in listed(store, ArtifactFilters())}
        assert found == {one.id: one.path for one in made}
