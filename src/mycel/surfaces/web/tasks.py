"""Tasks: what was tried for each, what it produced, how well approaches and agents do, and what an agent is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mycel.domain.artifact import Artifact, FileState
from mycel.domain.episode import Action, Episode
from mycel.errors import MycelError, NotFound
from mycel.surfaces.web.filters import Chip
from mycel.surfaces.web.page import Page, PageRequest, Shown

# Episodes of one page, from which its tasks are gathered.
ROWS = 100
OF_A_TASK = 100
RATES = 8
# Checking a file reads it.
MOST_VERIFIED = 20
NAMES = {"project": "project", "agent_id": "by", "action": "outcome"}


@dataclass(frozen=True, slots=True)
class Task:
    """What the episodes of one page tell of a task, the latest first."""

    id: str
    project: str | None
    title: str
    last: Action
    agents: tuple[str, ...]
    tries: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Output:
    """An artifact, and whether its file is as it was."""

    artifact: Artifact
    state: FileState


def show(asked: PageRequest) -> Shown:
    given = {name: asked.one(name) for name in NAMES}
    episodes = asked.memory.episodes.list(
        limit=ROWS,
        cursor=asked.one("cursor"),
        project=given["project"],
        agent_id=given["agent_id"],
        action=given["action"],
    )
    rates = asked.memory.episodes
    facts = {
        "tasks": tasks_of(episodes),
        "next_cursor": episodes.next_cursor,
        "by_approach": rates.success_rates("approach", limit=RATES, project=given["project"]),
        "by_agent": rates.success_rates("agent", limit=RATES, project=given["project"]),
        "by_week": rates.success_rates("week", limit=RATES, project=given["project"]),
    }
    chips = [Chip(NAMES[name], value, asked.with_query(**{name: None})) for name, value in given.items() if value]
    return Shown(facts, {"chips": chips, "actions": tuple(Action), "given": given})


def tasks_of(episodes: Sequence[Episode]) -> list[Task]:
    """Episodes without a task are things that were tried for none; they stand in no list of tasks."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.task_id:
            found.setdefault(episode.task_id, []).append(episode)
    return [
        Task(
            id,
            tried[0].memory.project_id,
            ": ".join(tried[0].account[:2]),
            tried[0].action,
            tuple(dict.fromkeys(one.agent_id for one in tried)),
            len(tried),
            tried[0].created_at,
        )
        for id, tried in found.items()
    ]


def show_one(asked: PageRequest) -> Shown:
    id = asked.in_path["id"]
    episodes = asked.memory.episodes.list(task_id=id, limit=OF_A_TASK, cursor=asked.one("cursor"))
    artifacts = asked.memory.artifacts.list(task_id=id, limit=OF_A_TASK)
    if not episodes and not artifacts:
        raise NotFound("no task of this name, or none that you may read")
    project = next((one.memory.project_id for one in episodes), None)
    briefing = asked.memory.before_task(id, task_id=id, project=project)
    facts = {
        "task": id,
        "project": project,
        "episodes": list(episodes),
        "next_cursor": episodes.next_cursor,
        "outputs": [outcome_of(asked, one, check=number < MOST_VERIFIED) for number, one in enumerate(artifacts)],
        "by_approach": asked.memory.episodes.success_rates("approach", task_id=id, limit=RATES),
        "by_agent": asked.memory.episodes.success_rates("agent", task_id=id, limit=RATES),
        "briefing": briefing.to_markdown(),
    }
    return Shown(facts, {"points": points_of(episodes)}, title=f"Task {id}")


def outcome_of(asked: PageRequest, artifact: Artifact, *, check: bool) -> Output:
    """A file that cannot be looked at from here is unknown."""
    if not check:
        return Output(artifact, FileState.UNKNOWN)
    try:
        return Output(artifact, asked.memory.artifacts.verify(artifact.id).state)
    except MycelError:
        return Output(artifact, FileState.UNKNOWN)


def points_of(episodes: Sequence[Episode]) -> list[tuple[float, Episode]]:
    """Where each stands on a line of 0 to 100, the oldest left."""
    if not episodes:
        return []
    first, last = episodes[-1].created_at, episodes[0].created_at
    span = (last - first).total_seconds()
    return [
        (round(2 + 96 * (one.created_at - first).total_seconds() / span, 2) if span else 50.0, one)
        for one in reversed(episodes)
    ]


PAGES = (
    Page(address="/tasks", template="tasks.html", show=show, title="Tasks", label="Tasks", key="t"),
    Page(address="/tasks/{id:path}", template="task.html", show=show_one, title="Task"),
)
