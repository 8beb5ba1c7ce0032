"""What probably says the same: suggested, never merged by itself, decided like any other suggestion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mycel.contracts.judge import PairOdds, Sentence, SentenceOdds
from mycel.domain.link import Relation
from mycel.domain.memory import Memory, Status
from mycel.domain.report import ActionKind, Report
from mycel.providers.judge.shipped import builtin_judge
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)

ONE = "The staging database is restored every night."
OTHER = "Each night the database of staging is restored from scratch."
LIKELY = PairOdds(0.8, 0.02, 0.0, 0.18, 0.0)
SURE = PairOdds(0.98, 0.01, 0.0, 0.01, 0.0)


class ScriptedJudge:
    """Says the same of every pair; talk it reads as the one that is shipped."""

    def __init__(self, odds: PairOdds) -> None:
        self.odds = odds
        self.asked: list[tuple[str, str]] = []

    def compare(
        self, pairs: Sequence[tuple[str, str]], *, is_enough: Callable[[int, PairOdds], bool] | None = None
    ) -> Sequence[PairOdds]:
        self.asked += pairs
        return [self.odds] * len(pairs)

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
        shipped = builtin_judge()
        assert shipped is not None
        return shipped.weigh(sentences)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> ScriptedJudge:
    judge = ScriptedJudge(LIKELY)
    monkeypatch.setattr("mycel.app._judge", lambda: judge)
    return judge


@pytest.fixture
def squad(tmp_path: Path, judge: ScriptedJudge) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def two_authors(squad: Squad, one: str = ONE, other: str = OTHER) -> tuple[Memory, Memory]:
    first = squad.author.save(one, project="p")
    squad.pass_time(minutes=1)
    return first, squad.teammate.save(other, project="p")


def kinds(report: Report) -> list[ActionKind]:
    return [action.kind for action in report.actions]


def statuses(squad: Squad, *memories: Memory) -> list[Status]:
    return [squad.author.get(memory.id).status for memory in memories]


def test_both_stand_side_by_side_until_a_person_decides(squad: Squad) -> None:
    first, second = two_authors(squad)
    assert kinds(squad.person.consolidate()) == [ActionKind.SUGGEST]
    assert statuses(squad, first, second) == [Status.ACTIVE, Status.ACTIVE]
    (item,) = squad.person.inbox()
    assert item.memory.id == first.id
    assert "or repeats it" in item.reason
    assert [(link.relation, link.to_id) for link in item.links] == [(Relation.SUPERSEDES, second.id)]
    assert squad.person.consolidate(ids=[first.id, second.id]).actions == ()


def test_approved_the_other_gives_way(squad: Squad) -> None:
    first, second = two_authors(squad)
    squad.person.consolidate()
    squad.person.approve(first.id)
    assert statuses(squad, first, second) == [Status.ACTIVE, Status.SUPERSEDED]
    assert list(squad.person.inbox()) == []


def test_rejected_both_stay_and_it_is_not_suggested_again(squad: Squad) -> None:
    first, second = two_authors(squad)
    squad.person.consolidate()
    squad.person.reject(first.id, "they are about different databases")
    assert statuses(squad, first, second) == [Status.ACTIVE, Status.ACTIVE]
    assert squad.person.consolidate(ids=[first.id, second.id]).actions == ()
    assert list(squad.person.inbox()) == []


def test_undone_it_is_not_suggested_again(squad: Squad) -> None:
    first, second = two_authors(squad)
    report = squad.person.consolidate()
    squad.person.undo(str(report.id))
    assert list(squad.author.links(first.id)) == []
    assert squad.person.consolidate(ids=[first.id, second.id]).actions == ()


def test_what_is_sure_is_merged(squad: Squad, judge: ScriptedJudge) -> None:
    judge.odds = SURE
    first, second = two_authors(squad)
    assert kinds(squad.person.consolidate()) == [ActionKind.MERGE]
    assert statuses(squad, first, second) == [Status.ACTIVE, Status.SUPERSEDED]


@pytest.mark.parametrize("odds", [SURE, LIKELY, PairOdds(0, 1, 0, 0, 0), PairOdds(0, 0, 1, 0, 0)])
def test_what_people_say_of_themselves_is_compared_with_nobody_else(
    squad: Squad, judge: ScriptedJudge, odds: PairOdds
) -> None:
    judge.odds = odds
    two_authors(squad, "I prefer short answers.", "I like my answers to be brief.")
    assert squad.person.consolidate().actions == ()
    assert judge.asked == []


def test_of_one_person_they_are(squad: Squad) -> None:
    squad.author.save("I prefer short answers.", project="p")
    squad.author.save("I like my answers to be brief.", project="p")
    assert kinds(squad.person.consolidate()) == [ActionKind.SUGGEST]


def test_a_candidate_is_linked_to_what_stands_and_replaces_nothing(squad: Squad) -> None:
    standing = squad.author.save("We decided to use PostgreSQL for billing.", type="decision", project="p")
    said = {"role": "user", "content": "We decided that billing runs on PostgreSQL because of its JSON support."}
    squad.teammate.capture_conversation([said], project="p")
    squad.workspace.run_pending()
    squad.person.consolidate()
    (item,) = squad.person.inbox()
    assert [(link.relation, link.from_id) for link in item.links] == [(Relation.RELATED_TO, standing.id)]
    squad.person.approve(item.memory.id)
    assert statuses(squad, standing, item.memory) == [Status.ACTIVE, Status.ACTIVE]


def test_no_save_and_no_search_asks_the_judge(squad: Squad, judge: ScriptedJudge) -> None:
    two_authors(squad)
    squad.author.save("Every night staging is restored.", project="p", similar=True)
    squad.author.search("staging database")
    assert judge.asked == []
