"""Short ids: the one rule by which a part of an id names a memory.

What the caller may see decides alone: what is hidden neither answers nor makes a part ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mycel.access.scope import ReadScope, readable_scopes
from mycel.contracts.store import Stores
from mycel.domain.ids import MemoryId, is_whole, parse_short
from mycel.domain.memory import Memory
from mycel.domain.team import Caller
from mycel.errors import MOST_CANDIDATES, AmbiguousId, Candidate, NotFound
from mycel.services.callers import scopes_at_hand


def find_id(stores: Stores, caller: Caller, value: object, *, field: str = "id", deleted: bool = False) -> MemoryId:
    """Return the whole id that a part of one means, looked for in every team that the caller may see.

    Raises `NotFound` when nothing has this part, and `AmbiguousId` with the candidates when several memories do.
    """
    part = parse_short(value, field=field)
    if is_whole(part):
        return MemoryId(part)
    found = find_memories(stores, scopes_at_hand(stores, caller), [part], deleted=deleted)
    if not found:
        # It may have been in a store that is damaged: then this says so.
        find_memories(stores, readable_scopes(caller), [part], deleted=deleted)
        raise NotFound(f"no memory {part}")
    if len(found) > 1:
        raise ambiguous(found, field=field)
    return found[0].id


def find_memories(
    stores: Stores, scopes: Iterable[ReadScope], parts: Sequence[str], *, deleted: bool = False
) -> list[Memory]:
    """Return the memories of these scopes whose ids begin or end with one of these parts, bounded in each scope."""
    found: list[Memory] = []
    for scope in scopes:
        with stores.lease(scope.team) as store:
            for id in store.memories.ids_with(scope, parts, limit=MOST_CANDIDATES * len(parts), deleted=deleted):
                memory = store.memories.find(scope, id, deleted=deleted)
                # It may have gone since.
                if memory is not None:
                    found.append(memory)
    return found


def ambiguous(found: Sequence[Memory], *, field: str) -> AmbiguousId:
    candidates = [Candidate(one.id, one.title, one.team) for one in found[:MOST_CANDIDATES]]
    return AmbiguousId("names several memories: give more of it", field=field, candidates=candidates)
