"""A folder of text files for an agent, each a memory: the operations of Claude's memory tool and what they answer.

The texts are those of the tool's own implementation on files: the models were trained with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from mycel.adapters.shelf import Shelf, names_below, path_of
from mycel.contracts.written_fields import ChangedFields, MemoryFields
from mycel.domain.fields import MAX_LABEL, one_line
from mycel.domain.hidden_text import hides, program_text
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory

SNIPPET_HEADER = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
NUMBER_WIDTH = 6
# What a folder of an ordinary file system takes, whatever is in it.
FOLDER_BYTES = 4096
_UNITS = "BKMG"


def numbered(lines: Sequence[str], *, start: int) -> str:
    return "\n".join(f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=start))


def shown_range(lines: Sequence[str], asked: Sequence[int] | None) -> tuple[int, Sequence[str]]:
    """The number of the first line asked for, and the lines; -1 is the end, and an odd range shows everything."""
    if not asked or len(asked) != 2:
        return 1, lines
    first, last = max(1, asked[0]), asked[1]
    return first, lines[first - 1 : len(lines) if last == -1 else last]


def replaced(text: str, old: str, new: str, *, path: str) -> tuple[int, str] | str:
    """The index of the line that changes and the new text, or why nothing is replaced."""
    match text.count(old):
        case 0:
            return f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        case 1:
            return text[: text.find(old)].count("\n"), text.replace(old, new)
        case _:
            lines = ", ".join(str(text[:place].count("\n") + 1) for place in _places(text, old))
            return (
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )


def inserted(lines: Sequence[str], index: int, text: str) -> str:
    """The text after so many lines; the file ends with a line break afterwards."""
    joined = "\n".join([*lines[:index], text.rstrip("\n"), *lines[index:]])
    return joined if joined.endswith("\n") else joined + "\n"


def folder_listing(path: str, files: Mapping[tuple[str, ...], str]) -> str:
    """Two levels of what is not hidden, each with its size."""
    sizes: dict[tuple[str, ...], int] = {}
    for names, text in files.items():
        for depth in (1, 2):
            if len(names) < depth or names[depth - 1].startswith("."):
                break
            is_file = len(names) == depth
            sizes[names[:depth] if is_file else (*names[:depth], "")] = len(text.encode()) if is_file else FOLDER_BYTES
    entries = sorted(sizes, key=lambda names: tuple(name for name in names if name))
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    shown = [f"{shown_size(sizes[names])}\t{path}/{'/'.join(names)}" for names in entries]
    return "\n".join([header, f"{shown_size(FOLDER_BYTES)}\t{path}", *shown])


def shown_size(size_bytes: int) -> str:
    power = min(max(size_bytes.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = size_bytes / 1024**power
    return f"{size:.0f}{_UNITS[power]}" if size.is_integer() else f"{size:.1f}{_UNITS[power]}"


def _places(text: str, part: str) -> Iterator[int]:
    """Also where they overlap."""
    place = text.find(part)
    while place != -1:
        yield place
        place = text.find(part, place + 1)


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
    if path != ROOT and not path.startswith(f"{ROOT}/"):
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
