"""What earlier rules have contested or suggested is looked at again once; what people decided stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.marks import CONTESTED
from mycel.domain.memory import Memory
from mycel.domain.report import ActionKind
from mycel.engine.executor import InlineExecutor
from mycel.engine.judging.judgement import Judgement
from mycel.services import rejudging
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)

OPPOSED = Judgement(0.5, 0.9, supersedes=False, reason="other value: 112 / 124")
LIKELY = Judgement(0.75, 0.0, supersedes=False, reason="probably the same statement")
SERIES = (
    "Incident 112: the payment service was down for 14 minutes.",
    "Incident 124: the payment service was down for 31 minutes.",
)
GERMAN = ("Die Kaffeemaschine im Büro wird freitags entkalkt.", "Die Kaffeemaschine im Lager ist seit Mai kaputt.")
AGAINST = ("The gateway listens on port 8080.", "The gateway listens on port 9090.")


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def judge_as_before(squad: Squad, texts: tuple[str, str], verdict: Judgement) -> tuple[Memory, Memory]:
    """Two memories of two authors as a run with earlier rules left them."""
    first = squad.author.save(texts[0], type="fact")
    squad.pass_time(minutes=1)
    second = squad.teammate.save(texts[1], type="fact")

    def judge(self: object, pairs: list[object], **_: Any) -> list[Judgement]:
        return [verdict for _ in pairs]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rejudging, "RULES", 1)
        patch.setattr(InlineExecutor, "judge", judge)
        run(squad)
    return squad.author.get(first.id), squad.author.get(second.id)


def run(squad: Squad) -> None:
    squad.workspace.run_pending()
    squad.pass_time(hours=2)
    squad.workspace.run_pending()


def contested(squad: Squad, *memories: Memory) -> list[bool]:
    return [CONTESTED in squad.author.get(memory.id).metadata for memory in memories]


@pytest.mark.parametrize("texts", [SERIES, GERMAN])
def test_what_earlier_rules_contested_is_cleared_with_a_log_entry(squad: Squad, texts: tuple[str, str]) -> None:
    both = judge_as_before(squad, texts, OPPOSED)
    assert contested(squad, *both) == [True, True]
    report = squad.lead.consolidate()
    assert [action.kind for action in report.actions] == [ActionKind.UNLINK, ActionKind.CLEAR, ActionKind.CLEAR]
    assert report.actions[0].why == "contradicts"
    assert contested(squad, *both) == [False, False]
    assert squad.author.history(both[0].id)[-1].reason == "consolidation: clear"
    assert squad.author.links(both[0].id) == []
    assert squad.lead.consolidate().actions == ()


def test_the_engines_own_run_does_so_too(squad: Squad) -> None:
    both = judge_as_before(squad, SERIES, OPPOSED)
    squad.author.save("The lights of the office are green.", type="fact")
    run(squad)
    assert contested(squad, *both) == [False, False]


def test_a_suggestion_of_earlier_rules_leaves_the_inbox(squad: Squad) -> None:
    judge_as_before(squad, GERMAN, LIKELY)
    assert len(squad.person.inbox()) == 1
    assert [action.kind for action in squad.lead.consolidate().actions] == [ActionKind.UNLINK]
    assert len(squad.person.inbox()) == 0


def test_what_still_contradicts_stays_contested(squad: Squad) -> None:
    both = judge_as_before(squad, AGAINST, OPPOSED)
    assert squad.lead.consolidate().actions == ()
    assert contested(squad, *both) == [True, True]


def test_what_people_link_is_theirs(squad: Squad) -> None:
    first = squad.author.save(SERIES[0], type="fact")
    second = squad.author.save(SERIES[1], type="fact")
    squad.author.link(second.id, first.id, "contradicts")
    run(squad)
    assert squad.lead.consolidate().actions == ()
    assert len(squad.author.links(first.id)) == 1


def test_who_undoes_it_is_not_overruled(squad: Squad) -> None:
    both = judge_as_before(squad, SERIES, OPPOSED)
    report = squad.lead.consolidate()
    assert report.id is not None
    squad.lead.undo(report.id)
    assert contested(squad, *both) == [True, True]
    assert len(squad.author.links(both[0].id)) == 1
    assert squad.admin.consolidate().actions == ()
    run(squad)
    assert contested(squad, *both) == [True, True]
