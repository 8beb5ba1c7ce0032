"""The commands about the inbox: what waits for a decision, who decides it, and how it looks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.envelope import kind_of
from mycel.domain.marks import voice_of
from mycel.domain.memory import WRITTEN
from mycel.domain.memory_field import Holds
from mycel.domain.query import Order, OrderField
from mycel.domain.source import USUAL_CATEGORY
from mycel.errors import Conflict, InvalidInput, InvalidState, NotFound
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import labelled, named, show_changed, show_more, show_texts, team_column, title_of, when
from mycel.surfaces.cli.every_team import Teams, teams_of
from mycel.surfaces.cli.invocation import ListingGroup, add_group, invocation
from mycel.surfaces.cli.material import content_of
from mycel.surfaces.cli.options import clear_fields, given, with_fields, with_filters
from mycel.surfaces.cli.output import Column, Line, line, note, one_line, print_lines, print_table, whole_list

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.inbox import GivesWay, InboxItem, Surroundings
    from mycel.domain.link import Link
    from mycel.domain.memory import Memory
    from mycel.domain.query import Page


def present(memory: MemoryApi, id: str) -> Memory:
    """As it is now; unlike `get`, looking it up this way does not count as using it."""
    return memory.history(id)[-1].memory


def titles_of(memory: MemoryApi, ids: Iterable[str]) -> dict[str, str]:
    """By id; of a memory that is gone or out of sight, the id itself."""
    found: dict[str, str] = {}
    for id in dict.fromkeys(ids):
        found[id] = id
        with suppress(NotFound):
            found[id] = present(memory, id).title
    return found


def titles_in(teams: Teams, ids: Sequence[str]) -> dict[str, str]:
    """As `titles_of`, of memories of any of these teams."""
    each = teams.each(lambda memory: titles_of(memory, ids)).values()
    known = {id: title for titles in each for id, title in titles.items() if title != id}
    return {id: known.get(id, id) for id in ids}


Ids = Annotated[list[str], typer.Argument(metavar="ID", help="The ids of the memories.")]


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "inbox",
        "Review",
        {
            "list": list_items,
            "show": show,
            "approve": approve,
            "edit": edit,
            "merge": merge,
            "reject": reject,
            "snooze": snooze,
            "reopen": reopen,
        },
        help="Look through what waits for a person, and decide. Alone it lists.",
        cls=ListingGroup,
    )


@with_filters(options.FILTERS, without="status")
def list_items(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    source: Annotated[str | None, typer.Option(metavar="ID", help="What came from one source.")] = None,
    snoozed: Annotated[bool, typer.Option("--snoozed", help="What you have put off, instead of the rest.")] = False,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what waits, the surest first, and why; for the owner of the files in every team."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, after: memory.inbox(
                source=source, snoozed=snoozed, limit=most, cursor=after, **filters
            ),
            limit=limit,
            cursor=cursor,
            order=lambda: Order(OrderField.CONFIDENCE),
            memory_of=lambda item: item.memory,
        )
        with_team = teams.are_several
    call.answer(page, lambda: show_items(page, with_team=with_team))


def show(context: typer.Context, id: options.Id) -> None:
    """Show what waits with its evidence where it was said, and what it is linked with."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        memory, item = place.memory, place.memory.reviews.get(place.id)
        linked = [other_end(link, item.memory.id) for link in item.links if not link.to_place]
        titles = titles_of(memory, linked)
    call.answer(item, lambda: show_item(item, titles=titles))


AcknowledgeWarning = Annotated[
    bool,
    typer.Option(
        "--acknowledge-warning", help="Approve one whose text asks something of its reader; you have read it."
    ),
]


def approve(context: typer.Context, ids: Ids, *, acknowledge_warning: AcknowledgeWarning = False) -> None:
    """Make what waits active: all of it, or none on an error.

    What has a warning is approved alone, by --acknowledge-warning or by typing `approve` when asked; among several it
    is skipped.
    """
    call = invocation(context)
    if acknowledge_warning and len(set(ids)) > 1:
        raise InvalidInput("is for one memory: each warning is read by itself", field="acknowledge_warning")
    with teams_of(call) as teams:
        place = teams.find(*ids)
        gives_way = _gives_way(place.memory, place.ids)
        approved, skipped = _approve(
            place.memory, place.ids, acknowledged=acknowledge_warning, may_ask=not call.as_json
        )
    call.answer(whole_list(approved), lambda: show_decided(approved, done="approved"))
    for memory in approved:
        for other in gives_way.get(memory.id, ()):
            note(f"replaced: {other.title} ({other.id})")
    for item in skipped:
        note(f"skipped, approve it by itself: {title_of(item.memory)}: it {item.warning} ({item.memory.id})")


def _gives_way(memory: MemoryApi, ids: Sequence[str]) -> Mapping[str, Sequence[GivesWay]]:
    """Read what stands and will be superseded by what is approved; what cannot be read will say so when approved."""
    found: dict[str, Sequence[GivesWay]] = {}
    for id in dict.fromkeys(ids):
        with suppress(NotFound, Conflict):
            found[id] = memory.reviews.get(id).gives_way
    return found


