"""Of two rules that were laid down one after the other the later one replaces the earlier, and reviewers see which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.domain.link import Relation
from mycel.domain.memory import Status
from mycel.embedded.team_memory import TeamMemory
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)

EARLIER = "From now on the stand-up of the team begins at 9:15."
LATER = "From now on the stand-up of the team begins at 14:00."
LOW = "Purchases over 500 euros need the approval of the office manager."
HIGHER = "Purchases above 1500 euros need the approval of the office manager, 500 was too low."


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def capture(member: TeamMemory, said: str) -> None:
    member.capture_conversation([{"role": "user", "speaker": "person-1", "content": said}])


def settle(squad: Squad) -> None:
    squad.workspace.run_pending()
    squad.pass_time(hours=2)
    squad.workspace.run_pending()


def titles(squad: Squad, status: Status) -> list[str]:
    return sorted(one.content for one in squad.person.list(status=status))


@pytest.mark.parametrize(("earlier", "later"), [(EARLIER, LATER), (LOW, HIGHER)])
def test_the_inbox_says_what_gives_way_and_approving_replaces_it(squad: Squad, earlier: str, later: str) -> None:
    old = squad.author.save(earlier, type="fact")
    squad.pass_time(days=30)
    new = squad.teammate.save(later, type="fact")
    settle(squad)
    (item,) = squad.person.inbox()
    assert item.memory.id == new.id
    assert [(one.id, one.title) for one in item.gives_way] == [(old.id, old.title)]
    assert item.reason.endswith(f'approving it replaces "{old.title}"')
    assert [link.relation for link in item.links] == [Relation.SUPERSEDES]
    squad.person.approve(new.id)
    assert titles(squad, Status.ACTIVE) == [later]
    assert titles(squad, Status.SUPERSEDED) == [earlier]


def test_under_grounded_the_later_word_waits_where_it_replaces_another_author(squad: Squad) -> None:
    squad.lead.set_policy(promote="grounded")
    capture(squad.author, EARLIER)
    settle(squad)
    assert titles(squad, Status.ACTIVE) == [EARLIER]
    squad.pass_time(days=30)
    capture(squad.teammate, LATER)
    settle(squad)
    assert titles(squad, Status.ACTIVE) == [EARLIER]
    (item,) = squad.person.inbox()
    assert [one.title for one in item.gives_way] == [squad.person.list(status="active")[0].title]
    squad.person.approve(item.memory.id)
    assert titles(squad, Status.ACTIVE) == [LATER]


def test_under_grounded_the_same_author_replaces_it_at_once(squad: Squad) -> None:
    squad.lead.set_policy(promote="grounded")
    for said in (EARLIER, LATER):
        capture(squad.author, said)
        settle(squad)
        squad.pass_time(days=30)
    assert titles(squad, Status.ACTIVE) == [LATER]
    assert titles(squad, Status.SUPERSEDED) == [EARLIER]


def test_rules_about_two_things_both_hold(squad: Squad) -> None:
    squad.author.save(EARLIER, type="fact")
    squad.teammate.save("From now on the retrospective of the team begins at 14:00.", type="fact")
    settle(squad)
    assert list(squad.person.inbox()) == []
    assert len(titles(squad, Status.ACTIVE)) == 2
