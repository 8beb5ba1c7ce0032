"""Reversals: what somebody has decided, nobody of a lower rank takes back, by whatever operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.memory import WRITTEN, Status
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, MycelError, NotFound
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock
from mycel.wire.operations import OPERATIONS
from tests.template import copy_template, make_tables, settings_of

pytestmark = pytest.mark.each_database(slow=True)

TEAM = "builders"
RANKS = {"agent": 0, "orchestrator": 1, "person": 2, "lead": 3, "admin": 3}
# Two of each rank: the second has nothing to do with what the first did.
MEMBERS = {
    "agent": ("agent", "agent"),
    "orchestrator": ("orchestrator", "agent"),
    "person": ("member", "human"),
    "lead": ("lead", "agent"),
    "admin": ("admin", "human"),
}
CURATORS = ("lead", "admin")


@dataclass(frozen=True)
class World:
    workspace: Workspace
    clock: ManualClock

    def member(self, role: str, number: int = 1) -> TeamMemory:
        return self.workspace.as_member(f"{role}-{number}")

    @property
    def reader(self) -> TeamMemory:
        return self.workspace.as_member("reader-1")

    def stands(self, id: str) -> bool:
        try:
            return self.reader.get(id).status is Status.ACTIVE
        except NotFound:
            return False


def make_world(data: Path) -> None:
    with open_workspace(clock=ManualClock(), disk=Disk(synchronous="OFF"), settings=settings_of(data)) as workspace:
        workspace.add_team(TEAM)
        workspace.add_team("others")
        workspace.add_member("reader-1", team=TEAM)
        for role, (name, kind) in MEMBERS.items():
            for number in (1, 2):
                workspace.add_member(f"{role}-{number}", team=TEAM, role=name, kind=kind)
        make_tables(workspace.as_member("agent-1"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    copy_template(make_world, tmp_path)
    clock = ManualClock()
    with open_workspace(clock=clock, disk=Disk(synchronous="OFF"), settings=settings_of(tmp_path)) as workspace:
        yield World(workspace, clock)


Act = Callable[[TeamMemory, str], Any]


# Who wrote what a test is about.
WRITERS: dict[str, str] = {}


def undone(member: TeamMemory, *, writer: str) -> str:
    report = member.reviews.undo_writer(agent_id=writer, since="2000-01-01T00:00:00Z")
    assert report.id is not None
    return report.id


# How somebody of a higher rank takes a memory away that its author has written.
TAKEN: dict[str, Act] = {
    "delete": lambda member, id: member.delete(id),
    "archive": lambda member, id: member.update(id, status="archived"),
    "supersede": lambda member, id: member.update(id, status="superseded"),
    "contradict": lambda member, id: member.update(id, status="contradicted"),
    "end": lambda member, id: member.update(id, expires_at="2001-01-01T00:00:00Z"),
    "replace": lambda member, id: member.save("Another statement holds instead.", supersedes=id),
    "undo_writer": lambda member, id: undone(member, writer=WRITERS[id]),
}
# How its author tries to bring it back: by each of these alone, and by all of them one after the other.
BROUGHT_BACK: dict[str, Act] = {
    "restore": lambda member, id: member.restore(id),
    "active": lambda member, id: member.update(id, status="active"),
    "inbox": lambda member, id: member.update(id, status="inbox"),
    "superseded": lambda member, id: member.update(id, status="superseded"),
    "no end": lambda member, id: member.update(id, expires_at=None),
    "later end": lambda member, id: member.update(id, ttl="9d"),
    "approve": lambda member, id: member.approve(id),
    "reopen": lambda member, id: member.reviews.reopen(id),
    "edit": lambda member, id: member.update(id, tags=["again"]),
    "undo what it did": lambda member, id: member.reviews.undo_writer(
        agent_id=member.member_id, since="2000-01-01T00:00:00Z"
    ),
    "undo the report": lambda member, id: [member.undo(report.id) for report in member.reports() if report.id],
    "delete and restore": lambda member, id: (member.delete(id), member.restore(id)),
}


def tried(act: Callable[[], Any]) -> MycelError | None:
    try:
        act()
    except MycelError as error:
        return error
    return None


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("decider", CURATORS)
def test_an_author_does_not_bring_back_what_a_curator_took_away(world: World, taken: str, decider: str) -> None:
    for role in ("agent", "orchestrator", "person"):
        author, curator = world.member(role), world.member(decider)
        for back in (*BROUGHT_BACK, None):
            id = author.save(f"The registry of {role} is registry.example, {back} after {taken}.").id
            WRITERS[id] = author.member_id
            TAKEN[taken](curator, id)
            assert not is_in_use(world, id)
            refused = [tried(lambda act=act, id=id, author=author: act(author, id)) for act in acts(back)]
            assert not is_in_use(world, id), (role, back, taken, refused)
            denied = [str(error) for error in refused if isinstance(error, AccessDenied)]
            if (back, taken) in {("restore", "delete"), ("active", "archive"), ("no end", "end"), (None, taken)}:
                # Who may is said.
                said = f"{decider}-1"
                assert any(said in one and "a lead or an admin" in one for one in denied), (role, back, refused)


def acts(back: str | None) -> list[Act]:
    return [BROUGHT_BACK[back]] if back is not None else list(BROUGHT_BACK.values())


def is_in_use(world: World, id: str) -> bool:
    """Whether others find it: also what has expired is kept, but no list has it."""
    return id in {one.id for one in world.reader.list(limit=200)}


@pytest.mark.parametrize("taken", [name for name in TAKEN if name not in {"end", "undo_writer"}])
def test_whoever_decided_and_every_curator_brings_it_back(world: World, taken: str) -> None:
    for decider in CURATORS:
        for reverser in (world.member(decider), world.member("lead", 2), world.member("admin", 2)):
            id = world.member("agent").save(f"A statement, {taken} by {decider}, back by {reverser.member_id}.").id
            TAKEN[taken](world.member(decider), id)
            if taken == "delete":
                reverser.restore(id)
            else:
                reverser.update(id, status="active")
            assert world.stands(id)


def test_what_an_author_took_back_it_brings_back(world: World) -> None:
    author = world.member("agent")
    id = author.save("The queue is drained at noon.").id
    author.delete(id)
    author.restore(id)
    author.update(id, status="archived")
    author.update(id, status="active")
    report = author.reviews.undo_writer(agent_id=author.member_id, since="2000-01-01T00:00:00Z")
    assert report.id is not None
    assert not world.stands(id)
    author.restore(id)
    assert world.stands(id)


@pytest.mark.parametrize("decider", ["orchestrator", "person", "lead", "admin"])
def test_reports_are_undone_by_whoever_made_them_or_their_equals(world: World, decider: str) -> None:
    for reverser, rank in RANKS.items():
        for number in (1, 2):
            writer, maker = world.member("agent"), world.member(decider)
            id = writer.save(f"Poison of a compromised agent for {reverser} {number}.").id
            if decider in CURATORS:
                report = maker.reviews.undo_writer(agent_id="agent-1", since="2000-01-01T00:00:00Z")
            else:
                id = maker.save(f"What the {decider} took back itself for {reverser} {number}.").id
                report = maker.reviews.undo_writer(agent_id=maker.member_id, since="2000-01-01T00:00:00Z")
            assert report.id is not None
            undoer = world.member(reverser, number)
            refused = tried(lambda undoer=undoer, id=report.id: undoer.undo(id))
            may_at_all = reverser in {"person", *CURATORS}
            allowed = may_at_all and (undoer.member_id == maker.member_id or rank >= RANKS[decider])
            if allowed:
                assert refused is None
            else:
                assert isinstance(refused, AccessDenied | NotFound), (decider, reverser, refused)
            assert world.stands(id) == allowed


@pytest.mark.parametrize("decider", ["person", "lead", "admin"])
def test_decisions_of_the_inbox_are_reversed_by_equals_alone(world: World, decider: str) -> None:
    for reverser, rank in RANKS.items():
        for decision in ("reject", "approve", "merge"):
            author = world.member(reverser, 2)
            standing = author.save(f"What stands beside {reverser} and {decision}.").id
            id = author.save(f"A candidate of {reverser} for {decision}.", needs_review=True).id
            maker = world.member(decider)
            if decision == "reject":
                maker.reject(id, "hearsay")
            elif decision == "approve":
                maker.approve(id)
            else:
                maker.reviews.merge(id, into=standing)
            allowed = rank >= RANKS[decider]
            reopened = tried(lambda author=author, id=id: author.reviews.reopen(id))
            assert (reopened is None) == allowed, (decider, reverser, decision, reopened)
            if allowed:
                continue
            assert isinstance(reopened, AccessDenied)
            if decision != "approve":
                for act in BROUGHT_BACK.values():
                    tried(lambda author=author, id=id, act=act: act(author, id))
                assert not world.stands(id), (decider, reverser, decision)


# A value of each field before and after a curator has corrected it.
CORRECTED: dict[str, tuple[Any, Any]] = {
    "content": ("Deploy with `make ship`.", "Deploy with `make release`, never with `make ship`."),
    "title": ("Deploying", "Deploying releases"),
    "summary": ("make ship", "make release"),
    "tags": (["ship"], ["release"]),
    "type": ("fact", "note"),
    "category": ("shipping", "releases"),
    "key": ("ship", "release"),
    "rationale": ("it is quick", "it is safe"),
    "alternatives": (["by hand"], ["by a script"]),
    "project": ("ships", "releases"),
    "repo": ("ships", "releases"),
    "path": ("/ships", "/releases"),
    "scope": ("global", "agent"),
    "session_id": ("s-1", "s-2"),
    "task_id": ("t-1", "t-2"),
    "visibility": ("team", "role"),
    "allowed_roles": (["agent", "orchestrator", "member"], ["admin"]),
    "confidence": (0.9, 0.2),
    "observed_at": ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
    "expires_at": ("2030-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    "ttl": ("900d", "200d"),
    "valid_from": ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"),
    "valid_until": ("2030-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    "metadata": ({"tool": "ship"}, {"tool": "release"}),
    "source_kind": ("manual", "run"),
    "source": ("https://ships.example", "https://releases.example"),
}
# `status` has tests of its own; a review is asked for by anybody.
NO_VALUES = {"status", "needs_review"}


def test_every_field_that_can_be_written_is_tried() -> None:
    assert WRITTEN.keys() - NO_VALUES == CORRECTED.keys()


@pytest.mark.parametrize("name", CORRECTED)
def test_an_author_does_not_put_back_what_a_curator_has_corrected(world: World, name: str) -> None:
    was, better = CORRECTED[name]
    author, curator = world.member("agent"), world.member("admin")
    given = {"visibility": "role"} if name == "allowed_roles" else {}
    first = {**given, name: was} if name != "content" else {}
    id = author.save(was if name == "content" else "How releases are made here.", **first).id
    roles = {"allowed_roles": ["admin"]} if name == "visibility" else {}
    corrected = curator.update(id, **{name: better}, **roles)
    with pytest.raises(AccessDenied, match=r"admin-1 changed its .*: only admin-1, a lead or an admin"):
        author.update(id, **{name: was})
    assert author.get(id) == corrected
    # What else there is to say, it says; and a curator may.
    author.update(id, **({"tags": ["other"]} if name != "tags" else {"title": "Other"}))
    curator.update(id, **{name: was})


def test_other_words_are_a_new_statement_and_other_spacing_is_not(world: World) -> None:
    author, lead = world.member("agent"), world.member("lead")
    id = author.save("Deploy with make ship.").id
    lead.update(id, content="Deploy with make release.")
    with pytest.raises(AccessDenied, match="lead-1 changed its content"):
        author.update(id, content="deploy  with make SHIP!")
    assert author.update(id, content="Deploy with make release, on weekdays only.").status is Status.ACTIVE
    lead.delete(author.save("Lead deletes this.").id)


def test_links_are_taken_away_and_made_again_by_equals_alone(world: World) -> None:
    author, lead = world.member("agent"), world.member("lead")
    one, other = (author.save(f"Statement {number} of the links.").id for number in (1, 2))
    lead.link(one, other, "contradicts")
    with pytest.raises(AccessDenied, match="lead-1 made this link: only lead-1"):
        author.unlink(one, other, "contradicts")
    lead.unlink(one, other, "contradicts")
    with pytest.raises(AccessDenied, match="lead-1 took this link away: only lead-1"):
        author.link(one, other, "contradicts")
    author.link(one, other, "related_to")
    author.unlink(one, other, "related_to")
    author.link(one, other, "related_to")
    world.member("admin").link(one, other, "contradicts")


def test_a_value_decided_against_waits_when_it_is_written_again(world: World) -> None:
    author, other = world.member("agent"), world.member("agent", 2)
    standing = author.knowledge.upsert(key="port", value="8080", confidence=0.5)
    rival = other.knowledge.upsert(key="port", value="9090", confidence=0.5)
    assert rival.status is Status.INBOX
    world.member("lead").knowledge.arbitrate(rival.id)
    again = author.knowledge.upsert(key="port", value="8080", confidence=1.0)
    assert again.status is Status.INBOX
    assert world.reader.knowledge.get(key="port").content == "9090"
    with pytest.raises(AccessDenied, match="lead-1"):
        world.member("orchestrator").knowledge.arbitrate(again.id)
    assert world.reader.knowledge.get(key="port").content == "9090"
    world.member("lead", 2).knowledge.arbitrate(again.id)
    assert world.reader.knowledge.get(key="port").content == "8080"
    assert standing.key == "port"


def test_a_value_that_a_curator_corrected_does_not_come_back_by_being_surer(world: World) -> None:
    author, lead = world.member("agent"), world.member("lead")
    author.knowledge.upsert(key="port", value="8080", confidence=0.5)
    lead.knowledge.upsert(key="port", value="9090", confidence=0.6)
    assert author.knowledge.upsert(key="port", value="8080", confidence=1.0).status is Status.INBOX
    assert world.reader.knowledge.get(key="port").content == "9090"
    assert author.knowledge.upsert(key="port", value="7070", confidence=1.0).status is Status.ACTIVE


def test_settling_and_merging_by_a_run_hold(world: World) -> None:
    author, other, person = world.member("agent"), world.member("agent", 2), world.member("person")
    one, two = author.save("The office opens at eight.").id, other.save("The office opens at nine.").id
    world.member("lead").link(one, two, "contradicts")
    world.member("lead").settle(two, over=one)
    for act in BROUGHT_BACK.values():
        tried(lambda act=act: act(author, one))
        tried(lambda act=act: act(person, one))
    assert not world.stands(one)
    assert world.stands(two)


def test_a_change_between_two_of_the_writer_is_not_undone_with_them(world: World) -> None:
    author = world.member("agent")
    id = author.save("Poison.").id
    world.clock.move(timedelta(hours=1))
    since = world.clock.now().isoformat()
    author.update(id, tags=["one"])
    world.member("lead").update(id, status="archived")
    author.update(id, tags=["two"])
    report = author.reviews.undo_writer(agent_id="agent-1", since=since)
    assert id in report.left
    assert not world.stands(id)


def test_who_was_a_lead_then_counts_as_one_now(world: World) -> None:
    """The rank of a decision is that of its moment: nobody waits until the lead has left."""
    author, lead = world.member("agent"), world.member("lead")
    ids = [author.save(f"Statement {number} that the lead deletes.").id for number in range(3)]
    for id in ids:
        lead.delete(id)
    world.clock.move(timedelta(days=1))
    world.workspace.update_member("lead-1", role="agent")
    with pytest.raises(AccessDenied, match="lead-1 deleted it"):
        author.restore(ids[0])
    world.workspace.update_member("lead-1", team="others")
    with pytest.raises(AccessDenied, match="lead-1 deleted it"):
        author.restore(ids[1])
    world.workspace.remove_member("lead-1")
    with pytest.raises(AccessDenied, match="lead-1 deleted it"):
        author.restore(ids[2])
    world.member("admin").restore(ids[0])


def test_a_promotion_afterwards_gives_no_decision_more_weight(world: World) -> None:
    person, other = world.member("person"), world.member("person", 2)
    id = world.member("agent").save("A candidate.", needs_review=True).id
    person.reject(id, "no")
    world.clock.move(timedelta(days=1))
    world.workspace.update_member("person-1", role="lead")
    assert other.reviews.reopen(id).status is Status.INBOX


def test_a_hidden_memory_looks_like_an_absent_one(world: World) -> None:
    author, other = world.member("agent"), world.member("agent", 2)
    id = author.save("Only for me.", visibility="private").id
    author.delete(id)
    for act in (other.restore, other.get, lambda id: other.update(id, status="active"), other.reviews.reopen):
        error = tried(lambda act=act: act(id))
        assert isinstance(error, NotFound)
        assert "agent-1" not in str(error)


def test_an_archive_does_not_bring_back_what_was_taken_away(world: World, tmp_path: Path) -> None:
    author, lead = world.member("agent"), world.member("lead")
    ids = [author.save(f"Statement {number} in an archive.").id for number in range(3)]
    author.export(tmp_path / "own.jsonl")
    lead.delete(ids[0])
    lead.update(ids[1], status="archived")
    author.import_(tmp_path / "own.jsonl")
    contents = {one.content for one in world.reader.list(limit=100)}
    assert not contents & {"Statement 0 in an archive.", "Statement 1 in an archive."}


def test_a_copied_history_still_says_who_decided(world: World, tmp_path: Path) -> None:
    """By the operator's archive into another workspace, where nobody knows the lead."""
    author, lead = world.member("agent"), world.member("lead")
    id = author.save("Poison that moves along.").id
    lead.update(id, status="archived")
    world.workspace.export(tmp_path / "all.jsonl", team=TEAM)
    world.workspace.remove_member("lead-1")
    world.workspace.import_(tmp_path / "all.jsonl", team=TEAM)
    with pytest.raises(AccessDenied, match="lead-1 made it archived"):
        author.update(id, status="active")


