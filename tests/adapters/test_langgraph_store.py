"""The store gives what LangGraph's own in memory gives, and its items are memories of the team."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from mycel import connect
from mycel.adapters.langgraph_store import MycelStore, matches
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput
from mycel.testing.embedder import WordEmbedder
from tests.adapters.racing import at_once
from tests.serving import served
from tests.squad import Squad, open_squad

numbers = count()
LABELS = ("users", "docs", "a", "b", "A", "ü", "x/y", " outer ", "50%", "*")
KEYS = ("k1", "k2", "prefs", "a", "b", "", "with/slash", "dot.ted", ".", "..", "%2F", "back\\slash", "tab\there")
usual = st.sampled_from((("a",), ("a", "b"), ("a", "b", "docs"), ("users", "a"), ("users", "docs")))
namespaces = st.one_of(usual, usual, st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(tuple))
prefixes = st.one_of(namespaces, st.just(()), st.sampled_from((("a",), ("users",))))
keys = st.one_of(st.sampled_from(("a", "b")), st.sampled_from(KEYS))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(("red", "blue", "", " ", "two\nlines", '"quoted"', "\u2028", "é\u0301", "{}", "[secret]")),
)
nested = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(("x", "y", "$z")), inner, max_size=3)
    ),
    max_leaves=6,
)
values = st.one_of(
    st.builds(lambda n, rest: {"n": n, **rest}, st.integers(-5, 5), st.dictionaries(st.sampled_from("cde"), nested)),
    st.builds(lambda text: {"n": text}, st.integers(0, 5).map(str)),
)
bounds = st.dictionaries(st.sampled_from(("$gt", "$gte", "$lt", "$lte", "$eq", "$ne")), st.integers(-5, 5), min_size=1)
filters = st.one_of(
    st.none(),
    st.builds(lambda bound: {"n": bound}, bounds),
    st.dictionaries(st.sampled_from("cdef"), st.one_of(scalars, nested), max_size=2).filter(
        lambda found: "$" not in repr(found)
    ),
)
limits = st.sampled_from((0, 1, 2, 10))
offsets = st.sampled_from((0, 0, 0, 1, 3))
patterns = st.lists(st.sampled_from(("users", "docs", "a", "*")), min_size=1, max_size=3).map(tuple)
conditions = st.builds(MatchCondition, st.sampled_from(("prefix", "suffix")), patterns)
puts = st.builds(lambda names, key, value: PutOp(names, key, value), namespaces, keys, values)
ops = st.one_of(
    puts,
    puts,
    st.builds(lambda names, key: PutOp(names, key, None), namespaces, keys),
    st.builds(lambda names, key: GetOp(names, key), namespaces, keys),
    st.builds(lambda *parts: SearchOp(*parts), prefixes, filters, limits, offsets),
    st.builds(
        lambda *parts: ListNamespacesOp(*parts),
        st.one_of(st.none(), st.lists(conditions, max_size=2).map(tuple)),
        st.sampled_from((None, 1, 2, 3)),
        limits,
        offsets,
    ),
)
batches = st.lists(st.lists(ops, min_size=1, max_size=4), min_size=3, max_size=12)


class Reference:
    """LangGraph's own, but that an item's place is by age and that a namespace without items is none."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.born: dict[tuple[tuple[str, ...], str], int] = {}

    def batch(self, asked: list[Op]) -> list[Any]:
        for names in [names for names, items in self.store._data.items() if not items]:
            del self.store._data[names]
        # Reading from a namespace makes it one.
        results = [self.read(op) for op in asked]
        self.store.batch([op for op in asked if isinstance(op, PutOp)])
        present = [(names, key) for names, items in self.store._data.items() for key in items]
        written = list(dict.fromkeys((op.namespace, op.key) for op in asked if isinstance(op, PutOp)))
        self.born = {place: self.born[place] for place in present if place in self.born}
        for place in written:
            if place in present:
                self.born.setdefault(place, next(numbers))
        return results

    def read(self, op: Op) -> Any:
        if isinstance(op, PutOp):
            return None
        if not isinstance(op, SearchOp):
            (found,) = self.store.batch([op])
            if isinstance(op, GetOp) and not self.store._data[op.namespace]:
                del self.store._data[op.namespace]
            return found
        (found,) = self.store.batch([op._replace(limit=10**6, offset=0)])
        found.sort(key=lambda item: self.born[item.namespace, item.key])
        return found[op.offset : op.offset + op.limit]


