"""Keeping the words of memories in step with the analyser: what an earlier version of it made is made again."""

from __future__ import annotations

from mycel.contracts.store import Stores
from mycel.domain.ids import TeamName
from mycel.services.attempts import Attempts
from mycel.services.team_worker import TeamWorker

# How many memories are analysed in one transaction: a save that comes meanwhile waits some milliseconds for it.
BATCH = 64


class Words:
    """Searches go on meanwhile, by the words as they are."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._worker = TeamWorker(self._renew_batch, name="words")

    def wake(self, team: TeamName) -> None:
        """Work off beside what is outdated in this team."""
        self._worker.wake(team)

    def wake_all(self) -> None:
        for team in self._stores.teams_with_store():
            self._worker.wake(team)

    def run_pending(self) -> int:
        """Make all words again that are outdated, in every team; returns of how many memories."""
        attempts = Attempts()
        done = sum(attempts.run(lambda team=team: self._finish(team)) for team in self._stores.teams_with_store())
        attempts.end()
        return done

    def close(self) -> None:
        self._worker.close()

    def _finish(self, team: TeamName) -> int:
        done = 0
        while count := self._renew(team):
            done += count
        return done

    def _renew_batch(self, team: TeamName) -> bool:
        return self._renew(team) > 0

    def _renew(self, team: TeamName) -> int:
        with self._stores.lease(team) as store:
            if not store.index.has_outdated():
                return 0
            return store.transact(lambda transaction: transaction.memories.renew_words(limit=BATCH), beside=True)
