"""Ids as citations have them: the one rule by which the beginning of an id names a memory.

What the caller may see decides alone: what is hidden neither answers nor makes a beginning ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mycel.access.scope import readable_scopes
from mycel.contracts.store import Stores
from mycel.domain.ids import MemoryId, is_whole, parse_beginning, shortest_beginning
from mycel.domain.team import Caller
from mycel.errors import InvalidInput, NotFound


def find_id(stores: Stores, caller: Caller, value: object, *, field: str = "id", deleted: bool = False) -> MemoryId:
    """The whole id. Raises `NotFound` when nothing begins so, and `InvalidInput` when several memories do."""
    beginning = parse_beginning(value, field=field)
    if is_whole(beginning):
        return MemoryId(beginning)
    found: set[MemoryId] = set()
    for scope in readable_scopes(caller):
        with stores.lease(scope.team) as store:
            found.update(store.memories.ids_beginning(scope, beginning, limit=2, deleted=deleted))
    if not found:
        raise NotFound(f"no memory {beginning}")
    if len(found) > 1:
        raise InvalidInput("begins the ids of several memories: give more of it", field=field)
    return found.pop()


def short_ids(stores: Stores, caller: Caller, ids: Iterable[MemoryId]) -> Mapping[MemoryId, str]:
    """What to cite each by: as much of it as `find_id` needs today."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    others: dict[MemoryId, list[MemoryId]] = {id: [] for id in wanted}
    for scope in readable_scopes(caller):
        with stores.lease(scope.team) as store:
            for id, beside in store.memories.ids_beside(scope, wanted).items():
                others[id] += beside
    # In the order of ids, what has most in common with one stands right beside it.
    return {id: shortest_beginning(id, beside) for id, beside in others.items()}
