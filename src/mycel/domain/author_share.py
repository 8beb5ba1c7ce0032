"""One author has a share of an answer, as long as others have something for the rest. Light to import, for hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from math import ceil
from typing import Generic, NamedTuple, TypeVar

AUTHOR_SHARE = 0.5
# A place is given up to what is at least so much as relevant; nothing good makes way for what is merely there.
LEAST_WORTH = 0.25

ItemT = TypeVar("ItemT")


class Shared(NamedTuple, Generic[ItemT]):
    """In the order given. `crowding` are those who have more than their share because nobody else was left to ask."""

    items: list[ItemT]
    crowding: frozenset[str]


def most_of_one(limit: int, share: float) -> int:
    return max(1, ceil(limit * share))


def share_out(
    ranked: Iterable[ItemT],
    *,
    limit: int,
    share: float,
    author: Callable[[ItemT], str],
    relevance: Callable[[ItemT], float] = lambda _item: 1.0,
) -> Shared[ItemT]:
    """The first of them; whoever has too many places gives the last of these to the next ones by others."""
    waiting = iter(ranked)
    chosen = dict(enumerate(islice(waiting, limit)))
    most = most_of_one(limit, share)
    counts = Counter(map(author, chosen.values()))
    crowding = {name for name, count in counts.items() if count > most}
    following = enumerate(waiting, start=limit)
    while crowding:
        place = max(place for place, item in chosen.items() if author(item) in crowding)
        found = next((one for one in following if counts[author(one[1])] < most), None)
        if found is None:
            break
        if relevance(found[1]) < LEAST_WORTH * relevance(chosen[place]):
            crowding.clear()
            break
        outgoing = chosen.pop(place)
        chosen[found[0]] = found[1]
        counts[author(outgoing)] -= 1
        counts[author(found[1])] += 1
        if counts[author(outgoing)] == most:
            crowding.remove(author(outgoing))
    return Shared([item for _, item in sorted(chosen.items(), key=lambda pair: pair[0])], frozenset(crowding))
