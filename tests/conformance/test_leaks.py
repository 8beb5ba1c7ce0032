"""A hidden memory looks exactly like an absent one.

Two workspaces are built alike, second by second; one of them also has a memory that some readers must not see, with
everything that can hang on one: versions, links, a source, an event, a project, a repo, ratings, recalls. Then every
method is called in both, and whatever differs is a leak. Known exceptions, which are not compared: gaps in sequence
numbers (and in the row numbers inside a cursor), and ranking scores.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mycel.access.rules import may_review
from mycel.access.scope import ReadScope
from mycel.app import open_workspace
from mycel.domain.briefing import Briefing
from mycel.domain.context import ContextBundle
from mycel.domain.ids import TeamName
from mycel.domain.memory import Memory
from mycel.domain.query import Page
from mycel.domain.recall import Recall
from mycel.embedded.activity import ActivityOfTeam
from mycel.embedded.parts import Artifacts, EpisodeLedger, Imports, Knowledge, Reviews
from mycel.embedded.team_memory import Projects, Repos, Sources, TeamMemory, Views
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, MycelError
from mycel.settings import Settings
from mycel.stores.postgres import index as postgres_index
from mycel.stores.postgres import search_clauses, term_sample, word_search
from mycel.stores.postgres.pool import open_database
from mycel.stores.sql import artifacts, index, memories, places, reports, sources
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import open_data_directory
from mycel.testing.clock import ManualClock
from mycel.testing.embedder import WordEmbedder
from mycel.testing.store_samples import a_source, an_event
from tests.conformance.memory_api_cast import MEMBERS
from tests.postgres import Server, another, as_url, dropped, name_of
from tests.template import ABSENT

pytestmark = pytest.mark.each_database(slow=True)

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
READERS = ("author", "teammate", "human", "outsider", "child_lead", "lead", "admin")


@dataclass
class World:
    workspace: Workspace
    clock: ManualClock
    folder: Path
    subject: str = ABSENT
    subject_source: str = ABSENT
    subject_event: str = ABSENT
    subject_episode: str = ABSENT
    subject_artifact: str = ABSENT
    names: dict[str, str] = field(default_factory=dict)
    # Where its rows are, unless they are in the folder.
    database: Server | None = None

    def member(self, name: str) -> TeamMemory:
        return self.workspace.as_member(MEMBERS[name][0])

    def tick(self) -> None:
        self.clock.move(timedelta(seconds=1))

    def known(self, id: str, name: str) -> str:
        self.names[id] = name
        return id

    def copied(self, folder: Path) -> "World":
        """A closed world, opened again elsewhere."""
        shutil.copytree(self.folder, folder)
        database = None if self.database is None else another(of=name_of(self.database))
        clock = ManualClock(self.clock.now())
        workspace = opened(folder, clock, database)
        return replace(self, workspace=workspace, clock=clock, folder=folder, database=database)


@dataclass(frozen=True)
class Scenario:
    """What the hidden memory is, who must not notice, and which cases some readers may tell apart.

    Where somebody like them is asked in a scenario that ends alike, some readers are asked by the proofs alone.
    """

    fields: dict[str, Any]
    ends: str = "stays"
    hidden_from: tuple[str, ...] = ("outsider",)
    left_to_proofs: tuple[str, ...] = ()
    except_for: dict[str, frozenset[str]] = field(default_factory=dict)


# A lead reads every team above: here one of them is between the child's and the one with what is hidden.
TEAMS = {"squad": "executive", "other": "executive", "squad-mid": "squad", "squad-child": "squad-mid"}
INSIDERS = ("author", "teammate", "human", "lead", "admin", "child_lead")
# Sources stay when what was made from them is deleted, and lose only their text when it is purged.
OF_THE_SOURCE = frozenset({"sources.list", "sources.get", "sources.events", "sources.event", "save", "save_many"})
OF_THE_SOURCE |= {"ingest", "capture_session"}
OF_THE_SOURCE |= {"sources.retry", "capture_conversation", "summarize_thread", "stats", "export", "import_"}
SAW_IT_DELETED = OF_THE_SOURCE | {"audit", "changes", "list of deleted", "the past", "restore", "purge"}
SAW_IT_PURGED = OF_THE_SOURCE | {"audit", "changes", "receipt"}
LOST_SIGHT_OF_IT = frozenset({"audit", "changes", "purge", "receipt"})
PURGES_UNSEEN = {"admin": frozenset({"purge", "receipt"})}
FOR_LEADS = {"visibility": "role", "allowed_roles": ["lead"]}
PRIVATE = {"visibility": "private"}
NARROWER = ("teammate", "human", "outsider", "child_lead")
SCENARIOS = {
    "team": Scenario({}),
    "role": Scenario(FOR_LEADS, hidden_from=NARROWER),
    "private": Scenario(PRIVATE, hidden_from=READERS[1:], except_for=PURGES_UNSEEN),
    "team, deleted": Scenario(
        {},
        "deleted",
        hidden_from=READERS,
        left_to_proofs=("teammate", "outsider", "lead", "admin"),
        except_for=dict.fromkeys(INSIDERS, SAW_IT_DELETED),
    ),
    "private, deleted": Scenario(
        PRIVATE,
        "deleted",
        hidden_from=READERS[1:],
        left_to_proofs=("human", "child_lead"),
        except_for=PURGES_UNSEEN,
    ),
    "team, purged": Scenario(
        {},
        "purged",
        hidden_from=READERS,
        left_to_proofs=("teammate", "human", "lead", "child_lead"),
        except_for=dict.fromkeys(INSIDERS, SAW_IT_PURGED),
    ),
    "role, purged": Scenario(FOR_LEADS, "purged", hidden_from=NARROWER, left_to_proofs=("human", "outsider")),
    "private, purged": Scenario(
        PRIVATE,
        "purged",
        hidden_from=READERS[1:],
        left_to_proofs=("teammate", "outsider", "admin"),
        except_for=PURGES_UNSEEN,
    ),
    "shared, then private": Scenario(
        {},
        "made private",
        hidden_from=READERS[1:],
        except_for=dict.fromkeys(READERS[1:], LOST_SIGHT_OF_IT),
    ),
}


HIDDEN_FILE: dict[str, Any] = {
    "path": "hidden/plan.md",
    "type": "document",
    "content": "theta heron",
    "keep_content": True,
    "description": "a plan with a secretword",
    "task_id": "t-hidden",
    "project": "only-hidden",
}


def build(folder: Path, scenario: Scenario | None, database: Server | None) -> World:
    """Closed when it is done. The clock moves before every step, so that the extra steps shift no other moment."""
    clock = ManualClock()
    folder.mkdir()
    with opened(folder, clock, database) as workspace:
        return filled(World(workspace, clock, folder, database=database), scenario)


def opened(folder: Path, clock: ManualClock, database: Server | None) -> Workspace:
    settings = Settings(data=folder, database_url=None if database is None else as_url(database.service))
    return open_workspace(settings=settings, clock=clock, disk=Disk(synchronous="OFF"), embedder=WordEmbedder())


def filled(world: World, scenario: Scenario | None) -> World:
    for team, parent in TEAMS.items():
        world.workspace.add_team(team, parent=parent)
    for id, team, kind, role, trust in MEMBERS.values():
        world.workspace.add_member(id, team=team, kind=kind, role=role, trust=trust)
    author, teammate, lead = (world.member(name) for name in ("author", "teammate", "lead"))
    world.tick()
    first = author.save("alpha heron on the lake", project="p1", repo="r1", tags=["bird"], path="/birds/grey")
    world.known(first.id, "first")
    world.tick()
    second = teammate.save("gamma heron by the river", path="/birds", category="convention")
    world.known(second.id, "second")
    world.tick()
    author.link(first.id, second.id, "supports")
    for _ in range(6):
        world.tick()
        if scenario is not None:
            hide_step(world, scenario, first.id)
    for step in after_steps(world):
        world.tick()
        step()
    for name in READERS:
        world.tick()
        world.member(name).views.save("kept", query="heron")
    lead.projects.register("p1", description="known to all")
    return world


def hide_step(world: World, scenario: Scenario, first: str) -> None:
    """One of six steps in the life of the hidden memory: the step follows from how far it has come."""
    author = world.member("author")
    if world.subject == ABSENT:
        source, world.subject_event = add_source(world)
        world.subject_source = source
        memory = author.save(
            "beta heron with a secretword",
            type="lesson",
            project="later",
            repo="later-repo",
            path="/hidden/place",
            tags=["hush"],
            key="hk",
            category="secret",
            source={"source_id": source},
            session_id="s-hidden",
            task_id="t-hidden",
            **scenario.fields,
        )
        world.subject = memory.id
        world.subject_episode = author.episodes.log(
            action="failed",
            approach="hidden way of the secretword heron",
            outcome="hushed",
            task_id="t-hidden",
            project="later",
            **scenario.fields,
        ).id
        world.subject_artifact = author.artifacts.register(**HIDDEN_FILE, **scenario.fields).id
        return
    version = author.history(world.subject)[-1].memory.version if is_there(author, world.subject) else 99
    if version == 1:
        author.update(world.subject, project="shared", repo="shared-repo", content="beta heron, secretword again")
    elif version == 2:
        author.update(world.subject, project="only-hidden", repo="only-hidden-repo", metadata={"x": 1})
    elif version == 3 and not author.links(world.subject):
        author.link(first, world.subject, "contradicts")
        author.link(world.subject, first, "supports")
        author.rate(world.subject, useful=True, recall_id=author.search("secretword").id)
    elif version == 3:
        finish = {"deleted": author.delete, "purged": author.purge}.get(scenario.ends)
        for id in (world.subject, world.subject_episode, world.subject_artifact):
            if finish:
                finish(id)
            if scenario.ends == "made private":
                author.update(id, visibility="private")


def after_steps(world: World) -> list[Callable[[], object]]:
    """Written once the hidden memory is there: none of it may show that it came second."""
    author, teammate, lead, newcomer = (world.member(name) for name in ("author", "teammate", "lead", "newcomer"))
    return [
        lambda: world.known(teammate.save("delta heron", project="shared", repo="shared-repo").id, "third"),
        lambda: lead.projects.register("later"),
        lambda: lead.repos.register("later-repo"),
        lambda: world.known(
            author.save("epsilon", key="own", category="secret", visibility="private", confidence=0.2).id, "private"
        ),
        lambda: world.known(newcomer.save("zeta heron waits").id, "waiting"),
        lambda: world.known(teammate.save("eta heron gone").id, "gone"),
        lambda: teammate.delete(next(id for id, name in world.names.items() if name == "gone")),
    ]


def add_source(world: World) -> tuple[str, str]:
    """For the whole team by itself; what is made from it is what hides it."""
    if world.database is not None:
        directory, stores = open_database(as_url(world.database.service), clock=world.clock)
    else:
        directory, stores = open_data_directory(world.folder, clock=world.clock, disk=Disk(synchronous="OFF"))
    source = a_source("they said secretword", uri="https://example.org/hidden")
    event = an_event(source)
    with closing(directory), closing(stores), stores.lease(TeamName("squad")) as store:
        store.transact(lambda transaction: transaction.sources.add(source))
        store.transact(lambda transaction: transaction.queue.add(event))
    return source.id, event.id


def is_there(member: TeamMemory, id: str) -> bool:
    try:
        return bool(member.get(id))
    except MycelError:
        return False


Case = Callable[[TeamMemory, World], list[Callable[[], object]]]


def pages(api: TeamMemory) -> list[Page[Any]]:
    found = [api.list(limit=1, status="any")]
    while found[-1].next_cursor:
        found.append(api.list(limit=1, status="any", cursor=found[-1].next_cursor))
    return found


def moments(world: World) -> list[datetime]:
    return [world.clock.now() - timedelta(seconds=seconds) for seconds in (0, 15, 17, 18, 60)]


def presence(api: TeamMemory) -> list[object]:
    """When others were at work is told to those who look after them, and moves with what these may not see."""
    members = api.activity.members()
    return (
        [(one.member_id, one.role) for one in sorted(members, key=lambda one: one.member_id)]
        if may_review(api.who_am_i())
        else [*members]
    )


CASES: dict[str, Case] = {
    "get": lambda api, w: [lambda: api.get(w.subject)],
    "the past": lambda api, w: [
        *(lambda at=at: api.get(w.subject, as_of=at) for at in moments(w)),
        *(lambda at=at: api.list(as_of=at, status="any") for at in moments(w)),
        *(lambda at=at, q=q: api.search(q, as_of=at) for at in moments(w) for q in ("heron", "secretword", "")),
    ],
    "history": lambda api, w: [lambda: api.history(w.subject)],
    "links": lambda api, w: [lambda: api.links(w.subject), *(lambda id=id: api.links(id) for id in w.names)],
    "usage": lambda api, w: [lambda: api.usage(w.subject)],
    "receipt": lambda api, w: [lambda: api.receipt(w.subject)],
    "list": lambda api, w: [
        lambda: pages(api),
        lambda: api.list(order_by="title"),
        lambda: api.list(order_by="-updated_at", status="any"),
        *(
            lambda filters=filters: api.list(status="any", **filters)
            for filters in (
                {"path": "/hidden"},
                {"project": "only-hidden"},
                {"project": "shared"},
                {"repo": "only-hidden-repo"},
                {"tags": "hush"},
                {"key": "hk"},
                {"category": "secret"},
                {"type": "lesson"},
                {"agent": "swe-1"},
                {"session_id": "s-hidden"},
                {"task_id": "t-hidden"},
            )
        ),
        lambda: api.list(team="squad"),
        lambda: api.list(team="nowhere"),
    ],
    "list of deleted": lambda api, w: [lambda: api.list(deleted=True)],
    "tree": lambda api, w: [
        *(lambda path=path: api.tree(path) for path in ("/", "/hidden", "/hidden/place", "/birds")),
        lambda: api.tree("/", team="squad"),
    ],
    "recent": lambda api, w: [lambda: api.recent(), lambda: api.recent(2), lambda: api.recent(1000)],
    "stats": lambda api, w: [lambda: api.stats()],
    "search": lambda api, w: [
        *(lambda q=q: api.search(q, limit=100) for q in ("heron", "secretword", "beta", '"beta heron"', "hush", None)),
        lambda: api.search("heron", min_relevance=0, limit=1000, status="any"),
        lambda: api.search("heron", type="lesson"),
        lambda: api.search("heron", project="only-hidden"),
        lambda: api.search("heron", path="/hidden"),
    ],
    "context_for": lambda api, w: [
        *(
            lambda asked=asked: bundled(api.context_for(**asked))
            for asked in (
                {},
                {"task": "heron"},
                {"task": "beta heron secretword", "project": "only-hidden"},
                {"task": "t-hidden"},
                {"project": "p1", "repo": "only-hidden-repo"},
                {"agent": "swe-1", "task": "secretword"},
            )
        )
    ],
    "explain": lambda api, w: [
        lambda: api.explain(memory_id=w.subject),
        lambda: api.explain(api.search("heron").id, missing=w.subject).text,
        lambda: api.explain(api.search("secretword").id, missing=w.subject).text,
        *(lambda id=id: explained(api, id) for id in w.names),
    ],
    "changes": lambda api, w: [
        lambda: list(api.changes()),
        lambda: list(api.changes(path="/hidden")),
        lambda: list(api.changes(project="later")),
        lambda: list(api.changes(project="only-hidden", type=["lesson", "episode"])),
        lambda: list(api.changes(team="squad")),
    ],
    "before_task": lambda api, w: [
        *(
            lambda asked=asked: briefed(api.before_task(**asked))
            for asked in (
                {"task": "hidden way of the secretword heron"},
                {"task": "t-hidden"},
                {"task": "heron", "task_id": "t-hidden", "project": "only-hidden"},
            )
        )
    ],
    "after_task": lambda api, w: [
        lambda: api.after_task(task_id="t-hidden", output="nothing new", visibility="private").artifacts
    ],
    "episodes.list": lambda api, w: [
        *(
            lambda asked=asked: api.episodes.list(**asked)
            for asked in ({}, {"task_id": "t-hidden"}, {"agent_id": "swe-1"}, {"action": "failed"}, {"team": "squad"})
        )
    ],
    "episodes.get": lambda api, w: [lambda: api.episodes.get(w.subject_episode), lambda: api.episodes.get(w.subject)],
    "episodes.similar": lambda api, w: [
        lambda: sorted(repr(one) for one in api.episodes.similar("hidden way of the secretword heron", limit=100))
    ],
    "episodes.best_agents": lambda api, w: [lambda: sorted(map(repr, api.episodes.best_agents("secretword heron")))],
    "episodes.success_rates": lambda api, w: [
        *(lambda by=by: api.episodes.success_rates(by) for by in ("approach", "agent", "day", "week", "month")),
        lambda: api.episodes.success_rates(task_id="t-hidden"),
        lambda: api.episodes.success_rates(team="squad"),
    ],
    # What it makes is the caller's own.
    "episodes.log_many": lambda api, w: [
        lambda: undone(
            api,
            [
                one.memory
                for one in api.episodes.log_many([{"action": "failed", "approach": "own", "visibility": "private"}])
            ],
        )
    ],
    "episodes.log": lambda api, w: [
        lambda: undone(api, [api.episodes.log(action="failed", approach="own", visibility="private").memory])
    ],
    "projects.__call__": lambda api, w: [lambda: api.projects()],
    "projects.list": lambda api, w: [lambda: api.projects.list()],
    "projects.register": lambda api, w: [lambda: api.projects.register("later")],
    "repos.__call__": lambda api, w: [lambda: api.repos()],
    "repos.list": lambda api, w: [lambda: api.repos.list()],
    "repos.register": lambda api, w: [lambda: api.repos.register("later-repo")],
    "sources.get": lambda api, w: [lambda: api.sources.get(w.subject_source)],
    "sources.list": lambda api, w: [lambda: api.sources.list()],
    "sources.events": lambda api, w: [lambda: api.sources.events()],
    "sources.event": lambda api, w: [lambda: api.sources.event(w.subject_event)],
    "sources.retry": lambda api, w: [lambda: api.sources.retry(w.subject_event)],
    "inbox": lambda api, w: [
        lambda: api.inbox(),
        lambda: api.inbox(project="only-hidden"),
        lambda: api.inbox(type="lesson"),
    ],
    "reports": lambda api, w: [lambda: api.reports()],
    "report": lambda api, w: [lambda: api.report(w.subject)],
    "audit": lambda api, w: [lambda: api.audit(), lambda: api.audit(memory_id=w.subject)],
    "cascades": lambda api, w: [lambda: api.cascades()],
    "policy": lambda api, w: [lambda: api.policy()],
    "consolidate": lambda api, w: [
        lambda: api.consolidate(dry_run=True),
        lambda: api.consolidate(ids=[w.subject], dry_run=True),
        lambda: api.consolidate(ids=[w.subject]),
    ],
    "knowledge.list": lambda api, w: [
        lambda: api.knowledge.list(),
        lambda: api.knowledge.list(key="hk"),
        lambda: api.knowledge.list(project="only-hidden", category="secret"),
        lambda: api.knowledge.list(team="squad"),
    ],
    "knowledge.get": lambda api, w: [
        lambda: api.knowledge.get(key="hk", project="only-hidden", category="secret"),
        lambda: api.knowledge.get(key="hk", project="only-hidden", category="secret", team="squad"),
    ],
    "knowledge.candidates": lambda api, w: [
        lambda: api.knowledge.candidates(),
        lambda: api.knowledge.candidates(key="hk"),
    ],
    "knowledge.history": lambda api, w: [lambda: api.knowledge.history(w.subject)],
    "knowledge.search": lambda api, w: [
        lambda: api.knowledge.search("secretword heron"),
        lambda: api.knowledge.search(None, project="only-hidden", limit=100),
    ],
    "knowledge.delete": lambda api, w: [lambda: api.knowledge.delete(w.subject)],
    "knowledge.arbitrate": lambda api, w: [lambda: api.knowledge.arbitrate(w.subject)],
    # Under the very key of the hidden memory, for the same readers and for others.
    "knowledge.upsert": lambda api, w: [
        *(
            lambda audience=audience: undone(
                api,
                [
                    api.knowledge.upsert(
                        key="hk", project="only-hidden", category="secret", value="x", expected_version=0, **audience
                    )
                ],
            )
            for audience in ({"visibility": "private"}, FOR_LEADS)
        ),
    ],
    "knowledge.import_markdown": lambda api, w: [
        lambda: api.knowledge.import_markdown(
            "# Secret\nbeta heron, secretword again\n", name="hidden.md", project="only-hidden", dry_run=True
        ),
        lambda: api.knowledge.import_markdown(
            "- hk: x\n", name="h", project="only-hidden", category="secret", dry_run=True
        ),
    ],
    "imports.take": lambda api, w: [
        lambda: api.imports.take(
            [
                {"id": w.subject, "content": "beta heron, secretword again", "project": "only-hidden"},
                {"id": "talk", "messages": "user: beta heron, secretword again"},
                {"from_id": w.subject, "to_id": "talk", "relation": "supports"},
            ],
            system="plain",
            dry_run=True,
        )
    ],
    "views.list": lambda api, w: [lambda: api.views.list()],
    "views.run": lambda api, w: [lambda: api.views.run("kept", limit=100)],
    "views.save": lambda api, w: [lambda: api.views.save("lessons", type="lesson")],
    "views.delete": lambda api, w: [lambda: api.views.delete("lessons"), lambda: api.views.delete("lessons")],
    "artifacts.get": lambda api, w: [lambda: api.artifacts.get(w.subject_artifact)],
    "artifacts.verify": lambda api, w: [lambda: api.artifacts.verify(w.subject_artifact)],
    "artifacts.list": lambda api, w: [
        *(
            lambda filters=filters: api.artifacts.list(**filters)
            for filters in (
                {},
                {"limit": 1},
                {"task_id": "t-hidden"},
                {"type": "document"},
                {"path": "hidden/"},
                {"path": "hidden/plan.md"},
                {"agent_id": "swe-1"},
                {"project": "only-hidden"},
                {"text": "secretword"},
                {"text": "theta heron", "path": "hidden/"},
                {"team": "squad"},
                {"team": "nowhere"},
            )
        )
    ],
    "export": lambda api, w: [lambda: exported(api)],
    "import_": lambda api, w: [lambda: imported(api)],
    "member_id": lambda api, w: [lambda: api.member_id],
    "team": lambda api, w: [lambda: api.team],
    "who_am_i": lambda api, w: [lambda: api.who_am_i()],
    # Writes: what is refused must be refused alike.
    "update": lambda api, w: [
        lambda: api.update(w.subject, content="x"),
        lambda: api.update(w.subject, content="x", expected_version=1),
    ],
    "delete": lambda api, w: [lambda: api.delete(w.subject)],
    "restore": lambda api, w: [lambda: api.restore(w.subject)],
    "purge": lambda api, w: [lambda: api.purge(w.subject)],
    "rate": lambda api, w: [lambda: api.rate(w.subject, useful=True)],
    "link": lambda api, w: [
        lambda: api.link(w.subject, "project:p1", "applies_to"),
        *(lambda id=id: api.link(id, w.subject, "supports") for id in w.names),
    ],
    "unlink": lambda api, w: [
        lambda: api.unlink(w.subject, "project:p1", "applies_to"),
        *(lambda id=id: api.unlink(id, w.subject, "contradicts") for id in w.names),
    ],
    "approve": lambda api, w: [lambda: api.approve(w.subject), lambda: api.approve(w.subject, edits={"title": "x"})],
    "approve_many": lambda api, w: [lambda: api.approve_many([w.subject])],
    "reject": lambda api, w: [lambda: api.reject(w.subject, "no")],
    "reject_many": lambda api, w: [lambda: api.reject_many([w.subject], "no")],
    "activity.members": lambda api, w: [lambda: presence(api)],
    "activity.report": lambda api, w: [lambda: api.activity.report(text="told", occasion="prompt")],
    "activity.injections": lambda api, w: [lambda: api.activity.injections()],
    "activity.given": lambda api, w: [lambda: api.activity.given(w.subject)],
    "activity.use": lambda api, w: [lambda: api.activity.use(), lambda: api.activity.use("agent")],
    "activity.actions": lambda api, w: [lambda: api.activity.actions()],
    "reviews.get": lambda api, w: [lambda: api.reviews.get(w.subject)],
    "reviews.claim": lambda api, w: [lambda: api.reviews.claim(w.subject)],
    "reviews.snooze": lambda api, w: [lambda: api.reviews.snooze(w.subject, until=None)],
    "reviews.reopen": lambda api, w: [lambda: api.reviews.reopen(w.subject)],
    "reviews.undo_writer": lambda api, w: [
        lambda id=id: api.reviews.undo_writer(agent_id=id, since="2020-01-01T00:00:00Z", dry_run=True)
        for id in (None, "swe-1")
    ],
    "reviews.merge": lambda api, w: [
        lambda: api.reviews.merge(w.subject, into=next(iter(w.names))),
        *(lambda id=id: api.reviews.merge(id, into=w.subject) for id in w.names),
    ],
    "settle": lambda api, w: [
        lambda: api.settle(w.subject, over=next(iter(w.names))),
        *(lambda id=id: api.settle(id, over=w.subject) for id in w.names),
    ],
    "undo": lambda api, w: [lambda: api.undo(w.subject)],
    "cascade": lambda api, w: [lambda: api.cascade(w.subject)],
    "escalate": lambda api, w: [lambda: api.escalate(w.subject)],
    "withdraw": lambda api, w: [lambda: api.withdraw(w.subject)],
    "capture_conversation": lambda api, w: [
        lambda: api.capture_conversation(source_id=w.subject_source),
        lambda: api.capture_conversation(str(w.subject_source)),
    ],
    "summarize_thread": lambda api, w: [lambda: api.summarize_thread(source_id=w.subject_source)],
    "artifacts.delete": lambda api, w: [lambda: api.artifacts.delete(w.subject_artifact)],
    # What these make is the caller's own, whatever else there is.
    "artifacts.register": lambda api, w: [
        lambda: api.artifacts.register(**HIDDEN_FILE, visibility="private"),
        lambda: api.artifacts.register(**HIDDEN_FILE, visibility="private", idempotency_key="again"),
    ],
    "capture_session": lambda api, w: [
        lambda: api.capture_session("nothing new", visibility="private"),
        lambda: api.capture_session(source_ref=w.subject_source),
    ],
    "complete_task": lambda api, w: [
        lambda: api.complete_task(task_id="t-hidden", output="nothing new", visibility="private")
    ],
    "fail_task": lambda api, w: [
        lambda: api.fail_task(task_id="t-hidden", what_went_wrong="nothing", visibility="private")
    ],
    "index_file": lambda api, w: [
        lambda: api.index_file("https://example.org/hidden", "nothing new", visibility="private")
    ],
    "inject_learning": lambda api, w: [lambda: api.inject_learning("nobody", "x", "preference")],
    "upsert_profile_fact": lambda api, w: [lambda: api.upsert_profile_fact("hk", "x", about="nobody")],
    "set_policy": lambda api, w: [lambda: api.set_policy(promote_from=0.8)],
    "ingest": lambda api, w: [
        lambda: undone(api, [api.ingest({"content": "x", "source_ref": w.subject_source, "project_id": "p"})])
    ],
    "save": lambda api, w: [lambda: undone(api, [api.save("x", source={"source_id": w.subject_source})])],
    "save_many": lambda api, w: [
        lambda: undone(api, api.save_many([{"content": "x", "source": {"source_id": w.subject_source}}]))
    ],
}


def exported(api: TeamMemory) -> list[object]:
    """All lines but the last, whose hash covers ids that differ between any two worlds."""
    with TemporaryDirectory() as folder:
        report = api.export(Path(folder) / "all.jsonl")
        return [report.counts, report.whole, (Path(folder) / "all.jsonl").read_text("utf-8").splitlines()[:-1]]


def imported(api: TeamMemory) -> object:
    """Tried only: what it would make is the caller's own."""
    with TemporaryDirectory() as folder:
        api.export(Path(folder) / "all.jsonl")
        return api.import_(Path(folder) / "all.jsonl", dry_run=True)