def plain(result: Any) -> Any:
    if isinstance(result, Item):
        return result.namespace, result.key, result.value
    return [plain(one) for one in result] if isinstance(result, list) else result


def new_store(workspace: Workspace, member: str = "swe-1", **options: Any) -> MycelStore:
    return MycelStore(workspace.as_member(member), folder=f"/store-{next(numbers)}", **options)


@pytest.fixture
def store(workspace: Workspace) -> MycelStore:
    return new_store(workspace)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(script=batches)
def test_any_operations_give_what_they_give_in_memory(script: list[list[Op]], workspace: Workspace) -> None:
    ours, theirs = new_store(workspace), Reference()
    for asked in script:
        assert plain(ours.batch(asked)) == plain(theirs.batch(asked)), asked
    everything: list[Op] = [SearchOp((), limit=1000), ListNamespacesOp(limit=1000)]
    assert plain(ours.batch(everything)) == plain(theirs.batch(everything))


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store: MycelStore) -> None:
    store.put(("a",), "k", {"n": 1})
    asked = [GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 2}), GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 3})]
    results = store.batch(asked)
    assert [plain(result) for result in results] == [(("a",), "k", {"n": 1}), None, (("a",), "k", {"n": 1}), None]
    assert store.get(("a",), "k").value == {"n": 3}


def test_an_item_and_a_namespace_of_the_same_name_are_apart(store: MycelStore) -> None:
    store.put(("a",), "b", {"text": "the pear item"})
    store.put(("a", "b"), "c", {"text": "the pear inside"})
    assert [item.key for item in store.search(("a", "b"))] == ["c"]
    assert [item.key for item in store.search(("a", "b"), query="pear")] == ["c"]
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b")]
    store.delete(("a",), "b")
    assert store.get(("a", "b"), "c").value == {"text": "the pear inside"}


def test_the_methods_of_a_store_work_sync_and_async(store: MycelStore) -> None:
    async def use() -> list[Any]:
        await store.aput(("a", "b"), "k", {"text": "hello"})
        found = [await store.aget(("a", "b"), "k"), *await store.asearch(("a",)), await store.alist_namespaces()]
        await store.adelete(("a", "b"), "k")
        return [*map(plain, found), await store.aget(("a", "b"), "k")]

    item = (("a", "b"), "k", {"text": "hello"})
    assert asyncio.run(use()) == [item, item, [("a", "b")], None]
    store.put(("a",), "k", {"n": 1})
    assert store.search(("a",), filter={"n": {"$gte": 1}})[0].value == {"n": 1}
    store.delete(("a",), "k")
    assert store.list_namespaces() == []


def test_an_item_keeps_when_it_was_made_and_tells_when_it_was_changed(store: MycelStore) -> None:
    store.put(("a",), "k", {"n": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"n": 2})
    second = store.get(("a",), "k")
    assert first.created_at == first.updated_at == second.created_at < second.updated_at


@pytest.mark.parametrize("names", [("with.dot",), ("",), (1,), ("nul\0",)])
def test_labels_that_langgraph_refuses_are_refused_in_batches_too(store: MycelStore, names: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(names, "k", {"n": 1})])
    with pytest.raises(InvalidNamespaceError):
        store.put(("langgraph",), "k", {"n": 1})


def test_filters_compare_what_can_be_compared(store: MycelStore) -> None:
    store.put(("a",), "number", {"n": 3})
    store.put(("a",), "text", {"n": "many"})
    store.put(("a",), "none", {"m": 1})
    assert [item.key for item in store.search(("a",), filter={"n": {"$gt": 2}})] == ["number"]
    with pytest.raises(ValueError, match="Unsupported operator: \\$near"):
        store.search(("nothing", "here"), filter={"n": {"$near": 2}})
    assert matches({"x": {"y": [1, {"z": 2}], "w": 0}}, {"x": {"y": [1, {"z": {"$lt": 3}}]}})


