"""One search as it was asked: the question, what it may find and how it is ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from mycel.domain import fields
from mycel.domain.author_share import AUTHOR_SHARE
from mycel.domain.query import Filters, Order
from mycel.domain.request_filters import read_filters, read_limit, read_order


class Ranking(StrEnum):
    """`balanced` lets only what ages lose rank; `swarm` is similarity times recency times access, for every type."""

    BALANCED = "balanced"
    SWARM = "swarm"


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """The figures an operator can set, and the ranking of a request that names none."""

    ranking: Ranking = Ranking.BALANCED
    half_life_days: float = 14.0
    access_boost_max: float = 1.5
    access_recency_hours: float = 48.0
    candidate_multiplier: int = 3
    # Of the places of an answer, what one author has while others have something to say.
    author_share: float = AUTHOR_SHARE


@dataclass(frozen=True, slots=True)
class Signals:
    """How often it was read (by its author, for the author alone), and how many found it useful or useless."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
    useful: int = 0
    useless: int = 0


MAX_QUERY_BYTES = 256 * 1024
DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """`least` is the relevance below which a hit is left out; None leaves that to the search."""

    text: str
    filters: Filters
    limit: int
    least: float | None
    ranking: Ranking
    as_of: datetime | None
    # What ages count from. It is the minute that has begun, so that a question asked again within it has the same
    # answer; only `swarm` counts to the last digit.
    now: datetime
    # As the caller wrote it, for the log.
    request: Mapping[str, Any]
    # Every memory for itself, however many say the same and whoever wrote them.
    every: bool = False
    # Instead of the best first.
    order: Order | None = None

    @property
    def everything(self) -> bool:
        """Without a question or a threshold, all that the filters leave is an answer."""
        return self.least == 0 or not self.text.strip()


def read_search_request(
    query: object,
    given: Mapping[str, object],
    *,
    now: datetime,
    ranking: object,
    limit: object = None,
    min_relevance: object = None,
    as_of: object = None,
    order_by: object = None,
) -> SearchRequest:
    """Read what a caller asked. `ranking` is what they named, or the usual one of the workspace."""
    text = "" if query is None else fields.text(query, field="query", max_bytes=MAX_QUERY_BYTES)
    at = None if as_of is None else fields.moment(as_of, field="as_of")
    least = None if min_relevance is None else fields.fraction(min_relevance, field="min_relevance")
    profile = Ranking.BALANCED if ranking is None else fields.choice(ranking, Ranking, field="ranking")
    wanted = read_limit(limit, default=DEFAULT_LIMIT)
    order = None if order_by is None else read_order(order_by)
    filters = _in_reach(read_filters(given, now=at or now))
    request: dict[str, Any] = {name: _plain(value) for name, value in given.items() if value is not None}
    told = {"limit": wanted, "min_relevance": least, "ranking": profile.value, "as_of": at and at.isoformat()}
    if order is not None:
        told["order_by"] = order.text
    return SearchRequest(
        text=text,
        filters=filters if at is None else replace(filters, believed_at=at),
        limit=wanted,
        least=least,
        ranking=profile,
        as_of=at,
        now=now if profile is Ranking.SWARM else now.replace(second=0, microsecond=0),
        request={"filters": request, **{name: value for name, value in told.items() if value is not None}},
        order=order,
    )


def _in_reach(filters: Filters) -> Filters:
    """In a search, a project or repo says where the caller works: global and own memories are near as well."""
    if filters.project_id is None and filters.repo_id is None:
        return filters
    return replace(filters, project_id=None, repo_id=None, reach_project=filters.project_id, reach_repo=filters.repo_id)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [str(item) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value if isinstance(value, bool) else str(value)
