"""What a talk takes back or replaces is not proposed; what it may have taken back waits and says by what."""

from __future__ import annotations

import pytest

from mycel.domain.marks import EXPLICIT
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.extraction.extract import extract


def talk(*lines: str) -> Transcript:
    """Lines of `who: what`; `user` and `assistant` are the two of a session."""
    text, turns = "", list[Turn]()
    for line in lines:
        who, _, said = line.partition(": ")
        is_role = who in {"user", "assistant"}
        role, speaker = (who, None) if is_role else ("user", who)
        turns.append(Turn(role, len(text), len(text) + len(said), speaker))
        text += f"{said}\n"
    return Transcript(text, tuple(turns))


def drawn(*lines: str) -> list[Candidate]:
    return extract(talk(*lines))


REVERSED = (
    ("user: We decided to use Auth0.", "assistant: Noted.", "user: sorry, scratch that, wrong meeting."),
    (
        "user: Decision: refunds are paid by bank transfer.",
        "assistant: I will use bank transfers.",
        "user: Transfers take four days. So vouchers, not bank transfer.",
    ),
    ("lead: Decision: the shift starts at 4:30.", "dev: The ovens are hot at five.", "lead: Then we start at 5:00."),
    ("lead: Rule: glass goes into rack two.", "dev: It is full.", "lead: OK, so rack three, not rack two."),
    ("lead: We agreed to ship on CAN bus.", "dev: Too slow.", "lead: We revise that: EtherCAT."),
    ("lead: From now on returns last 60 days.", "dev: ok", "lead: Hang on, we can't. Stays at 30."),
    ("lead: We decided to close gate B on Fridays.", "dev: ok", "lead: Correction: gate C closes on Fridays."),
    ("lead: Decision: tours are free on Sundays.", "dev: great", "lead: April fools!"),
    ("lead: Never send truck 9 over the pass.", "dev: It has new brakes.", "lead: Oh, then that no longer applies."),
    ("lead: We decided to bill by the hour.", "dev: noted", "lead: On second thought, no. We keep the fixed fee."),
    ("user: We decided that trials last 14 days.", "assistant: ok", "user: We decided that trials last 30 days."),
    ("user: Decision: logs are kept for 90 days. No, sorry, 30 days.",),
    ("user: From now on use Stripe for payments.", "assistant: ok", "user: hold on. we're not doing Stripe"),
    ("lead: Decision: we open at nine.", "dev: Ist das neu?", "lead: Ach ja, mein Fehler, falscher Kanal."),
    ("lead: Decision: the data lives in MariaDB.", "dev: Und die Suche?", "lead: Also Postgres, nicht MariaDB."),
    ("lead: Rule: tyres are stored below.", "dev: Dort ist es feucht.", "lead: Stimmt, vergiss das."),
)
KEPT = (
    ("lead: Decision: minibars are removed.", "dev: In the suites?", "lead: No, the suites keep theirs."),
    ("lead: We decided to keep Redis.", "dev: Flags too?", "lead: Yes, those as well. No exceptions."),
    ("lead: We decided to label the data ourselves.", "dev: How long?", "lead: Three weeks, and I have two people."),
    ("lead: Decision: the test set is frozen.", "dev: Sure?", "lead: Sure. The decision stands."),
    ("lead: Rule: laptops are encrypted.", "dev: ok", "lead: Scratch cards for the old tokens are in the safe."),
    ("lead: Always calibrate the scale first.", "dev: ok", "lead: Don't forget that we freeze on Monday."),
    ("lead: Rule: two people approve a payment.", "dev: You're kidding!", "lead: I am serious."),
    ("lead: Rule: labels are printed at night.", "dev: The printer is free.", "lead: Then I tell the others."),
    ("lead: Decision: hay is sold in bales.", "lead: We also decided to sell the straw instead of burning it."),
)


@pytest.mark.parametrize("lines", REVERSED)
def test_what_the_same_talk_takes_back_or_replaces_is_not_proposed(lines: tuple[str, ...]) -> None:
    transcript = talk(*lines)
    stated = transcript.turns[0].start
    found = [one.content for one in extract(transcript) if one.start == stated]
    assert found == []


@pytest.mark.parametrize("lines", KEPT)
def test_what_is_not_taken_back_stands(lines: tuple[str, ...]) -> None:
    first = drawn(*lines)[0]
    assert first.start == 0
    assert first.grounds == EXPLICIT
    assert first.taken_back_by is None


def test_what_replaces_is_found() -> None:
    lines = ("lead: We decided to close gate B on Fridays.", "dev: why?", "lead: Decision: gate C closes instead.")
    (found,) = drawn(*lines)
    assert "gate C" in found.content
    assert found.grounds == EXPLICIT


def test_only_the_statement_that_is_meant_is_dropped() -> None:
    found = drawn(
        "lead: Rule: the gate is never left open. We decided to sell in round bales.",
        "dev: The press makes square ones.",
        "lead: Then square bales, not round bales.",
    )
    assert [one.content for one in found] == ["Rule: the gate is never left open."]


def test_what_an_assistant_noted_of_it_goes_too() -> None:
    found = drawn(
        "user: Remember: gift cards expire after two years.",
        "assistant: Remember: gift cards expire after two years.",
        "user: I misspoke, they expire after three years",
    )
    assert [one for one in found if "two years" in one.content] == []


def test_what_somebody_else_doubts_waits_and_says_by_what() -> None:
    (found,) = drawn("lead: Lesson learned: the gripper jams in the cold.", "dev: No, that's wrong.")
    assert found.grounds is None
    assert found.taken_back_by == "No, that's wrong."


def test_an_assistant_takes_nothing_back() -> None:
    (found,) = drawn("user: Rule: nobody deploys on Fridays.", "assistant: Scratch that, wrong channel.")
    assert found.grounds == EXPLICIT


def test_a_later_talk_of_something_else_takes_nothing_back() -> None:
    said = [f"dev: Point {number} of the list is done." for number in range(8)]
    found = drawn("lead: Rule: nobody deploys on Fridays.", *said, "lead: Sorry, scratch that.")
    assert found[0].grounds == EXPLICIT
