"""Links between notes as Obsidian writes them, `[[name]]`, and as memories keep them, by id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from mycel.domain.link import PROJECT_PREFIX, REPO_PREFIX
from mycel.surfaces.vault.names import SUFFIX, folded, stem_of

_WIKI = re.compile(r"\[\[([^\[\]]{1,1000})\]\]")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class NoteNames:
    """Which note a link means: by the names that notes have now, or had when both sides last agreed."""

    def __init__(self, files: Mapping[str, str], before: Mapping[str, str]) -> None:
        """Files by the ids of their memories."""
        self._files = files
        self._had = before

    # Made when a link is first met: most rounds meet none, and there may be very many notes.
    @cached_property
    def _now(self) -> dict[str, str]:
        return _by_name(self._files)

    @cached_property
    def _before(self) -> dict[str, str]:
        return _by_name(self._had)

    @cached_property
    def _shared(self) -> set[str]:
        stems = Counter(folded(stem_of(file)) for file in self._files.values())
        return {stem for stem, number in stems.items() if number > 1}

    def with_files(self, more: Mapping[str, str]) -> NoteNames:
        return NoteNames({**self._files, **more}, self._had)

    def link(self, target: str) -> str:
        """By its name if no other note has it; by the id where there is no note."""
        file = self._files.get(target)
        if file is None:
            return target
        stem = stem_of(file)
        return f"[[{file[: -len(SUFFIX)] if folded(stem) in self._shared else stem}]]"

    def target(self, text: str) -> str | None:
        name = _name_in(text)
        if name is None:
            plain = text.strip()
            is_one = _ID.fullmatch(plain.lower()) is not None
            return plain.lower() if is_one else plain if plain.startswith((PROJECT_PREFIX, REPO_PREFIX)) else None
        return self._now.get(name) or self._before.get(name)

    def is_old(self, text: str) -> bool:
        name = _name_in(text)
        return name is not None and name not in self._now and self._before.get(name) in self._files


def _name_in(text: str) -> str | None:
    found = _WIKI.fullmatch(text.strip())
    if found is None:
        return None
    name = found[1].partition("|")[0].partition("#")[0].strip().removesuffix(SUFFIX).lstrip("/")
    return folded(name)


def _by_name(files: Mapping[str, str]) -> dict[str, str]:
    """By the whole name; by the last part alone where only one has it."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    for id, file in files.items():
        stem = folded(stem_of(file))
        shared |= {stem} & found.keys()
        found[stem] = id
    found = {name: id for name, id in found.items() if name not in shared}
    return found | {folded(file[: -len(SUFFIX)]): id for id, file in files.items()}
