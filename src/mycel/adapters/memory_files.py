"""A folder of text files for an agent, each a memory: the operations of Claude's memory tool and what they answer.

The texts are those of the tool's own implementation on files: the models were trained with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycel.adapters.file_texts import (
    SNIPPET_HEADER,
    folder_listing,
    inserted,
    numbered,
    replaced,
    shown_range,
)
from mycel.adapters.path_parts import names_below, path_of
from mycel.adapters.shelf import Shelf
from mycel.contracts.memory_fields import ChangedFields, MemoryFields
from mycel.domain.fields import MAX_LABEL, one_line
from mycel.domain.hidden_text import hides, program_text
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory

ROOT = "/memories"
MAX_LINES = 999_999
# A memory always says something; the blank text of such a file is kept beside.
BLANK_CONTENT = "(an empty file)"
BLANK = "blank_file"

Names = tuple[str, ...]


class FileRefused(Exception):
    """What the agent is told instead of an answer."""


class MemoryFiles:
    """Paths are the agent's, below `/memories`; where they lie in the team's tree is the shelf's folder."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        names = _names(path)
        place = self._place(names)
        first = self._shelf.first(place)
        if first is None and names:
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        if first is None or first.path != place or not names:
            files = self._shelf.below(place)
            return folder_listing(path, {_shown_names(place, file): text_of(file) for file in files})
        lines = text_of(first).split("\n")
        if len(lines) > MAX_LINES:
            raise FileRefused(f"File {path} exceeds maximum line limit of 999,999 lines.")
        start, shown = shown_range(lines, view_range)
        return f"Here's the content of {path} with line numbers:\n" + numbered(shown, start=start)

    def create(self, path: str, text: str) -> str:
        names = _names(path)
        self._require_folders(names)
        place = self._place(names)
        taken = not names or self._shelf.first(place) is not None
        fields: MemoryFields = {"title": _title(names), "metadata": _beside(text)}
        if taken or self._shelf.add(place, _content(text), fields) is None:
            raise FileRefused(f"File {path} already exists")
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        line = 0

        def edit(text: str) -> str:
            nonlocal line
            found = replaced(text, old, new, path=path)
            if isinstance(found, str):
                raise FileRefused(found)
            line, changed = found
            return changed

        lines = self._edit(path, edit).split("\n")
        start = max(0, line - 2)
        return f"{SNIPPET_HEADER}\n" + numbered(lines[start : line + 3], start=start + 1)

    def insert(self, path: str, line: int, text: str) -> str:
        def edit(before: str) -> str:
            lines = before.split("\n")
            count = len(lines) - (lines[-1] == "")
            if not 0 <= line <= count:
                raise FileRefused(
                    f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {count}]."
                )
            return inserted(lines[:count], line, text)

        self._edit(path, edit)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        names = _names(path)
        if not names:
            raise FileRefused("Cannot delete the /memories directory itself")
        place = self._place(names)
        if not self._shelf.clear(place) and not self._clear_below(place):
            raise FileRefused(f"The path {path} does not exist")
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _names(old_path), _names(new_path)
        if not old:
            raise FileRefused("Cannot rename the /memories directory itself")
        source, target = self._place(old), self._place(new)
        if not new or self._shelf.first(target) is not None:
            raise FileRefused(f"The destination {new_path} already exists")
        files = list(self._shelf.below(source))
        if not files:
            raise FileRefused(f"The path {old_path} does not exist")
        self._require_folders(new)
        if new[: len(old)] == old:
            raise FileRefused(f"The path {old_path} cannot be moved into itself")
        moved = [self._move(file.path, (*new, *names_below(source, file.path))) for file in files]
        if not all(moved):
            raise FileRefused(f"The destination {new_path} already exists")
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        self._clear_below(self._shelf.folder)
        return "All memory cleared"

    def _place(self, names: Names) -> str:
        return path_of(self._shelf.folder, names)

    def _clear_below(self, place: str) -> int:
        return sum(self._shelf.remove(memory) for memory in list(self._shelf.walk(place)))

    def _require_folders(self, names: Names) -> None:
        """What a file lies in cannot be a file itself."""
        for depth in range(1, len(names)):
            if self._shelf.find(self._place(names[:depth])) is not None:
                raise FileRefused(f"The path {'/'.join((ROOT, *names[:depth]))} is not a directory.")

    def _edit(self, path: str, edit: Callable[[str], str]) -> str:
        names = _names(path)
        place = self._place(names)
        first = self._shelf.first(place)
        if first is None and names:
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        if first is None or first.path != place or not names:
            raise FileRefused(f"The path {path} is not a file.")
        edited = self._shelf.change(place, lambda file: _rewritten(edit(text_of(file)), before=file))
        if edited is None:
            raise FileRefused(f"The file {path} no longer exists (may have been deleted or renamed concurrently).")
        return text_of(edited)

    def _move(self, place: str, names: Names) -> bool:
        """Whoever finds another at the same new place afterwards goes back: none of the two is hidden."""
        target = self._place(names)
        before = self._shelf.find(place)
        moved = self._shelf.change(place, lambda _: ChangedFields(path=target, title=_title(names)))
        if moved is None or before is None:
            return False
        others = [file for file in self._shelf.walk(target, page=20) if file.path == target and file.id != moved.id]
        if others:
            self._shelf.memory.update(moved.id, path=place, title=before.title)
        return not others


def text_of(file: Memory) -> str:
    """The file as its agent wrote it, or as somebody has edited the memory since; a model reads it."""
    blank = file.metadata.get(BLANK)
    return program_text(blank if isinstance(blank, str) and file.content == BLANK_CONTENT else file.content)


def _shown_names(place: str, file: Memory) -> Names:
    return tuple(map(program_text, names_below(place, file.path)))


def _names(path: str) -> Names:
    """Below the root; what `..` would leave is refused, and so is whatever does not begin with it."""
    if not path.startswith(ROOT):
        raise FileRefused(f"Path must start with {ROOT}, got: {path}")
    if hides(path):
        raise FileRefused("Path must not hold control characters or hidden ones")
    walked = [ROOT[1:]]
    for name in path[len(ROOT) :].split("/"):
        if name == ".." and walked:
            walked.pop()
        elif name == "..":
            break
        elif name not in {"", "."}:
            walked.append(name)
    if walked[:1] != [ROOT[1:]]:
        raise FileRefused(f"Path {path} would escape {ROOT} directory")
    return tuple(walked[1:])


def _title(names: Names) -> str:
    return one_line("/".join(names))[-MAX_LABEL:].strip() or "file"


def _beside(text: str) -> dict[str, str]:
    return {} if text.strip() else {BLANK: text}


def _rewritten(text: str, *, before: Memory) -> ChangedFields:
    if text.strip() and BLANK not in before.metadata:
        return {"content": text}
    others = {name: value for name, value in without_marks(before.metadata).items() if name != BLANK}
    return {"content": _content(text), "metadata": {**others, **_beside(text)}}


def _content(text: str) -> str:
    return text if text.strip() else BLANK_CONTENT
