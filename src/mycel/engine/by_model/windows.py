"""A transcript in windows: as much of it as one question to a language model may hold, each turn numbered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mycel.domain.source import Transcript, Turn

# Below this, headings would take more room than what was said.
LEAST_CHARACTERS = 400
# What a window repeats of the one before, so that a statement and its reason are seen together.
OVERLAP_SHARE = 10
# The beginning says what was run and how it went; the rest is output that nobody said.
TOOL_CHARACTERS = 600
TOOL = "tool"
MAX_SPEAKER = 60

# Where a long turn is best divided, best first: between paragraphs, sentences, words.
_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n"), re.compile(r"\s+"))
_WORD_START = re.compile(r"(?<=\s)\S")


@dataclass(frozen=True, slots=True)
class Piece:
    """The characters from `start` to `end` of the text: a turn, or as much of it as a window shows."""

    number: int
    role: str
    start: int
    end: int
    heading: str

    @property
    def size(self) -> int:
        """Its share of a window, with the lines around it."""
        return len(self.heading) + self.end - self.start + 3


@dataclass(frozen=True, slots=True)
class Window:
    text: str
    pieces: tuple[Piece, ...]


def divide_into_windows(transcript: Transcript, *, most_characters: int, start: int = 0) -> list[Window]:
    """What was said from `start` on, with a little of what stands before it; empty when nothing was."""
    most = max(most_characters, LEAST_CHARACTERS)
    overlap = most // OVERLAP_SHARE
    pieces = _pieces(transcript, begin=max(0, start - overlap), most=most, overlap=overlap)
    windows = _filled(pieces, most=most, overlap=overlap)
    shown = [window for window in windows if any(piece.end > start for piece in window)]
    return [Window(_rendered(transcript.text, window), tuple(window)) for window in shown]


def _pieces(transcript: Transcript, *, begin: int, most: int, overlap: int) -> Iterator[Piece]:
    text = transcript.text
    turns = transcript.turns or (Turn("", 0, len(text)),)
    for number, turn in enumerate(turns, start=1):
        if turn.end <= begin or not text[turn.start : turn.end].strip():
            continue
        piece = Piece(number, turn.role, max(turn.start, begin), turn.end, _heading(number, turn))
        if turn.role == TOOL:
            yield replace(piece, end=min(piece.end, piece.start + TOOL_CHARACTERS))
        else:
            yield from _divided(text, piece, most=most, overlap=overlap)


def _heading(number: int, turn: Turn) -> str:
    speaker = " ".join((turn.speaker or "").split())[:MAX_SPEAKER]
    return " ".join(filter(None, (f"[{number}]", turn.role or "unknown", speaker)))


def _divided(text: str, piece: Piece, *, most: int, overlap: int) -> Iterator[Piece]:
    """The whole piece if it fits; otherwise parts that overlap."""
    while piece.size > most:
        cut = _best_cut(text, piece.start, piece.end - (piece.size - most))
        yield replace(piece, end=cut)
        piece = replace(piece, start=_word_start(text, cut - overlap, cut))
    yield piece


def _best_cut(text: str, start: int, last: int) -> int:
    half = start + (last - start + 1) // 2
    for breaks in _BREAKS:
        ends = [match.end() for match in breaks.finditer(text, half, last)]
        if ends:
            return ends[-1]
    return last


def _word_start(text: str, start: int, end: int) -> int:
    """The first word that begins between the two; the start where none does."""
    found = _WORD_START.search(text, start, end)
    return found.start() if found else start


def _filled(pieces: Iterable[Piece], *, most: int, overlap: int) -> Iterator[list[Piece]]:
    window: list[Piece] = []
    for piece in pieces:
        if window and _size(window) + piece.size > most:
            yield window
            window = _tail(window, most=min(overlap, most - piece.size))
        window.append(piece)
    if window:
        yield window


def _tail(window: Sequence[Piece], *, most: int) -> list[Piece]:
    kept: list[Piece] = []
    for piece in reversed(window):
        if _size(kept) + piece.size > most:
            break
        kept.insert(0, piece)
    return kept


def _size(pieces: Sequence[Piece]) -> int:
    return sum(piece.size for piece in pieces)


def _rendered(text: str, pieces: Sequence[Piece]) -> str:
    return "\n\n".join(f"{piece.heading}\n{text[piece.start : piece.end]}" for piece in pieces)