def test_an_item_is_a_memory_that_others_find(workspace: Workspace) -> None:
    store = MycelStore(workspace.as_member("swe-1"), project="atlas", tags=["preferences"])
    store.put(("users", "person-1"), "food", {"memory": "Likes pizza with olives."})
    store.put(("users", "person-1"), "theme", {"colour": "aubergine", "contrast": 3})
    teammate = workspace.as_member("swe-2")
    (food,) = teammate.search("olives").hits
    assert (food.memory.path, food.memory.content) == ("/store/users/person-1/food", "Likes pizza with olives.")
    assert food.memory.title == "Likes pizza with olives."
    assert set(food.memory.tags) == {"langgraph-item", "preferences"}
    (theme,) = teammate.search("aubergine").hits
    assert theme.memory.content == '{\n  "colour": "aubergine",\n  "contrast": 3\n}'
    assert (theme.memory.title, theme.memory.type.value) == ("theme: aubergine", "document")
    assert theme.memory.project_id == "atlas"


def test_what_a_person_edits_is_what_the_agent_gets(workspace: Workspace, store: MycelStore) -> None:
    store.put(("a",), "one", {"memory": "first"})
    store.put(("a",), "more", {"n": 1, "m": 2})
    lead = workspace.as_member("lead-1")
    one, more = (next(iter(lead.list(path=f"{store._shelf.folder}/a/{key}"))) for key in ("one", "more"))
    lead.update(one.id, content="second", metadata={**one.metadata, "seen": True})
    lead.update(more.id, content='{"n": 5}')
    assert store.get(("a",), "one").value == {"memory": "second"}
    assert store.get(("a",), "more").value == {"n": 5}
    lead.update(more.id, content="no object")
    assert store.get(("a",), "more").value == {"content": "no object"}
    store.put(("a",), "one", {"n": 3})
    assert lead.get(one.id).metadata == {"seen": True}
    assert store.get(("a",), "one").value == {"n": 3}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"text": "x" * 70_000}, "content: is 70,000 bytes long; at most 65,536 are kept"),
        ({"rows": ["x" * 1000] * 70, "n": 1}, "content: is [0-9,]+ bytes long"),
        ({"when": timedelta(1)}, "value: holds a timedelta, which JSON cannot carry"),
        ({"n": float("nan")}, "value: holds a number that is not finite"),
        ({1: "one"}, "value: has a name that is not text"),
        (["no", "object"], "value: must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_of_its_batch_is_written(
    store: MycelStore, value: Any, says: str
) -> None:
    too_long = "bytes long" in says
    with pytest.raises(InvalidInput, match=says):
        store.batch(
            [PutOp(("a",), "bad", value)]
            if too_long
            else [PutOp(("a",), "good", {"n": 1}), PutOp(("a",), "bad", value)]
        )
    assert store.search(()) == []


@pytest.mark.parametrize("value", [{"password": "hunter2hunter2X9"}, {"n": 1, "db": {"password": "hunter2hunter2X9"}}])
def test_what_looks_like_a_secret_is_masked_wherever_it_stands(
    workspace: Workspace, store: MycelStore, value: dict[str, Any]
) -> None:
    store.put(("a",), "login", value)
    masked = json.loads(json.dumps(value).replace("hunter2hunter2X9", "[secret:password]"))
    assert store.get(("a",), "login").value == masked
    (memory,) = workspace.as_member("swe-1").list(path=store._shelf.folder)
    assert "hunter2" not in repr(memory)


def test_a_long_text_comes_back_whole(store: MycelStore) -> None:
    value = {"text": "word " * 12_000}
    store.put(("a",), "long", value)
    assert store.get(("a",), "long").value == value


def test_the_items_of_somebody_else_can_be_read_but_not_changed(workspace: Workspace, store: MycelStore) -> None:
    store.put(("a",), "k", {"n": 1})
    other = MycelStore(workspace.as_member("swe-2"), folder=store._shelf.folder)
    assert other.get(("a",), "k").value == {"n": 1}
    for value in ({"n": 2}, None):
        with pytest.raises(AccessDenied):
            other.batch([PutOp(("a",), "k", value)])
    MycelStore(workspace.as_member("lead-1"), folder=store._shelf.folder).put(("a",), "k", {"n": 3})
    assert store.get(("a",), "k").value == {"n": 3}


