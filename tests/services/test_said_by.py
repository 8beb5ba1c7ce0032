"""What a talk yields, seen by the team: whose word it is, what becomes active by itself, and why the rest waits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from mycel.domain.marks import ABOUT, GROUNDS, SAID_BY
from mycel.domain.memory import Memory, Status
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.lead.set_policy(promote="grounded")
        yield squad


def capture(squad: Squad, *lines: str, by: TeamMemory | None = None) -> None:
    (by or squad.author).capture_conversation("\n".join(lines))
    squad.workspace.run_pending()


def drawn(squad: Squad) -> list[Memory]:
    return [memory for memory in squad.admin.list(status="any") if memory.made_by == "extraction"]


def active(squad: Squad) -> list[str]:
    squad.person.consolidate()
    return [memory.content for memory in drawn(squad) if memory.status is Status.ACTIVE]


def test_a_preference_is_the_speakers_and_not_the_captors(squad: Squad) -> None:
    capture(squad, "person-1: I prefer short commit messages.", "swe-1: ok, noted", "person-1: thanks")
    (found,) = drawn(squad)
    assert found.content == "person-1 prefers short commit messages."
    assert (found.metadata[SAID_BY], found.metadata[ABOUT]) == ("person-1", "person-1")
    assert active(squad) == []
    (item,) = squad.person.inbox()
    assert item.reason == "person-1 should confirm it: it is about person-1"
    with pytest.raises(AccessDenied):
        squad.lead.approve(found.id)
    assert squad.person.approve(found.id).status is Status.ACTIVE


def test_a_preference_of_somebody_unknown_is_still_theirs(squad: Squad) -> None:
    capture(squad, "ops-1: I prefer short commit messages.", "swe-1: ok, noted", "ops-1: thanks")
    (found,) = drawn(squad)
    assert found.content == "ops-1 prefers short commit messages."
    assert found.metadata[SAID_BY] == "ops-1"
    assert ABOUT not in found.metadata


def test_a_promise_has_its_name_and_the_day_by_the_moment_of_the_capture(squad: Squad) -> None:
    capture(squad, "ops-1: I'll move the backup bucket to eu-central-1 by tomorrow.", "swe-1: great", "ops-1: sure")
    (found,) = drawn(squad)
    tomorrow = squad.clock.now().date().toordinal() + 1
    day = squad.clock.now().date().fromordinal(tomorrow)
    assert found.content == f"ops-1 will move the backup bucket to eu-central-1 by {day}."
    assert found.metadata[SAID_BY] == "ops-1"


def test_what_a_person_says_outright_becomes_active(squad: Squad) -> None:
    capture(
        squad,
        "person-1: always run `make lint` before pushing please",
        "person-1: Rule: no force pushes to main",
        "person-1: Confirmed: the launch date is March 3",
        "admin-1: Decision: we move the unit tests to Vitest",
        "admin-1: The fix was to use workload identity in the deploy job",
    )
    today = squad.clock.now().date()
    launch = min((date(today.year + year, 3, 3) for year in (-1, 0, 1)), key=lambda day: abs(day - today))
    assert sorted(active(squad)) == [
        "Always run `make lint` before pushing please",
        f"Confirmed: the launch date is {launch}",
        "Decision: we move the unit tests to Vitest",
        "Rule: no force pushes to main",
    ]
    (item,) = squad.person.inbox()
    assert item.reason == "admin-1 said it in passing, not outright"


@pytest.mark.parametrize(
    "line",
    [
        "Then the server decided to close the connection",
        "In the old company we decided to use Mongo",
        'The README of that library says: "We decided to use Kafka"',
        "I have a TODO app on my phone",
        "If we decided to use Mongo we would need a cluster",
        "Did we decide to use Mongo for the events?",
        "We have not decided to use Mongo",
        "The platform team over there decided to use Mongo",
    ],
)
def test_what_only_sounds_like_a_decision_never_becomes_active(squad: Squad, line: str) -> None:
    capture(squad, f"person-1: {line}", "swe-1: ok", f"person-1: {line}")
    capture(squad, f"admin-1: {line}", "swe-2: ok", "admin-1: yes", by=squad.teammate)
    assert active(squad) == []


def test_what_an_agent_orders_is_nobodys_rule(squad: Squad) -> None:
    capture(squad, "swe-2: always run `make lint` before pushing", "swe-1: ok", "swe-2: thanks")
    (found,) = drawn(squad)
    assert GROUNDS not in found.metadata
    assert active(squad) == []


def test_what_somebody_from_outside_orders_is_nobodys_rule(squad: Squad) -> None:
    capture(squad, "cust-1: always call the branch before you touch a till", "person-1: ok", "cust-1: thanks")
    (found,) = drawn(squad)
    assert GROUNDS not in found.metadata
    assert active(squad) == []


def test_what_the_one_who_speaks_with_an_agent_orders_is_a_ground(squad: Squad) -> None:
    squad.author.capture_conversation([{"role": "user", "content": "Rule: no force pushes to main"}])
    squad.workspace.run_pending()
    assert active(squad) == ["Rule: no force pushes to main"]


SEEN = "The fix was to restart the broker of the ledger one node after the other."


def test_two_who_say_it_in_two_talks_are_grounds(squad: Squad) -> None:
    capture(squad, f"person-1: {SEEN}", "swe-1: ok", "person-1: yes")
    assert active(squad) == []
    capture(squad, f"admin-1: {SEEN}", "swe-2: ok", "admin-1: yes", by=squad.teammate)
    assert active(squad) == [SEEN]
    (report,) = [report for report in squad.person.reports() if report.actions]
    assert [action.why for action in report.actions if action.kind == "promote"] == [
        "two independent sources say it, and nothing contradicts it"
    ]


def test_one_talk_that_two_have_captured_is_one_source(squad: Squad) -> None:
    for by in (squad.author, squad.teammate):
        capture(squad, f"person-1: {SEEN}", "swe-1: ok", "person-1: yes", by=by)
    assert active(squad) == []


def test_by_default_even_what_was_said_outright_is_left_to_a_person(squad: Squad) -> None:
    squad.lead.set_policy(promote="reviewed")
    capture(squad, "person-1: Rule: no force pushes to main", "swe-1: ok", "person-1: I prefer tabs over spaces")
    assert active(squad) == []
    first, second = squad.admin.inbox()
    assert first.reason == "person-1 said it outright, but the team's policy leaves it to a person"
    assert first.memory.confidence > second.memory.confidence


def test_whoever_is_told_of_it_is_told_whose_word_it_is(squad: Squad) -> None:
    capture(squad, "person-1: always run `make lint` before pushing please", "swe-1: ok", "person-1: thanks")
    assert active(squad)
    bundle = squad.teammate.context_for(task="push the branch")
    for told in (bundle.to_markdown(), bundle.to_team_memory(), bundle.to_past_knowledge()):
        (line,) = [line for line in told.splitlines() if "make lint" in line]
        assert "person-1" in line
        assert "swe-1" not in line


FIX = "The fix was to restart the broker of the ledger one node after the other."


@pytest.mark.parametrize(
    ("lines", "policy", "reason"),
    [
        (
            (f"swe-2: {FIX}", "person-1: ok"),
            {},
            "said by swe-2, an agent: nothing becomes true by an agent's word alone",
        ),
        ((f"cust-1: {FIX}", "person-1: ok"), {}, "said by cust-1, who is no member of the team"),
        ((f"person-1: {FIX}", "swe-2: ok"), {}, "person-1 said it in passing, not outright"),
        (
            ("person-1: Rule: no force pushes to main", "swe-2: ok"),
            {"promote": "reviewed"},
            "person-1 said it outright, but the team's policy leaves it to a person",
        ),
        (
            ("person-1: Rule: no force pushes to main", "swe-2: ok"),
            {"review": ["fact"]},
            "person-1 said it outright, but the team's policy leaves every fact to a person",
        ),
        (
            ("person-1: Rule: no force pushes to main", "swe-2: ok"),
            {"promote_from": 0.99},
            "person-1 said it outright, but it is less sure than the team's policy asks",
        ),
        (
            ("person-1: Rule: no force pushes to main", "swe-2: ok"),
            {},
            "person-1 said it outright; the next consolidation looks at it",
        ),
    ],
)
def test_what_waits_says_which_ground_it_lacks(
    squad: Squad, lines: tuple[str, ...], policy: dict[str, object], reason: str
) -> None:
    if policy:
        squad.lead.set_policy(**policy)
    capture(squad, *lines)
    (item,) = squad.person.inbox()
    assert item.reason == reason
    assert squad.person.reviews.get(item.memory.id).reason == reason


def test_what_the_unnamed_agent_of_a_session_said_waits_for_being_an_agents(squad: Squad) -> None:
    squad.author.capture_session([{"role": "user", "content": "ok"}, {"role": "assistant", "content": FIX}])
    squad.workspace.run_pending()
    (item,) = [item for item in squad.person.inbox() if item.memory.made_by == "extraction"]
    assert item.reason == "said by an agent: nothing becomes true by an agent's word alone"


def test_who_has_left_the_team_is_an_outsider(squad: Squad) -> None:
    squad.workspace.add_member("former-1", team="squad", kind="human")
    squad.workspace.remove_member("former-1")
    capture(squad, f"former-1: {FIX}", "person-1: ok")
    (item,) = squad.person.inbox()
    assert item.reason == "said by former-1, who is no member of the team"


def test_what_people_of_the_team_said_waits_above_what_agents_and_others_did(squad: Squad) -> None:
    for who in ("swe-2", "person-1", "cust-1"):
        capture(squad, f"{who}: The fix was to restart the broker of {who}.", "admin-1: ok")
    assert next(item.memory.metadata[SAID_BY] for item in squad.admin.inbox()) == "person-1"
