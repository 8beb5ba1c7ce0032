"""What people read is no use: only what agents fetch for their work counts, and it alone moves a rank."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.artifact import Artifact
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import MycelError
from mycel.surfaces.vault.agreement import KnownVaults
from mycel.surfaces.vault.sync import Allowed, Vault
from mycel.wire.operations import OPERATIONS
from tests.squad import TEAM, Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path / "data")
    with squad.workspace:
        yield squad


@pytest.fixture
def made(squad: Squad) -> Artifact:
    return squad.author.artifacts.register(
        path="src/billing.py", description="Billing reads the registry.", task_id="t-1"
    )


def a_vault(member: TeamMemory, root: Path) -> None:
    root.mkdir()
    vault = Vault(root, member, known=KnownVaults(root.parent / "known"), settle=0)
    for _ in range(2):
        with vault.opened():
            vault.sync(Allowed())
        assert list(root.rglob("*.md"))
        for note in root.rglob("*.md"):
            note.write_text(note.read_text("utf-8").replace("Billing", "The billing"), "utf-8")


READS: dict[str, Callable[[TeamMemory, str, Path], Any]] = {
    "get": lambda member, id, _: member.get(id),
    "list": lambda member, id, _: member.list(deleted=False),
    "tree": lambda member, id, _: member.tree("/"),
    "recent": lambda member, id, _: member.recent(),
    "search": lambda member, id, _: member.search("billing registry"),
    "history": lambda member, id, _: member.history(id),
    "links": lambda member, id, _: member.links(id),
    "usage": lambda member, id, _: member.usage(id),
    "explain": lambda member, id, _: member.explain(memory_id=id),
    "context_for": lambda member, id, _: member.context_for(task="billing registry").to_markdown(),
    "before_task": lambda member, id, _: member.before_task("billing registry"),
    "inbox": lambda member, id, _: member.inbox(),
    "reviews.get": lambda member, id, _: member.reviews.get(id),
    "report": lambda member, id, _: member.report(id),
    "reports": lambda member, id, _: member.reports(),
    "receipt": lambda member, id, _: member.receipt(id),
    "cascades": lambda member, id, _: member.cascades(),
    "audit": lambda member, id, _: list(member.audit()),
    "policy": lambda member, id, _: member.policy(),
    "stats": lambda member, id, _: member.stats(),
    "activity.given": lambda member, id, _: member.activity.given(id),
    "activity.actions": lambda member, id, _: member.activity.actions(),
    "activity.members": lambda member, id, _: member.activity.members(),
    "activity.use": lambda member, id, _: member.activity.use(by="type"),
    "activity.injections": lambda member, id, _: member.activity.injections(),
    "artifacts.get": lambda member, id, _: member.artifacts.get(id),
    "artifacts.list": lambda member, id, _: member.artifacts.list(text="billing"),
    "artifacts.verify": lambda member, id, _: member.artifacts.verify(id),
    "episodes.get": lambda member, id, _: member.episodes.get(id),
    "episodes.list": lambda member, id, _: member.episodes.list(),
    "episodes.similar": lambda member, id, _: member.episodes.similar("billing"),
    "episodes.best_agents": lambda member, id, _: member.episodes.best_agents("billing"),
    "episodes.success_rates": lambda member, id, _: member.episodes.success_rates(),
    "knowledge.get": lambda member, id, _: member.knowledge.get(key="port"),
    "knowledge.list": lambda member, id, _: member.knowledge.list(),
    "knowledge.candidates": lambda member, id, _: member.knowledge.candidates(),
    "knowledge.search": lambda member, id, _: member.knowledge.search("billing"),
    "knowledge.history": lambda member, id, _: member.knowledge.history(id),
    "projects.list": lambda member, id, _: member.projects.list(),
    "repos.list": lambda member, id, _: member.repos.list(),
    "views.list": lambda member, id, _: member.views.list(),
    "views.run": lambda member, id, _: (member.views.save("v", query="billing"), member.views.run("v")),
    "sources.list": lambda member, id, _: member.sources.list(),
    "sources.get": lambda member, id, _: member.sources.get(id),
    "sources.events": lambda member, id, _: member.sources.events(),
    "sources.event": lambda member, id, _: member.sources.event(id),
    "export": lambda member, id, folder: member.export(folder / f"{member.member_id}.jsonl"),
    "changes": lambda member, id, _: list(member.changes()),
    "a vault": lambda member, id, folder: a_vault(member, folder / "vault"),
}
# What an agent fetches for its own work.
FETCHES = {"get", "artifacts.get"}


def read(squad: Squad, name: str, member: TeamMemory, id: str) -> int:
    """How often it counts as read after this."""
    folder = squad.data.parent / f"{member.member_id}-files"
    folder.mkdir()
    # It may be of another kind, and then was looked at all the same.
    with contextlib.suppress(MycelError):
        READS[name](member, id, folder)
    return counted(squad, id)


def counted(squad: Squad, id: str) -> int:
    """What was counted so far: an explanation has all of it written first."""
    squad.teammate.explain(memory_id=id)
    return squad.teammate.usage(id).access_count


def test_every_operation_that_reads_is_tried() -> None:
    reading = {one.name for one in OPERATIONS if not one.writes and not one.name.startswith("workspace.")}
    assert reading <= READS.keys()


@pytest.mark.parametrize("name", READS)
def test_what_people_read_is_no_use(squad: Squad, made: Artifact, name: str) -> None:
    for member in (squad.person, squad.admin, squad.workspace.as_operator(TEAM)):
        assert read(squad, name, member, made.id) == 0


@pytest.mark.parametrize("name", READS)
def test_of_what_agents_read_what_they_fetch_is_use(squad: Squad, made: Artifact, name: str) -> None:
    assert read(squad, name, squad.teammate, made.id) == int(name in FETCHES)


def test_a_tool_that_copies_memories_says_so(squad: Squad, made: Artifact) -> None:
    squad.teammate.get(made.id, for_use=False)
    squad.teammate.get(made.id, as_of=squad.clock.now())
    assert counted(squad, made.id) == 0


def test_a_backup_is_no_use(squad: Squad, made: Artifact) -> None:
    squad.workspace.export(squad.data.parent / "all.jsonl", team=TEAM)
    squad.workspace.run_pending()
    assert counted(squad, made.id) == 0


def test_people_move_no_rank(squad: Squad) -> None:
    one, other = (squad.author.save(f"The deploy of {name} needs a token.").id for name in ("web", "api"))
    scores = {hit.memory.id: hit.score for hit in squad.teammate.search("deploy token").hits}
    for _ in range(5):
        squad.person.get(one)
    squad.pass_time(hours=1)
    hits = squad.teammate.search("deploy needs token").hits
    assert {hit.memory.id for hit in hits} == {one, other} == scores.keys()
    assert not any("often read" in hit.why for hit in hits)
    assert counted(squad, one) == 0
