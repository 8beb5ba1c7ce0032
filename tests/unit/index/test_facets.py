import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.access.scope import ReadScope
from mycel.domain.change import Audience
from mycel.domain.embedding import IndexRow
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import MemoryType, Scope, Status, Visibility
from mycel.domain.query import Filters
from mycel.domain.team import Role
from mycel.index import coded_column, facets
from mycel.index.coded_column import CodedColumn
from mycel.index.facets import TEXT_COLUMNS, Facets
from mycel.stores.migrate import migrations
from mycel.stores.sql import clauses
from mycel.stores.sqlite.database import migrate

START = datetime(2025, 3, 1, tzinfo=UTC)
TEAM = TeamName("team")
MEMBERS = ("ann", "bob", "anna")
PATHS = ("/", "/a", "/a/b", "/ab", "/a0", "/a/b/c", "/日本", "/日本/語")
TAGS = ("ci", "c", ",", '"', "日本", "CI")


def micros(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def row(number: int, **changes: object) -> IndexRow:
    usual = IndexRow(
        number, "team", "ann", None, "active", None, None, "fact", "global", None, None, "/", micros(START),
        None, None, None, None, None, micros(START),
    )  # fmt: skip
    return usual._replace(**changes)  # type: ignore[arg-type]


def json_list(items: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str | None]:
    return items.map(lambda chosen: json.dumps(chosen, ensure_ascii=False, separators=(",", ":")) if chosen else None)


moments = st.integers(-3, 3).map(lambda quarters: START + timedelta(minutes=15 * quarters))
stored_moments = moments.map(micros)
maybe_names = st.sampled_from((None, None, "x", "y"))
members = st.sampled_from(MEMBERS).map(MemberId)
rows = st.builds(
    IndexRow,
    number=st.integers(0, 14),
    visibility=st.sampled_from([item.value for item in Visibility]),
    agent_id=st.sampled_from(MEMBERS),
    allowed_roles=json_list(st.lists(st.sampled_from([item.value for item in Role]), unique=True).map(sorted)),
    status=st.sampled_from([item.value for item in Status][:3]),
    deleted_at=st.none() | st.none() | stored_moments,
    expires_at=st.none() | stored_moments,
    type=st.sampled_from([item.value for item in MemoryType][:3]),
    scope=st.sampled_from([item.value for item in Scope]),
    project_id=maybe_names,
    repo_id=maybe_names,
    path=st.sampled_from(PATHS),
    created_at=stored_moments,
    category=maybe_names,
    key=maybe_names,
    session_id=maybe_names,
    task_id=maybe_names,
    tags=json_list(st.lists(st.sampled_from(TAGS), unique=True, max_size=3)),
    valid_from=stored_moments,
    holds_from=st.none() | stored_moments,
    holds_until=st.none() | stored_moments,
)
scopes = st.builds(
    ReadScope,
    team=st.just(TEAM),
    member_id=st.none() | members,
    role=st.none() | st.sampled_from(Role),
    every_role=st.booleans(),
    everything=st.booleans(),
)


def some(values: type) -> st.SearchStrategy[object]:
    return st.lists(st.sampled_from(list(values)), max_size=4).map(tuple)


CONDITIONS: dict[str, st.SearchStrategy[object]] = {
    "path": st.sampled_from(PATHS),
    "at_path": st.sampled_from(PATHS),
    "types": some(MemoryType),
    "statuses": some(Status),
    "scopes": some(Scope),
    "tags": st.lists(st.sampled_from((*TAGS, "none")), max_size=2).map(tuple),
    **dict.fromkeys(
        ("category", "key", "project_id", "repo_id", "session_id", "task_id", "reach_project", "reach_repo"),
        st.sampled_from("xz"),
    ),
    "agent_id": members,
    **dict.fromkeys(("since", "until", "alive_at", "expired_at", "believed_at", "valid_at"), moments),
    "deleted": st.booleans(),
    "knowledge": st.booleans(),
}


@st.composite
def few_conditions(draw: st.DrawFn) -> Filters:
    """With many conditions at once nothing would ever be found."""
    names = draw(st.lists(st.sampled_from(sorted(CONDITIONS)), max_size=3, unique=True))
    return Filters(**{"statuses": (), **{name: draw(CONDITIONS[name]) for name in names}})  # type: ignore[arg-type]


filters = few_conditions()


def _expired(expires_at: int | None, *, by: int) -> bool:
    return expires_at is not None and expires_at <= by


def _holds(memory: IndexRow, *, at: int) -> bool:
    begun = memory.holds_from is None or memory.holds_from <= at
    return begun and (memory.holds_until is None or at <= memory.holds_until)


def wanted(memory: IndexRow, scope: ReadScope, asked: Filters, *, linked: set[int]) -> bool:
    """What `ReadScope` and `Filters` say, one memory at a time."""
    roles = tuple(Role(name) for name in json.loads(memory.allowed_roles or "[]"))
    return (
        scope.sees(Audience(Visibility(memory.visibility), MemberId(memory.agent_id), roles))
        and asked.deleted == (memory.deleted_at is not None)
        and (not asked.statuses or memory.status in asked.statuses)
        and (not asked.types or memory.type in asked.types)
        and (not asked.scopes or memory.scope in asked.scopes)
        and all(
            getattr(asked, name) in (None, getattr(memory, name))
            for name in ("category", "key", "project_id", "repo_id", "agent_id", "session_id", "task_id")
        )
        and not (asked.knowledge and (memory.key is None or memory.type == "profile"))
        and (asked.at_path is None or memory.path == asked.at_path)
        and (memory.path == asked.path or memory.path.startswith(asked.path.rstrip("/") + "/"))
        and set(asked.tags) <= set(json.loads(memory.tags or "[]"))
        and (asked.since is None or memory.created_at >= micros(asked.since))
        and (asked.until is None or memory.created_at < micros(asked.until))
        and (asked.alive_at is None or memory.expires_at is None or memory.expires_at > micros(asked.alive_at))
        and (asked.expired_at is None or _expired(memory.expires_at, by=micros(asked.expired_at)))
        and (asked.believed_at is None or memory.valid_from <= micros(asked.believed_at))
        and (asked.valid_at is None or _holds(memory, at=micros(asked.valid_at)))
        and in_reach(memory, scope, asked, linked=linked)
    )


def in_reach(memory: IndexRow, scope: ReadScope, asked: Filters, *, linked: set[int]) -> bool:
    if asked.reach_project is None and asked.reach_repo is None:
        return True
    own = memory.scope in ("agent", "session") and memory.agent_id == scope.member_id
    at_project = asked.reach_project is not None and memory.project_id == asked.reach_project
    at_repo = asked.reach_repo is not None and memory.repo_id == asked.reach_repo
    return own or memory.scope == "global" or at_project or at_repo or memory.number in linked


@pytest.fixture(scope="module")
def database() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    migrate(connection, migrations("mycel.stores.sqlite", "team"))
    # The rows below are not all possible beside each other.
    connection.execute("DROP INDEX memories_by_key")
    yield connection
    connection.close()


def numbers_by_sql(
    database: apsw.Connection, memories: list[IndexRow], scope: ReadScope, asked: Filters, *, linked: set[int]
) -> set[int]:
    database.execute("BEGIN")
    try:
        for memory in memories:
            insert(database, memory)
        for number in linked:
            for place in (f"project:{asked.reach_project}", f"repo:{asked.reach_repo}"):
                database.execute("INSERT INTO memory_links VALUES (?, ?, 'in', 'ann', 0)", (f"id{number}", place))
        seen, seen_values = clauses.visible(scope)
        asked_for, values = clauses.matching(asked)
        statement = f"SELECT m.number FROM memories m WHERE {seen} AND {asked_for}"
        return {number for (number,) in database.execute(statement, seen_values | values)}
    finally:
        database.execute("ROLLBACK")


def insert(database: apsw.Connection, memory: IndexRow) -> None:
    values = memory._asdict() | {
        "id": f"id{memory.number}", "updated_at": 0, "version": 1, "confidence": 1.0, "trust": "normal", "title": "",
        "source_kind": "manual", "made_by": "manual", "content": "", "changed_by": "ann",
    }  # fmt: skip
    marks = ", ".join(f":{name}" for name in values)
    database.execute(f"INSERT INTO memories ({', '.join(values)}) VALUES ({marks})", values)
    for tag in json.loads(memory.tags or "[]"):
        database.execute("INSERT INTO memory_tags VALUES (?, ?)", (tag, memory.number))


def found(columns: Facets, scope: ReadScope, asked: Filters, *, linked: set[int] = frozenset()) -> set[int]:
    return set(columns.mask(scope, asked, linked=linked).nonzero()[0].tolist())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(rows, max_size=12, unique_by=lambda memory: memory.number),
    scopes,
    st.lists(filters, min_size=1, max_size=3),
    st.sets(st.integers(0, 20), max_size=3),
)
def test_the_mask_is_what_the_rules_and_the_store_say(
    database: apsw.Connection, memories: list[IndexRow], scope: ReadScope, asked: list[Filters], linked: set[int]
) -> None:
    columns = Facets()
    columns.extend(memories)
    for one in asked:
        mask = found(columns, scope, one, linked=linked)
        assert mask == {memory.number for memory in memories if wanted(memory, scope, one, linked=linked)}
        assert mask == numbers_by_sql(database, memories, scope, one, linked=linked)


