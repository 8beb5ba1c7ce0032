"""The commands about the ledger of episodes, and how episodes, rates and briefings look."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.episode import EPISODE_WRITTEN, Action, RateBy
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, team_column, when
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import ListingGroup, add_group, invocation
from mycel.surfaces.cli.merged_answers import merge_rates
from mycel.surfaces.cli.options import any_of, given, with_fields, with_filters
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table, whole_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mycel.domain.briefing import Briefing
    from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
    from mycel.domain.query import Page


EpisodeId = Annotated[str, typer.Argument(metavar="ID", help="The id of the episode.")]
TaskText = Annotated[str, typer.Argument(metavar="TASK", help="The task, in your own words.")]
ActionFilter = Annotated[
    str | None, typer.Option("--action", metavar="ACTION", help=f"Only these; one of {any_of(Action)}.")
]
AgentFilter = Annotated[str | None, typer.Option("--agent", metavar="MEMBER", help="Only what this agent did.")]
TaskFilter = Annotated[str | None, typer.Option("--task", metavar="ID", help="Only of this task.")]
FILTERS: Mapping[str, Any] = {
    "task_id": TaskFilter,
    "agent_id": AgentFilter,
    "action": ActionFilter,
    "project": options.ProjectFilter,
    "since": options.Since,
    "until": options.Until,
}
Few = Annotated[int | None, typer.Option(metavar="N", help="How many at most.")]


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "episodes",
        "Layers",
        {"list": list_episodes, "log": log, "get": get, "similar": similar, "agents": agents, "rates": rates},
        help="The ledger of what was tried. Alone it lists.",
        cls=ListingGroup,
    )


@with_filters(FILTERS)
def list_episodes(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what was tried, the newest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, after: memory.episodes.list(limit=most, cursor=after, **filters),
            limit=limit,
            cursor=cursor,
            memory_of=lambda episode: episode.memory,
        )
        with_team = teams.are_several
    call.answer(page, lambda: show_episodes(page, with_team=with_team))


@with_fields(row for name, row in EPISODE_WRITTEN.items() if name not in {"action", "approach"})
def log(
    context: typer.Context,
    approach: Annotated[str, typer.Argument(metavar="APPROACH", help="How it was tried.")],
    *,
    fields: dict[str, Any],
    action: Annotated[str, typer.Option(metavar="ACTION", help=f"One of {any_of(Action)}.")],
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Write down one thing that was tried."""
    fields |= given({"idempotency_key": idempotency_key})
    call = invocation(context)
    with call.memory() as memory:
        episode = memory.episodes.log(action=action, approach=approach, **fields)
    call.answer(episode, lambda: show_logged(episode))


