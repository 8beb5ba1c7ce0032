"""A statement says from when until when it holds: the days of its words, against the moment it was said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mycel.engine.english.periods import LONGEST_STATEMENT, period_in

SAID_AT = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


def days_in(text: str, said_at: datetime = SAID_AT) -> tuple[str | None, str | None] | None:
    found = period_in(text, said_at=said_at)
    if found is None:
        return None
    since, until = found
    assert since is None or since.isoformat().endswith("T00:00:00+00:00")
    assert until is None or until.isoformat().endswith("T23:59:59.999999+00:00")
    return since and f"{since:%Y-%m-%d}", until and f"{until:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The code freeze runs from December 20 to January 2.", ("2026-12-20", "2027-01-02")),
        ("Freeze between Dec. 20th and Jan. 2nd", ("2026-12-20", "2027-01-02")),
        ("December 20 \u2013 January 2: nobody deploys", ("2026-12-20", "2027-01-02")),
        ("Nobody is in from 20 December 2026 until 2 January", ("2026-12-20", "2027-01-02")),
        ("Away 2026-12-20 - 2027-01-02", ("2026-12-20", "2027-01-02")),
        ("The sale goes from March to May", ("2027-03-01", "2027-05-31")),
        ("The key works until 2026-12-31.", (None, "2026-12-31")),
        ("Use the old cluster until Friday", (None, "2026-11-20")),
        ("Hold releases until Wednesday", (None, "2026-11-25")),
        ("Do not deploy until the end of the month.", (None, "2026-11-30")),
        ("Python 3.9 is supported through the end of 2027", (None, "2027-12-31")),
        ("valid till 3rd of May, 2027", (None, "2027-05-03")),
        ("We stay on v1 until tomorrow", (None, "2026-11-19")),
        ("As of March 3 the API needs a key.", ("2027-03-03", None)),
        ("As of today we use uv", ("2026-11-18", None)),
        ("Effective January 1, 2027 prices rise", ("2027-01-01", None)),
        ("From 2027-01-01 on, invoices need a VAT id", ("2027-01-01", None)),
        ("starting Monday, standup is at nine", ("2026-11-23", None)),
        ("CI has been slow since November 3", ("2026-11-03", None)),
        ("CI has been slow since December 3", ("2025-12-03", None)),
        ("We were on Mongo until March 2024", (None, "2024-03-31")),
        ("The leap day sale ends, valid until February 29", (None, "2028-02-29")),
    ],
)
def test_a_period_is_read(text: str, days: tuple[str | None, str | None]) -> None:
    assert days_in(text) == days


def test_a_range_is_the_one_that_has_not_ended() -> None:
    text = "The freeze is from December 20 to January 2"
    assert days_in(text, datetime(2026, 12, 28, tzinfo=UTC)) == ("2026-12-20", "2027-01-02")
    assert days_in(text, datetime(2027, 1, 2, 23, tzinfo=UTC)) == ("2026-12-20", "2027-01-02")
    assert days_in(text, datetime(2027, 1, 3, tzinfo=UTC)) == ("2027-12-20", "2028-01-02")


def test_a_moment_is_kept_to_the_minute() -> None:
    found = period_in("The maintenance window is open until 2026-12-31T18:00+02:00.", said_at=SAID_AT)
    assert found is not None
    assert found.until == datetime(2026, 12, 31, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Deploys go out on Tuesdays.",
        "The launch date is March 3.",
        "Finish it by Friday.",
        "Open from Monday to Friday, from 9 to 5",
        "You may 3 march until dawn",
        "The port moved from 8080 to 8443",
        "The old plan was in force until June 30",
        "Valid until 2026-02-30",
        "From 2027-01-05 to 2027-01-01",
        "Use v1 until March 3 and v2 until May 9",
        "We meet on March 3 and May 5",
        "It ran on server 2026-12-31-a until it did not",
        "until further notice",
        "until version 2026.12",
        "since 99999-01-01",
        "",
    ],
)
def test_what_says_no_period_or_several_is_left_alone(text: str) -> None:
    assert period_in(text, said_at=SAID_AT) is None


def test_a_long_text_speaks_of_more_than_one_thing() -> None:
    text = "The key works until 2026-12-31. "
    assert days_in(text.ljust(LONGEST_STATEMENT)) == (None, "2026-12-31")
    assert days_in(text.ljust(LONGEST_STATEMENT + 1)) is None


def test_the_ends_of_the_calendar_are_no_trouble() -> None:
    for said_at in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        for text in ("until Friday", "until tomorrow", "from December 20 to January 2", "until 9999-12-31"):
            period_in(text, said_at=said_at)
