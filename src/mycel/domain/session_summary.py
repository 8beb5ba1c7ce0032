"""The parts of a summary of a session or thread, and how they are written down and found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Part(StrEnum):
    """In the order in which they are written."""

    ASKED = "Asked"
    DECIDED = "Decided"
    DONE = "Done"
    FAILED = "Failed"
    LEARNED = "Learned"
    OPEN = "Open"
    # What belongs to no other part.
    SAID = "Said"
    FILES = "Files"
    COMMANDS = "Commands"


BULLET = "- "
# Names, not sentences: they stand on one line.
IN_ONE_LINE = frozenset({Part.FILES, Part.COMMANDS})
_LABELS = {f"{part}:": part for part in Part}


def write_parts(parts: Mapping[Part, Sequence[str]]) -> str:
    """A line for each part with its points below it; what is empty is left out."""
    lines: list[str] = []
    for part in Part:
        points = [" ".join(point.split()) for point in parts.get(part, ())]
        points = [point for point in points if point]
        if part in IN_ONE_LINE and points:
            lines.append(f"{part}: {', '.join(points)}")
        elif points:
            lines += [f"{part}:", *(BULLET + point for point in points)]
    return "\n".join(lines)


def points_of(summary: str, wanted: Part) -> list[str]:
    """The points of one part; none of a text that is not written so."""
    found: list[str] = []
    inside = False
    for line in summary.splitlines():
        if line in _LABELS or any(line.startswith(f"{part}: ") for part in IN_ONE_LINE):
            inside = _LABELS.get(line) is wanted
        elif inside and line.startswith(BULLET):
            found.append(line.removeprefix(BULLET))
    return found
