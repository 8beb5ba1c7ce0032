"""What a person decides: candidates that a rule alone has found, and whether one author replaces another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.link import Relation
from mycel.domain.memory import Memory, Status
from mycel.domain.report import ActionKind, Report
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, Conflict, InvalidInput
from tests.squad import Squad, open_squad
from tests.unit.engine.scripted_model import ScriptedModel

pytestmark = pytest.mark.each_database(slow=True)


DECISION = "We decided to use PostgreSQL for the billing service because of its JSON support."
OLD = "The gateway listens on port 8080."
NEW = "The gateway no longer listens on port 8080, it moved from 8080 to 9090."


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def capture(member: TeamMemory, text: str = DECISION, **fields: Any) -> None:
    member.capture_conversation([{"role": "user", "content": text}], project="p", **fields)


def kinds(report: Report) -> list[ActionKind]:
    return [action.kind for action in report.actions]


def waiting(member: TeamMemory) -> list[str]:
    return [item.memory.id for item in member.inbox()]


def test_what_a_rule_found_waits_until_a_person_approves_it(squad: Squad) -> None:
    capture(squad.author)
    squad.workspace.run_pending()
    (item,) = squad.person.inbox()
    assert item.memory.confidence >= squad.lead.policy().promote_from
    assert squad.person.consolidate().actions == ()
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    assert squad.author.search("billing PostgreSQL").hits == ()
    squad.person.approve(item.memory.id)
    assert squad.author.search("billing PostgreSQL").hits[0].memory.id == item.memory.id


def test_two_rules_are_no_person(squad: Squad) -> None:
    capture(squad.author)
    capture(squad.teammate, DECISION, thread_id="another")
    squad.workspace.run_pending()
    squad.person.consolidate()
    assert squad.author.search("billing PostgreSQL").hits == ()


def test_a_team_may_let_the_grounded_become_active(squad: Squad) -> None:
    assert squad.lead.policy().promote == "reviewed"
    assert squad.lead.set_policy(promote="grounded").promote == "grounded"
    capture(squad.author)
    squad.workspace.run_pending()
    assert kinds(squad.person.consolidate()) == [ActionKind.PROMOTE]
    with pytest.raises(InvalidInput) as refused:
        squad.lead.set_policy(promote="everything")
    assert refused.value.field == "promote"


def test_a_lesson_that_a_report_names_was_found_by_no_rule(squad: Squad) -> None:
    lesson = squad.author.after_task(
        task_id="T-1", action="completed", output="done", lessons=["Rotate the staging certificates in March."]
    ).lessons[0]
    assert kinds(squad.person.consolidate()) == [ActionKind.PROMOTE]
    assert squad.author.get(lesson.id).status is Status.ACTIVE


def test_what_a_language_model_found_with_evidence_was_found_by_no_rule(tmp_path: Path) -> None:
    entry = {
        **{"type": "decision", "category": "decision", "title": "PostgreSQL", "content": "Billing uses PostgreSQL."},
        **{"rationale": "", "alternatives": [], "turn": 1, "quote": DECISION, "confidence": 0.9},
    }
    model = ScriptedModel({"candidates": [entry]}, {"summary": "They chose a database."})
    with open_workspace(tmp_path / "data", language_model=model) as workspace:
        workspace.add_team("squad")
        workspace.add_member("person-1", team="squad", kind="human")
        person = workspace.as_member("person-1")
        person.capture_conversation([{"role": "user", "content": DECISION}], capture_mode="extract")
        workspace.run_pending()
        assert [item.memory.content for item in person.inbox()] == ["Billing uses PostgreSQL."]
        assert kinds(person.consolidate()) == [ActionKind.PROMOTE]


def two_authors(squad: Squad) -> tuple[Memory, Memory]:
    old = squad.author.save(OLD, project="p")
    squad.pass_time(minutes=1)
    return old, squad.teammate.save(NEW, project="p")


def test_what_replaces_another_authors_memory_is_suggested_and_both_stand(squad: Squad) -> None:
    old, new = two_authors(squad)
    assert kinds(squad.person.consolidate()) == [ActionKind.SUGGEST]
    assert [squad.author.get(one.id).status for one in (old, new)] == [Status.ACTIVE, Status.ACTIVE]
    (item,) = squad.person.inbox()
    assert item.memory.id == new.id
    assert "replaces another memory" in item.reason
    assert [(link.relation, link.to_id) for link in item.links] == [(Relation.SUPERSEDES, old.id)]
    assert squad.person.consolidate().actions == ()


def test_whoever_approves_the_suggestion_replaces_the_other(squad: Squad) -> None:
    old, new = two_authors(squad)
    squad.person.consolidate()
    with pytest.raises(AccessDenied):
        squad.teammate.approve(new.id)
    assert squad.person.approve(new.id).status is Status.ACTIVE
    assert squad.author.get(old.id).status is Status.SUPERSEDED
    assert waiting(squad.person) == []


def test_a_rejected_suggestion_leaves_both_and_does_not_come_back(squad: Squad) -> None:
    old, new = two_authors(squad)
    squad.person.consolidate()
    squad.person.reject(new.id, "the old port stays open")
    assert [squad.author.get(one.id).status for one in (old, new)] == [Status.ACTIVE, Status.ACTIVE]
    assert [link.relation for link in squad.author.links(new.id)] == [Relation.RELATED_TO]
    assert squad.author.history(new.id)[-1].reason == "replaces nothing: the old port stays open"
    assert squad.person.consolidate().actions == ()
    assert waiting(squad.person) == []
    with pytest.raises(Conflict):
        squad.person.reject(new.id, "once more")


def test_an_undone_suggestion_does_not_come_back(squad: Squad) -> None:
    two_authors(squad)
    report = squad.person.consolidate()
    squad.person.undo(str(report.id))
    assert waiting(squad.person) == []
    assert squad.person.consolidate().actions == ()


def test_authors_replace_what_they_wrote_themselves(squad: Squad) -> None:
    old = squad.author.save(OLD, project="p")
    squad.pass_time(minutes=1)
    squad.author.save(NEW, project="p")
    assert kinds(squad.person.consolidate()) == [ActionKind.SUPERSEDE]
    assert squad.author.get(old.id).status is Status.SUPERSEDED


def test_a_suggestion_about_what_a_reader_cannot_see_is_none(squad: Squad) -> None:
    old, new = two_authors(squad)
    squad.person.consolidate()
    squad.author.update(old.id, visibility="private")
    assert waiting(squad.person) == []
    squad.author.update(old.id, visibility="team")
    assert waiting(squad.person) == [new.id]
    squad.author.delete(old.id)
    assert waiting(squad.person) == []
