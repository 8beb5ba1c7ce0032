"""Work that nobody waits for, and copies of the whole workspace."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from mycel.access.rules import require_operator
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import TeamName
from mycel.domain.team import Caller
from mycel.errors import InvalidInput
from mycel.services.embed import Embedding, Report

# Long enough to ask why an agent did what it did last month.
RECALLS_KEPT = timedelta(days=30)


class Upkeep:
    def __init__(self, stores: Stores, directory: Directory, clock: Clock, embedding: Embedding) -> None:
        self._stores = stores
        self._clock = clock
        self._directory = directory
        self._embedding = embedding

    def run_pending(self, *, report: Report | None = None) -> int:
        """Does what is waiting in every team; returns how many pieces of work were finished."""
        finished = self._embedding.run_pending(report=report)
        for team in self._stores.teams_with_store():
            with self._stores.lease(team) as store:
                finished += store.scrub() + store.forget_recalls(before=self._clock.now() - RECALLS_KEPT)
        return finished

    def embed_beside(self) -> None:
        self._embedding.wake()

    def embedding_progress(self, team: TeamName) -> EmbeddingProgress:
        return self._embedding.progress(team)

    def backup(self, caller: Caller, folder: Path) -> list[Path]:
        """Copies every database into an empty folder while the workspace is in use."""
        require_operator(caller)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidInput("must be a folder that is new or empty", field="folder")
        copies = [folder / "workspace.sqlite"]
        self._directory.backup(copies[0])
        for team in self._stores.teams_with_store():
            copy = folder / "teams" / team / "memory.sqlite"
            with self._stores.lease(team) as store:
                store.backup(copy)
            copies.append(copy)
        return copies

    def check(self, caller: Caller) -> dict[str, list[str]]:
        """The full integrity check of every team; what is wrong, by team."""
        require_operator(caller)
        problems: dict[str, list[str]] = {}
        for team in self._stores.teams_with_store():
            with self._stores.lease(team) as store:
                found = store.check()
            if found:
                problems[team] = found
        return problems
