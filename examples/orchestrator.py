"""An orchestrator that plans, hands out, observes, and does not repeat what has failed.

`planner` takes tickets and gives them to `swe-1` and `swe-2`. Two tables stand in for what a real system has: IDEAS for
the language model that proposes approaches, and WORLD for the place where the work is done. Every decision in between
is made from the briefing that the team's memory gives.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import mycel
from mycel.domain.briefing import Briefing
from mycel.domain.episode import Episode

PROJECT = "shop"
WORKERS = ("swe-1", "swe-2")
MOST_TRIES = 3
# What is less likely of use than this is a guess: the planner's own first idea is a better one.
LEAST_RELEVANCE = 0.1
SCORE_OF_A_STRANGER = 0.5

# What a language model would propose, its favourite first. It does not learn, so it proposes the same every time.
IDEAS = {
    "imports": (
        "run the import in four threads",
        "write the rows of the import in batches of 1000",
    ),
    "mails": ("send each mail under a key, so that it goes out once",),
}


@dataclass(frozen=True)
class Ticket:
    topic: str
    text: str


BACKLOG = (
    Ticket("imports", "The nightly import of the product catalogue takes three hours."),
    Ticket("imports", "Loading the price lists of our suppliers has become far too slow."),
    Ticket("mails", "Customers get the confirmation mail of an order twice."),
)


@dataclass(frozen=True)
class Result:
    works: bool
    said: str
    lesson: str
    patch: str | None = None


WORLD = {
    "run the import in four threads": Result(
        works=False,
        said="the threads wait for each other's row locks, it is as slow as before",
        lesson="Threads that write to one table wait for each other.",
    ),
    "write the rows of the import in batches of 1000": Result(
        works=True,
        said="it takes nine minutes",
        lesson="Imports write their rows in batches of 1000.",
        patch="patches/batches.diff",
    ),
    "send each mail under a key, so that it goes out once": Result(
        works=True,
        said="the second mail is recognised and dropped",
        lesson="Every mail is sent under a key.",
        patch="patches/mail-keys.diff",
    ),
}


@dataclass(frozen=True)
class Plan:
    approach: str
    why: str
    worker: str
    skipped: tuple[tuple[str, str], ...]
    constraints: tuple[str, ...]
    outputs: tuple[str, ...]


class Orchestrator:
    """Plan, execute, observe, until a ticket is done."""

    def __init__(self, workspace: mycel.Workspace, *, data: Path) -> None:
        self._memory = workspace.as_member("planner")
        self._workers = {id: Worker(id, workspace.as_member(id), data=data) for id in WORKERS}

    def take(self, ticket: Ticket, *, task_id: str) -> None:
        print(f"\n{task_id}: {ticket.text}")
        for _ in range(MOST_TRIES):
            plan = self._plan(ticket, task_id)
            if plan is None:
                break
            show(plan)
            result = self._workers[plan.worker].work(ticket, plan, task_id=task_id)
            print(f"  {'done' if result.works else 'failed'}: {result.said}")
            if result.works:
                self._observe(ticket, result)
                return
        print("  given up")

    def _plan(self, ticket: Ticket, task_id: str) -> Plan | None:
        """What worked on a similar task, or else the first idea that has not failed; None when there is neither."""
        briefing = self._memory.before_task(ticket.text, task_id=task_id, project=PROJECT)
        failed = {episode.approach: episode for episode in briefing.avoid}
        ideas = IDEAS[ticket.topic]
        proven = find_proven(briefing, failed)
        approach = proven.approach if proven else next((idea for idea in ideas if idea not in failed), None)
        if approach is None:
            return None
        return Plan(
            approach=approach,
            why=f"it worked {trace(proven)}" if proven else "nothing that worked is known, it is the next idea",
            worker=choose_worker(briefing),
            skipped=tuple((idea, f"it failed {trace(failed[idea])}") for idea in ideas if idea in failed),
            constraints=tuple(memory.content for memory in briefing.knowledge),
            outputs=self._outputs_of(proven.task_id) if proven else (),
        )

    def _outputs_of(self, task_id: str | None) -> tuple[str, ...]:
        return tuple(artifact.path for artifact in self._memory.artifacts.list(task_id=task_id))

    def _observe(self, ticket: Ticket, result: Result) -> None:
        """What worked becomes a convention, which whoever comes next is told as knowledge."""
        self._memory.knowledge.upsert(
            project=PROJECT, category="convention", key=ticket.topic, value=result.lesson, confidence=0.9
        )


def find_proven(briefing: Briefing, failed: Container[str]) -> Episode | None:
    """The likeliest that worked on a similar task and has not failed on another one."""
    for found in briefing.worked:
        if found.relevance >= LEAST_RELEVANCE and found.episode.approach not in failed:
            return found.episode
    return None


def choose_worker(briefing: Briefing) -> str:
    """Whoever did best on tasks like this one, of those who have not failed on this very task if there are any."""
    scores = {str(record.agent_id): record.score for record in briefing.agents}
    failed = {episode.agent_id for episode in briefing.tried if episode.action == "failed"}
    left = [id for id in WORKERS if id not in failed]
    return max(left or WORKERS, key=lambda id: scores.get(id, SCORE_OF_A_STRANGER))


def trace(episode: Episode) -> str:
    return f"for {episode.agent_id} on {episode.task_id}: {episode.outcome}"


class Worker:
    """An agent with the team's memory, and with a working memory that nobody else sees."""

    def __init__(self, id: str, memory: mycel.TeamMemory, *, data: Path) -> None:
        self._id = id
        self._memory = memory
        self._data = data

    def work(self, ticket: Ticket, plan: Plan, *, task_id: str) -> Result:
        with mycel.WorkingMemory(self._id, session_id=task_id, data=self._data) as mind:
            mind.current_plan = f"{ticket.text}\n{plan.approach}"
            for constraint in plan.constraints:
                mind.add_constraint(constraint)
            if plan.outputs:
                mind.set_context("builds on", list(plan.outputs))
            show_mind(mind)
            # A language model would now be given mind.to_markdown() and the tools to do the work.
            result = WORLD[plan.approach]
            self._report(plan, result, task_id=task_id)
            if result.works:
                mind.discard()
            else:
                # Kept: should this worker get the ticket once more, it goes on from here, also after a restart.
                mind.note(f"{plan.approach}: {result.said}")
        return result

    def _report(self, plan: Plan, result: Result, *, task_id: str) -> None:
        """One call keeps it all: the episode, the output, and the lesson as a candidate to be reviewed."""
        patch = {"path": result.patch, "type": "patch", "description": plan.approach, "content": result.said}
        self._memory.after_task(
            task_id=task_id,
            action="completed" if result.works else "failed",
            approach=plan.approach,
            output=result.said if result.works else None,
            what_went_wrong=None if result.works else result.said,
            lessons=[result.lesson],
            artifacts=[patch] if result.patch else None,
            project=PROJECT,
        )


