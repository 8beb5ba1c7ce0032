"""Numbered series, lists and equal values in other words are no contradictions, by rules or with the trained judge."""

from __future__ import annotations

from itertools import combinations

import pytest

from mycel.contracts.judge import PairOdds
from mycel.engine.english.series import member_of_series
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import judge

AGAINST = PairOdds(0.01, 0.95, 0.02, 0.01, 0.01)
REPLACED = PairOdds(0.01, 0.02, 0.95, 0.01, 0.01)
THE_SAME = PairOdds(0.97, 0.01, 0.0, 0.01, 0.01)

SERIES = (
    (
        "Incident 112: the payment service was down for 14 minutes.",
        "Incident 124: the payment service was down for 31 minutes.",
        "Incident 131: the payment service was down for 2 hours; owner on-call.",
        "Incident 139 (payments): down for 9 minutes.",
        "In incident 140 the payment service was down for 3 minutes.",
        "Incident #147\nThe payment service was down for 50 minutes.",
        "Incident 151 - the payment service was up again after 10 minutes.",
    ),
    ("Line 4 runs at 120 bottles a minute.", "Line 5 runs at 90 bottles a minute."),
    ("Ticket A-11: the export stops at 100 rows.", "Ticket A-12: the export stops at 200 rows."),
    ("Week 12: 40 orders.", "Week 13: 55 orders.", "Week 14: 38 orders."),
    ("On day 1 of the training we open the till at 9:00.", "On day 2 of the training we open the till at 10:00."),
)
LISTS = (
    ("For the Cargo we order grips from Ergon.", "For the Cargo we order mudguards from SKS."),
    ("For the Cargo we order Ergon grips.", "For the Cargo we order SKS mudguards."),
    ("For the Cargo we order grips for 12 euros.", "For the Cargo we order mudguards for 30 euros."),
    ("We rent the van for 90 euros a day.", "We rent the trailer for 40 euros a day."),
    ("We clean the grill every week.", "We clean the fryer every day."),
    ("The kitchen buys flour in sacks of 25 kg.", "The kitchen buys sugar in sacks of 10 kg."),
)
EQUAL = (
    ("The restart takes 45 minutes.", "The restart takes three quarters of an hour."),
    ("The tank is emptied every twelve hours.", "The tank is emptied twice a day."),
    ("The heater needs 90 minutes.", "The heater needs an hour and a half."),
    ("The oven heats for two and a half hours.", "The oven heats for 150 minutes."),
    ("The sensor reports every 20 minutes.", "The sensor reports three times an hour."),
    ("The filter is changed four times a year.", "The filter is changed every three months."),
    ("The pump is serviced once a quarter.", "The pump is serviced every three months."),
    ("The bell rings every quarter of an hour.", "The bell rings every fifteen minutes."),
    ("Plants are watered every other day.", "Plants are watered every two days."),
    ("The audit happens every second year.", "The audit happens every two years."),
    ("The meeting starts at half past two in the afternoon.", "The meeting starts at 14:30."),
    ("The shop opens at a quarter past nine in the morning.", "The shop opens at 9:15."),
    ("The gate closes at 6 o'clock in the evening.", "The gate closes at 18:00."),
    ("Deposits are paid back within 10 business days.", "Deposits are paid back within two weeks."),
    ("The course has a dozen places.", "The course has twelve places."),
)


def judgements(first: str, second: str, *odds: PairOdds) -> list[Judgement]:
    """By rules, and with what the trained judge may say."""
    texts = Statement(first), Statement(second)
    return [judge(*texts, cosine=0.98, odds=each) for each in (None, *odds)]


@pytest.mark.parametrize("members", SERIES)
def test_two_of_a_series_are_two_things(members: tuple[str, ...]) -> None:
    for first, second in combinations(members, 2):
        for found in judgements(first, second, AGAINST, REPLACED, THE_SAME):
            assert found.contradiction < CONTRADICTS, (first, second, found)
            assert found.likeness < LIKELY_SAME
            assert not found.supersedes


@pytest.mark.parametrize(("first", "second"), LISTS)
def test_what_is_said_of_another_thing_is_no_reason_against_both(first: str, second: str) -> None:
    (found,) = judgements(first, second)
    assert found.contradiction < CONTRADICTS, found


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_values_in_other_words_are_the_same(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        for found in judgements(one, other, AGAINST):
            assert found.contradiction < CONTRADICTS, found
            assert found.likeness >= SURELY_SAME, found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The restart takes 45 minutes.", "The restart takes half an hour."),
        ("The tank is emptied every twelve hours.", "The tank is emptied three times a day."),
        ("The meeting starts at half past two in the afternoon.", "The meeting starts at 15:30."),
        ("Incident 112 was down for 14 minutes.", "Incident 112 was down for 31 minutes."),
        ("The runtime is Python 3.11.", "The runtime is Python 3.12."),
        ("Room 12 has 20 seats.", "Room 12 has 30 seats."),
    ],
)
def test_other_values_of_one_thing_still_contradict(first: str, second: str) -> None:
    (found,) = judgements(first, second)
    assert found.contradiction >= CONTRADICTS, found


def test_only_what_is_counted_through_is_a_series() -> None:
    assert member_of_series("Node 18 is the runtime.") is None
    assert member_of_series("The limit is 500 requests.") is None
    assert member_of_series("Postmortem no. 7: the relay refused mail.") == ("postmortem", "7")
    assert member_of_series("After release 3.4 the cache is cold.") == ("release", "3.4")


def test_where_always_stands_says_nothing() -> None:
    first = "Always run database migrations before deploying the web tier"
    second = "Run the database migrations always before deploying the web tier."
    for found in judgements(first, second, AGAINST):
        assert found.likeness >= SURELY_SAME, found
    (other,) = judgements(first, "Run the database migrations before always deploying the web tier, never after.")
    assert other.likeness < LIKELY_SAME
