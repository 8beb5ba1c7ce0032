import json
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import IndexQuery
from mycel.domain.change import Audience
from mycel.domain.embedding import IndexRow
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Visibility
from mycel.domain.query import Filters
from mycel.domain.team import Role
from mycel.index import postings
from mycel.index.team_index import Cursor, TeamIndex
from mycel.index.vectors import quantised
from mycel.retrieval.terms import packed_texts

READER = ReadScope(TeamName("team"), MemberId("ann"), Role.MEMBER)
DIRECTIONS = np.eye(4, 16, dtype=np.float32)
STORED = quantised(DIRECTIONS)
HERON = packed_texts("", "", "heron", "")


def row(number: int, *, visibility: str = "team", status: str = "active", session: str | None = None) -> IndexRow:
    return IndexRow(
        number, visibility, "bob", None, status, None, None, "fact", "global", None, None, "/", number,
        None, None, session, None, None, 0,
    )  # fmt: skip


def apply(
    index: TeamIndex,
    *rows: IndexRow,
    gone: tuple[int, ...] = (),
    embedded: tuple[tuple[int, list[bytes]], ...] = (),
    terms: tuple[tuple[int, bytes], ...] = (),
    sequence: int = 1,
) -> None:
    cursor = Cursor(sequence, 2 * sequence, f"a{sequence}")
    index.apply(rows, terms=terms, gone=gone, embedded=embedded, cursor=cursor)


def search(index: TeamIndex, direction: int, **filters: object) -> list[int]:
    allowed = index.mask(READER, Filters(**filters))  # type: ignore[arg-type]
    return index.nearest(DIRECTIONS[direction], allowed, limit=10)[0].tolist()


def test_knows_what_was_applied() -> None:
    index = TeamIndex("model", 16)
    assert (index.count, index.sequence, index.embedding_id, index.anchor) == (0, 0, 0, "")
    apply(index, row(1), row(2), embedded=((1, [STORED[0]]), (2, [STORED[1], STORED[2]])), sequence=7)
    assert (index.count, index.passages) == (2, 3)
    assert (index.model, index.dimensions, index.sequence, index.embedding_id, index.anchor) == (
        "model",
        16,
        7,
        14,
        "a7",
    )
    assert search(index, 2) == [2, 1]
    assert index.similarities(DIRECTIONS[0], [2, 1]).tolist() == pytest.approx([0, 1])


def test_finds_only_what_the_reader_may_see_and_asked_for() -> None:
    index = TeamIndex("model", 16)
    rows = (row(1), row(2, visibility="private"), row(3, status="archived"))
    apply(index, *rows, embedded=tuple((number, [STORED[0]]) for number in (1, 2, 3, 4)))
    assert search(index, 0) == [1]
    assert search(index, 0, statuses=()) == [3, 1]
    apply(index, row(2), row(1, visibility="private"))
    assert search(index, 0) == [2]


def test_links_put_memories_into_reach_but_past_nothing_else() -> None:
    index = TeamIndex("model", 16)
    apply(index, *(row(n, visibility="private" if n == 2 else "team")._replace(scope="project") for n in (1, 2, 3)))
    mask = index.mask(READER, Filters(reach_project="p"), linked=[1, 2, 99_999])
    assert mask.nonzero()[0].tolist() == [1]


def test_what_is_gone_is_found_no_more_even_if_it_is_told_again() -> None:
    index = TeamIndex("model", 16)
    apply(index, row(1), row(2), embedded=((1, [STORED[0]]), (2, [STORED[1]])))
    apply(index, row(1), gone=(1,), embedded=((1, [STORED[0]]),))
    assert search(index, 0) == [2]
    assert index.count == 1
    assert np.isnan(index.similarities(DIRECTIONS[0], [1])[0])
    assert STORED[0] not in index.image().arrays["vectors"].tobytes()


def test_an_image_taken_stays_as_it_was() -> None:
    index = TeamIndex("model", 16)
    apply(index, row(1), row(2), embedded=((1, [STORED[0]]), (2, [STORED[1]])))
    image = index.image()
    apply(index, row(1, status="archived"), gone=(2,), embedded=((1, [STORED[3]]),), sequence=2)
    before = image.restored()
    assert search(before, 1) == [2, 1]
    assert before.sequence == 1


def test_searches_beside_a_writer_never_find_a_mixture() -> None:
    """Each memory is either private and active, or open and archived: open and active it never is."""
    index = TeamIndex("model", 16)
    states = ({"visibility": "private"}, {"status": "archived"})
    apply(index, *(row(n, **states[n % 2]) for n in range(200)), embedded=tuple((n, [STORED[0]]) for n in range(200)))
    deadline = time.monotonic() + 1.0
    problems: list[list[int]] = []

    def read() -> None:
        while time.monotonic() < deadline and not problems:
            seen = search(index, 0)
            if seen:
                problems.append(seen)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    turn = 0
    while time.monotonic() < deadline:
        turn += 1
        apply(index, *(row(n, **states[(n + turn) % 2]) for n in range(0, 200, 7)), sequence=turn)
    for reader in readers:
        reader.join()
    assert problems == []
    assert turn > 10