def bundled(bundle: ContextBundle) -> list[object]:
    """What a bundle says, in an order that scores do not decide."""
    items = [sorted(item.text for item in items) for items in bundle.sections.values()]
    return [items, bundle.to_team_memory(), bundle.left_out, sorted(memory.id for memory in bundle.recent)]


def briefed(briefing: Briefing) -> list[object]:
    """What it says, in an order that scores do not decide."""
    parts = (briefing.tried, briefing.avoid, briefing.worked, briefing.knowledge, briefing.artifacts, briefing.agents)
    return [sorted(map(repr, part)) for part in parts]


def explained(api: TeamMemory, id: str) -> list[object]:
    """Everything but the numbers, which are made of ranking statistics."""
    told = api.explain(api.search("heron", limit=100).id, missing=id)
    return [told.step, told.filter, told.memory, re.sub(r"[\d.]+", "#", api.explain(memory_id=id).text)]


def undone(api: TeamMemory, saved: list[Memory]) -> list[Memory]:
    """A save that should have been refused must not disturb the comparisons after it."""
    for memory in saved:
        api.purge(memory.id)
    return saved


def answer(world: World, call: Callable[[], object]) -> str:
    try:
        return rendered(world, call())
    except MycelError as error:
        return rendered(world, f"{type(error).__name__} {error}")


