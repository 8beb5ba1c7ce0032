"""The store of LangGraph, on a team's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from typing import Any

from mycel.adapters.extras import missing_package
from mycel.adapters.path_parts import names_below, path_of
from mycel.adapters.shelf import MOST_TRIES, PAGE, STATUSES, Shelf
from mycel.adapters.stored_items import UNRANKED, NewItem, new_item, renewal, value_in, written_at
from mycel.adapters.value_filters import matches, require_known
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.fields import MAX_PAGE
from mycel.domain.memory import Memory
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound

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