class TestTimeToLive:
    @pytest.fixture
    def squad(self, tmp_path: Path) -> Any:
        squad = open_squad(tmp_path)
        with squad.workspace:
            yield squad

    def test_an_item_ends_when_nobody_reads_it(self, squad: Squad) -> None:
        store = MycelStore(squad.author)
        store.put(("a",), "short", {"n": 1}, ttl=10)
        store.put(("a",), "long", {"n": 2})
        squad.pass_time(minutes=11)
        assert store.get(("a",), "short") is None
        assert [item.key for item in store.search(())] == ["long"]
        store.put(("a",), "short", {"n": 3})
        assert store.get(("a",), "short").value == {"n": 3}

    @pytest.mark.parametrize("read", ["get", "search"])
    def test_reading_renews_it(self, squad: Squad, read: str) -> None:
        store = MycelStore(squad.author)
        store.put(("a",), "k", {"text": "pear"}, ttl=10)
        written = store.get(("a",), "k", refresh_ttl=False)
        for _ in range(3):
            squad.pass_time(minutes=6)
            found = store.get(("a",), "k") if read == "get" else store.search(("a",))[0]
            assert (found.value, found.created_at, found.updated_at) == (
                {"text": "pear"},
                written.created_at,
                written.updated_at,
            )
        squad.pass_time(minutes=11)
        assert store.get(("a",), "k") is None

    def test_reading_does_not_renew_it_where_that_is_not_wanted(self, squad: Squad) -> None:
        store = MycelStore(squad.author)
        quiet = MycelStore(squad.author, ttl={"refresh_on_read": False, "default_ttl": 10})
        store.put(("a",), "one", {"n": 1}, ttl=10)
        quiet.put(("a",), "two", {"n": 2})
        squad.pass_time(minutes=6)
        assert store.get(("a",), "one", refresh_ttl=False)
        assert quiet.get(("a",), "two")
        squad.pass_time(minutes=6)
        assert store.search(()) == []

    def test_writing_sets_it_anew(self, squad: Squad) -> None:
        store = MycelStore(squad.author)
        store.put(("a",), "k", {"n": 1}, ttl=10)
        store.put(("a",), "k", {"n": 2})
        squad.pass_time(days=30)
        assert store.get(("a",), "k").value == {"n": 2}

    def test_only_its_writer_renews_it(self, squad: Squad) -> None:
        store = MycelStore(squad.author)
        store.put(("a",), "k", {"n": 1}, ttl=10)
        squad.pass_time(minutes=6)
        assert MycelStore(squad.teammate).get(("a",), "k").value == {"n": 1}
        squad.pass_time(minutes=6)
        assert store.get(("a",), "k") is None

    def test_a_read_soon_after_another_makes_no_version(self, workspace: Workspace, store: MycelStore) -> None:
        store.put(("a",), "k", {"n": 1}, ttl=10)
        for _ in range(3):
            store.get(("a",), "k")
        (memory,) = workspace.as_member("swe-1").list(path=store._shelf.folder)
        assert memory.version == 1

    @pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
    def test_no_time_is_refused(self, store: MycelStore, ttl: float) -> None:
        with pytest.raises(InvalidInput, match="ttl"):
            store.put(("a",), "k", {"n": 1}, ttl=ttl)