def test_a_search_near_its_project_beside_a_writer_finds_what_came_meanwhile_or_not() -> None:
    """The columns grow with each of these writes, so that what is asked first knows fewer memories."""
    index = TeamIndex("model", 16)
    query = IndexQuery(Filters(reach_project="alpha"), 10, vector=DIRECTIONS[0], model="model")
    is_over, problems = threading.Event(), list[Exception]()

    def read() -> None:
        while not is_over.is_set():
            try:
                index.candidates(READER, query)
            except Exception as error:  # noqa: BLE001 - told to the test
                problems.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    number = 1_000
    for sequence in range(1, 41):
        number = int(number * 1.14)
        apply(index, row(number), embedded=((number, [STORED[0]]),), terms=((number, HERON),), sequence=sequence)
        time.sleep(0.005)
    is_over.set()
    for reader in readers:
        reader.join()
    assert problems == []


@pytest.mark.parametrize("is_one_of_several", [False, True])
def test_how_common_words_are_in_what_is_hidden_does_not_decide_which_of_them_find(
    monkeypatch: pytest.MonkeyPatch, is_one_of_several: bool
) -> None:
    monkeypatch.setattr(postings, "FINDING_POSTINGS", 12)
    index = TeamIndex()
    texts = ["common " * 3] + ["rare " + "filler " * 40] * 4 + ["common " + "filler " * 40] * 6 + ["filler"] * 20
    terms = tuple((number, packed_texts("", "", text, "")) for number, text in enumerate(texts, start=1))
    apply(index, *(row(number) for number, _ in terms), terms=terms)
    query = IndexQuery(Filters(), 3, ("rare", "common"))
    if is_one_of_several:
        query = replace(query, statistics=index.word_statistics(READER, query.terms))
    seen = index.candidates(READER, query).numbers.tolist()
    assert 1 in seen
    hidden = range(100, 130)
    apply(
        index,
        *(row(number, visibility="private") for number in hidden),
        terms=tuple((number, packed_texts("", "", "common", "")) for number in hidden),
        sequence=2,
    )
    assert index.candidates(READER, query).numbers.tolist() == seen


def found_by(index: TeamIndex, direction: int, *, alive_at: datetime) -> list[int]:
    query = IndexQuery(Filters(alive_at=alive_at), 10, vector=DIRECTIONS[direction], model="model")
    return index.candidates(READER, query).numbers.tolist()


def test_what_filters_let_through_is_remembered_until_the_next_memory_expires() -> None:
    index = TeamIndex("model", 16)
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    minute = timedelta(minutes=1)
    expires_at = int((noon + minute).timestamp() * 1_000_000)
    apply(
        index,
        row(1),
        row(2)._replace(expires_at=expires_at),
        embedded=((1, [STORED[0]]), (2, [STORED[0]])),
    )
    assert found_by(index, 0, alive_at=noon) == [1, 2]
    assert found_by(index, 0, alive_at=noon + minute - timedelta(microseconds=1)) == [1, 2]
    assert found_by(index, 0, alive_at=noon + minute) == [1]
    assert found_by(index, 0, alive_at=noon) == [1, 2]


def test_what_filters_let_through_is_forgotten_when_something_is_written() -> None:
    index = TeamIndex("model", 16)
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    apply(index, row(1), row(2), embedded=((1, [STORED[0]]), (2, [STORED[0]])))
    assert found_by(index, 0, alive_at=noon) == [1, 2]
    apply(index, row(2, visibility="private"), row(3), embedded=((3, [STORED[0]]),), sequence=2)
    assert found_by(index, 0, alive_at=noon) == [1, 3]


@pytest.mark.parametrize("every_role", [False, True])
def test_readers_who_see_the_same_share_what_is_remembered_and_others_never_do(every_role: bool) -> None:
    index = TeamIndex("model", 16)
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    rows = [
        row(1),
        row(2, visibility="private"),
        row(3, visibility="private")._replace(agent_id="eve"),
        row(4, visibility="role")._replace(allowed_roles='["lead"]'),
        row(5, visibility="role")._replace(allowed_roles='["member"]', agent_id="eve"),
    ]
    readers = [
        ReadScope(TeamName("team"), MemberId(name) if name else None, role, every_role=every_role and role is not None)
        for name in ("ann", "bob", "cid", "eve", None)
        for role in (None, Role.MEMBER, Role.LEAD)
    ]
    query = IndexQuery(Filters(alive_at=noon), 10, vector=DIRECTIONS[0], model="model")
    for count in range(1, len(rows) + 1):
        kept = rows[:count]
        apply(index, *kept, embedded=tuple((one.number, [STORED[0]]) for one in kept), sequence=count)
        for reader in readers * 2:
            seen = [one.number for one in kept if sees(reader, one)]
            found = index.candidates(reader, query)
            assert found.numbers.tolist() == seen
            assert (found.pool.size, found.statistics.documents) == (len(seen), 0)


def sees(reader: ReadScope, row: IndexRow) -> bool:
    roles = tuple(map(Role, json.loads(row.allowed_roles or "[]")))
    return reader.sees(Audience(Visibility(row.visibility), MemberId(row.agent_id), roles))