def _approve(
    memory: MemoryApi, ids: Sequence[str], *, acknowledged: bool, may_ask: bool
) -> tuple[Sequence[Memory], Sequence[InboxItem]]:
    """Return what was approved, and what was skipped for its warning."""
    try:
        if acknowledged:
            return [memory.approve(ids[0], acknowledge_warning=True)], []
        return memory.approve_many(ids), []
    except InvalidState as refused:
        if refused.field != "acknowledge_warning" or not may_ask:
            raise
        items = [memory.reviews.get(id) for id in dict.fromkeys(ids)]
        plain = [item.memory.id for item in items if item.warning is None]
        if len(items) > 1 and plain:
            return memory.approve_many(plain), [item for item in items if item.warning is not None]
        if len(items) > 1 or not is_confirmed(items[0]):
            raise
    [item] = items
    approved = memory.approve(item.memory.id, acknowledge_warning=True, expected_version=item.memory.version)
    return [approved], []


def is_confirmed(item: InboxItem) -> bool:
    """Show the warning and the text, and ask for a whole word: a key pressed by habit approves nothing."""
    note(f"WARNING: it {item.warning}")
    note(f"Its text: {item.memory.content}")
    note("Agents follow what they are told of. Type `approve` to approve it in spite of this:")
    return sys.stdin.readline().strip() == "approve"


@with_fields(row for row in WRITTEN.values() if row.at_first and row.holds is not Holds.FLAG)
def edit(
    context: typer.Context,
    id: options.Id,
    *,
    fields: dict[str, Any],
    content: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The new text; `-` reads it from standard input.")
    ] = None,
    clear: options.Clear = None,
    acknowledge_warning: AcknowledgeWarning = False,
) -> None:
    """Change fields of what waits, and approve it so."""
    edits = fields | given({"content": None if content is None else content_of(content)})
    clear_fields(edits, clear or [])
    if not edits:
        raise InvalidInput("must name a field to change; `approve` changes nothing", field="edit")
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        approved = place.memory.approve(place.id, edits=edits, acknowledge_warning=acknowledge_warning)
    call.answer(approved, lambda: show_changed(approved, done="approved"))


def reject(
    context: typer.Context,
    ids: Ids,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for its history.")],
) -> None:
    """Archive what waits, with the reason: all of it, or none on an error."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(*ids)
        rejected = place.memory.reject_many(place.ids, reason)
    call.answer(whole_list(rejected), lambda: show_decided(rejected, done="rejected"))


def merge(
    context: typer.Context,
    id: options.Id,
    *,
    into: Annotated[str, typer.Option("--into", metavar="ID", help="The memory that stays.")],
    content: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What both say, as its text; `-` reads it from standard input.")
    ] = None,
) -> None:
    """Let what waits give way to a memory that says the same."""
    text = None if content is None else content_of(content)
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id, into)
        gives_way, stays = place.ids
        kept = place.memory.reviews.merge(gives_way, into=stays, content=text)
    call.answer(kept, lambda: show_changed(kept, done="merged into"))


def snooze(
    context: typer.Context,
    id: options.Id,
    *,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="When you want to see it again; without it, now.")
    ] = None,
) -> None:
    """Put off what waits, for you alone."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        item = place.memory.reviews.snooze(place.id, until=until)
    seen = "waits" if item.snoozed_until is None else f"put off until {when(item.snoozed_until)}"
    call.answer(item, lambda: note(f"{seen}: {named(item.memory)}"))


def reopen(context: typer.Context, id: options.Id) -> None:
    """Take the last decision about a memory back: what was approved, rejected or merged waits again."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        memory = place.memory.reviews.reopen(place.id)
    call.answer(memory, lambda: show_changed(memory, done="taken back"))


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
    show_texts(memory)
    if item.evidence is not None:
        print_lines([line(""), line(("evidence", "bold")), _evidence_line(item.evidence)])
    if item.links:
        print_lines([line(""), line(("links", "bold")), *_link_lines(item, titles)])
    if item.warning is None:
        note(f"mycel inbox approve {memory.id}, or edit, or reject with --reason")
    else:
        note(f"mycel inbox reject {memory.id} --reason TEXT; or, if harmless, approve --acknowledge-warning")


def show_decided(memories: Sequence[Memory], *, done: str) -> None:
    print_lines([line(memory.id) for memory in memories])
    if len(memories) > 1:
        note(f"{len(memories)} {done}:")
    for memory in memories:
        note(f"{done}: {named(memory)}" if len(memories) == 1 else named(memory))


def other_end(link: Link, id: str) -> str:
    return link.to_id if link.from_id == id else link.from_id


def _row(item: InboxItem) -> tuple[str, ...]:
    memory = item.memory
    return title_of(memory), _kind(memory), f"{memory.confidence:.2f}", _voice(memory), memory.id, why(item)


def why(item: InboxItem) -> str:
    return item.reason if item.warning is None else f"WARNING: it {item.warning}"


def _kind(memory: Memory) -> str:
    """With the category where it says more than the type: a convention is a fact too."""
    is_usual = memory.category == USUAL_CATEGORY.get(memory.type)
    return kind_of(memory.type, None if is_usual else memory.category)


def _voice(memory: Memory) -> str:
    return voice_of(memory.metadata, memory.agent_id)


def _fields(item: InboxItem) -> list[tuple[str, str]]:
    memory = item.memory
    return [
        ("id", memory.id),
        ("WARNING", f"it {item.warning}" if item.warning else ""),
        ("waits because", "" if item.reason == item.warning else item.reason),
        ("team", memory.team),
        ("type", memory.type),
        ("confidence", f"{memory.confidence:.2f}"),
        ("by", _voice(memory)),
        ("said", "" if memory.observed_at is None else when(memory.observed_at)),
        ("captured by", "" if memory.agent_id == _voice(memory) else memory.agent_id),
        ("source", "" if memory.evidence_ref is None else memory.evidence_ref.source_id),
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