class TestSearchByMeaning:
    @pytest.fixture
    def squad(self, tmp_path: Path) -> Any:
        squad = open_squad(tmp_path, embedder=WordEmbedder(dimensions=512, synonyms=[["food", "pizza"]]))
        with squad.workspace:
            yield squad

    @pytest.fixture
    def store(self, squad: Squad) -> MycelStore:
        store = MycelStore(squad.author)
        store.put(("users", "1"), "food", {"memory": "Likes pizza with olives"})
        store.put(("users", "1"), "theme", {"memory": "Wants a dark theme", "kind": "look"})
        store.put(("users", "2"), "build", {"memory": "Builds with Python", "kind": "look"})
        store.put(("users", "2"), "quiet", {"memory": "pizza pizza pizza"}, index=False)
        return store

    def test_the_best_comes_first_with_falling_scores(self, store: MycelStore) -> None:
        found = store.search(("users",), query="which food")
        assert found[0].key == "food"
        assert [item.key for item in found][-1] == "quiet"
        scores = [item.score for item in found[:-1]]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert scores[0] > 0
        assert found[-1].score is None

    def test_namespace_filter_limit_and_offset_hold(self, store: MycelStore) -> None:
        assert {item.key for item in store.search(("users", "1"), query="pizza")} == {"food", "theme"}
        assert {item.key for item in store.search((), query="pizza", filter={"kind": "look"})} == {"theme", "build"}
        whole = [item.key for item in store.search((), query="pizza")]
        assert [item.key for item in store.search((), query="pizza", limit=2, offset=1)] == whole[1:3]

    def test_what_is_less_relevant_can_be_left_out(self, squad: Squad, store: MycelStore) -> None:
        strict = MycelStore(squad.author, min_relevance=0.2)
        assert [item.key for item in strict.search(("users", "1"), query="pizza olives")] == ["food"]

    def test_only_items_of_the_own_team_are_found(self, squad: Squad) -> None:
        MycelStore(squad.author).put(("users",), "parent", {"memory": "pizza"})
        lead = MycelStore(squad.child_lead)
        lead.put(("users",), "child", {"memory": "pizza"})
        assert [item.key for item in lead.search((), query="pizza")] == ["child"]


def test_no_write_is_lost_when_several_write_at_once(workspace: Workspace, store: MycelStore) -> None:
    def write(writer: int) -> None:
        mine = MycelStore(workspace.as_member("swe-1"), folder=store._shelf.folder)
        for number in range(10):
            mine.put(("a",), "shared", {"writer": writer, "number": number})
            mine.put(("a",), f"own-{writer}", {"number": number})

    assert at_once(*[lambda writer=writer: write(writer) for writer in range(4)]) == [None] * 4
    items = {item.key: item.value for item in store.search((), limit=100)}
    assert sorted(items) == ["own-0", "own-1", "own-2", "own-3", "shared"]
    assert all(items[f"own-{writer}"] == {"number": 9} for writer in range(4))
    memory = workspace.as_member("swe-1")
    (shared,) = memory.list(path=f"{store._shelf.folder}/a/shared")
    written: list[Mapping[str, Any]] = [version.memory.content for version in memory.history(shared.id)]
    # Those who came second to make the item wrote over it; of all that was written nothing is gone.
    assert len(written) == 40
    assert items["shared"]["number"] == 9


def test_items_that_are_made_and_deleted_at_once_are_there_once_or_not_at_all(store: MycelStore) -> None:
    for number in range(5):
        key = f"k{number}"
        work = [partial(store.put, ("a",), key, {"n": 1}), partial(store.delete, ("a",), key)] * 2
        assert at_once(*work) == [None] * 4
        assert len(store.search(("a",), filter={"n": 1})) <= number + 1
        store.delete(("a",), key)
        assert store.get(("a",), key) is None


def test_the_engine_leaves_items_alone_that_say_the_same(workspace: Workspace, store: MycelStore) -> None:
    for key in ("one", "two"):
        store.put(("a",), key, {"memory": "The release is on Tuesday."})
    workspace.as_member("lead-1").consolidate()
    workspace.run_pending()
    assert [item.key for item in store.search(("a",))] == ["one", "two"]


def test_the_same_through_the_service(workspace: Workspace) -> None:
    with served(workspace) as address, connect(address, token=workspace.issue_token("swe-2")) as client:
        store, theirs = MycelStore(client.me(), folder="/remote"), Reference()
        for asked in (
            [PutOp(("a", "b"), "k", {"text": "pears"}), PutOp(("a",), "odd/key ", {"n": [1, {"x": None}]})],
            [PutOp(("a",), "odd/key ", {"n": 2}), PutOp(("c",), "gone", {"n": 1})],
            [PutOp(("c",), "gone", None), GetOp(("a",), "odd/key "), SearchOp(()), ListNamespacesOp()],
            [GetOp(("a",), "odd/key "), SearchOp(("a", "b")), SearchOp((), {"n": {"$eq": 2}}), ListNamespacesOp()],
        ):
            assert plain(store.batch(asked)) == plain(theirs.batch(asked))
        assert store.search((), query="pears")[0].key == "k"
        store.put(("a",), "short", {"n": 1}, ttl=0.001)
        time.sleep(0.1)
        assert store.get(("a",), "short") is None
