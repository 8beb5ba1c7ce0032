"""The commands that read: search and why it found, get, lists, what an agent should know, what happens in a team."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from enum import StrEnum
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mycel.domain.change import Operation
from mycel.domain.fields import DEFAULT_TOKEN_BUDGET, LEAST_TOKEN_BUDGET
from mycel.domain.query import Order, OrderField, Page
from mycel.domain.request_filters import read_order
from mycel.domain.search_request import Ranking
from mycel.errors import InvalidInput
from mycel.surfaces.cli import display, options
from mycel.surfaces.cli.every_team import Teams, teams_of
from mycel.surfaces.cli.invocation import add_commands, invocation
from mycel.surfaces.cli.merged_answers import merge_contexts, merge_statistics, merge_trees
from mycel.surfaces.cli.options import any_of, given, with_filters
from mycel.surfaces.cli.output import line, note, one_line, print_lines
from mycel.wire.shapes import plain

if TYPE_CHECKING:
    from mycel.domain.change import Change
    from mycel.domain.context import ContextBundle
    from mycel.domain.recall import Explanation


SearchLimit = Annotated[int, typer.Option(metavar="N", help="At most so many.", min=1)]
MinRelevance = Annotated[
    float | None,
    typer.Option(metavar="0..1", help="Leave out what is less relevant; 0 also lists what does not match."),
]
RankingOption = Annotated[
    str | None, typer.Option(metavar="NAME", help=f"One of {any_of(Ranking)}; by default that of MYCEL_RANKING.")
]
AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="As it was believed then: 2026-11-15T09:00:00Z.")]
OrderBy = Annotated[
    str | None, typer.Option(metavar="FIELD", help=f"One of {any_of(OrderField)}; -FIELD for descending.")
]


def add_to(app: typer.Typer) -> None:
    finding = {"search": search, "recent": recent, "get": get, "list": list_memories, "tree": tree, "stats": stats}
    add_commands(app, "Find", {**finding, "context": context_for, "watch": watch, "explain": explain})


@with_filters(options.FILTERS)
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in plain words.")],
    *,
    filters: dict[str, Any],
    limit: SearchLimit = 10,
    min_relevance: MinRelevance = None,
    ranking: RankingOption = None,
    as_of: AsOf = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
) -> None:
    """Find memories by words and by meaning, the best first, and say why each was found.

    The owner of the files searches every team, unless --as or --team names one.
    With --project or --repo, global memories and your own count as near too, and of other projects only what is
    strongly relevant is shown.
    """
    call = invocation(context)
    with teams_of(call) as teams:
        recall = teams.search(
            lambda memory: memory.search(
                query,
                limit=limit,
                min_relevance=min_relevance,
                ranking=ranking,
                as_of=as_of,
                **filters,
            ),
            limit=limit,
        )
        with_team = teams.are_several
    call.answer(recall, lambda: display.show_recall(recall, with_parts=explain, with_team=with_team))


def recent(context: typer.Context, *, limit: SearchLimit = 10) -> None:
    """Show the newest memories of the team or, to the owner of the files, of every team."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, _: memory.recent(most or limit),
            limit=limit,
            cursor=None,
            order=Order,
            memory_of=lambda memory: memory,
        )
        with_team = teams.are_several
    # The newest are the whole answer: nobody asks for a second page of them.
    newest = Page(page.items)
    call.answer(newest, lambda: display.show_memories(newest, with_team=with_team))


def get(
    context: typer.Context,
    id: options.Id,
    *,
    as_of: AsOf = None,
    history: Annotated[bool, typer.Option("--history", help="Show every version too.")] = False,
    links: Annotated[bool, typer.Option("--links", help="Show what it is linked with too.")] = False,
) -> None:
    """Show one memory with all its fields."""
    call = invocation(context)
    with teams_of(call) as teams:
        # What was deleted since is there as of an earlier moment.
        place = teams.find(id, deleted=as_of is not None)
        found = place.memory.get(place.id, as_of=as_of)
        versions = place.memory.history(found.id) if history else None
        linked = place.memory.links(found.id) if links else None
    answer = cast(dict[str, object], plain(found))
    if versions is not None:
        answer["history"] = versions
    if linked is not None:
        answer["links"] = linked
    call.answer(answer, lambda: display.show_memory(found, versions=versions, links=linked))