def rendered(world: World, found: object) -> str:
    if isinstance(found, Recall):
        hits = sorted(rendered(world, hit) for hit in found.hits)
        return f"{found.query!r} {found.degraded} {hits}"
    text = re.sub(r"\b(sequence|score|relevance)=[-\d.e]+", r"\1=…", repr(found))
    text = re.sub(r"breakdown=\{[^}]*\}", "breakdown=…", text)
    text = re.sub(r"next_cursor='[^']*'", "next_cursor=…", text)
    hidden = (world.subject, world.subject_source, world.subject_event, world.subject_episode, world.subject_artifact)
    subjects = dict.fromkeys(hidden, "<subject>")
    names = {**world.names, **subjects}
    return UUID.sub(lambda match: names.get(match[0], "<id>"), text)


Answers = dict[str, list[str]]


def answers(world: World, reader: str, skip: frozenset[str] = frozenset()) -> Answers:
    """To every call of every case."""
    api = world.member(reader)
    asked = [name for name in CASES if name not in skip]
    return {name: [answer(world, call) for call in CASES[name](api, world)] for name in asked}


def differences(seen: Answers, expected: Answers) -> dict[str, tuple[str, str]]:
    """The cases whose answers differ, with the first difference of each."""
    found: dict[str, tuple[str, str]] = {}
    for name in seen:
        for pair in zip(seen[name], expected[name], strict=True):
            if pair[0] != pair[1]:
                found.setdefault(name, pair)
    return found


