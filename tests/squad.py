"""A team on real files for the tests of search: two agents, a person, a lead and an admin, and a team under it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Self

import apsw
import numpy as np

from mycel.app import open_workspace
from mycel.contracts.embedder import Embedder
from mycel.domain.recall import Recall
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings, load_settings
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock
from mycel.testing.embedder import WordEmbedder
from tests.template import copy_template, make_tables

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

TEAM = "squad"
CHILD = "squad-child"
# A file that says that the squad is there.
MADE = "made"
# Nothing but what is meant to be slow comes near it, on a busy machine either.
PATIENCE = 30.0
MEMBERS = {
    "swe-1": ("agent", "agent", TEAM),
    "swe-2": ("agent", "agent", TEAM),
    "person-1": ("member", "human", TEAM),
    "lead-1": ("lead", "agent", TEAM),
    "admin-1": ("admin", "human", TEAM),
    "child-lead": ("lead", "agent", CHILD),
}


@dataclass(frozen=True)
class Squad:
    workspace: Workspace
    clock: ManualClock
    data: Path

    @property
    def author(self) -> TeamMemory:
        return self.workspace.as_member("swe-1")

    @property
    def teammate(self) -> TeamMemory:
        return self.workspace.as_member("swe-2")

    @property
    def person(self) -> TeamMemory:
        return self.workspace.as_member("person-1")

    @property
    def lead(self) -> TeamMemory:
        return self.workspace.as_member("lead-1")

    @property
    def admin(self) -> TeamMemory:
        return self.workspace.as_member("admin-1")

    @property
    def child_lead(self) -> TeamMemory:
        return self.workspace.as_member("child-lead")

    def pass_time(self, **by: float) -> None:
        self.clock.move(timedelta(**by))


def open_squad(
    data: Path,
    *,
    clock: ManualClock | None = None,
    embedder: Embedder | None = None,
    settings: Settings | None = None,
) -> Squad:
    """Made on the first opening, as it was on the next."""
    if not ((data / MADE).exists() or (data / "workspace.sqlite").exists()):
        copy_template(make_squad, data)
        (data / MADE).touch()
    time = clock or ManualClock()
    workspace = open_workspace(
        data,
        clock=time,
        disk=Disk(synchronous="OFF"),
        settings=settings or load_settings(data, embedder="none"),
        embedder=embedder,
    )
    return Squad(workspace, time, data)


def make_squad(data: Path) -> None:
    """With the tables of the team, and nothing in them."""
    settings = load_settings(data, embedder="none")
    with open_workspace(clock=ManualClock(), disk=Disk(synchronous="OFF"), settings=settings) as workspace:
        workspace.add_team(TEAM)
        workspace.add_team(CHILD, parent=TEAM)
        for id, (role, kind, team) in MEMBERS.items():
            workspace.add_member(id, team=team, role=role, kind=kind)
        make_tables(workspace.as_member("swe-1"))


def wide_embedder(*synonyms: list[str], name: str = "words") -> WordEmbedder:
    return WordEmbedder(name=name, dimensions=512, synonyms=synonyms)


class HeldEmbedder(WordEmbedder):
    """Answers questions, but embeds no document before it is released; as a context it is, before its workspace."""

    def __init__(self, *, synonyms: Iterable[Sequence[str]] = (), name: str = "words") -> None:
        super().__init__(name=name, dimensions=512, synonyms=synonyms)
        self._released = threading.Event()
        self._was_released = True

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self._was_released = self._released.wait(60)
        return super().embed_documents(texts)

    def release(self) -> None:
        self._released.set()

    def hold(self) -> None:
        self._released.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()
        assert self._was_released, "its workspace was closed before it, and waited to the end"


def ids(recall: Recall) -> list[str]:
    return [hit.memory.id for hit in recall.hits]


def texts(recall: Recall) -> list[str]:
    return [hit.memory.content for hit in recall.hits]


def file_of(data: Path, name: str = "memory.sqlite") -> Path:
    return data / "teams" / TEAM / name


def rows(data: Path, sql: str, *values: object) -> list[tuple]:
    """Past Mycel: what really stands in the team's file, or in its rows of the database."""
    if os.environ.get("MYCEL_DATABASE_URL"):
        from tests.postgres import rows_of

        return rows_of(TEAM, sql, values)
    connection = apsw.Connection(str(file_of(data)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def fill(squad: Squad, *, count: int = 40) -> None:
    """Notes about nothing in particular, in words of their own."""
    squad.author.save_many(
        [{"content": f"worker{number} writes batch{number}", "path": f"/fill/{number}"} for number in range(count)]
    )


def company(squad: Squad) -> None:
    """A few notes about other things: few enough to be embedded by the next search."""
    for number, note in enumerate(["herons fish", "trains leave", "lunch begins", "paint dries", "owls sleep"]):
        squad.author.save(note, path=f"/company/{number}")


def wait_until(holds: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def embedded(squad: Squad) -> dict[str, list[str]]:
    """Which memories have vectors, and of which model, as the database says."""
    found: dict[str, list[str]] = {}
    for id, model in rows(
        squad.data, "SELECT m.id, e.model FROM embeddings e JOIN memories m USING (number) ORDER BY e.number, e.passage"
    ):
        found.setdefault(id, []).append(model)
    return found


def stored_vectors(squad: Squad) -> list[np.ndarray]:
    return [np.frombuffer(vector, np.int8) for (vector,) in rows(squad.data, "SELECT vector FROM embeddings")]


def finds_by_meaning(squad: Squad, id: str, question: str) -> Recall:
    """The question shares no word with the memory."""
    recall = squad.teammate.search(question)
    assert id in ids(recall), question
    [hit] = [hit for hit in recall.hits if hit.memory.id == id]
    assert hit.breakdown["words"] == 0
    assert "meaning" in hit.breakdown
    return recall
