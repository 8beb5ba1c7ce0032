"""What ranking looks at besides a memory's text, and the ways of ranking there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.author_share import AUTHOR_SHARE


class Ranking(StrEnum):
    """`balanced` lets only what ages lose rank; `swarm` is similarity times recency times access, for every type."""

    BALANCED = "balanced"
    SWARM = "swarm"


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """The figures an operator can set."""

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
