"""Work that nobody waits for, and copies of the whole workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mycel.access.rules import require_operator
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Store, Stores
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import TeamName
from mycel.domain.team import Caller
from mycel.engine.workshop.workshop import MovableWorkshop
from mycel.errors import InvalidInput, NotFound
from mycel.services.attempts import Attempts
from mycel.services.embed import Embedding, Report
from mycel.services.engine import Engine
from mycel.services.grouping import Grouping
from mycel.services.maintaining import RECALLS_KEPT


class Upkeep:
    def __init__(
        self,
        stores: Stores,
        directory: Directory,
        clock: Clock,
        embedding: Embedding,
        grouping: Grouping,
        engine: Engine,
        workshop: MovableWorkshop,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._directory = directory
        self._embedding = embedding
        self._grouping = grouping
        self._engine = engine
        self._workshop = workshop

    def run_pending(self, caller: Caller, *, report: Report | None = None) -> int:
        """Does what is waiting in every team; returns how many pieces of work were finished."""
        require_operator(caller)
        attempts = Attempts()
        finished = attempts.run(self._engine.run_pending)
        finished += attempts.run(lambda: self._embedding.run_pending(report=report))
        finished += self._in_every_store(attempts, lambda store: store.scrub())
        finished += self._in_every_store(attempts, self._grouping.finish)
        if not self._engine.clock_has_jumped():
            finished += self._in_every_store(attempts, self._forget_recalls)
        attempts.end()
        return finished

    def scrub(self, caller: Caller) -> int:
        require_operator(caller)
        attempts = Attempts()
        finished = self._in_every_store(attempts, lambda store: store.scrub())
        attempts.end()
        return finished

    def _forget_recalls(self, store: Store) -> int:
        return store.forget_recalls(before=self._clock.now() - RECALLS_KEPT)

    def _in_every_store(self, attempts: Attempts, work: Callable[[Store], int]) -> int:
        def in_store(team: TeamName) -> int:
            with self._stores.lease(team) as store:
                return work(store)

        return sum(attempts.run(lambda team=team: in_store(team)) for team in self._stores.teams_with_store())

    def work_beside(self, caller: Caller) -> None:
        require_operator(caller)
        self._workshop.move_out()
        self._engine.start()
        self._embedding.wake()

    def maintain(self, caller: Caller) -> int:
        require_operator(caller)
        return self._engine.maintain()

    def embed_pending(self, caller: Caller, *, report: Report | None = None) -> int:
        require_operator(caller)
        return self._embedding.run_pending(report=report)

    def embed_beside(self, caller: Caller) -> None:
        require_operator(caller)
        self._embedding.wake()

    def embedding_progress(self, caller: Caller, team: TeamName) -> EmbeddingProgress:
        if not caller.is_operator and team != caller.team:
            raise NotFound(f"no team {team}")
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
