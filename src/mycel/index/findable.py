"""What may be found by one question's filters, worked out once and kept until something changes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mycel.index.coded_column import Flags
from mycel.index.passage_rows import PassageRows

# A hundred already order as well as all of them do; more make relevance steadier.
SAMPLE = 256


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
