"""How memories look to a person: which fields, in which order; and counts as bars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mycel.domain.envelope import kind_of, under_key
from mycel.domain.marks import CHANGE, voice_of
from mycel.domain.memory import FIELDS, Status
from mycel.domain.memory_field import MOMENTS, FieldRow, Holds
from mycel.domain.rendering import field_text
from mycel.surfaces.cli.output import (
    Column,
    Line,
    is_terminal,
    line,
    note,
    one_line,
    print_lines,
    print_table,
    print_tree,
)
from mycel.wire.shapes import SELDOM

if TYPE_CHECKING:
    from mycel.domain.link import Link
    from mycel.domain.memory import Memory, Version
    from mycel.domain.query import Page, Statistics, Tree
    from mycel.domain.recall import Hit, Recall
    from mycel.domain.receipt import Receipt


BAR_WIDTH = 30
DAYS = 14
# Eighths of a cell, so that small differences show.
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def show_charts(tables: Iterable[tuple[str, Mapping[str, int]]], by_day: Mapping[str, int]) -> None:
    for title, by in tables:
        if by:
            print_lines([line(""), line((title, "bold")), *bars(by)])
    if by_day:
        print_lines([line(""), line(("by day", "bold")), days(by_day, until=datetime.now(UTC).date())])


def bars(by: Mapping[str, int]) -> list[Line]:
    """The longest bar is the greatest count."""
    width, most = max(map(len, by)), max(by.values())
    places = len(str(most))
    return [
        line((f"{name:<{width}}", "dim"), f"  {count:>{places}}  ", (_bar(count, most), "cyan"), indent=2)
        for name, count in by.items()
    ]


def days(by_day: Mapping[str, int], *, until: date) -> Line:
    """One mark for each of the last days; a day on which nothing was written stays empty."""
    wanted = [until - timedelta(days=DAYS - 1 - place) for place in range(DAYS)]
    counts = [by_day.get(day.isoformat(), 0) for day in wanted]
    told = f" {wanted[0]:%d %b} to {until:%d %b}, {sum(counts)} written"
    return line((_heights(counts), "cyan"), (told, "dim"), indent=2)


def _bar(count: int, most: int) -> str:
    eighths = round(8 * BAR_WIDTH * count / most) if most else 0
    whole, rest = divmod(max(eighths, 1 if count else 0), 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def _heights(counts: Sequence[int]) -> str:
    most = max(counts)
    return "".join(_HEIGHTS[min(7, 8 * count // most)] if count else " " for count in counts) if most else ""


_LABEL_WIDTH = 14
_MARKED = re.compile(r"\*\*(.+?)\*\*")
_DEGRADED = {
    "meaning": "Searched by words alone: the embedder did not answer.",
    "embedding_backlog": "Not everything could be found by meaning yet: run `mycel embed`.",
}
_AGES = ((60, "s"), (60, "min"), (24, "h"), (30, "d"))


def show_memories(page: Page[Memory], *, with_team: bool = False) -> None:
    columns = (
        Column("title", "bold"),
        Column("type", "cyan"),
        Column("by"),
        Column("created", "dim"),
        Column("id", "dim", below=True),
        Column("path", "dim", below=True),
        *team_column(with_team=with_team),
    )
    if page:
        print_table(columns, [(*_row(memory), *([memory.team] if with_team else [])) for memory in page])
    else:
        note("No memories.")


def show_page(page: Page[Memory], *, with_team: bool = False) -> None:
    show_memories(page, with_team=with_team)
    show_more(page)


def team_column(*, with_team: bool) -> tuple[Column, ...]:
    """For answers that can be of several teams; the last one, so that the others stay where scripts look for them."""
    return (Column("team", "dim", below=True),) if with_team else ()


def show_recall(recall: Recall, *, with_parts: bool = False, with_team: bool = False) -> None:
    several_teams = with_team or len({hit.team for hit in recall.hits}) > 1
    for rank, hit in enumerate(recall.hits, start=1):
        print_lines(_hit_lines(rank, hit, with_team=several_teams))
        if with_parts and hit.breakdown:
            parts = ", ".join(f"{name} {part:+.2f}" for name, part in hit.breakdown.items() if part)
            print_lines([line((f"score {hit.score:.2f}: {parts}", "dim"), indent=4)])
    if not recall.hits:
        note("Nothing found that answers.")
    for reason in recall.degraded:
        note(_DEGRADED.get(reason, f"Searched without {reason}."))
    if with_parts:
        note(f"mycel explain {recall.id} --missing ID says why another memory is not here.")


def show_memory(
    memory: Memory, *, versions: Sequence[Version] | None = None, links: Sequence[Link] | None = None
) -> None:
    print_lines([line((title_of(memory), "bold"))])
    print_lines(labelled(name, value) for name, value in _fields(memory) if value)
    show_texts(memory)
    if versions is not None:
        print_lines([line(""), line(("history", "bold")), *map(_version_line, versions)])
    if links is not None:
        print_lines([line(""), line(("links", "bold")), *(_link_line(link) for link in links)])
        if not links:
            note("No links.")


def show_tree(tree: Tree) -> None:
    folders = [line((one_line(folder.path), "bold blue"), (f"  {folder.count}", "dim")) for folder in tree.subdirs]
    memories = [
        line(title_of(memory), (f"  {memory.type}", "cyan"), (f"  {memory.id}", "dim")) for memory in tree.items
    ]
    print_tree(tree.path, [*folders, *memories])
    if tree.items.next_cursor is not None:
        note(f"There are more: mycel list --path {tree.path}")


def show_statistics(team: str | None, statistics: Statistics, *, each: Mapping[str, Statistics]) -> None:
    teams = team or ", ".join(f"{name} {counted.memories}" for name, counted in each.items())
    counts = [
        ("team" if team else "teams", teams),
        ("memories", str(statistics.memories)),
        ("projects", str(statistics.projects)),
    ]
    print_lines(labelled(name, value) for name, value in counts)
    tables = (("by type", statistics.by_type), ("by status", statistics.by_status), ("events", statistics.events))
    if is_terminal():
        show_charts(tables, statistics.by_day)
        return
    for title, by in (*tables, ("by day", statistics.by_day)):
        print_lines(labelled(title, ", ".join(f"{name} {count}" for name, count in by.items())) for _ in [by] if by)


def show_written(memory: Memory, *, done: str) -> None:
    """The id alone is the answer, so that a script can keep it; the rest is for whoever watches."""
    show_done(memory.id, f"{done} as {memory.type} in {memory.path} of team {memory.team}{_waits(memory)}")
    if memory.standing is not None:
        one = memory.standing
        note(f"not applied: {one_line(one.value)} of {one.agent_id} stands ({one.confidence:g} sure, {one.id})")
    if memory.decided_by:
        note(f"decided by: {', '.join(memory.decided_by)}; mycel knowledge arbitrate {memory.id}")
    for one in memory.notices:
        note(one)
    for one in memory.similar:
        note(f"similar, {one.why}: {one.id} by {one.agent_id}: {one.excerpt}")


def _waits(memory: Memory) -> str:
    if memory.status is not Status.INBOX:
        return ""
    change = memory.metadata.get(CHANGE)
    stays = f"; {change['id']} stays as it stands until then" if change else ""
    return f", waiting in the inbox for review{stays}"


def show_changed(memory: Memory, *, done: str) -> None:
    """As `show_written`, with the title: the id that was given may have been a part of one."""
    show_done(memory.id, f"{done}: {named(memory)}{_waits(memory)}")
    for one in memory.notices:
        note(one)


def named(memory: Memory) -> str:
    """Name a memory to somebody who gave its id, perhaps a short one: by its title and its team."""
    return f"“{title_of(memory)}” of team {memory.team}"


def title_of(memory: Memory) -> str:
    """Of a value its key as well: `port: 9090`."""
    return one_line(under_key(memory.key, memory.title))


def labelled(name: str, value: str) -> Line:
    return line((f"{name:<{_LABEL_WIDTH}}", "dim"), one_line(value))


def show_more(page: Page[Any]) -> None:
    if page.next_cursor is not None:
        note(f"There are more: --cursor {page.next_cursor}")


def show_done(id: str, done: str) -> None:
    print_lines([line(id)])
    note(done)


def show_receipt(receipt: Receipt, *, named: str) -> None:
    show_done(receipt.memory_id, f"purged ({receipt.state}), receipt {receipt.id}: {named}")
    if receipt.held_by_backups:
        note(f"Backups that still hold it: {', '.join(receipt.held_by_backups)}")


def moment(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M:%S}Z"


def when(time: datetime) -> str:
    """An age for a person, the exact time for a program."""
    if not is_terminal():
        return time.isoformat()
    age = max(0.0, (datetime.now(UTC) - time).total_seconds())
    for size, unit in _AGES:
        if age < size:
            return f"{age:.0f} {unit} ago" if unit != "s" else "just now"
        age //= size
    return f"{time:%Y-%m-%d}"


def _row(memory: Memory) -> tuple[str, ...]:
    return (
        title_of(memory),
        memory.type,
        voice_of(memory.metadata, memory.agent_id),
        when(memory.created_at),
        memory.id,
        memory.path,
    )


def _hit_lines(rank: int, hit: Hit, *, with_team: bool) -> Iterator[Line]:
    memory = hit.memory
    title = title_of(memory)
    yield line((f"{rank:>2}. ", "dim"), (f"{hit.relevance:.2f}", "green"), (f"  {title}", "bold"), cut=True)
    snippet = one_line(hit.snippet)
    if snippet and snippet != title:
        yield line(*_marked(snippet), indent=4)
    yield line((one_line(hit.why), "italic dim"), indent=4)
    kind, team = kind_of(memory.type, memory.category), f" · team {hit.team}" if with_team else ""
    yield line((memory.id, "dim"), (f"  {kind} · {memory.path}{team}", "dim"), indent=4)


def _marked(snippet: str) -> Iterator[str | tuple[str, str]]:
    """The words that matched, **marked** in the snippet; a terminal shows them bold instead."""
    if not is_terminal():
        yield snippet
        return
    for place, part in enumerate(_MARKED.split(snippet)):
        yield (part, "bold") if place % 2 else part


def show_texts(memory: Memory) -> None:
    """What it says: its content, then its notes."""
    print_lines([line(""), line(memory.content)])
    for row in FIELDS.values():
        value = getattr(memory, row.name)
        if value and row.holds is Holds.NOTE:
            print_lines([line(""), line((row.label, "dim")), line(value, indent=2)])
        elif value and row.holds is Holds.NOTES:
            print_lines([line(""), line((row.label, "dim")), *(line(f"- {one}", indent=2) for one in value)])


def _fields(memory: Memory) -> Iterator[tuple[str, str]]:
    """Those on one line."""
    for row in FIELDS.values():
        if row.holds not in {Holds.TITLE, Holds.CONTENT, Holds.NOTE, Holds.NOTES, Holds.EVIDENCE}:
            value = getattr(memory, row.name)
            if value is not None and (value or row.name not in SELDOM):
                yield row.label, _text(row, value)


def _text(row: FieldRow, value: Any) -> str:
    if row.holds in MOMENTS:
        return moment(value)
    if row.holds is Holds.FRACTION:
        return f"{value:.2f}"
    if row.holds is Holds.ORIGIN:
        return " ".join(filter(None, (value.source_id, value.thread_id, value.message_id, value.uri)))
    if row.holds is Holds.METADATA:
        return ", ".join(f"{name}={one!r}" for name, one in value.items())
    return field_text(row, value)


def _version_line(version: Version) -> Line:
    until = moment(version.believed_until) or "now"
    reason = f": {one_line(version.reason)}" if version.reason else ""
    return line(
        f"{version.memory.version:>3}  {moment(version.believed_from)} to {until}  by {version.changed_by}{reason}  ",
        (title_of(version.memory), "dim"),
    )


def _link_line(link: Link) -> Line:
    return line(f"{link.from_id} ", (link.relation, "cyan"), f" {one_line(link.to_id)}", indent=2)