writes = st.lists(st.one_of(rows, rows, rows, st.integers(0, 16)), max_size=30)


@settings(max_examples=120, deadline=None)
@given(writes, scopes, st.lists(filters, min_size=1, max_size=3))
def test_after_any_writes_everything_is_as_if_read_anew(
    written: list[IndexRow | int], scope: ReadScope, asked: list[Filters]
) -> None:
    columns = Facets()
    kept: dict[int, IndexRow] = {}
    for write in written:
        if isinstance(write, int):
            columns.remove(write)
            kept.pop(write, None)
        else:
            columns.put(write)
            kept[write.number] = write
        # Asked in between, so that remembered answers have to follow.
        for one in asked:
            columns.mask(scope, one)
    for one in asked:
        assert found(columns, scope, one) == {
            n for n, memory in kept.items() if wanted(memory, scope, one, linked=set())
        }
    for name in TEXT_COLUMNS:
        texts = {text for text in columns.texts()[name] if text is not None}
        assert texts == {getattr(memory, name) for memory in kept.values()} - {None}


def bulk_loaded(memories: list[IndexRow], *, before: list[IndexRow] | None = None) -> Facets:
    columns = Facets()
    for memory in before or ():
        columns.put(memory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facets, "BULK", 1)
        columns.extend(memories)
    return columns


