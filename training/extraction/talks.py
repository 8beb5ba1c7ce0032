"""Talk of our own with its labels inside, read into the form that the benchmark has.

A file holds talks, each below a line `# kind`; a line is a turn, `a` the assistant and every other name a person.
`{d …}` marks what is worth keeping by the letters of its types, `{f? …}` what may be kept. Below `# sentences` each
line stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.extraction import Label, Labelled, as_transcript

MATERIAL = Path(__file__).parent / "material"
SENTENCES = "sentences"
ASSISTANT = "a"
LETTERS = {"d": "decision", "t": "task_hint", "r": "reference", "p": "profile", "f": "fact", "l": "lesson"}

_TALK = re.compile(r"^# ", re.MULTILINE)
_MARK = re.compile(r"\{(?P<types>[dtrpfl]+)(?P<may>\??) (?P<said>[^{}]*)\}")


def own_talks(folder: Path = MATERIAL) -> list[Labelled]:
    return [talk for path in sorted(folder.glob("*.txt")) for talk in _read(path)]


def _read(path: Path) -> Iterator[Labelled]:
    for number, part in enumerate(_TALK.split(path.read_text("utf-8"))[1:], 1):
        kind, *rows = part.splitlines()
        lines = [row for row in rows if row.strip()]
        if kind == SENTENCES:
            yield from (_labelled(f"{path.stem}-{place}", kind, [line]) for place, line in enumerate(lines, 1))
        else:
            yield _labelled(f"{path.stem}-{number}", kind, lines)


def _labelled(name: str, kind: str, lines: Sequence[str]) -> Labelled:
    turns: list[dict[str, str]] = []
    marks: list[list[tuple[str, bool, int, int]]] = []
    for line in lines:
        speaker, _, said = line.partition(": ")
        text, found = _unmarked(said)
        who = {"role": "assistant"} if speaker == ASSISTANT else {"role": "user", "speaker": speaker}
        turns.append({**who, "text": text})
        marks.append(found)
    transcript = as_transcript(turns)
    labels = [
        (may, Label(frozenset(LETTERS[letter] for letter in types), turn.start + start, turn.start + end))
        for turn, found in zip(transcript.turns, marks, strict=True)
        for types, may, start, end in found
    ]
    keep, allowed = (tuple(label for may, label in labels if may is wanted) for wanted in (False, True))
    return Labelled(name, kind, transcript, keep, allowed)


def _unmarked(said: str) -> tuple[str, list[tuple[str, bool, int, int]]]:
    """The text without its marks; of each the letters, whether it only may be kept, and its place."""
    text, last = "", 0
    found: list[tuple[str, bool, int, int]] = []
    for mark in _MARK.finditer(said):
        text += said[last : mark.start()]
        found.append((mark["types"], bool(mark["may"]), len(text), len(text) + len(mark["said"])))
        text += mark["said"]
        last = mark.end()
    text += said[last:]
    if "{" in text or "}" in text:
        raise ValueError(f"a mark that cannot be read: {said[:80]}")
    return text, found
