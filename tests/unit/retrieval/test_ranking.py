"""The two ranking profiles, by numbers worked out apart from the code (30 decimal digits, then rounded)."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import prod
from typing import Any

import pytest

from mycel.domain.memory import MadeBy, MemoryType, Scope
from mycel.domain.query import Filters
from mycel.domain.search_request import RankingOptions, Signals
from mycel.retrieval.ranking import balanced, freshness, swarm, usefulness
from mycel.testing.store_samples import START, sample

EXACT = 1e-12
NEVER: float | None = None


def ago(hours: float | None) -> datetime | None:
    return None if hours is None else START - timedelta(hours=hours)


def swarm_score(similarity: float, age: float, count: int, last: float | None, **options: Any) -> float:
    factors = swarm(
        sample(at=START - timedelta(days=age)),
        Signals(access_count=count, last_accessed_at=ago(last)),
        now=START,
        filters=Filters(),
        options=RankingOptions(**options),
    )
    assert set(factors) == {"recency", "access"}
    return similarity * prod(factors.values())


@pytest.mark.parametrize(
    ("similarity", "age_days", "count", "hours_since_access", "score"),
    [
        (1.0, 0, 0, NEVER, 1.0),
        (0.8, 0, 5, 0, 1.2),
        (0.6, 0, 10, NEVER, 0.75),
        (0.8, 14, 0, NEVER, 0.4),
        (0.8, 14, 5, 47, 0.6),
        (0.8, 14, 5, 48, 0.6),
        (0.8, 14, 5, 49, 0.5),
        (0.8, 28, 10, 0, 0.3),
        (0.8, 28, 100, 0, 0.3),
        (0.8, 28, 100, 49, 0.25),
        (0.5, 7.5, 3, 47, 0.44838108911225660),
        (0.5, 7.5, 3, NEVER, 0.39664480959930391),
        (0.25, 1, 1, 48, 0.26171616707792039),
        (0.731, 3.25, 4, 12, 0.87129144406599461),
        (-0.2, 14, 5, 0, -0.15),
    ],
)
def test_swarm_is_similarity_times_recency_times_access(
    similarity: float, age_days: float, count: int, hours_since_access: float | None, score: float
) -> None:
    assert swarm_score(similarity, age_days, count, hours_since_access) == pytest.approx(score, rel=0, abs=EXACT)


def test_swarm_halves_every_fortnight_without_end() -> None:
    assert swarm_score(0.9, 365, 100, 0) == pytest.approx(1.9144839891259916e-8, rel=EXACT)


def test_an_access_counts_as_recent_to_the_microsecond() -> None:
    just_over = 48 + 1e-6 / 3600 * 2
    assert swarm_score(0.8, 14, 5, 48) == pytest.approx(0.6, abs=EXACT)
    assert swarm_score(0.8, 14, 5, just_over) == pytest.approx(0.5, abs=EXACT)


def test_a_memory_from_the_future_is_as_good_as_new() -> None:
    assert swarm_score(0.8, -3, 0, NEVER) == 0.8


@pytest.mark.parametrize(
    ("options", "age_days", "count", "hours_since_access", "score"),
    [
        ({"half_life_days": 7}, 7, 5, 47, 0.6),
        ({"half_life_days": 7}, 7.5, 5, 47, 0.57101709180637177),
        ({"half_life_days": 28}, 28, 0, NEVER, 0.4),
        ({"access_boost_max": 2}, 14, 5, 0, 0.6),
        ({"access_boost_max": 2}, 14, 10, 0, 0.8),
        ({"access_boost_max": 2}, 14, 100, 49, 0.6),
        ({"access_boost_max": 1}, 14, 100, 0, 0.4),
        ({"access_recency_hours": 1}, 14, 5, 1, 0.6),
        ({"access_recency_hours": 1}, 14, 5, 1.001, 0.5),
        ({"access_recency_hours": 72}, 14, 5, 49, 0.6),
    ],
)
def test_every_setting_of_swarm_counts(
    options: dict[str, float], age_days: float, count: int, hours_since_access: float | None, score: float
) -> None:
    got = swarm_score(0.8, age_days, count, hours_since_access, **options)
    assert got == pytest.approx(score, rel=0, abs=EXACT)


def balanced_factors(*, signals: Signals | None = None, filters: Filters | None = None, **fields: Any) -> Any:
    return balanced(
        sample(**fields),
        signals or Signals(),
        now=START,
        filters=filters or Filters(),
        options=RankingOptions(),
    )


def test_a_plain_new_memory_is_moved_by_nothing() -> None:
    assert balanced_factors() == {"recency": 1, "access": 1, "scope": 1, "confidence": 1, "usefulness": 1}


@pytest.mark.parametrize(
    ("fields", "after_a_fortnight", "after_a_year"),
    [
        ({"type": MemoryType.FACT}, 0.95, 0.9),
        ({"type": MemoryType.DECISION}, 0.95, 0.9),
        ({"type": MemoryType.PROFILE}, 0.95, 0.9),
        ({"type": MemoryType.EPISODE}, 0.6, 0.2),
        ({"type": MemoryType.THREAD_SUMMARY}, 0.6, 0.2),
        ({"made_by": MadeBy.TASK_COMPLETION}, 0.6, 0.2),
        ({"made_by": MadeBy.SESSION_SUMMARY}, 0.6, 0.2),
    ],
)
def test_only_what_ages_loses_rank_and_never_all_of_it(
    fields: dict[str, Any], after_a_fortnight: float, after_a_year: float
) -> None:
    for days, factor in ((0, 1.0), (14, after_a_fortnight), (365, after_a_year)):
        memory = sample(at=START - timedelta(days=days), **fields)
        assert freshness(memory, now=START, half_life_days=14) == pytest.approx(factor, abs=1e-7)


@pytest.mark.parametrize(
    ("useful", "useless", "factor"),
    [(0, 0, 1.0), (1, 0, 1.1), (0, 1, 0.9), (2, 0, 7 / 6), (0, 4, 0.75), (4, 4, 1.0), (1000, 0, 1.498008)],
)
def test_usefulness_needs_several_voices_to_move_much(useful: int, useless: int, factor: float) -> None:
    assert usefulness(Signals(useful=useful, useless=useless)) == pytest.approx(factor, abs=1e-6)


@pytest.mark.parametrize(
    ("signals", "factor"),
    [
        (Signals(5, START), 1.05),
        (Signals(5, START - timedelta(hours=49)), 1.025),
        (Signals(10, START), 1.1),
        (Signals(1000, START), 1.1),
        (Signals(1000, None), 1.05),
    ],
)
def test_being_read_moves_a_memory_by_a_tenth_at_most(signals: Signals, factor: float) -> None:
    assert balanced_factors(signals=signals)["access"] == pytest.approx(factor)


@pytest.mark.parametrize(("confidence", "factor"), [(1.0, 1.0), (0.5, 0.85), (0.0, 0.7)])
def test_what_is_doubted_ranks_lower(confidence: float, factor: float) -> None:
    assert balanced_factors(confidence=confidence)["confidence"] == pytest.approx(factor)


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ({"repo_id": "r", "scope": Scope.REPO}, 1.1),
        ({"project_id": "p", "scope": Scope.PROJECT}, 1.05),
        ({}, 1.0),
        ({"scope": Scope.AGENT}, 1.0),
        ({"project_id": "other", "scope": Scope.PROJECT}, 0.8),
        ({"repo_id": "other", "scope": Scope.REPO}, 0.8),
    ],
)
def test_what_belongs_here_comes_before_what_holds_everywhere_and_that_before_elsewhere(
    fields: dict[str, Any], factor: float
) -> None:
    here = Filters(reach_project="p", reach_repo="r")
    assert balanced_factors(filters=here, **fields)["scope"] == pytest.approx(factor)
    # Whoever works nowhere in particular is at home everywhere.
    assert balanced_factors(**fields)["scope"] == 1.0