class Worlds:
    """Each is built once and copied for whoever asks in it, so that nobody sees what another one has written."""

    def __init__(self, folder: Path, *, on_postgres: bool) -> None:
        self._folder = folder
        self._on_postgres = on_postgres
        self._built: dict[str | None, World] = {}
        self._absent: dict[tuple[str, frozenset[str]], Answers] = {}

    @contextmanager
    def copy(self, scenario: str | None) -> Iterator[World]:
        """Of the world with what the scenario hides, or of the one without."""
        if scenario not in self._built:
            given = None if scenario is None else SCENARIOS[scenario]
            database = another() if self._on_postgres else None
            self._built[scenario] = build(self._folder / f"built-{len(self._built)}", given, database)
        with TemporaryDirectory(dir=self._folder) as folder:
            copied = self._built[scenario].copied(Path(folder) / "world")
            with copied.workspace:
                yield copied
            if copied.database is not None:
                dropped(copied.database)

    def leaks(self, scenario: str, reader: str, skip: frozenset[str] = frozenset()) -> dict[str, tuple[str, str]]:
        """What tells the two worlds apart; of the one that hides nothing a reader is asked once."""
        if (reader, skip) not in self._absent:
            with self.copy(None) as absent:
                self._absent[reader, skip] = answers(absent, reader, skip)
        with self.copy(scenario) as present:
            return differences(answers(present, reader, skip), self._absent[reader, skip])

    def leaks_of_broken_code(self, scenario: str, reader: str, skip: frozenset[str]) -> dict[str, tuple[str, str]]:
        """Of which neither world's answers are as they were."""
        with self.copy(None) as absent, self.copy(scenario) as present:
            return differences(answers(present, reader, skip), answers(absent, reader, skip))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory, database: str) -> Worlds:
    return Worlds(tmp_path_factory.mktemp("worlds"), on_postgres=database == "postgres")


