"""The ledger of episodes, as every way into a team's memory has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypedDict, Unpack

from mycel.contracts.written_fields import EpisodeFields
from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
from mycel.domain.query import Page


class EpisodeFilterFields(TypedDict, total=False):
    """Everything given must hold."""

    task_id: str | None
    agent_id: str | None
    action: str | None
    project: str | None
    since: datetime | str | None
    until: datetime | str | None


class EpisodesApi(Protocol):
    def log(
        self, *, action: str, approach: str, outcome: str | None = None, **fields: Unpack[EpisodeFields]
    ) -> Episode:
        """One thing that was tried: `attempted`, `completed`, `failed` or `retried`, how, and what came of it."""
        ...

    def log_many(self, items: Sequence[Mapping[str, Any]]) -> list[Episode]:
        """Up to 1000 at once, each an object with the fields of `log`; all of them, or none."""
        ...

    def get(self, id: str) -> Episode: ...
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> Page[Episode]:
        """Newest first: also finished tasks that have left the search, until they are pruned."""
        ...

    def similar(
        self, task: str, *, action: str | None = None, project: str | None = None, limit: int | None = None
    ) -> list[SimilarEpisode]:
        """What was done on tasks like this one, by words and by meaning; with `action="completed"`, what worked."""
        ...

    def best_agents(self, task: str, *, project: str | None = None, limit: int | None = None) -> list[Record]:
        """Who has done well on tasks like this one, the best first."""
        ...

    def success_rates(
        self,
        by: str = "approach",
        *,
        limit: int | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> list[SuccessRate]:
        """By `approach` (those that mean the same as one), `agent`, `day`, `week` or `month`.

        Of the last 30 days unless `since` says otherwise. Of months that were pruned the counts are kept, and are part
        of the answer where the whole month lies in the asked time.
        """
        ...
