"""What the engine has finished since one looked last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from mycel.domain.source import EventState
from mycel.errors import NotFound

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.ids import EventId, TeamName
    from mycel.domain.source import IngestionEvent
    from mycel.embedded.workspace import Workspace

# Of each team, the newest that may have come and gone between two looks, and of what waits as much as one page holds.
_NEWEST = 50
_WAITING = 1000
_UNFINISHED = (EventState.PENDING, EventState.RUNNING, EventState.FAILED)
_OVER = frozenset({EventState.DONE, EventState.DEAD})


class Watch:
    """Sees what the operator sees: events about the private material of others go by unseen."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._newest: dict[TeamName, str] = {}
        self._tries: dict[TeamName, dict[EventId, int]] = {}
        for _ in self.look():
            pass

    def look(self) -> Iterator[tuple[TeamName, IngestionEvent]]:
        """Each event that is over, or has failed once more; with its team, the oldest first."""
        for team in self._workspace.teams():
            for event in self._look_at(team.name, self._workspace.as_operator(team.name)):
                yield team.name, event

    def _look_at(self, team: TeamName, memory: MemoryApi) -> list[IngestionEvent]:
        # The newest first: what arrives between the two questions is then among what waits.
        newest = [event.id for event in memory.sources.events(limit=_NEWEST)]
        waiting = {
            event.id: event
            for state in _UNFINISHED
            for event in memory.sources.events(state=state.value, limit=_WAITING)
        }
        known = self._tries.get(team)
        since = self._newest.get(team, "")
        self._tries[team] = {id: event.tries for id, event in waiting.items()}
        self._newest[team] = max(newest, default=since)
        if known is None:
            return []
        gone = {id for id in (*known, *newest) if id not in waiting and (id in known or id > since)}
        failed = [event for id, event in waiting.items() if event.tries > known.get(id, 0)]
        return [*_over(memory, sorted(gone)), *failed]


def _over(memory: MemoryApi, ids: list[EventId]) -> Iterator[IngestionEvent]:
    for id in ids:
        with suppress(NotFound):
            event = memory.sources.event(id)
            if event.state in _OVER:
                yield event
