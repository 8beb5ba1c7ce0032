"""Examples as numbers: the tokens of both texts, where each stands, and batches of about the same length."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.judge.labels import HEADS
from training.judge.material import Example

MOST_TOKENS = 96
# Both texts and their marks.
MOST_PLACES = 2 * MOST_TOKENS + 3
BEGIN, SEPARATOR = 101, 102


@dataclass(frozen=True, slots=True)
class Coded:
    """`first` and `second` are tokens without marks."""

    example: Example
    first: list[int]
    second: list[int]


def load_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def coded(examples: Sequence[Example], tokenizer: Tokenizer) -> list[Coded]:
    def tokens(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    return [Coded(example, tokens(example.first), tokens(example.second)) for example in examples]


def joined(first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """Tokens and places: 0 and 1 in the first text, 2 and 3 in the second, odd where the other has the token too."""
    second = second[:MOST_TOKENS]
    first = first[-MOST_TOKENS:]
    ones, others = set(first), set(second)
    ids = [BEGIN, *first, SEPARATOR, *second, SEPARATOR]
    places = [0, *(int(token in others) for token in first), 0, *(2 + (token in ones) for token in second), 2]
    return ids, places


def padded(rows: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor, Tensor]:
    longest = max(len(ids) for ids, _ in rows)
    ids = np.zeros((len(rows), longest), dtype=np.int64)
    places = np.zeros_like(ids)
    mask = np.zeros(ids.shape, dtype=bool)
    for number, (tokens, where) in enumerate(rows):
        ids[number, : len(tokens)] = tokens
        places[number, : len(tokens)] = where
        mask[number, : len(tokens)] = True
    return torch.from_numpy(ids), torch.from_numpy(places), torch.from_numpy(mask)


def answers(examples: Sequence[Example]) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Of each head the rows that have an answer, the answers that are right, and how much each counts."""
    found: dict[str, tuple[Tensor, Tensor, Tensor]] = {}
    for head, width in HEADS.items():
        rows = [number for number, example in enumerate(examples) if head in example.right]
        if rows:
            right = torch.zeros(len(rows), width)
            for place, number in enumerate(rows):
                answer = examples[number].right[head]
                right[place, list(answer) if width > 1 else 0] = 1.0 if width > 1 else float(min(answer))
            weights = torch.tensor([examples[number].weight for number in rows])
            found[head] = torch.tensor(rows), right, weights
    return found


def batches(chosen: Sequence[Coded], size: int, chance: random.Random) -> list[list[Coded]]:
    """Shuffled, and then by length inside stretches of many batches, so that little is padding."""
    order = list(chosen)
    chance.shuffle(order)
    stretch = size * 16
    cut: list[list[Coded]] = []
    for start in range(0, len(order), stretch):
        part = sorted(order[start : start + stretch], key=lambda row: len(row.first) + len(row.second))
        cut += [part[at : at + size] for at in range(0, len(part), size)]
    chance.shuffle(cut)
    return cut
