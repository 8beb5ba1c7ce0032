"""The commands about the ledger: what was tried, what worked, who is good at what."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.domain.episode import Action, RateBy
from mycel.surfaces.cli import episode_display, options
from mycel.surfaces.cli.invocation import Command, ListingGroup, invocation
from mycel.surfaces.cli.json_shapes import shape_list
from mycel.surfaces.cli.options import any_of, given

EpisodeId = Annotated[str, typer.Argument(metavar="ID", help="The id of the episode.")]
TaskText = Annotated[str, typer.Argument(metavar="TASK", help="The task, in your own words.")]
ActionFilter = Annotated[
    str | None, typer.Option("--action", metavar="ACTION", help=f"Only these; one of {any_of(Action)}.")
]
AgentFilter = Annotated[str | None, typer.Option("--agent", metavar="MEMBER", help="Only what this agent did.")]
TaskFilter = Annotated[str | None, typer.Option("--task", metavar="ID", help="Only of this task.")]
Few = Annotated[int | None, typer.Option(metavar="N", help="How many at most.")]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=ListingGroup, help="The ledger of what was tried. Alone it lists.")
    commands = (
        ("list", list_episodes),
        ("log", log),
        ("get", get),
        ("similar", similar),
        ("agents", agents),
        ("rates", rates),
    )
    for name, command in commands:
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="episodes", rich_help_panel="Layers")


def list_episodes(
    context: typer.Context,
    *,
    task: TaskFilter = None,
    agent: AgentFilter = None,
    action: ActionFilter = None,
    project: options.ProjectFilter = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what was tried, the newest first."""
    filters = given(
        {"task_id": task, "agent_id": agent, "action": action, "project": project, "since": since, "until": until}
    )
    call = invocation(context)
    with call.memory() as memory:
        page = memory.episodes.list(limit=limit, cursor=cursor, **filters)
    call.answer(page, lambda: episode_display.show_episodes(page))


def log(
    context: typer.Context,
    approach: Annotated[str, typer.Argument(metavar="APPROACH", help="How it was tried.")],
    *,
    action: Annotated[str, typer.Option(metavar="ACTION", help=f"One of {any_of(Action)}.")],
    outcome: Annotated[str | None, typer.Option(metavar="TEXT", help="What came of it.")] = None,
    task: options.Task = None,
    agent: Annotated[
        str | None, typer.Option(metavar="MEMBER", help="Who did it, by default you; for those who hand out work.")
    ] = None,
    duration_ms: Annotated[int | None, typer.Option(metavar="MS", help="How long it took.")] = None,
    tokens_in: Annotated[int | None, typer.Option(metavar="N", help="Tokens that a model read for it.")] = None,
    tokens_out: Annotated[int | None, typer.Option(metavar="N", help="Tokens that it wrote.")] = None,
    tag: options.Tag = None,
    project: options.Project = None,
    repo: options.Repo = None,
    session_id: options.SessionId = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Write down one thing that was tried."""
    fields = given(
        {
            "outcome": outcome,
            "task_id": task,
            "agent_id": agent,
            "duration_ms": duration_ms,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "tags": tag,
            "project": project,
            "repo": repo,
            "session_id": session_id,
            "visibility": visibility,
            "allowed_roles": role,
            "idempotency_key": idempotency_key,
        }
    )
    call = invocation(context)
    with call.memory() as memory:
        episode = memory.episodes.log(action=action, approach=approach, **fields)
    call.answer(episode, lambda: episode_display.show_logged(episode))


def get(context: typer.Context, id: EpisodeId) -> None:
    """Show one episode in full."""
    call = invocation(context)
    with call.memory() as memory:
        episode = memory.episodes.get(id)
    call.answer(episode, lambda: episode_display.show_episode(episode))


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
    with call.memory() as memory:
        found = memory.episodes.similar(task, action=action, project=project, limit=limit)
    call.answer(shape_list(found), lambda: episode_display.show_similar(found))


def agents(context: typer.Context, task: TaskText, *, project: options.ProjectFilter = None, limit: Few = None) -> None:
    """Who has done well on tasks like this one."""
    call = invocation(context)
    with call.memory() as memory:
        records = memory.episodes.best_agents(task, project=project, limit=limit)
    call.answer(shape_list(records), lambda: episode_display.show_records(records))


def rates(
    context: typer.Context,
    *,
    by: Annotated[str, typer.Option(metavar="WHAT", help=f"One of {any_of(RateBy)}.")] = RateBy.APPROACH.value,
    task: TaskFilter = None,
    agent: AgentFilter = None,
    project: options.ProjectFilter = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: Few = None,
) -> None:
    """How often things worked, over the last 30 days unless --since says otherwise."""
    filters = given({"task_id": task, "agent_id": agent, "project": project, "since": since, "until": until})
    call = invocation(context)
    with call.memory() as memory:
        found = memory.episodes.success_rates(by, limit=limit, **filters)
    call.answer(shape_list(found), lambda: episode_display.show_rates(found, by=by))