def public_methods() -> set[str]:
    found = {name for name in vars(TeamMemory) if not name.startswith("_")}
    parts = {
        "activity": ActivityOfTeam,
        "projects": Projects,
        "repos": Repos,
        "reviews": Reviews,
        "sources": Sources,
        "views": Views,
        "episodes": EpisodeLedger,
        "imports": Imports,
        "knowledge": Knowledge,
        "artifacts": Artifacts,
    }
    for part, kind in parts.items():
        found |= {f"{part}.{name}" for name in vars(kind) if not name.startswith("_") or name == "__call__"}
    return found


def test_every_public_method_has_a_case() -> None:
    assert set(CASES) - {"list of deleted", "the past"} == public_methods()


def test_every_part_of_the_memory_is_walked(worlds: Worlds) -> None:
    with worlds.copy("private") as world:
        parts = {name for name in vars(world.member("author")) if not name.startswith("_")}
    known = {"projects", "repos", "reviews", "sources", "views", "episodes", "knowledge", "artifacts"}
    assert parts == known | {"imports", "activity"}


@pytest.mark.parametrize(
    ("scenario", "reader"),
    [
        pytest.param(name, who, marks=[pytest.mark.proof] if who in each.left_to_proofs else [])
        for name, each in SCENARIOS.items()
        for who in each.hidden_from
    ],
)
def test_a_hidden_memory_looks_like_an_absent_one(worlds: Worlds, scenario: str, reader: str) -> None:
    skip = SCENARIOS[scenario].except_for.get(reader, frozenset())
    assert worlds.leaks(scenario, reader, skip) == {}


