"""What a talk takes back stays out of the inbox and is never active; what it may have taken back says so there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.embedded.team_memory import TeamMemory
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.lead.set_policy(promote="grounded")
        yield squad


def capture(member: TeamMemory, *lines: tuple[str, str, str]) -> None:
    member.capture_conversation([{"role": role, "speaker": who, "content": said} for role, who, said in lines])


def settle(squad: Squad) -> None:
    squad.workspace.run_pending()
    squad.pass_time(hours=2)
    squad.workspace.run_pending()


def test_what_its_speaker_takes_back_is_neither_proposed_nor_active(squad: Squad) -> None:
    capture(
        squad.author,
        ("user", "person-1", "We decided to use Auth0 for the login."),
        ("user", "admin-1", "Fine by me."),
        ("user", "person-1", "sorry, scratch that, wrong meeting."),
    )
    settle(squad)
    assert list(squad.person.inbox()) == []
    assert squad.author.search("login Auth0").hits == ()


def test_what_somebody_else_doubts_waits_and_says_why(squad: Squad) -> None:
    capture(
        squad.author,
        ("user", "person-1", "Lesson learned: the gripper jams when the grease is cold."),
        ("user", "admin-1", "No, that's wrong."),
    )
    settle(squad)
    (item,) = squad.person.inbox()
    assert item.reason == 'may have been taken back in the same talk: "No, that\'s wrong."'


def test_what_replaces_it_becomes_active(squad: Squad) -> None:
    capture(
        squad.author,
        ("user", "person-1", "Decision: refunds are paid out by bank transfer."),
        ("user", "admin-1", "Transfers take four days."),
        ("user", "person-1", "Decision: refunds are paid out as vouchers, not by bank transfer."),
    )
    settle(squad)
    (hit,) = squad.author.search("how are refunds paid out").hits
    assert "vouchers" in hit.memory.content
