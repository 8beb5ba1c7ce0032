"""How files and folders are shown to a model, and how their lines are edited: texts in, texts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
