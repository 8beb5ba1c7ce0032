"""The ledger of a team's episodes as one member sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from mycel.contracts.episodes_api import EpisodeFields, EpisodeFilterFields
from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
from mycel.domain.query import Page
from mycel.domain.team import Caller
from mycel.services.episodes import Episodes


class EpisodeLedger:
    """See `contracts.episodes_api.EpisodesApi` for what each method promises."""

    def __init__(self, caller: Callable[[], Caller], episodes: Episodes) -> None:
        self._caller = caller
        self._episodes = episodes

    def log(
        self, *, action: str, approach: str, outcome: str | None = None, **fields: Unpack[EpisodeFields]
    ) -> Episode:
        return self._episodes.log(
            self._caller(), {**fields, "action": action, "approach": approach, "outcome": outcome}
        )

    def log_many(self, items: Sequence[Mapping[str, Any]]) -> list[Episode]:
        return self._episodes.log_many(self._caller(), items)

    def get(self, id: str) -> Episode:
        return self._episodes.get(self._caller(), id)

    def similar(
        self, task: str, *, action: str | None = None, project: str | None = None, limit: int | None = None
    ) -> list[SimilarEpisode]:
        return self._episodes.similar(self._caller(), task, action=action, project=project, limit=limit)

    def best_agents(self, task: str, *, project: str | None = None, limit: int | None = None) -> list[Record]:
        return self._episodes.best_agents(self._caller(), task, project=project, limit=limit)

    def success_rates(
        self,
        by: str = "approach",
        *,
        limit: int | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> list[SuccessRate]:
        return self._episodes.success_rates(self._caller(), by=by, given=filters, limit=limit, team=team)

    # Last: below this line `list` means this method.
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> Page[Episode]:
        return self._episodes.list(self._caller(), filters, limit=limit, cursor=cursor, team=team)
