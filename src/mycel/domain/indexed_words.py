"""What passes between the analyser of words and the stores that index them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class IndexedText(NamedTuple):
    """The texts of a memory, analysed: one column of the word index each.

    `labels` are its tags, its category and its key.
    """

    title: str
    summary: str
    content: str
    labels: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to look up: the rows that hold every term of any of the `anchors`, or one of the `phrases`.

    `ranking` terms say which of these rows come first but find none.
    """

    anchors: tuple[tuple[str, ...], ...]
    ranking: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    # Too many rows to rank at bounded cost: take the newest instead.
    newest_first: bool = False