@with_filters(options.FILTERS)
def list_memories(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    deleted: Annotated[bool, typer.Option("--deleted", help="Those that `restore` can bring back.")] = False,
    as_of: AsOf = None,
    order_by: OrderBy = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List memories page by page, the newest first unless ordered otherwise.

    The owner of the files sees those of every team, unless --as or --team names one.
    """
    call = invocation(context)
    with teams_of(call, reads_other_team=True) as teams:
        page = teams.page(
            lambda memory, most, after: memory.list(
                order_by=order_by, limit=most, cursor=after, team=call.team, deleted=deleted, as_of=as_of, **filters
            ),
            limit=limit,
            cursor=cursor,
            order=lambda: read_order(order_by),
            memory_of=lambda memory: memory,
        )
        with_team = teams.are_several
    call.answer(page, lambda: display.show_page(page, with_team=with_team))


def tree(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="/PATH", help="The folder to show.")] = "/",
) -> None:
    """Show the folders right below a path and the memories in it."""
    call = invocation(context)
    with teams_of(call, reads_other_team=True) as teams:
        found = merge_trees(teams.each(lambda memory: memory.tree(path, team=call.team)))
    call.answer(found, lambda: display.show_tree(found))


def stats(context: typer.Context) -> None:
    """Count the memories you may read, by type and by status."""
    call = invocation(context)
    with teams_of(call) as teams:
        each = teams.each(lambda memory: memory.stats())
        counted = merge_statistics(each.values())
        team = None if teams.are_several else teams.only.team
    answer = {"team": team, **cast(dict[str, object], plain(counted))}
    if team is None:
        answer["teams"] = each
    call.answer(answer, lambda: display.show_statistics(team, counted, each=each))


class Style(StrEnum):
    """How the bundle is written: all sections, the team's newest lines, or the matches of the task."""

    MARKDOWN = "markdown"
    TEAM = "team"
    SWARM = "swarm"


TaskArgument = Annotated[
    str | None, typer.Argument(metavar="TASK", help="What the agent is about to do, in plain words, or the task's id.")
]
ProjectPlace = Annotated[
    str | None, typer.Option("--project", "--project-id", metavar="NAME", help="The project it will work in.")
]
RepoPlace = Annotated[str | None, typer.Option("--repo", "--repo-id", metavar="NAME", help="The repo it will work in.")]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="MEMBER", help="For whom, if not for you: then only what the whole team may read."),
]
AskedBy = Annotated[
    str | None,
    typer.Option("--asked-by", metavar="MEMBER", help="Who asked for it: what that member wishes comes first."),
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", help="At most so many tokens, 100 to 100000; 2000 by default.")
]
StyleOption = Annotated[
    Style,
    typer.Option(
        "--style", help="All sections, the block `Recent Team Memory`, or the section `Relevant Past Knowledge`."
    ),
]


def context_for(
    context: typer.Context,
    task: TaskArgument = None,
    *,
    project: ProjectPlace = None,
    repo: RepoPlace = None,
    agent: AgentOption = None,
    asked_by: AskedBy = None,
    budget: Budget = None,
    ranking: RankingOption = None,
    style: StyleOption = Style.MARKDOWN,
) -> None:
    """Gather what an agent should know before it starts a task, within a budget of tokens."""
    place = {"project": project, "repo": repo, "agent": agent}
    request = given({**place, "task": task, "asked_by": asked_by, "token_budget": budget, "ranking": ranking})
    call = invocation(context)
    with teams_of(call) as teams:
        bundle = _context_of(teams, request)
    text = _written(bundle, style)
    answer = {**cast(dict[str, object], plain(bundle)), "text": text}
    call.answer(answer, lambda: _show_bundle(bundle, text))


