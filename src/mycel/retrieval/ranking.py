"""Ranking profiles: how age, use, place and confidence move a memory up or down.

Each profile returns its factors by name; their product, with what the search found, is the score.
"""

from __future__ import annotations

from datetime import datetime

from mycel.domain.memory import MadeBy, Memory, MemoryType, Scope
from mycel.domain.query import Filters
from mycel.domain.search_request import Ranking, RankingOptions, Signals
from mycel.domain.validity import Validity, validity_at

DAY_SECONDS = 86_400.0
HOUR_SECONDS = 3_600.0

# What tells of one moment, and is worth less the longer that is ago.
AGEING_TYPES = frozenset({MemoryType.EPISODE, MemoryType.THREAD_SUMMARY})
AGEING_ORIGINS = frozenset({MadeBy.TASK_COMPLETION, MadeBy.SESSION_SUMMARY, MadeBy.THREAD_SUMMARY})
# How much of its rank a memory keeps however old it is. A convention of last year still holds; of two, the newer.
AGEING_FLOOR = 0.2
DURABLE_FLOOR = 0.9

ACCESS_FULL_COUNT = 10
ACCESS_BONUS = 0.1
DOUBTED_CONFIDENCE = 0.7
HERE = {Scope.REPO: 1.1, Scope.PROJECT: 1.05}
ELSEWHERE = 0.8
# What no longer holds comes after whatever answers nearly as well; what does not hold yet may be asked about already.
NOT_HOLDING = {Validity.PAST: 0.25, Validity.UPCOMING: 0.9}
# Two voices before the first are neither for nor against: one click moves a memory a little, five move it a lot.
PRIOR_VOICES = 2


def freshness(memory: Memory, *, now: datetime, half_life_days: float) -> float:
    """The recency factor of the default profile, 0 to 1."""
    ages = memory.type in AGEING_TYPES or memory.made_by in AGEING_ORIGINS
    floor = AGEING_FLOOR if ages else DURABLE_FLOOR
    return floor + (1 - floor) * _halved(_age(memory, now), half_life_days)


def factors_of(
    ranking: Ranking, memory: Memory, signals: Signals, *, now: datetime, filters: Filters, options: RankingOptions
) -> dict[str, float]:
    """Return the factors of one profile by their names."""
    profile = swarm if ranking is Ranking.SWARM else balanced
    return profile(memory, signals, now=now, filters=filters, options=options)


def balanced(
    memory: Memory, signals: Signals, *, now: datetime, filters: Filters, options: RankingOptions
) -> dict[str, float]:
    return {
        **_validity(memory, holding_at(filters, now)),
        "recency": freshness(memory, now=now, half_life_days=options.half_life_days),
        "access": 1 + ACCESS_BONUS * _accessed(signals, now=now, options=options, most=1.0),
        "scope": _place(memory, filters),
        "confidence": DOUBTED_CONFIDENCE + (1 - DOUBTED_CONFIDENCE) * memory.confidence,
        "usefulness": usefulness(signals),
    }


def swarm(
    memory: Memory, signals: Signals, *, now: datetime, filters: Filters, options: RankingOptions
) -> dict[str, float]:
    """similarity * 2^(-age/half-life) * (1 + min(count/10, boost - 1) * recency of the last access)."""
    return {
        **_validity(memory, holding_at(filters, now)),
        "recency": _halved(_age(memory, now), options.half_life_days),
        "access": 1 + _accessed(signals, now=now, options=options, most=options.access_boost_max - 1),
    }


def usefulness(signals: Signals) -> float:
    """0.5 to 1.5: what readers said of a memory, so that what misled them sinks."""
    for_it = PRIOR_VOICES + signals.useful
    return 0.5 + for_it / (for_it + PRIOR_VOICES + signals.useless)


def holding_at(filters: Filters, now: datetime) -> datetime:
    """The moment at which what a search finds should hold in the world."""
    return filters.valid_at or filters.believed_at or now


def _validity(memory: Memory, at: datetime) -> dict[str, float]:
    """Says nothing of what holds at the moment asked about."""
    held = validity_at(at, since=memory.valid_from, until=memory.valid_until)
    return {held.value: NOT_HOLDING[held]} if held in NOT_HOLDING else {}


def _accessed(signals: Signals, *, now: datetime, options: RankingOptions, most: float) -> float:
    share = min(signals.access_count / ACCESS_FULL_COUNT, most)
    last = signals.last_accessed_at
    lately = last is not None and (now - last).total_seconds() <= options.access_recency_hours * HOUR_SECONDS
    return share * (1.0 if lately else 0.5)


def _place(memory: Memory, filters: Filters) -> float:
    """What belongs where the caller works comes before what holds everywhere, and that before other projects."""
    if not filters.is_within_reach:
        return 1.0
    if filters.reach_repo is not None and memory.repo_id == filters.reach_repo:
        return HERE[Scope.REPO]
    if filters.reach_project is not None and memory.project_id == filters.reach_project:
        return HERE[Scope.PROJECT]
    elsewhere = memory.scope in {Scope.PROJECT, Scope.REPO}
    return ELSEWHERE if elsewhere else 1.0


def _age(memory: Memory, now: datetime) -> float:
    return max(0.0, (now - memory.created_at).total_seconds() / DAY_SECONDS)


def _halved(age_days: float, half_life_days: float) -> float:
    return 2.0 ** (-age_days / half_life_days)
