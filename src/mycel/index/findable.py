"""What may be found by one question's filters, worked out once and kept until something changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.domain.query import Filters
from mycel.index.coded_column import Flags
from mycel.index.passage_rows import PassageRows

# A hundred already order as well as all of them do; more make relevance steadier.
SAMPLE = 256
# Of so many readers and filters it is remembered what they leave.
REMEMBERED_FILTERS = 4


class Findable:
    """The memories that some filters leave a reader, by number, and their passages of one generation."""

    def __init__(self, memories: Flags, passages: PassageRows) -> None:
        self.memories = memories
        self.passages = passages
        # In this order: `count` is written before a row comes alive, and so is its owner.
        self.rows = passages.alive.copy()[: passages.count]
        owners = passages.owners[: len(self.rows)]
        # Memories that came after the others were looked at are clipped to their end, which allows nothing.
        self.rows &= np.append(memories, np.False_).take(owners, mode="clip")
        self.row_count = int(np.count_nonzero(self.rows))

    @cached_property
    def size(self) -> int:
        return int(np.count_nonzero(self.memories))

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """Every so many of them: which places they have among all others must not decide."""
        return np.flatnonzero(self.memories)[:: -(-self.size // SAMPLE) or 1].copy()


class _Remembered(NamedTuple):
    """For filters that ask from `since` on, and before `until`, when the next memory expires."""

    since: datetime
    until: datetime
    findable: Findable


class FindableByFilters:
    """What was found by the last few filters, until something is written; then another one begins."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, _Remembered] = OrderedDict()

    def get(
        self,
        scope: ReadScope,
        filters: Filters,
        *,
        make: Callable[[], Findable],
        next_expiry: Callable[[datetime], datetime],
    ) -> Findable:
        """Of searches right after each other only the moment differs, and it matters when something has expired."""
        now = filters.alive_at
        if now is None or filters.expired_at is not None:
            return make()
        key = (scope, filters.lasting)
        known = self._known.get(key)
        if known is not None and known.since <= now < known.until:
            return known.findable
        found = make()
        self._known[key] = _Remembered(now, next_expiry(now), found)
        if len(self._known) > REMEMBERED_FILTERS:
            self._known.popitem(last=False)
        return found
