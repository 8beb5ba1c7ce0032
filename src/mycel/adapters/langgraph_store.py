"""The store of LangGraph, on a team's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple, cast

from mycel.adapters.json_content import REST, readable, texts_in, value_of
from mycel.adapters.shelf import MOST_TRIES, PAGE, STATUSES, Shelf, missing_package, names_below, path_of
from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.written_fields import ChangedFields, MemoryFields
from mycel.domain.draft import first_sentence
from mycel.domain.fields import MAX_PAGE, lifetime, one_line
from mycel.domain.hidden_text import program_text
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound

_EQUALITY: Mapping[str, Callable[[Any, Any], bool]] = {"$eq": eq, "$ne": ne}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def require_known(wanted: object) -> None:
    """An operator that nobody knows is an error, also where nothing is there to be compared."""
    if isinstance(wanted, Mapping):
        named = cast(Mapping[str, object], wanted)
        if not _has_operators(named):
            for inner in named.values():
                require_known(inner)
        elif unknown := [name for name in named if name not in {*_EQUALITY, *_ORDER}]:
            raise ValueError(f"Unsupported operator: {unknown[0]}")
    elif isinstance(wanted, list | tuple):
        for inner in cast(Sequence[object], wanted):
            require_known(inner)


def matches(value: object, wanted: object) -> bool:
    """Objects in part, lists in full; by `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte` where the filter has them."""
    if isinstance(wanted, Mapping):
        named = cast(Mapping[str, object], wanted)
        if _has_operators(named):
            return all(_compares(value, name, bound) for name, bound in named.items())
        if not isinstance(value, Mapping):
            return False
        found = cast(Mapping[str, object], value)
        return all(matches(found.get(name), inner) for name, inner in named.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple):
            return False
        ours, theirs = cast(Sequence[object], value), cast(Sequence[object], wanted)
        return len(ours) == len(theirs) and all(map(matches, ours, theirs))
    return value == wanted


def _has_operators(wanted: Mapping[str, object]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator in _EQUALITY:
        return _EQUALITY[operator](value, bound)
    try:
        return _ORDER[operator](float(value), float(bound))
    except (TypeError, ValueError):
        # Neither more nor less than a number.
        return False


# Names in the metadata: the time to live as it was given; when the value was written, once a read has renewed that
# time; and that the item is not to be ranked.
TTL, WRITTEN_AT, UNRANKED = "ttl_minutes", "written_at", "unranked"
_OURS = frozenset({REST, TTL, WRITTEN_AT, UNRANKED})
# Each renewal is a version: a read so soon after the last one makes none.
RENEWED_AFTER = 0.01
# What an object is called that somebody has made a plain text of.
PLAIN = "content"


class NewItem(NamedTuple):
    """A value that was checked and can be written."""

    content: str
    title: str
    metadata: dict[str, Any]
    ttl: timedelta | None

    def fields(self) -> MemoryFields:
        return {"title": self.title, "metadata": self.metadata, "ttl": self.ttl}

    def over(self, standing: Memory) -> ChangedFields:
        """What others have noted in the metadata stays."""
        others = {name: kept for name, kept in without_marks(standing.metadata).items() if name not in _OURS}
        return {**self.fields(), "content": self.content, "metadata": {**others, **self.metadata}}


def new_item(value: Mapping[str, Any], *, key: str, ttl_minutes: float | None, ranked: bool) -> NewItem:
    """Raises `InvalidInput` for what is no JSON object, and for a time to live that is none."""
    spots = [(name,) for name in value] if len(value) == 1 else []
    content, metadata, shown = readable(value, spots=spots, field="value")
    if ttl_minutes is not None:
        metadata[TTL] = ttl_minutes
    if not ranked:
        metadata[UNRANKED] = True
    said = next((text for text in texts_in(shown) if text.strip()), "")
    title = one_line(first_sentence(f"{key}: {one_line(said)}" if REST not in metadata else content))
    ttl = None if ttl_minutes is None else lifetime(ttl_minutes * 60)
    return NewItem(content, title or "item", metadata, ttl)


def value_in(memory: Memory) -> dict[str, Any]:
    found = value_of(memory)
    return {PLAIN: program_text(memory.content)} if found is None else found


def written_at(memory: Memory) -> datetime:
    kept = memory.metadata.get(WRITTEN_AT)
    try:
        return datetime.fromisoformat(kept) if isinstance(kept, str) else memory.updated_at
    except ValueError:
        return memory.updated_at


def renewal(memory: Memory) -> ChangedFields | None:
    """What gives an item that was read its whole time to live again; None where there is nothing to do."""
    minutes = memory.metadata.get(TTL)
    if memory.expires_at is None or not isinstance(minutes, int | float):
        return None
    ttl = timedelta(minutes=minutes)
    # Also when the clock here is far from that of the store.
    if abs(datetime.now(UTC) + ttl - memory.expires_at) < ttl * RENEWED_AFTER:
        return None
    metadata = {**without_marks(memory.metadata), WRITTEN_AT: written_at(memory).isoformat()}
    return {"ttl": ttl, "metadata": metadata, "expected_version": memory.version}


try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        validate_op_namespace,
    )
except ImportError as error:
    raise missing_package("langgraph-checkpoint", error) from error

FOLDER = "/store"
TAG = "langgraph-item"
ANY = "*"
# Beyond what is asked for, so that a few that do not count cost no second search.
MORE_HITS = 10

Names = tuple[str, ...]
Scored = tuple[Memory, float | None]


class MycelStore(BaseStore):
    """Each item is one memory at `folder/namespace/key`; of a value with one text, that text is its content.

    `search` with a query ranks by words and meaning and gives the relevance as the score; with `min_relevance` above 0
    it leaves out what is less relevant. Without a query the oldest come first. A batch reads before it writes.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: MemoryApi,
        *,
        folder: str = FOLDER,
        project: str | None = None,
        visibility: str = "team",
        tags: Sequence[str] = (),
        ttl: TTLConfig | None = None,
        min_relevance: float = 0.0,
    ) -> None:
        self._shelf = Shelf(memory, folder=folder, tag=TAG, project=project, visibility=visibility, tags=tags)
        self._min_relevance = min_relevance
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        # Of two writes to one item only the later counts, and all are checked before any is made.
        last = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        writes = [(self._place(*names, key), _checked(op)) for (names, key), op in last.items()]
        results = [self._read(op) for op in asked]
        for place, item in writes:
            self._write(place, item)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
            case _:
                raise ValueError(f"Unknown operation type: {type(op)}")

    def _get(self, op: GetOp) -> Item | None:
        found = self._shelf.find(self._place(*op.namespace, op.key))
        if found is None:
            return None
        if op.refresh_ttl:
            self._renew(found)
        return Item(**self._described(found))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        require_known(op.filter)
        found = self._ranked(op, op.query) if op.query and op.query.strip() else self._listed(op)
        found = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            for memory, _ in found:
                self._renew(memory)
        return [SearchItem(**self._described(memory), score=score) for memory, score in found]

    def _listed(self, op: SearchOp) -> list[Scored]:
        enough = max(op.offset + op.limit, 0)
        page = PAGE if op.filter else min(enough + MORE_HITS, PAGE)
        items = self._shelf.below(self._place(*op.namespace_prefix), page=page)
        return [(memory, None) for memory in islice((one for one in items if self._matches(one, op)), enough)]

    def _ranked(self, op: SearchOp, query: str) -> list[Scored]:
        """The score never rises on the way down. What is not to be ranked comes last and has none."""
        enough = op.offset + op.limit
        limit = min(max(enough, 0) + MORE_HITS, MAX_PAGE)
        found, complete = self._hits(op, query, limit=limit)
        if len(found) < enough and not complete:
            found, _ = self._hits(op, query, limit=MAX_PAGE)
        ranked = [(memory, score) for memory, score in found if UNRANKED not in memory.metadata]
        scores = accumulate((score for _, score in ranked), min)
        rest = [memory for memory, _ in found if UNRANKED in memory.metadata]
        best = [(memory, score) for (memory, _), score in zip(ranked, scores, strict=True)]
        return [*best, *((memory, None) for memory in rest)]

    def _hits(self, op: SearchOp, query: str, *, limit: int) -> tuple[list[tuple[Memory, float]], bool]:
        """And whether there are no more."""
        place, least = self._place(*op.namespace_prefix), self._min_relevance
        hits = self._shelf.memory.search(
            query, path=place, tags=[TAG], status=STATUSES, limit=limit, min_relevance=least
        ).hits
        found: dict[str, tuple[Memory, float]] = {}
        for hit in hits:
            if self._shelf.holds(hit.memory) and self._matches(hit.memory, op):
                found.setdefault(hit.memory.path, (hit.memory, hit.relevance))
        return list(found.values()), len(hits) < limit

    def _matches(self, memory: Memory, op: SearchOp) -> bool:
        prefix = tuple(op.namespace_prefix)
        namespace = self._names(memory)[:-1]
        return namespace[: len(prefix)] == prefix and matches(value_in(memory), op.filter or {})

    def _namespaces(self, op: ListNamespacesOp) -> list[Names]:
        conditions = op.match_conditions or ()
        below = max((_literal_prefix(condition) for condition in conditions), key=len, default=())
        known = {self._names(memory)[:-1] for memory in self._shelf.below(self._place(*below))}
        fitting = {names[: op.max_depth] for names in known if all(_fits(names, one) for one in conditions)}
        return sorted(fitting)[op.offset : op.offset + op.limit]

    def _write(self, place: str, item: NewItem | None) -> None:
        if item is None:
            self._shelf.clear(place)
            return
        for _ in range(MOST_TRIES):
            if self._shelf.change(place, item.over) is not None:
                return
            if self._shelf.add(place, item.content, item.fields()) is not None:
                return
        raise Conflict("others write and delete this item all the time: try again later")

    def _renew(self, memory: Memory) -> None:
        """Whoever writes at the same time renews it as well; the items of others live as their writers say."""
        fields = renewal(memory)
        if fields is not None:
            with suppress(Conflict, NotFound, AccessDenied):
                self._shelf.memory.update(memory.id, **fields)

    def _place(self, *names: str) -> str:
        return path_of(self._shelf.folder, names)

    def _names(self, memory: Memory) -> Names:
        return names_below(self._shelf.folder, memory.path)

    def _described(self, memory: Memory) -> dict[str, Any]:
        *namespace, key = self._names(memory)
        return {
            "namespace": tuple(namespace),
            "key": key,
            "value": value_in(memory),
            "created_at": memory.created_at,
            "updated_at": written_at(memory),
        }


def _checked(op: PutOp) -> NewItem | None:
    if op.value is None:
        return None
    if not isinstance(op.value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("must be an object of names and values", field="value")
    return new_item(op.value, key=op.key, ttl_minutes=op.ttl, ranked=op.index is not False)


def _literal_prefix(condition: MatchCondition) -> Names:
    if condition.match_type != "prefix" or ANY not in condition.path:
        return tuple(condition.path) if condition.match_type == "prefix" else ()
    return tuple(condition.path[: condition.path.index(ANY)])


def _fits(names: Names, condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    if len(names) < len(wanted):
        return False
    match condition.match_type:
        case "prefix":
            compared = names[: len(wanted)]
        case "suffix":
            compared = names[len(names) - len(wanted) :]
        case _:
            raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(pattern in (ANY, name) for name, pattern in zip(compared, wanted, strict=True))
