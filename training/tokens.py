"""Items as token numbers in one flat array: made once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.texts import Item

PREFIX = "Represent this sentence for searching relevant passages: "
# As much as one passage of a memory has.
MOST = 256


@dataclass(frozen=True, slots=True)
class Tokens:
    flat: NDArray[np.uint16]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.ends, prepend=0)

    def save(self, path: Path) -> None:
        np.savez(path, flat=self.flat, ends=self.ends)

    @staticmethod
    def load(path: Path) -> Tokens:
        with np.load(path) as kept:
            return Tokens(kept["flat"], kept["ends"])


def tokenise(items: Sequence[Item], tokenizer: Tokenizer) -> Tokens:
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST)
    rows: list[NDArray[np.uint16]] = []
    for start in range(0, len(items), 50_000):
        texts = [PREFIX + item.text if item.question else item.text for item in items[start : start + 50_000]]
        rows += [np.asarray(found.ids, dtype=np.uint16) for found in tokenizer.encode_batch_fast(texts)]
    return Tokens(np.concatenate(rows), np.cumsum([len(row) for row in rows], dtype=np.int64))
