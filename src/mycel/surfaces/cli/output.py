"""What a command shows: safe text, tables and JSON on standard output, progress on standard error.

Stored text is data. It is never read as markup, and whatever could steer a terminal is shown as an escape.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, cast

import typer

from mycel.domain.envelope import is_unseen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.text import Text

    from mycel.domain.embedding import EmbeddingProgress


# Called with how many are done.
Counter = Callable[[int], None]
# With the name of a part, and how many of how many are done.
PartCounter = Callable[[str, int, int], None]
Report = Callable[[str, "EmbeddingProgress"], None]


@contextmanager
def progress(doing: str) -> Generator[Report | None]:
    """A bar that moves as long as it takes, and one for each team whose vectors are being made."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bars.add_task(doing, total=None)
        tasks: dict[str, TaskID] = {}

        def report(team: str, done: EmbeddingProgress) -> None:
            if team not in tasks:
                tasks[team] = bars.add_task(f"embedding {team}")
            bars.update(tasks[team], total=done.embedded + done.pending, completed=done.embedded)

        yield report


@contextmanager
def counting(doing: str) -> Generator[Counter | None]:
    """A bar that moves as long as it takes, with how many are done beside it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(doing, total=None)
        yield lambda done: bars.update(task, completed=done)


@contextmanager
def by_part(doing: str) -> Generator[PartCounter | None]:
    """A bar for each part, with how many of how many are done."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(name: str, done: int, whole: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{doing} {name}")
            bars.update(tasks[name], total=max(done, whole), completed=done)

        yield report


# What the first column of a table keeps at least, and what lies between two columns.
_KEPT_WIDTH = 16
_GAP = 3
# Without these two, joined emoji and Persian words fall apart; neither moves a cursor nor turns a line around.
_NOT_ASCII_PRINTABLE = re.compile(r"[^ -~]")


@dataclass(frozen=True, slots=True)
class Line:
    """Pieces of text, each with a style that only a terminal shows; `cut` keeps it to one row there."""

    pieces: tuple[tuple[str, str], ...]
    indent: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """`below` puts the cell under the first one on a terminal, where an id would leave no room beside it.

    Cells below share a line, but for one that is `apart`.
    """

    name: str
    style: str = ""
    below: bool = False
    apart: bool = False


def line(*pieces: str | tuple[str, str], indent: int = 0, cut: bool = False) -> Line:
    return Line(tuple((piece, "") if isinstance(piece, str) else piece for piece in pieces), indent, cut)


def is_terminal() -> bool:
    return sys.stdout.isatty()


