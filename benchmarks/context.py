"""What an agent is told before a task: whether the memories that it needs are there, and how many others."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from benchmarks.report import show_rows
from mycel.app import open_workspace
from mycel.domain import ids
from mycel.domain.context import ContextBundle
from mycel.embedded.team_memory import TeamMemory
from mycel.settings import Settings
from mycel.testing.clock import ManualClock

TASKS = Path(__file__).parent / "data" / "relevance" / "context_tasks.yaml"
SPLITS = ("dev", "held_out")
TODAY = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)
BUDGETS = (400, 800)
AIM_BUDGET, LEAST_NEEDED = 800, 0.9
READER, RATER = "reader-1", "rater-1"
# What the types of the data are here: the two that are no types of ours are categories.
KINDS: Mapping[str, Mapping[str, str]] = {
    "convention": {"type": "fact", "category": "convention"},
    "preference": {"type": "profile", "category": "preference"},
}


@dataclass(frozen=True, slots=True)
class Told:
    """Of one task: the needed memories, those of them that were told, and all that were told."""

    needed: int = 0
    found: int = 0
    told: int = 0
    wanted: int = 0
    tokens: int = 0
    tasks: int = 0
    complete: int = 0

    def __add__(self, other: Told) -> Told:
        return Told(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def share(self) -> float:
        return self.found / self.needed if self.needed else 1.0


def run(folder: Path, *, quick: bool) -> None:
    tasks = read_tasks(SPLITS[0] if quick else None)
    rows: list[tuple[str, ...]] = []
    measured: dict[tuple[str, bool, int], Told] = {}
    for number, task in enumerate(tasks):
        with _told_before(folder / str(number), task) as memory:
            for placed in (True, False):
                for budget in BUDGETS:
                    place = (task["split"], placed, budget)
                    bundle = ask(memory, task, placed=placed, token_budget=budget)
                    measured[place] = measured.get(place, Told()) + judge(task, bundle)
    for (split, placed, budget), found in sorted(
        measured.items(), key=lambda row: (row[0][0], not row[0][1], row[0][2])
    ):
        rows.append(_row(split, "project and repo given" if placed else "neither given", budget, found))
    headings = (
        "tasks",
        "asked with",
        "tokens",
        "needed ones told",
        "tasks with all",
        "told in all",
        f"aim {LEAST_NEEDED}",
    )
    show_rows("Context: what a task needs is told before it", headings, rows)


def _row(split: str, asked: str, budget: int, found: Told) -> tuple[str, ...]:
    aimed = "" if budget != AIM_BUDGET else ("reached" if found.share >= LEAST_NEEDED else "not reached")
    told = (
        f"{found.told / found.tasks:.1f} of {found.wanted / found.tasks:.1f}, {found.tokens / found.tasks:.0f} tokens"
    )
    share = f"{found.found} of {found.needed} ({found.share:.2f})"
    return split, asked, str(budget), share, f"{found.complete} of {found.tasks}", told, aimed


def read_tasks(split: str | None = None) -> list[dict[str, Any]]:
    tasks = yaml.safe_load(TASKS.read_text("utf-8"))
    return [task for task in tasks if split in {None, task["split"]}]


def ask(memory: TeamMemory, task: Mapping[str, Any], *, placed: bool, token_budget: int) -> ContextBundle:
    place = {"project": task["project"] or None, "repo": task["repo"] or None} if placed else {}
    return memory.context_for(task=task["task"], asked_by=task["asked_by"], token_budget=token_budget, **place)


def judge(task: Mapping[str, Any], bundle: ContextBundle) -> Told:
    told = {item.memory.content for items in bundle.sections.values() for item in items if not item.shortened}
    needed = {one["content"] for one in task["memories"] if one["needed"]}
    return Told(
        len(needed),
        len(needed & told),
        sum(map(len, bundle.sections.values())),
        len(task["memories"]),
        bundle.tokens,
        1,
        needed <= told,
    )


@contextmanager
def _told_before(folder: Path, task: Mapping[str, Any]) -> Generator[TeamMemory]:
    """A team that has saved the memories of a task, each by its author on its day."""
    clock = ManualClock(TODAY - timedelta(days=1000))
    settings = Settings(data=folder, embedder="builtin")
    with open_workspace(folder, clock=clock, settings=settings) as workspace:
        workspace.add_team("team-1")
        workspace.add_member(READER, team="team-1", role="agent")
        people = {task["asked_by"], RATER, *(one["from"] for one in task["memories"])}
        for name in sorted(people):
            workspace.add_member(name, team="team-1", role="member", kind="human")
        # Ids tell the time by the clock on the wall, and these memories are of other days.
        with patch.object(ids, "_ticks", _Ticks(clock)):
            for one in sorted(task["memories"], key=lambda one: -one["age_days"]):
                clock.move(TODAY - timedelta(days=one["age_days"]) - clock.now())
                _save(workspace.as_member(one["from"]), workspace.as_member(RATER), one)
            clock.move(TODAY - clock.now())
            yield workspace.as_member(READER)


def _save(author: TeamMemory, rater: TeamMemory, one: Mapping[str, Any]) -> None:
    kind = KINDS.get(one["type"], {"type": one["type"]})
    place = {name: one[name] for name in ("project", "repo", "rationale") if one.get(name)}
    scope = "global" if one["scope"] == "team" else str(one["scope"])
    saved = author.save(one["content"], scope=scope, tags=one["tags"], **kind, **place)
    if one["rated"] is not None:
        rater.rate(saved.id, useful=one["rated"] == "useful")


class _Ticks:
    """As `ids` counts, by a clock that is moved."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._count = 0

    def next(self) -> int:
        self._count += 1
        # Nobody saves at midnight sharp: what was saved on one day is some minutes apart.
        moment = self._clock.now() + timedelta(minutes=7 * self._count % 600, seconds=self._count)
        return int(moment.timestamp() * 1000) << 12