def test_a_summary_that_a_lead_deleted_does_not_come_back_when_the_session_goes_on(world: World) -> None:
    author, lead = world.member("agent"), world.member("lead")
    talk = [{"role": "user", "content": "Please move the billing service to another registry."}]
    author.capture_session(talk, session_id="s-1")
    world.workspace.run_pending()
    [summary] = [one for one in world.reader.list(limit=100) if one.made_by == "session_summary"]
    lead.delete(summary.id)
    talk.append({"role": "assistant", "content": "The billing service reads from the other registry now."})
    world.clock.move(timedelta(hours=1))
    author.capture_session(talk, session_id="s-1")
    world.workspace.run_pending()
    assert not [one for one in world.reader.list(limit=100) if one.made_by == "session_summary"]


# Every operation that writes, and where its reversal is tried; what reverses nothing says why.
REVERSALS: dict[str, str] = {
    "save": "TAKEN: by `supersedes`; a new statement reverses nothing",
    "ingest": "as save",
    "save_many": "new statements",
    "update": "TAKEN, BROUGHT_BACK, CORRECTED",
    "delete": "TAKEN",
    "restore": "BROUGHT_BACK",
    "purge": "nothing brings it back: tests of erasure",
    "link": "links",
    "unlink": "links",
    "rate": "everybody's own rating",
    "settle": "settling",
    "cascade": "leads and admins alone",
    "escalate": "leads and admins alone",
    "withdraw": "leads and admins alone",
    "approve": "inbox, BROUGHT_BACK",
    "approve_many": "as approve",
    "reject": "inbox",
    "reject_many": "as reject",
    "reviews.claim": "stops nobody",
    "reviews.snooze": "everybody's own inbox",
    "reviews.merge": "inbox",
    "reviews.reopen": "inbox, BROUGHT_BACK",
    "reviews.undo_writer": "TAKEN, BROUGHT_BACK",
    "consolidate": "reports",
    "undo": "reports, BROUGHT_BACK",
    "knowledge.upsert": "values",
    "knowledge.delete": "as delete",
    "knowledge.arbitrate": "values",
    "knowledge.import_markdown": "as knowledge.upsert: both store by `store_value`",
    "artifacts.register": "a new record of a file",
    "artifacts.delete": "as delete",
    "episodes.log": "what was tried stays as it was told",
    "episodes.log_many": "as episodes.log",
    "index_file": "a new statement of what the file says",
    "capture_session": "candidates, which reviewers decide about",
    "capture_conversation": "candidates, which reviewers decide about",
    "summarize_thread": "a summary that somebody has changed is not written again",
    "complete_task": "a new record of what was done",
    "fail_task": "a new record of what was done",
    "after_task": "a new record of what was done",
    "imports.take": "what was deleted or edited here stays so: tests of foreign records",
    "upsert_profile_fact": "the person it is about decides, or an admin",
    "inject_learning": "leads and admins alone",
    "set_policy": "leads and admins alone",
    "activity.report": "what an agent was given",
    "sources.retry": "does again what failed, and decides nothing",
    "projects.register": "anybody names places; the audit keeps what they were called",
    "repos.register": "anybody names places; the audit keeps what they were called",
    "views.save": "everybody's own",
    "views.delete": "everybody's own",
}


def test_every_operation_that_writes_has_its_entry() -> None:
    """A new one fails here until somebody has thought about what it takes back."""
    known = {one.name for one in OPERATIONS if one.writes and not one.name.startswith("workspace.")}
    assert known == REVERSALS.keys()


@pytest.mark.parametrize("role", ["agent", "orchestrator", "person"])
def test_what_leads_and_admins_alone_decide_nobody_else_takes_back(world: World, role: str) -> None:
    member, lead = world.member(role), world.member("lead")
    id = world.member("agent").save("For every team.").id
    lead.set_policy(least_trust="normal")
    for act in (
        lambda: member.set_policy(least_trust="low"),
        lambda: member.cascade(id),
        lambda: member.escalate(id),
        lambda: member.withdraw(id),
        lambda: member.inject_learning("agent-1", "Other.", "preference"),
    ):
        assert isinstance(tried(act), AccessDenied)