@settings(max_examples=60, deadline=None)
@given(st.lists(rows, max_size=10), st.lists(rows, max_size=10), scopes, filters)
def test_loading_in_bulk_equals_putting_one_by_one(
    before: list[IndexRow], after: list[IndexRow], scope: ReadScope, asked: Filters
) -> None:
    bulk, single = bulk_loaded(after, before=before), Facets()
    for memory in (*before, *after):
        single.put(memory)
    assert found(bulk, scope, asked) == found(single, scope, asked)


ANYONE = ReadScope(TEAM, MemberId("zoe"), Role.MEMBER)


SOON = timedelta(microseconds=1)


@pytest.mark.parametrize("others", [(), (-5,), (5,), (-5, 5)], ids=["alone", "after", "before", "between"])
@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        (Filters(since=START), True),
        (Filters(since=START + SOON), False),
        (Filters(until=START), False),
        (Filters(until=START + SOON), True),
        (Filters(expired_at=START), True),
        (Filters(expired_at=START - SOON), False),
        (Filters(alive_at=START), False),
        (Filters(alive_at=START - SOON), True),
        (Filters(valid_at=START), True),
        (Filters(valid_at=START - SOON), False),
        (Filters(valid_at=START + SOON), False),
        (Filters(believed_at=START), True),
        (Filters(believed_at=START - SOON), False),
    ],
)
def test_moments_are_told_apart_to_the_microsecond(others: tuple[int, ...], asked: Filters, is_found: bool) -> None:
    columns = Facets()
    for number, days in enumerate((0, *others)):
        moment = micros(START + timedelta(days=days))
        names = ("created_at", "expires_at", "valid_from", "holds_from", "holds_until")
        columns.put(row(number, **dict.fromkeys(names, moment)))
    assert (0 in found(columns, ANYONE, asked)) == is_found


@pytest.mark.parametrize(("tag", "is_found"), [("a", True), ("b", True), (",", False), ("a,b", False), ("A", False)])
def test_tags_are_found_whole(tag: str, is_found: bool) -> None:
    columns = Facets()
    columns.put(row(1, tags='["a","b"]'))
    columns.put(row(2, tags=None))
    assert found(columns, ANYONE, Filters(tags=(tag,))) == ({1} if is_found else set())


def test_holes_are_in_no_mask() -> None:
    columns = Facets()
    columns.put(row(5_000))
    assert found(columns, ANYONE, Filters()) == {5_000}
    assert found(columns, replace(ANYONE, everything=True), Filters(statuses=())) == {5_000}
    columns.remove(10**9)


def test_nothing_is_left_of_what_was_removed() -> None:
    columns, never = Facets(), Facets()
    columns.put(row(5, tags='["a"]', path="/a", expires_at=9, holds_from=3, holds_until=7))
    columns.remove(5)
    for name, array in never.arrays().items():
        assert np.array_equal(columns.arrays()[name], array), name
    assert {text for texts in columns.texts().values() for text in texts} == {None}
    assert columns.next_expiry(START) == never.next_expiry(START)


def test_more_distinct_texts_than_small_codes_hold() -> None:
    column = CodedColumn(70_001)
    for first, end in ((0, 200), (200, 300), (300, 70_000)):
        column.extend(np.arange(first, end), [f"s{number}" for number in range(first, end)])
        assert np.flatnonzero(column.equal_to(f"s{end - 1}")).tolist() == [end - 1]
    chosen = column.where("even", lambda text: text.endswith(("0", "2", "4", "6", "8")))
    assert np.flatnonzero(chosen).tolist() == list(range(0, 70_000, 2))
    column.put(70_000, "new 0")
    assert column.where("even", lambda text: False)[70_000]


def test_only_so_many_predicates_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_column, "REMEMBERED_PREDICATES", 2)
    columns = Facets()
    for number in range(40):
        columns.put(row(number, path=f"/p{number % 10}"))
        assert found(columns, ANYONE, Filters(path=f"/p{number % 10}")) == set(range(number % 10, number + 1, 10))
