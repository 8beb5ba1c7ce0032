"""Files of a split export that are not here, as its manifest or the numbers of the others tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from mycel.engine.imports.material import Entry, Unreadable, text_of

MANIFEST = "export_manifest.json"
_NUMBERED = re.compile(r"(\D{1,200})(\d{1,6})\.json")
_NAME = re.compile(r"[^/\\\s]{1,200}\.json")
_MOST = 10_000


def missing_files(entries: Sequence[Entry]) -> list[str]:
    here = {entry.base for entry in entries}
    promised = {name for entry in entries if entry.base == MANIFEST for name in _named_in(entry)}
    return sorted({*promised, *_between(here)} - here)


def _between(names: set[str]) -> Iterator[str]:
    """What lacks between the first and the last of a numbered series."""
    series: dict[tuple[str, int], list[int]] = {}
    for name in names:
        if found := _NUMBERED.fullmatch(name):
            series.setdefault((found[1], len(found[2])), []).append(int(found[2]))
    for (begin, digits), numbers in series.items():
        for number in range(min(numbers), min(max(numbers), min(numbers) + _MOST)):
            yield f"{begin}{number:0{digits}}.json"


def _named_in(entry: Entry) -> Iterator[str]:
    """Every name of a file, wherever it stands: the form of the manifest is nowhere described."""
    try:
        under_way: list[object] = [json.loads(text_of(entry))]
    except (Unreadable, ValueError, RecursionError):
        return
    while under_way:
        one = under_way.pop()
        if isinstance(one, dict):
            under_way += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            under_way += one
        elif isinstance(one, str) and _NAME.fullmatch(base := PurePosixPath(one).name):
            yield base
