"""Links that earlier rules made between two memories, to be looked at again once the rules have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mycel.access.scope import ReadScope
from mycel.contracts.store import Store
from mycel.domain.ids import MemoryId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory
from mycel.domain.team import ENGINE
from mycel.engine.consolidation import LinkKey
from mycel.engine.judging.judgement import RULES

# Of one run. What is left over is for the next.
MOST_LINKS = 500
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# The progress of whoever has looked at all of them.
_DONE = 2**62
_RELATIONS = frozenset({Relation.CONTRADICTS, Relation.SUPERSEDES})


@dataclass(frozen=True, slots=True)
class MadeBefore:
    """Some of the links, the pairs they join, and how far that comes: `progress` is kept once they were looked at."""

    links: Sequence[LinkKey] = ()
    pairs: Sequence[tuple[Memory, Memory]] = ()
    mark: str = ""
    progress: int = 0
    more: bool = False


NOTHING_BEFORE = MadeBefore()


def list_made_before(store: Store, scope: ReadScope, *, reader: str = "") -> MadeBefore:
    """Return what runs of consolidation have linked; what people link themselves is theirs.

    `reader` has a progress of its own, since not everybody sees the same.
    """
    mark = f"rejudged_{RULES}{':' if reader else ''}{reader}"
    reached = store.queue.progress(mark)
    if reached >= _DONE:
        return NOTHING_BEFORE
    since = _BEGINNING + reached * _MICROSECOND
    found = [
        link
        for link in store.links.made_since(scope, since, by=None)
        if link.relation in _RELATIONS and not link.to_place
    ]
    some = found[:MOST_LINKS]
    more = len(found) > len(some)
    if more:
        some = [link for link in found if link.created_at <= some[-1].created_at]
        more = len(found) > len(some)
    progress = (some[-1].created_at - _BEGINNING) // _MICROSECOND + 1 if more else _DONE
    links = [link for link in some if _is_by_a_run(store, link)]
    return MadeBefore(
        [(link.from_id, MemoryId(link.to_id), link.relation) for link in links],
        list(_pairs(store, scope, links)),
        mark,
        progress,
        more,
    )


def _is_by_a_run(store: Store, link: Link) -> bool:
    if link.created_by == ENGINE:
        return True
    return any(other == link.to_id for _, other in store.reports.partners(link.from_id, since=_BEGINNING))


def _pairs(store: Store, scope: ReadScope, links: Sequence[Link]) -> Iterator[tuple[Memory, Memory]]:
    for ids in dict.fromkeys(frozenset((link.from_id, MemoryId(link.to_id))) for link in links):
        memories = [memory for id in sorted(ids) if (memory := store.memories.find(scope, id)) is not None]
        if len(memories) == len(ids) == 2:
            yield memories[0], memories[1]
