"""Three outcomes: merged, suggested or nothing, by rules and the trained judge together."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from mycel.contracts.judge import PairOdds
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import add_odds, is_enough, judge

SAME = PairOdds(0.97, 0.01, 0.0, 0.02, 0.0)
LIKELY = PairOdds(0.8, 0.02, 0.0, 0.18, 0.0)
AGAINST = PairOdds(0.01, 0.93, 0.04, 0.02, 0.0)
REPLACED = PairOdds(0.02, 0.08, 0.85, 0.05, 0.0)
RELATED = PairOdds(0.02, 0.03, 0.02, 0.9, 0.03)


def judged(first: str, second: str, odds: PairOdds | None) -> Judgement:
    return judge(Statement(first), Statement(second), cosine=0.9, odds=odds)


def test_what_the_judge_is_sure_of_is_merged() -> None:
    found = judged("The staging database is refreshed nightly.", "Each night staging gets a fresh database.", SAME)
    assert found.likeness >= SURELY_SAME
    assert found.contradiction == 0
    assert found.reason == "the same statement in other words"


def test_what_is_likely_is_left_to_a_person() -> None:
    found = judged("The staging database is refreshed nightly.", "Each night staging gets a fresh database.", LIKELY)
    assert LIKELY_SAME <= found.likeness < SURELY_SAME
    assert found.doubtful
    assert found.contradiction < CONTRADICTS


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The timeout is 2 seconds.", "Requests time out after 3 seconds."),
        ("Backups are kept for 30 days.", "We keep backups for 30 minutes."),
        ("swe-1 prefers tabs.", "Tabs are what swe-2 likes."),
        ("Set `max_jobs` in the config.", "In the config, set `max_tasks`."),
        ("Data is in /srv/a.", "The folder /srv/b holds the data."),
        ("We run Python 3.11.", "Python 3.12 is what we run."),
    ],
)
def test_other_values_or_names_are_never_the_same_however_sure_the_judge_is(first: str, second: str) -> None:
    assert judged(first, second, SAME).likeness < LIKELY_SAME
    assert judged(second, first, SAME).likeness < LIKELY_SAME


def test_one_value_in_two_units_is_the_same() -> None:
    found = judged("Requests time out after 2 seconds.", "The timeout of a request is 2000 ms.", SAME)
    assert found.likeness >= SURELY_SAME


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Only admins delete projects.", "Nobody but admins may not delete projects."),
        ("The worker retries failed jobs.", "Failed jobs are retried by the worker five times."),
    ],
)
def test_a_negation_or_a_value_that_only_one_has_is_for_a_person(first: str, second: str) -> None:
    assert judged(first, second, SAME).likeness < SURELY_SAME


def test_what_is_related_is_nothing_even_where_a_rule_sees_another_value() -> None:
    by_rules = judged("The port is 8080.", "The port is 9090.", None)
    assert by_rules.contradiction >= CONTRADICTS
    found = judged("The port is 8080.", "The port is 9090.", RELATED)
    assert found.contradiction < CONTRADICTS
    assert not found.supersedes
    assert found.likeness < LIKELY_SAME


def test_a_reason_of_the_rules_is_told_where_the_judge_agrees() -> None:
    found = judged("The port is 8080.", "The port is 9090.", AGAINST)
    assert found.contradiction >= CONTRADICTS
    assert found.reason == "other value: 8080 / 9090"
    assert not found.doubtful


def test_a_contradiction_that_no_rule_sees_is_found_and_open_to_a_second_opinion() -> None:
    found = judged("Lunch is served in the garden.", "We eat inside at noon.", AGAINST)
    assert found.contradiction >= CONTRADICTS
    assert found.doubtful


def test_nothing_replaces_what_was_said_after_it() -> None:
    from datetime import UTC, datetime

    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    old, new = "Mail goes through the relay.", "Mail takes the direct way since the relay is gone."
    assert judge(Statement(old, (), early), Statement(new, (), late), cosine=0.9, odds=REPLACED).supersedes
    assert not judge(Statement(old, (), late), Statement(new, (), early), cosine=0.9, odds=REPLACED).supersedes


PAIRS = [
    ("The API listens on port 8080.", "The API listens on port 9090."),
    ("We decided to keep backups for 30 days.", "We decided to keep backups for 60 days."),
    ("We run Python 3.11.", "We now run Python 3.12."),
    ("The gate is open at night.", "The gate is closed at night."),
    ("The staging database is refreshed nightly.", "Each night staging gets a fresh database."),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_decided_by_one_order_is_decided_alike_by_both(first: str, second: str, turned: bool) -> None:
    """Whatever the judge says in the reverse order; sampled, as shares of all sorts."""
    day = datetime(2030, 1, 1, tzinfo=UTC)
    earlier, later = Statement(first, said_at=day), Statement(second, said_at=day - timedelta(turned))
    found = judge(earlier, later, cosine=0.95)
    random = Random(7)
    decided = 0
    for _ in range(300):
        forward = _shares(random)
        if not is_enough(earlier, later, found, forward):
            continue
        decided += 1
        alone = _outcome(add_odds(earlier, later, found, forward))
        for _ in range(20):
            assert _outcome(add_odds(earlier, later, found, _both(forward, _shares(random)))) == alone
    assert bool(decided) is (found.contradiction >= CONTRADICTS and "value" in found.reason)


def _shares(random: Random) -> PairOdds:
    """Mostly sure of one relation, as the judge is."""
    drawn = [random.random() ** random.choice((1, 6, 30)) for _ in PairOdds._fields]
    return PairOdds(*(share / sum(drawn) for share in drawn))


def _both(forward: PairOdds, reverse: PairOdds) -> PairOdds:
    """As the judge puts both orders together."""
    odds = PairOdds(*((one + other) / 2 for one, other in zip(forward, reverse, strict=True)))
    odds = odds._replace(supersedes=forward.supersedes)
    return PairOdds(*(share / sum(odds) for share in odds))


def _outcome(found: Judgement) -> tuple[object, ...]:
    """All but how strong the contradiction is, which nobody asks."""
    return found.likeness, found.contradiction >= CONTRADICTS, found.supersedes, found.reason, found.doubtful
