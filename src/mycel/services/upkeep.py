"""Work that nobody waits for, and a look at the state of the stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mycel.access.rules import require_operator
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory, DirectoryTransaction
from mycel.contracts.long_work import report_progress, require_wanted
from mycel.contracts.store import Store, Stores
from mycel.domain.damage import Damage, DamagedRow
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import EXECUTIVE, Caller
from mycel.engine.executor import MovableExecutor
from mycel.errors import InvalidState, MycelError, NotFound
from mycel.services.approach_groups import Grouping
from mycel.services.attempts import Attempts
from mycel.services.backups import Backups
from mycel.services.embeddings import Embedding, Report
from mycel.services.maintenance import RECALLS_KEPT, forget_recalls
from mycel.services.scheduler import Engine
from mycel.services.words import Words


class Upkeep:
    def __init__(
        self,
        stores: Stores,
        directory: Directory,
        clock: Clock,
        embedding: Embedding,
        words: Words,
        grouping: Grouping,
        engine: Engine,
        executor: MovableExecutor,
        backups: Backups,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._directory = directory
        self._embedding = embedding
        self._words = words
        self._grouping = grouping
        self._engine = engine
        self._executor = executor
        self._backups = backups

    def run_pending(self, caller: Caller, *, report: Report | None = None) -> int:
        """Does what is waiting in every team; returns how many pieces of work were finished."""
        require_operator(caller)
        attempts = Attempts()
        finished = attempts.run(self._engine.run_pending)
        attempts.run(self._words.run_pending)
        finished += attempts.run(lambda: self._embedding.run_pending(report=report))
        finished += self._in_every_store(attempts, lambda store: store.files.scrub())
        finished += self._in_every_store(attempts, self._grouping.finish)
        if not self._engine.clock_has_jumped():
            finished += self._in_every_store(attempts, self._forget_recalls)
        attempts.end()
        return finished

    def scrub(self, caller: Caller) -> int:
        require_operator(caller)
        self._note(caller, "scrub")
        attempts = Attempts()
        finished = self._in_every_store(attempts, lambda store: store.files.scrub())
        attempts.end()
        return finished

    def _forget_recalls(self, store: Store) -> int:
        return forget_recalls(store, before=self._clock.now() - RECALLS_KEPT)

    def _in_every_store(self, attempts: Attempts, work: Callable[[Store], int]) -> int:
        def in_store(team: TeamName) -> int:
            require_wanted()
            with self._stores.lease(team) as store:
                return work(store)

        return sum(attempts.run(lambda team=team: in_store(team)) for team in self._stores.teams_with_store())

    def work_beside(self, caller: Caller) -> None:
        require_operator(caller)
        self._executor.move_out()
        self._engine.start()
        self._embedding.load_beside()
        self._embedding.wake()
        self._words.wake_all()
        self._backups.start()

    def maintain(self, caller: Caller) -> int:
        require_operator(caller)
        self._note(caller, "maintain")
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

    def check(self, caller: Caller) -> dict[str, list[str]]:
        """The full integrity check of everything; what is wrong, by team. What cannot be checked is wrong too."""
        require_operator(caller)
        damaged = {damage.team for damage in self._stores.damages() if damage.team is not None}
        teams = sorted({*self._stores.teams_with_store(), *damaged})
        own = self._directory.files
        found = {own.name: _problems(lambda: [*own.check(), *_texts(own.find_damaged_rows())])}
        for number, team in enumerate(teams):
            report_progress(number, len(teams))
            found[team] = _problems(lambda team=team: self._check(team))
        return {name: problems for name, problems in found.items() if problems}

    def damages(self, caller: Caller) -> list[Damage]:
        require_operator(caller)
        return self.find_damages()

    def share_requests(self, node: str, counts: Mapping[MemberId, int]) -> Mapping[MemberId, int]:
        return self._directory.share_requests(node, counts)

    def require_ready(self) -> None:
        """For whoever watches the service."""
        self._directory.require_ready()

    def find_damages(self) -> list[Damage]:
        """For whoever watches the service."""
        files = self._directory.files
        own = [damage for damage in (files.damage(), files.damaged_rows) if damage is not None]
        return [*own, *self._stores.damages()]

    def store_is_damaged(self, team: TeamName) -> bool:
        return self._stores.is_damaged(team)

    def has_damaged_rows(self, team: TeamName) -> bool:
        return self._stores.has_damaged_rows(team)

    def reset_store(self, caller: Caller, team: TeamName) -> None:
        """Only what is damaged: nobody loses a sound store by a slip of the hand."""
        require_operator(caller)
        if team not in {damage.team for damage in self._stores.damages() if not damage.rows}:
            raise InvalidState(f"the store of {team} is not known to be damaged", field="team")
        self._note(caller, "reset_store", team=team)
        self._stores.reset(team)

    def _note(self, caller: Caller, operation: str, *, team: TeamName = EXECUTIVE) -> None:
        """Before it begins: whatever becomes of it, who began it is known."""

        def work(transaction: DirectoryTransaction) -> None:
            transaction.note(operation, by=caller.member_id, team=team, subject=team)

        self._directory.transact(work)

    def _check(self, team: TeamName) -> list[str]:
        with self._stores.lease(team) as store:
            return [*store.files.check(), *_texts(store.files.find_damaged_rows())]


def _texts(rows: Sequence[DamagedRow]) -> list[str]:
    return [f"a row is damaged and left out: {row.text}" for row in rows]


def _problems(check: Callable[[], list[str]]) -> list[str]:
    try:
        return check()
    except MycelError as error:
        return [str(error)]