def test_every_reader_is_asked_for_every_way_to_hide_and_every_end() -> None:
    """Without the proofs as well."""
    for same in (lambda each: each.fields, lambda each: each.ends):
        for one in SCENARIOS.values():
            alike = [each for each in SCENARIOS.values() if same(each) == same(one)]
            asked = {who for each in alike for who in each.hidden_from if who not in each.left_to_proofs}
            assert asked == {who for each in alike for who in each.hidden_from}


@pytest.mark.parametrize(("scenario", "reader"), [("team", "teammate"), ("role", "lead"), ("private", "author")])
def test_whoever_may_see_the_memory_does(worlds: Worlds, scenario: str, reader: str) -> None:
    """Otherwise the comparison would pass on a memory that nobody sees."""
    read_only = {"get", "history", "usage", "list", "tree", "recent", "stats", "search", "changes", "audit"}
    read_only |= {"the past"}
    read_only |= {f"knowledge.{name}" for name in ("list", "get", "history", "search")}
    read_only |= {"export", "context_for", "explain", "artifacts.get", "artifacts.list", "artifacts.verify"}
    around = {"projects.list", "repos.list", "sources.get", "sources.list", "sources.events", "views.run"}
    found = worlds.leaks(scenario, reader, frozenset(CASES) - read_only - around)
    assert set(found) == read_only | around