def visible(text: str) -> str:
    """Keeps lines and tabs; shows what a terminal would obey, or would hide from its reader, as an escape."""
    return _NOT_ASCII_PRINTABLE.sub(lambda found: _shown(found[0]), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def print_json(value: object) -> None:
    in_unicode = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    text = json.dumps(value, default=_plain, ensure_ascii=not in_unicode, indent=2 if is_terminal() else None)
    typer.echo(_NOT_ASCII_PRINTABLE.sub(lambda found: _escaped_in_json(found[0]), text))


def _plain(value: object) -> object:
    """As over HTTP, but that no header says where the next page begins."""
    from mycel.domain.query import Page
    from mycel.wire.shapes import plain

    if isinstance(value, Page):
        page = cast("Page[object]", value)
        return {"items": page.items, "next_cursor": page.next_cursor}
    return {**plain(value), **older_names(value)} if is_dataclass(value) else plain(value)


def older_names(value: object) -> dict[str, object]:
    """What scripts may still know parts of a value by."""
    from mycel.domain.artifact import Artifact
    from mycel.domain.recall import Recall
    from mycel.wire.shapes import plain

    if isinstance(value, Recall):
        left = {"item", "highlight"}
        hits = [{name: one for name, one in plain(hit).items() if name not in left} for hit in value.hits]
        pairs = zip(hits, value.hits, strict=True)
        return {"hits": [{**found, "memory": hit.memory, "snippet": hit.snippet} for found, hit in pairs]}
    if isinstance(value, Artifact):
        memory = value.memory
        named = {name: getattr(memory, name) for name in ("repo_id", "tags", "visibility", "status", "team")}
        return {**named, "registered_by": memory.agent_id}
    return {}


def whole_list(items: Sequence[object]) -> dict[str, object]:
    """A list that is always whole looks like the only page of one."""
    return {"items": items, "next_cursor": None}


def print_lines(lines: Iterable[Line]) -> None:
    if not is_terminal():
        for one in lines:
            start = " " * one.indent
            text = visible("".join(piece for piece, _ in one.pieces))
            typer.echo(start + text.replace("\n", f"\n{start}"))
        return
    from rich.padding import Padding

    console = _console()
    for one in lines:
        text = _rich_text(one)
        text.no_wrap, text.overflow = one.cut, "ellipsis" if one.cut else "fold"
        # Padding shows nothing at all for an empty text.
        console.print(Padding(text, (0, 0, 0, one.indent), expand=False) if text else "")


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """In a pipe one row a line, cells between tabs, under a line of names."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if is_terminal():
        _print_rich_table(columns, cells)
        return
    for row in ([column.name for column in columns], *cells):
        typer.echo("\t".join(row))


def print_tree(root: str, branches: Sequence[Line]) -> None:
    if not is_terminal():
        print_lines([line(root), *(Line(branch.pieces, indent=2) for branch in branches)])
        return
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(visible(root), style="bold"), guide_style="dim")
    for branch in branches:
        tree.add(_rich_text(branch))
    _console().print(tree)


def note(text: str) -> None:
    """For the person watching; never part of the answer."""
    typer.echo(one_line(text), err=True)


def _print_rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """The first column takes the room that is left; whatever shrinks, an id below it stays whole to be copied."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    first, *others = [place for place, column in enumerate(columns) if not column.below]
    lines = _lines_below(columns)
    widths = {
        place: max(cell_len(text) for text in (column.name, *(row[place] for row in rows)))
        for place, column in enumerate(columns)
    }
    has_id = bool(lines) and not columns[lines[0][0]].apart
    least = widths[lines[0][0]] if has_id else min(widths[first], _KEPT_WIDTH)
    console = _console()
    room = console.width
    while others and least + sum(_GAP + widths[place] for place in others) > room:
        others.pop()
    rest = room - sum(_GAP + widths[place] for place in others)
    under = max((sum(_GAP + widths[place] for place in below) for below in lines), default=0)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place in (first, *others):
        width = max(least, min(rest, max(widths[first], under))) if place == first else widths[place]
        table.add_column(columns[place].name, no_wrap=True, overflow="ellipsis", width=width)
    for row in rows:
        texts = [Text(cell, style=column.style) for cell, column in zip(row, columns, strict=True)]
        stacked = [texts[first], *(Text("  ").join(texts[place] for place in below) for below in lines)]
        table.add_row(Text("\n").join(filter(None, stacked)), *(texts[place] for place in others))
    console.print(table)


def _lines_below(columns: Sequence[Column]) -> list[list[int]]:
    lines: list[list[int]] = []
    for place, column in enumerate(columns):
        if column.below and (column.apart or not lines):
            lines.append([place])
        elif column.below:
            lines[-1].append(place)
    return lines


def _rich_text(one: Line) -> Text:
    from rich.text import Text

    return Text.assemble(*((visible(piece), style) for piece, style in one.pieces))


def _console() -> Console:
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def _shown(character: str) -> str:
    return _escape(character) if character not in "\n\t" and is_unseen(character) else character


def _escaped_in_json(character: str) -> str:
    """Characters that JSON allows as they are but a terminal may obey; outside a string there are none."""
    if character == "\n" or not is_unseen(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
