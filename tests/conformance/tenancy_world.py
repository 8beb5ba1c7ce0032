"""Two teams that must not notice each other, and inside of one what only its author or its leads may read.

Every name of the hidden team holds the word `zephyr`; of what is private in it `hushed`, and of what is for leads
`veiled`. The twin of a name has `absent` instead, which is of the same length and of nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw
import psycopg
from psycopg import sql

from mycel.app import open_workspace
from mycel.domain.ids import new_id
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.sqlite.database import Disk
from tests.postgres import Server, another, as_url, name_of

ABSENT = "absent"
HIDDEN_TEAM = "zephyr-vault"
# Leads read every team above theirs, not the next one alone.
BETWEEN = "zephyr-between"
CHILD_TEAM = "zephyr-child"
OWN_TEAM = "other"
MARKS: dict[str, dict[str, Any]] = {
    "zephyr": {},
    "hushed": {"visibility": "private"},
    "veiled": {"visibility": "role", "allowed_roles": ["lead"]},
}
# id → team, role, kind
MEMBERS = {
    "zephyr-swe": (HIDDEN_TEAM, "agent", "agent"),
    "zephyr-mate": (HIDDEN_TEAM, "agent", "agent"),
    "zephyr-person": (HIDDEN_TEAM, "member", "human"),
    "zephyr-orchestrator": (HIDDEN_TEAM, "orchestrator", "agent"),
    "zephyr-lead": (HIDDEN_TEAM, "lead", "agent"),
    "zephyr-admin": (HIDDEN_TEAM, "admin", "human"),
    "zephyr-gone": (HIDDEN_TEAM, "admin", "human"),
    # Reads what is for the whole of a team above, and nothing narrower.
    "zephyr-below": (CHILD_TEAM, "lead", "agent"),
    "swe-9": (OWN_TEAM, "agent", "agent"),
    "lead-9": (OWN_TEAM, "lead", "agent"),
    "admin-9": (OWN_TEAM, "admin", "human"),
    "exec-9": ("executive", "lead", "human"),
}


@dataclass
class Hidden:
    """What one mark hides, by kind, each with its twin of the same form that does not exist."""

    mark: str
    twins: dict[str, dict[str, str]] = field(default_factory=dict)

    def add_ids(self, kind: str, *ids: str) -> None:
        self.twins.setdefault(kind, {}).update({id: new_id() for id in ids})

    def add_names(self, kind: str, *names: str) -> None:
        self.twins.setdefault(kind, {}).update({name: name.replace(self.mark, ABSENT) for name in names})

    @property
    def all_ids(self) -> dict[str, str]:
        return {id: twin for kind, pairs in self.twins.items() if kind.endswith("id") for id, twin in pairs.items()}


@dataclass
class World:
    """Built once and copied for each visitor, so that nobody sees what another one has written."""

    workspace: Workspace
    folder: Path
    hidden: dict[str, Hidden]
    secrets: dict[str, str | None]
    own_recall: dict[str, str]
    # Where its rows are, unless they are in the folder.
    database: Server | None = None

    @contextmanager
    def copied(self, folder: Path) -> Iterator[World]:
        """A closed world, opened again elsewhere."""
        shutil.copytree(self.folder, folder)
        database = None if self.database is None else another(of=name_of(self.database))
        with opened(folder, database) as workspace:
            yield replace(self, workspace=workspace, folder=folder, database=database)

    def file_of(self, team: str) -> Path:
        return self.folder / "teams" / team / "memory.sqlite"

    def state_of(self, team: str) -> dict[str, str]:
        """A digest of each table of a team's store, as it is on the disk."""
        if self.database is not None:
            return _state_in(self.database, team)
        connection = apsw.Connection(str(self.file_of(team)), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return {name: _digest(connection, name) for name in _tables(connection)}
        finally:
            connection.close()

    def directory(self) -> list[object]:
        """Who belongs where, and every token of the hidden team."""
        workspace = self.workspace
        tokens = [workspace.tokens(member_id=id) for id in MEMBERS if MEMBERS[id][0] == HIDDEN_TEAM]
        return [workspace.teams(), workspace.members(), tokens]


def _tables(connection: apsw.Connection) -> Iterator[str]:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
    return (name for (name,) in connection.execute(sql).fetchall())


def _digest(connection: apsw.Connection, table: str) -> str:
    rows = sorted(map(repr, connection.execute(f"SELECT * FROM {table}")))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _state_in(database: Server, team: str) -> dict[str, str]:
    with psycopg.connect(database.admin) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = %s AND column_name = 'team_id'",
            (SCHEMA,),
        ).fetchall()
        found: dict[str, str] = {}
        for (table,) in tables:
            query = sql.SQL("SELECT * FROM {} WHERE team_id = %s").format(sql.Identifier(SCHEMA, table))
            rows = sorted(map(repr, connection.execute(query, (team,))))
            found[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
        return found


def opened(folder: Path, database: Server | None) -> Workspace:
    url = None if database is None else as_url(database.service)
    settings = Settings(data=folder, database_url=url, embedder="none")
    return open_workspace(settings=settings, disk=Disk(synchronous="OFF"))


def build(folder: Path, database: Server | None = None) -> World:
    """Closed when it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    with opened(folder, database) as workspace:
        return replace(_filled(workspace, folder), database=database)


def _filled(workspace: Workspace, folder: Path) -> World:
    workspace.add_team(HIDDEN_TEAM)
    workspace.add_team(BETWEEN, parent=HIDDEN_TEAM)
    workspace.add_team(CHILD_TEAM, parent=BETWEEN)
    workspace.add_team(OWN_TEAM)
    for id, (team, role, kind) in MEMBERS.items():
        workspace.add_member(id, team=team, role=role, kind=kind)
    secrets: dict[str, str | None] = {id: workspace.issue_token(id) for id in MEMBERS}
    hidden = {mark: _hide(workspace, mark, fields) for mark, fields in MARKS.items()}
    secrets |= {"anonymous": None, "revoked": workspace.issue_token("zephyr-admin")}
    ended = next(token for token in workspace.tokens(member_id="zephyr-admin") if token.label == "")
    hidden["zephyr"].add_ids("token_id", *(token.id for token in workspace.tokens(member_id="zephyr-swe")))
    hidden["zephyr"].add_ids("token_id", ended.id)
    workspace.revoke_token(str(secrets["revoked"]))
    workspace.remove_member("zephyr-gone")
    own = workspace.as_member("swe-9")
    own.save("plain words of our own", project="plain", tags=["plain"], path="/plain", key="plain")
    own.episodes.log(action="failed", approach="plain way", task_id="plain")
    recalls = {id: workspace.as_member(id).search("plain").id for id in MEMBERS if id != "zephyr-gone"}
    return World(workspace, folder, hidden, secrets, recalls)


def _hide(workspace: Workspace, mark: str, audience: dict[str, Any]) -> Hidden:
    """Everything that can be stored, once for each audience."""
    found = Hidden(mark)
    author, lead = workspace.as_member("zephyr-swe"), workspace.as_member("zephyr-lead")
    found.add_ids("memory_id", *_memories(author, mark, audience))
    event = author.capture_conversation(
        f"user: {mark} said that the {mark}word is safe\nassistant: noted",
        capture_mode="store",
        title=f"{mark} talk",
        uri=f"https://example.org/{mark}",
        session_id=f"{mark}-session",
        thread_id=f"{mark}-thread",
        **audience,
    )
    found.add_ids("event_id", event.id)
    found.add_ids("source_id", *([event.source_id] if event.source_id else []))
    found.add_ids("recall_id", author.search(f"{mark}word").id)
    author.views.save(f"{mark}-view", query=f"{mark}word")
    if mark == "zephyr":
        author.save_many([{"content": "the zephyr gate opens at nine"}] * 2)
        report = lead.consolidate()
        assert report.actions
        found.add_ids("report_id", report.id)
        found.add_names("team", HIDDEN_TEAM, CHILD_TEAM)
        found.add_names("member", *(id for id in MEMBERS if mark in id))
        lead.set_policy(promote_from=0.77)
    found.add_names("word", f"{mark}word", f"the {mark} plan")
    found.add_names("path", f"/{mark}/place", f"/{mark}")
    found.add_names("file", f"{mark}/plan.md", f"{mark}/")
    found.add_names("uri", f"https://example.org/{mark}")
    for kind in ("project", "repo", "key", "category", "tag", "session", "thread", "task", "view", "again"):
        found.add_names(kind, f"{mark}-{kind}")
    return found


def _memories(author: TeamMemory, mark: str, audience: dict[str, Any]) -> list[str]:
    plain: dict[str, Any] = {
        "title": f"the {mark} title",
        "project": f"{mark}-project",
        "repo": f"{mark}-repo",
        "path": f"/{mark}/place",
        "tags": [f"{mark}-tag"],
        "session_id": f"{mark}-session",
        "task_id": f"{mark}-task",
        "category": f"{mark}-category",
        **audience,
    }
    standing = author.save(f"the {mark} plan and its {mark}word", idempotency_key=f"{mark}-again", **plain)
    keyed = author.save(f"a {mark}word by key", key=f"{mark}-key", **plain)
    waiting = author.save(f"a {mark}word that waits", needs_review=True, **plain)
    deleted, purged = (author.save(f"a {mark}word that goes", **plain) for _ in range(2))
    author.update(standing.id, content=f"the {mark} plan and its second {mark}word")
    author.link(standing.id, keyed.id, "supports")
    author.link(standing.id, f"project:{mark}-project", "applies_to")
    author.rate(standing.id, useful=True)
    episode = author.episodes.log(
        action="failed", approach=f"the {mark}word way", task_id=f"{mark}-task", project=f"{mark}-project", **audience
    )
    artifact = author.artifacts.register(
        path=f"{mark}/plan.md", content=f"{mark} inside", task_id=f"{mark}-task", keep_content=True, **audience
    )
    author.delete(deleted.id)
    author.purge(purged.id)
    return [standing.id, keyed.id, waiting.id, deleted.id, purged.id, episode.id, artifact.id]