@pytest.mark.parametrize("scenario", [None, *SCENARIOS])
def test_without_a_valid_token_nothing_is_answered(worlds: Worlds, scenario: str | None) -> None:
    with worlds.copy(scenario) as world:
        for secret in ("", "mycel_wrong", world.subject, "swe-1", None):
            with pytest.raises(AccessDenied, match=r"^the token is unknown, expired or revoked$"):
                world.workspace.with_token(secret)  # type: ignore[arg-type]


@pytest.mark.parametrize("hidden", [1, 10])
def test_words_of_hidden_memories_do_not_decide_which_hits_are_shown(tmp_path: Path, hidden: int) -> None:
    """Otherwise whoever guesses a word learns from the hits for another one whether somebody keeps it private."""
    found: list[int] = []
    for count in (0, hidden):
        with open_workspace(tmp_path / str(count), disk=Disk(synchronous="OFF")) as workspace:
            author, teammate = (workspace.as_member(name, may_be_new=True) for name in ("swe-1", "swe-2"))
            author.save_many([{"content": f"heron {index} on the lake"} for index in range(5)])
            secrets = [{"content": f"secretword {index}", "visibility": "private"} for index in range(count)]
            if secrets:
                author.save_many(secrets)
            found.append(len(teammate.search("heron lake secretword", limit=100).hits))
    assert found[0] == found[1]