def get(context: typer.Context, id: EpisodeId) -> None:
    """Show one episode in full."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        episode = place.memory.episodes.get(place.id)
    call.answer(episode, lambda: show_episode(episode))


def similar(
    context: typer.Context,
    task: TaskText,
    *,
    action: ActionFilter = None,
    project: options.ProjectFilter = None,
    limit: Few = None,
) -> None:
    """What was done on tasks like this one; with --action completed, what worked."""
    call = invocation(context)
    with teams_of(call) as teams:
        each = teams.each(lambda memory: memory.episodes.similar(task, action=action, project=project, limit=limit))
        found = list(heapq.merge(*each.values(), key=lambda one: -one.relevance))[:limit]
    call.answer(whole_list(found), lambda: show_similar(found))


def agents(context: typer.Context, task: TaskText, *, project: options.ProjectFilter = None, limit: Few = None) -> None:
    """Who has done well on tasks like this one."""
    call = invocation(context)
    with teams_of(call) as teams:
        each = teams.each(lambda memory: memory.episodes.best_agents(task, project=project, limit=limit))
        records = list(heapq.merge(*each.values(), key=lambda one: -one.score))[:limit]
    call.answer(whole_list(records), lambda: show_records(records))


@with_filters(FILTERS, without="action")
def rates(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    by: Annotated[str, typer.Option(metavar="WHAT", help=f"One of {any_of(RateBy)}.")] = RateBy.APPROACH.value,
    limit: Few = None,
) -> None:
    """How often things worked, over the last 30 days unless --since says otherwise."""
    call = invocation(context)
    with teams_of(call) as teams:
        each = teams.each(lambda memory: memory.episodes.success_rates(by, limit=limit, **filters))
        found = merge_rates(each.values(), limit=limit) if teams.are_several else next(iter(each.values()))
    call.answer(whole_list(found), lambda: show_rates(found, by=by))


_STYLES = {Action.COMPLETED: "green", Action.FAILED: "red", Action.RETRIED: "yellow", Action.ATTEMPTED: "cyan"}
_EPISODE = (
    Column("approach", "bold"),
    Column("action"),
    Column("agent"),
    Column("task"),
    Column("when", "dim"),
    Column("id", "dim", below=True),
    Column("outcome", below=True, apart=True),
)


def show_logged(episode: Episode) -> None:
    show_done(episode.id, f"logged: {episode.memory.title}")


def show_briefing(briefing: Briefing) -> None:
    text = briefing.to_markdown()
    if text:
        print_lines([line(text)])
    else:
        note("Nothing is known that would help.")
    if briefing.waiting:
        note(f"{briefing.waiting} for review: `mycel inbox` lists, `mycel inbox approve ID` approves.")


def show_episodes(page: Page[Episode], *, with_team: bool = False) -> None:
    if page:
        columns = (*_EPISODE, *team_column(with_team=with_team))
        print_table(columns, [(*_row(one), *([one.memory.team] if with_team else [])) for one in page])
    else:
        note("No episodes.")
    show_more(page)


def show_episode(episode: Episode) -> None:
    print_lines([line((episode.approach, "bold"), "  ", (episode.action.value, _STYLES[episode.action]))])
    print_lines(labelled(name, value) for name, value in _fields(episode) if value)


def show_similar(found: Sequence[SimilarEpisode]) -> None:
    if not found:
        note("Nothing like it was done before.")
        return
    columns = (Column("approach", "bold"), Column("relevance"), *_EPISODE[1:])
    print_table(columns, [_with_relevance(one) for one in found])


def show_records(records: Sequence[Record]) -> None:
    if not records:
        note("Nobody has done anything like it.")
        return
    columns = (Column("agent", "bold"), Column("score"), Column("completed"), Column("failed"))
    rows = [(record.agent_id, f"{record.score:.2f}", str(record.completed), str(record.failed)) for record in records]
    print_table(columns, rows)


def show_rates(found: Sequence[SuccessRate], *, by: str) -> None:
    if not found:
        note("No episodes in that time.")
        return
    names = ("rate", "completed", "failed", "episodes", "mean time", "tokens")
    print_table((Column(by, "bold"), *(Column(name) for name in names)), [_rate_row(one) for one in found])


def _row(episode: Episode) -> tuple[str, ...]:
    return (
        episode.approach,
        episode.action,
        episode.agent_id,
        episode.task_id or "",
        when(episode.created_at),
        episode.id,
        episode.outcome or "",
    )


def _with_relevance(one: SimilarEpisode) -> tuple[str, ...]:
    approach, *rest = _row(one.episode)
    return approach, f"{one.relevance:.2f}", *rest


def _fields(episode: Episode) -> list[tuple[str, str]]:
    return [
        ("id", episode.id),
        ("team", episode.memory.team),
        ("outcome", episode.outcome or ""),
        ("task", episode.task_id or ""),
        ("agent", episode.agent_id),
        ("written by", episode.memory.agent_id),
        ("project", episode.project_id or ""),
        ("took", _time(episode.duration_ms)),
        ("tokens in", _count(episode.tokens_in)),
        ("tokens out", _count(episode.tokens_out)),
        ("created", moment(episode.created_at)),
    ]


def _rate_row(one: SuccessRate) -> tuple[str, ...]:
    tally = one.tally
    tokens = tally.tokens_in + tally.tokens_out
    return (
        one.name,
        "" if tally.rate is None else f"{tally.rate:.0%}",
        str(tally.completed),
        str(tally.failed),
        str(tally.episodes),
        _time(tally.mean_duration_ms),
        _count(tokens or None),
    )


def _time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