def _context_of(teams: Teams, request: Mapping[str, Any]) -> ContextBundle:
    """Share the budget among the teams that have something to tell."""
    if teams.are_several:
        teams = teams.those(lambda memory: memory.stats().memories > 0)
    if not teams.are_several:
        return teams.only.context_for(**request)
    whole = request.get("token_budget", DEFAULT_TOKEN_BUDGET)
    share = max(LEAST_TOKEN_BUDGET, whole // len(teams.memories))
    shared: dict[str, Any] = {**request, "token_budget": share}
    bundles = teams.each(lambda memory: memory.context_for(**shared))
    return merge_contexts(list(bundles.values()), token_budget=whole)


def _written(bundle: ContextBundle, style: Style) -> str:
    if style is Style.TEAM:
        return bundle.to_team_memory()
    return bundle.to_past_knowledge() if style is Style.SWARM else bundle.to_markdown()


def _show_bundle(bundle: ContextBundle, text: str) -> None:
    if text:
        print_lines([line(text)])
    else:
        note("Nothing to tell.")
    if bundle.degraded:
        note(f"Searched without {', '.join(bundle.degraded)}.")


_STYLES = {
    Operation.CREATE: "green",
    Operation.RESTORE: "green",
    Operation.REMOVE: "yellow",
    Operation.DELETE: "yellow",
    Operation.PURGE: "red",
}


def watch(
    context: typer.Context,
    *,
    after: Annotated[
        int | None,
        typer.Option(metavar="N", help="Begin after this sequence; 0 is the start of the log, by default it is now."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Tell what is in the log, from its start on, and end.")] = False,
    path: options.PathFilter = None,
    project: options.ProjectFilter = None,
    type: options.TypeFilter = None,
) -> None:
    """Tell of every change you may see until Ctrl-C, one a line; with --json each is a JSON value.

    What leaves the filters, or your sight, is told as `remove`. Each team has sequences of its own.
    """
    call = invocation(context)
    start = 0 if once and after is None else after
    wanted: dict[str, Any] = {"project": project, "type": type or None, "follow": not once, "team": call.team}
    with teams_of(call, reads_other_team=True, lasting=not once) as teams:
        if teams.are_several and after is not None:
            raise InvalidInput("goes with --team: each team counts its own changes", field="after")
        changes = {name: memory.changes(start, path or "/", **wanted) for name, memory in teams.memories.items()}
        if not once:
            names = ", ".join(changes) if teams.are_several else call.team or teams.only.team
            note(f"Watching {names}; Ctrl-C ends it.")
        told = _in_turn(changes) if once else _as_they_come(changes)
        for team, change in told:
            value = {"team": team, **cast(dict[str, object], plain(change))} if teams.are_several else change
            shown = team if teams.are_several else ""
            call.answer(value, lambda change=change, shown=shown: _show_change(change, team=shown))


def _in_turn(changes: Mapping[str, Iterator[Change]]) -> Iterator[tuple[str, Change]]:
    """What the logs of all teams hold, in the order of time."""
    listed = ([(team, change) for change in each] for team, each in changes.items())
    yield from heapq.merge(*listed, key=lambda one: one[1].committed_at)


def _as_they_come(changes: Mapping[str, Iterator[Change]]) -> Iterator[tuple[str, Change]]:
    """Follow several logs at once, each in a thread that ends with the process."""
    if len(changes) == 1:
        ((team, alone),) = changes.items()
        yield from ((team, change) for change in alone)
        return
    arrived: Queue[tuple[str, Change | Exception]] = Queue()

    def follow(team: str, each: Iterator[Change]) -> None:
        try:
            for change in each:
                arrived.put((team, change))
        except Exception as error:  # noqa: BLE001 - raised again where the changes are shown
            arrived.put((team, error))

    for team, each in changes.items():
        Thread(target=follow, args=(team, each), daemon=True).start()
    while True:
        team, change = arrived.get()
        if isinstance(change, Exception):
            raise change
        yield team, change


def _show_change(change: Change, *, team: str) -> None:
    time = f"{change.committed_at.astimezone():%H:%M:%S}"
    about = f"{change.memory_id} → {change.other_id}" if change.other_id else change.memory_id
    print_lines(
        [
            line(
                (f"{change.sequence}  {time}  ", "dim"),
                (change.operation.value, _STYLES.get(change.operation, "")),
                (f"  {one_line(change.path)}", "bold"),
                (f"  {about}  {one_line(change.changed_by)}{f'  team {team}' if team else ''}", "dim"),
            )
        ]
    )


def explain(
    context: typer.Context,
    recall: Annotated[
        str | None, typer.Argument(metavar="RECALL", help="The id of one of your searches; `search` prints it.")
    ] = None,
    *,
    missing: Annotated[
        str | None, typer.Option(metavar="ID", help="Say at which step the search left this memory behind.")
    ] = None,
    memory: Annotated[str | None, typer.Option(metavar="ID", help="Say what is known about a memory instead.")] = None,
) -> None:
    """Say why a search found what it found, why a memory was not in it, or where a memory comes from."""
    call = invocation(context)
    with teams_of(call) as teams:
        if memory is not None:
            place = teams.find(memory, field="memory")
            told = place.memory.explain(recall, memory_id=place.id, missing=missing)
        else:
            one = teams.having(lambda one: one.explain(recall), id=recall or "", field="recall")
            told = one.explain(recall, missing=missing)
    call.answer(told, lambda: _show_explanation(told))


def _show_explanation(told: Explanation) -> None:
    head = "" if told.step is None else f"{told.step}: "
    print_lines([line((head, "bold"), told.text)])
