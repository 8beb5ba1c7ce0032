"""How what waits in the inbox looks to whoever decides about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mycel.surfaces.cli.display import labelled, show_more, team_column, title_of, when
from mycel.surfaces.cli.output import Column, Line, line, note, one_line, print_lines, print_table

if TYPE_CHECKING:
    from mycel.domain.inbox import InboxItem, Surroundings
    from mycel.domain.link import Link
    from mycel.domain.memory import Memory
    from mycel.domain.query import Page


def show_items(page: Page[InboxItem], *, with_team: bool = False) -> None:
    columns = (
        Column("title", "bold"),
        Column("type", "cyan"),
        Column("confidence"),
        Column("by"),
        Column("id", "dim", below=True),
        Column("why", below=True, apart=True),
        *team_column(with_team=with_team),
    )
    if page:
        print_table(columns, [(*_row(item), *([item.memory.team] if with_team else [])) for item in page])
        note(
            "mycel inbox approve ID makes one active; inbox show ID has its evidence, inbox reject ID --reason ends it"
        )
    else:
        note("Nothing waits.")
    show_more(page)


def show_waiting(page: Page[InboxItem]) -> None:
    """What is left to a person, after a run that decides what it can."""
    if page:
        count = f"{len(page)} or more wait" if page.next_cursor else f"{len(page)} wait{'s' if len(page) == 1 else ''}"
        note(f"{count} in the inbox for a person: `mycel inbox` lists, `mycel inbox approve ID` approves.")


def show_item(item: InboxItem, *, titles: Mapping[str, str]) -> None:
    memory = item.memory
    print_lines([line((title_of(memory), "bold"))])
    print_lines(labelled(name, value) for name, value in _fields(item) if value)
    print_lines([line(""), line(memory.content)])
    if memory.rationale:
        print_lines([line(""), line(("rationale", "dim")), line(memory.rationale, indent=2)])
    if item.evidence is not None:
        print_lines([line(""), line(("evidence", "bold")), _evidence_line(item.evidence)])
    if item.links:
        print_lines([line(""), line(("links", "bold")), *_link_lines(item, titles)])
    note(f"mycel inbox approve {memory.id}, or edit, or reject with --reason")


def show_decided(memories: Sequence[Memory], *, done: str) -> None:
    print_lines([line(memory.id) for memory in memories])
    note(f"{done}: {title_of(memories[0])}" if len(memories) == 1 else f"{len(memories)} {done}")


def other_end(link: Link, id: str) -> str:
    return link.to_id if link.from_id == id else link.from_id


def _row(item: InboxItem) -> tuple[str, ...]:
    memory = item.memory
    return title_of(memory), memory.type, f"{memory.confidence:.2f}", memory.agent_id, memory.id, item.reason


def _fields(item: InboxItem) -> list[tuple[str, str]]:
    memory = item.memory
    return [
        ("id", memory.id),
        ("waits because", item.reason),
        ("team", memory.team),
        ("type", memory.type),
        ("confidence", f"{memory.confidence:.2f}"),
        ("by", memory.agent_id),
        ("trust", memory.trust),
        ("made", f"{when(memory.created_at)}, {memory.made_by}"),
        ("path", memory.path),
        ("category", memory.category or ""),
        ("key", memory.key or ""),
        ("tags", ", ".join(memory.tags)),
        ("visibility", memory.visibility),
        ("expires", "" if memory.expires_at is None else f"{memory.expires_at:%Y-%m-%d}"),
    ]


def _evidence_line(evidence: Surroundings) -> Line:
    """The quote is bold on a terminal, and between marks anywhere, so that a pipe shows where it begins too."""
    before, after = evidence.before.lstrip(), evidence.after.rstrip()
    return line((before, "dim"), (f"»{evidence.quote}«", "bold"), (after, "dim"), indent=2)


def _link_lines(item: InboxItem, titles: Mapping[str, str]) -> Iterator[Line]:
    for link in item.links:
        other = other_end(link, item.memory.id)
        arrow = "\N{RIGHTWARDS ARROW}" if link.from_id == item.memory.id else "\N{LEFTWARDS ARROW}"
        relation = (f"{link.relation} {arrow} ", "cyan")
        yield line(relation, one_line(titles.get(other, other)), (f"  {other}", "dim"), indent=2)