def show(plan: Plan) -> None:
    for approach, why in plan.skipped:
        print(f"  skip: {approach}")
        print(f"    why: {why}")
    print(f"  plan: {plan.approach}")
    print(f"    why: {plan.why}")
    print(f"    who: {plan.worker}")


def show_mind(mind: mycel.WorkingMemory) -> None:
    for constraint in mind.active_constraints:
        print(f"  {mind.agent_id} keeps in mind: {constraint}")
    for key, value in mind.task_context.items():
        print(f"  {mind.agent_id} {key}: {', '.join(value)}")


def show_rates(memory: mycel.TeamMemory) -> None:
    for by in ("approach", "agent"):
        print(f"\nSuccess by {by}")
        for rate in memory.episodes.success_rates(by):
            print(f"  {rate.completed} of {rate.completed + rate.failed}  {rate.name}")


def set_up(workspace: mycel.Workspace) -> mycel.TeamMemory:
    """Returns the planner's memory. What is there already stays as it is."""
    workspace.add_team("engineering")
    workspace.add_member("planner", team="engineering", role="orchestrator")
    for id in WORKERS:
        workspace.add_member(id, team="engineering", role="agent")
    planner = workspace.as_member("planner")
    planner.knowledge.upsert(
        project=PROJECT,
        key="product table",
        value="An import must not lock the product table: it is read day and night.",
    )
    return planner


def run(data: Path) -> None:
    with mycel.open(data) as workspace:
        planner = set_up(workspace)
        before = {episode.task_id for episode in planner.episodes.list(limit=200)}
        print(f"{len(before)} tickets are remembered." if before else "Nothing is remembered yet.")
        orchestrator = Orchestrator(workspace, data=data)
        for number, ticket in enumerate(BACKLOG, start=len(before) + 1):
            orchestrator.take(ticket, task_id=f"T-{number}")
        show_rates(planner)


def main() -> None:
    parser = argparse.ArgumentParser(description="An orchestrator that does not repeat what has failed.")
    parser.add_argument("--data", type=Path, help="a folder to keep the memory in (default: one for this run only)")
    chosen = parser.parse_args().data
    if chosen is not None:
        run(chosen)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder))


if __name__ == "__main__":
    main()