SEARCHING_POSTGRES = (postgres_index, search_clauses, term_sample, word_search)


def sees_everything(scope: ReadScope, table: str = "m", *, prefix: str = "") -> tuple[str, dict[str, Any]]:
    return "1 = 1", {"reader": scope.member_id, "reader_role": None}


@pytest.fixture
def forget_scope(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes one module of the store see everything; statements it keeps are put together anew."""

    def clear() -> None:
        for module in (artifacts, index, memories, places, reports, sources, *SEARCHING_POSTGRES):
            for kept in vars(module).values():
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()

    def forget(arm: str) -> None:
        for module in (f"mycel.stores.sql.{arm}", *(["mycel.stores.sql.memory_pages"] if arm == "memories" else [])):
            monkeypatch.setattr(f"{module}.visible", sees_everything)
        for module in SEARCHING_POSTGRES if arm == "index" else ():
            monkeypatch.setattr(module, "visible", sees_everything)
        # What is searched is masked in the index as well.
        monkeypatch.setattr("mycel.index.facets.Facets._visible", lambda *_: True)
        clear()

    yield forget
    monkeypatch.undo()
    clear()


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("index", {"search"}),
        ("archive", {"export"}),
        ("memories", {"get", "history", "usage", "list", "tree", "recent", "stats"}),
        ("links", {"links"}),
        ("places", {"projects.list", "repos.list"}),
        ("artifacts", {"artifacts.get", "artifacts.list", "artifacts.verify"}),
        (
            "sources",
            {"export", "sources.get", "sources.list", "sources.events", "sources.event", "capture_conversation"},
        ),
    ],
)
def test_an_arm_that_forgets_the_scope_is_noticed(
    worlds: Worlds, forget_scope: Callable[[str], None], arm: str, expected: set[str]
) -> None:
    forget_scope(arm)
    writes = {"update", "delete", "restore", "purge", "rate", "link", "unlink", "save", "save_many", "ingest"}
    writes |= {"approve", "approve_many", "reject", "reject_many", "settle", "summarize_thread"}
    writes |= {f"reviews.{name}" for name in ("claim", "snooze", "reopen", "merge")}
    writes |= {f"knowledge.{name}" for name in ("upsert", "delete", "arbitrate")}
    writes |= {"artifacts.register", "artifacts.delete"}
    assert expected <= set(worlds.leaks_of_broken_code("private", "teammate", frozenset(writes)))


def test_a_change_log_that_forgets_the_scope_is_noticed(worlds: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadScope, "sees", lambda self, audience: True)
    assert "changes" in worlds.leaks_of_broken_code("private", "teammate", frozenset(CASES) - {"changes"})
