"""A sentence outside of its talk: who said it, on which day, of what."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mycel.engine.english.days import resolve_days
from mycel.engine.english.standing_alone import is_nameless, leans_on_talk, name_speaker, points_back

# A Wednesday.
SAID_AT = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("I'll move the bucket", "ops-1 will move the bucket"),
        ("I\u2019ll move the bucket", "ops-1 will move the bucket"),
        ("I prefer short commit messages.", "ops-1 prefers short commit messages."),
        ("I always use tabs", "ops-1 always uses tabs"),
        ("I don't read long mails", "ops-1 does not read long mails"),
        ("I'd rather be called than mailed", "ops-1 would rather be called than mailed"),
        ("I'd tried the pool before", "ops-1 had tried the pool before"),
        ("I first tried `i` and it hung", "ops-1 first tried `i` and it hung"),
        ("I have no access to my staging account", "ops-1 has no access to ops-1's staging account"),
        ("Send me the diff, not the file", "Send ops-1 the diff, not the file"),
        ("I'm out and I can't test", "ops-1 is out and ops-1 can't test"),
        ("I'll reindex the lost days myself on Friday", "ops-1 will reindex the lost days on Friday"),
        ("I wrote it down for myself", "ops-1 wrote it down for ops-1"),
        ('The banner says "I agree"', 'The banner says "I agree"'),
        ("We use I/O threads, see i.py and I18N", "We use I/O threads, see i.py and I18N"),
    ],
)
def test_the_speaker_is_named(said: str, named: str) -> None:
    assert name_speaker(said, "ops-1") == named


def test_whoever_promises_will_do_it() -> None:
    assert name_speaker("ok i do the scan", "ops-1", promises=True) == "ok ops-1 will do the scan"
    assert name_speaker("Will rotate the keys", "ops-1", promises=True) == "ops-1 will rotate the keys"


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("done by Friday", "done by 2026-11-20"),
        ("done by Wednesday", "done by 2026-11-25"),
        ("ready tomorrow", "ready on 2026-11-19"),
        ("before the end of next week", "before 2026-11-27"),
        ("by end of the week", "by 2026-11-20"),
        ("by the end of the month", "by 2026-11-30"),
        ("in ten days", "by 2026-11-28"),
        ("on the 24th", "on 2026-11-24"),
        ("on the 3rd", "on 2026-12-03"),
        ("the feed broke on the 3rd", "the feed broke on 2026-11-03"),
        ("it fails since the 17th", "it fails since 2026-11-17"),
        ("it fails since the 25th", "it fails since 2026-10-25"),
        ("from the 17th on there's one catalog for both", "from 2026-11-17 on there's one catalog for both"),
        ("from the 24th on there will be one catalog", "from 2026-11-24 on there will be one catalog"),
        ("from the 24th on every deploy needs a reviewer", "from 2026-11-24 on every deploy needs a reviewer"),
        ("closed until the first Monday in January", "closed until the first Monday in January"),
        ("patches come on the second Tuesday of the month", "patches come on the second Tuesday of the month"),
        ("the review is on the last Friday of every quarter", "the review is on the last Friday of every quarter"),
        ("decided on Monday in the standup", "decided on 2026-11-16 in the standup"),
        ("last year we deployed up to the 23rd", "last year we deployed up to the 23rd"),
        ("that summer it broke on a Monday", "that summer it broke on a Monday"),
        ("nineteen tickets in two weeks and all the same", "nineteen tickets in two weeks and all the same"),
        ("it failed three times in a week", "it failed three times in a week"),
        ("we migrated all of it in two weeks", "we migrated all of it in two weeks"),
        ("we look at the figures again in two weeks", "we look at the figures again by 2026-12-02"),
        ("it broke last Friday", "it broke on 2026-11-13"),
        ("we saw it yesterday", "we saw it on 2026-11-17"),
        ("the export fails since Monday", "the export fails since 2026-11-16"),
        (
            "we'll replay what failed since Monday by tomorrow",
            "we'll replay what failed since 2026-11-16 by 2026-11-19",
        ),
        ("the disk failed on Monday", "the disk failed on 2026-11-16"),
        ("we learned that it is due on Monday", "we learned that it is due on 2026-11-23"),
        ("we changed it and will be done on Monday", "we changed it and will be done on 2026-11-23"),
        ("this week", "in the week of 2026-11-16"),
        ("no deploys on Fridays", "no deploys on Fridays"),
        ("never deploy on Friday", "never deploy on Friday"),
        ("the import always runs late on Monday", "the import always runs late on Monday"),
        ("always ask me first, and be done by Friday", "always ask me first, and be done by 2026-11-20"),
        ("every Friday at nine", "every Friday at nine"),
        ("the wed-night job", "the wed-night job"),
        ("Friday's build", "Friday's build"),
        ("the launch is on the 3rd of May", "the launch is on 2027-05-03"),
        ("out from 27 October", "out from 2026-10-27"),
        ("by the end of January", "by 2027-01-31"),
        ("the launch date is March 3", "the launch date is 2027-03-03"),
        ("on 3 October 2026", "on 3 October 2026"),
        ("on Feb 30", "on Feb 30"),
        ("we ship Tuesday the eighth of December", "we ship 2026-12-08"),
        ("on Thursday, December 10th", "on 2026-12-10"),
        ("from Mon 7 December on", "from 2026-12-07 on"),
        ("by the twenty-first of January", "by 2027-01-21"),
        ("the second of May", "2027-05-02"),
        ("we may 3 times march 4 miles", "we may 3 times march 4 miles"),
        ("by 2026-11-20", "by 2026-11-20"),
        ("They said the release moved to Thursday", "They said the release moved to 2026-11-19"),
        ("It was postponed to Monday", "It was postponed to 2026-11-23"),
        ("The review was scheduled for Friday", "The review was scheduled for 2026-11-20"),
        ("We merged the branch on Monday", "We merged the branch on 2026-11-16"),
    ],
)
def test_days_are_resolved_against_the_moment_of_the_talk(said: str, dated: str) -> None:
    assert resolve_days(said, SAID_AT) == dated


@pytest.mark.parametrize(
    "text",
    [
        "it passed until last week",
        "That was the reason, so I changed it back.",
        "They promised it for the usual date.",
        "turned out it was the other one after all",
        "OK let's do the second one then.",
        "We decided on the second one then.",
        "Agreed. Always like this, please.",
        "the same as before",
    ],
)
def test_what_only_the_talk_around_it_names_does_not_stand_alone(text: str) -> None:
    assert points_back(text) or is_nameless(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is official, the partner launch is on 12 November 2026.",
        "It is forbidden to copy production data on laptops.",
        "This repo uses pnpm.",
        "The importer retries, and it logs each try.",
        "Always do this before a release: run `make lint` in the API folder",
    ],
)
def test_what_names_its_subject_stands_alone(text: str) -> None:
    assert not points_back(text)
    assert not is_nameless(text)


@pytest.mark.parametrize(
    "text", ["I'll send it tomorrow.", "512 it is", "OK, CSV stays.", "then we roll it out to prod on Thursday"]
)
def test_an_answer_leans_on_what_was_asked(text: str) -> None:
    assert leans_on_talk(text)


@pytest.mark.parametrize(
    "text",
    ["I'll send the report to legal and put it in the folder.", "We decided to keep all amounts in integer cents."],
)
def test_what_names_its_thing_does_not(text: str) -> None:
    assert not leans_on_talk(text)
