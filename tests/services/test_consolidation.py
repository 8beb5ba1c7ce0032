"""Consolidation: merged, contested, superseded and promoted for a reason, shown beforehand, undone exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from mycel.domain.marks import CONTESTED
from mycel.domain.memory import Memory, Status
from mycel.domain.report import ActionKind, Report
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, InvalidInput, NotFound
from tests.squad import Squad, file_of, open_squad

pytestmark = pytest.mark.each_database(slow=True)


DECISION = "We decided to use PostgreSQL for the billing service because of its JSON support."


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        # So that what a rule has found takes part in all of it.
        squad.lead.set_policy(promote="grounded")
        yield squad


def capture(squad: Squad, text: str = DECISION, *, by: TeamMemory | None = None, **fields: Any) -> Memory:
    """The one candidate of a conversation that says this."""
    known = {memory.id for memory in squad.admin.list(status="any", limit=1000)}
    asked = {"project": "billing", **fields}
    (by or squad.author).capture_conversation([{"role": "user", "content": text}], **asked)
    squad.workspace.run_pending()
    (found,) = [memory for memory in squad.admin.list(status="inbox") if memory.id not in known]
    return found


def kinds(report: Report) -> list[ActionKind]:
    return [action.kind for action in report.actions]


def status(squad: Squad, memory: Memory) -> Status:
    return squad.admin.get(memory.id).status


def test_extraction_alone_promotes_nothing(squad: Squad) -> None:
    candidate = capture(squad)
    assert candidate.confidence >= 0.8
    squad.workspace.run_pending()
    assert status(squad, candidate) is Status.INBOX


def test_the_grounded_are_promoted_and_their_time_to_live_ends(squad: Squad) -> None:
    candidate = capture(squad)
    report = squad.person.consolidate()
    assert kinds(report) == [ActionKind.PROMOTE]
    promoted = squad.author.get(candidate.id)
    assert (promoted.status, promoted.expires_at) == (Status.ACTIVE, None)
    assert promoted.evidence_ref == candidate.evidence_ref
    assert squad.author.search("billing PostgreSQL").hits[0].memory.id == candidate.id


def test_it_runs_by_itself_an_hour_after_something_changed(squad: Squad) -> None:
    candidate = capture(squad)
    squad.pass_time(minutes=59)
    squad.workspace.run_pending()
    assert status(squad, candidate) is Status.INBOX
    squad.pass_time(minutes=2)
    squad.workspace.run_pending()
    assert status(squad, candidate) is Status.ACTIVE
    (report,) = squad.author.reports()
    assert report.made_by == "engine"


def test_a_team_can_turn_the_schedule_off(squad: Squad) -> None:
    squad.lead.set_policy(consolidate_every="never")
    candidate = capture(squad)
    squad.pass_time(hours=5)
    squad.workspace.run_pending()
    assert status(squad, candidate) is Status.INBOX


def test_a_policy_keeps_types_or_all_for_review(squad: Squad) -> None:
    candidate = capture(squad)
    for review in (["decision"], "all"):
        squad.lead.set_policy(review=review)
        assert squad.person.consolidate().actions == ()
    squad.lead.set_policy(review="none", promote_from=0.99)
    assert squad.person.consolidate().actions == ()
    squad.lead.set_policy(promote_from=0.8)
    assert kinds(squad.person.consolidate()) == [ActionKind.PROMOTE]
    assert status(squad, candidate) is Status.ACTIVE


def test_what_waits_because_of_its_author_or_text_is_not_promoted(squad: Squad) -> None:
    squad.workspace.update_member("swe-1", trust="low")
    candidate = capture(squad)
    assert squad.person.consolidate().actions == ()
    assert status(squad, candidate) is Status.INBOX
    assert "low trust" in squad.person.inbox()[0].reason


def test_equals_are_merged_keeping_every_source_and_author(squad: Squad) -> None:
    first = squad.author.save("The staging cluster is rebuilt every night at 02:00 UTC.", project="p", tags=["a"])
    squad.pass_time(minutes=1)
    again = squad.teammate.save("The staging cluster is rebuilt every night at 02:00 UTC.", project="p", tags=["b"])
    report = squad.person.consolidate()
    assert kinds(report) == [ActionKind.MERGE]
    assert (report.actions[0].memory_id, report.actions[0].other_id) == (first.id, again.id)
    kept = squad.author.get(first.id)
    assert (kept.status, kept.tags) == (Status.ACTIVE, ("a", "b"))
    assert status(squad, again) is Status.SUPERSEDED
    (link,) = squad.author.links(first.id)
    assert (link.relation.value, link.to_id) == ("supersedes", again.id)
    assert squad.author.get(again.id).agent_id == "swe-2"
    assert len(squad.author.search("staging cluster rebuilt").hits) == 1


def test_a_candidate_that_repeats_what_stands_gives_way_to_it(squad: Squad) -> None:
    standing = squad.person.save("Use PostgreSQL for the billing service because of its JSON support.", type="decision",
                                 category="decision", project="billing")  # fmt: skip
    candidate = capture(squad, "We decided to use PostgreSQL for the billing service because of its JSON support.")
    report = squad.person.consolidate()
    assert status(squad, standing) is Status.ACTIVE
    if ActionKind.MERGE in kinds(report):
        assert status(squad, candidate) is Status.SUPERSEDED


def test_contradictions_are_linked_and_both_stand_contested(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    squad.pass_time(minutes=1)
    new = squad.teammate.save("The gateway listens on port 9090.", project="p")
    report = squad.person.consolidate()
    assert kinds(report) == [ActionKind.CONTRADICT]
    assert report.actions[0].why
    for memory in (old, new):
        found = squad.author.get(memory.id)
        assert (found.status, found.metadata[CONTESTED]) == (Status.ACTIVE, True)
    (link,) = squad.author.links(old.id)
    assert (link.from_id, link.to_id, link.relation.value) == (new.id, old.id, "contradicts")
    assert squad.person.consolidate().actions == ()


def test_a_decision_settles_a_contradiction(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    new = squad.teammate.save("The gateway listens on port 9090.", project="p")
    squad.person.consolidate()
    with pytest.raises(AccessDenied):
        squad.author.settle(new.id, over=old.id)
    with pytest.raises(InvalidInput, match="status"):
        squad.person.settle(new.id, over=old.id, status="archived")
    settled = squad.person.settle(new.id, over=old.id, reason="measured on the host")
    assert CONTESTED not in settled.metadata
    loser = squad.author.get(old.id)
    assert (loser.status, CONTESTED in loser.metadata) == (Status.CONTRADICTED, False)
    assert squad.author.history(old.id)[-1].reason == "measured on the host"


def test_a_contested_memory_is_clear_again_when_its_opponent_is_gone(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    new = squad.author.save("The gateway listens on port 9090.", project="p")
    squad.person.consolidate()
    squad.author.delete(old.id)
    assert kinds(squad.person.consolidate()) == [ActionKind.CLEAR]
    assert CONTESTED not in squad.author.get(new.id).metadata


def test_a_contradicted_candidate_is_not_promoted(squad: Squad) -> None:
    squad.person.save("The billing service runs on port 8080.", project="billing")
    candidate = capture(squad, "We decided to run the billing service on port 9090.")
    squad.person.consolidate()
    assert status(squad, candidate) is Status.INBOX


def test_a_later_statement_that_says_so_supersedes(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    squad.pass_time(days=1)
    new = squad.author.save("The gateway no longer listens on port 8080; it now listens on port 9090.", project="p")
    report = squad.person.consolidate()
    assert kinds(report) == [ActionKind.SUPERSEDE]
    assert (status(squad, old), status(squad, new)) == (Status.SUPERSEDED, Status.ACTIVE)
    (link,) = squad.author.links(new.id)
    assert (link.from_id, link.to_id, link.relation.value) == (new.id, old.id, "supersedes")


def test_a_run_that_only_made_links_is_seen_by_whoever_sees_what_it_linked(squad: Squad) -> None:
    for_leads = {"visibility": "role", "allowed_roles": ["lead"]}
    squad.lead.set_policy(promote_from=1.0, consolidate_every="never")
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    hidden = squad.author.save("The proxy listens on port 7070.", project="p", **for_leads)
    squad.pass_time(hours=1)
    said = "We decided: the gateway no longer listens on port 8080; it now listens on port 9090."
    new = capture(squad, said, project="p")
    said = "We decided: the proxy no longer listens on port 7070; it now listens on port 6060."
    capture(squad, said, project="p", **for_leads)
    squad.lead.set_policy(consolidate_every="1h")
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    assert (status(squad, old), status(squad, new)) == (Status.ACTIVE, Status.INBOX)
    for member in (squad.person, squad.teammate):
        (report,) = member.reports()
        (action,) = report.actions
        assert (action.kind, action.memory_id, action.other_id) == (ActionKind.LINK, new.id, old.id)
        assert member.report(str(report.id)).actions == report.actions
    (own,) = squad.lead.reports()
    assert {action.other_id for action in own.actions} == {old.id, hidden.id}
    squad.lead.undo(str(own.id))
    assert squad.author.links(new.id) == []
    assert squad.person.consolidate(ids=[old.id, new.id]).actions == ()
    assert squad.author.links(new.id) == []


def test_other_projects_and_other_readers_do_not_contradict(squad: Squad) -> None:
    squad.author.save("The gateway listens on port 8080.", project="p")
    squad.author.save("The gateway listens on port 9090.", project="q")
    squad.author.save("The gateway listens on port 7070.", project="p", visibility="private")
    squad.author.save("The gateway listens on port 6060.", project="p", visibility="role", allowed_roles=["lead"])
    assert squad.lead.consolidate().actions == ()
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    assert list(squad.admin.reports()) == []


def test_a_dry_run_shows_everything_and_does_nothing(squad: Squad) -> None:
    candidate = capture(squad)
    report = squad.person.consolidate(dry_run=True)
    assert (report.id, report.dry_run, kinds(report)) == (None, True, [ActionKind.PROMOTE])
    assert report.actions[0].why == "it was said outright, and nothing contradicts it"
    assert status(squad, candidate) is Status.INBOX
    assert list(squad.person.reports()) == []


def test_only_named_memories_when_some_are_named(squad: Squad) -> None:
    first, second = capture(squad), capture(squad, "We decided to use Redis for the session cache of the shop.")
    report = squad.person.consolidate(ids=[first.id])
    assert [action.memory_id for action in report.actions] == [first.id]
    assert status(squad, second) is Status.INBOX
    with pytest.raises(NotFound):
        squad.person.consolidate(ids=["019a0000-0000-7000-8000-000000000000"])


def dump(squad: Squad) -> dict[str, list[tuple[Any, ...]]]:
    """Every row but the history: versions, changes, reports and what says who changed it last."""
    with apsw.Connection(str(file_of(squad.data))) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
        kept = [name for name in columns if name not in {"version", "valid_from", "clock_at", "changed_by", "reason"}]
        tables = {"memories": f"SELECT {', '.join(kept)} FROM memories ORDER BY number"}
        for table in ("memory_tags", "memory_links", "sources", "embeddings", "ratings", "memory_usage"):
            tables[table] = f"SELECT * FROM {table} ORDER BY 1, 2"
        return {name: connection.execute(sql).fetchall() for name, sql in tables.items()}


def busy(squad: Squad) -> None:
    capture(squad)
    capture(squad, "We decided to use Redis for the session cache of the shop.")
    for text in (
        "The gateway listens on port 8080.",
        "The gateway listens on port 9090.",
        "The same note.",
        "The same note.",
    ):
        squad.pass_time(minutes=1)
        squad.author.save(text, project="p", tags=["t"])
    squad.pass_time(minutes=1)
    squad.teammate.save("The gateway no longer listens on port 8080; it now listens on port 7070.", project="p")


@pytest.mark.files_only
def test_undo_restores_everything_but_the_history(squad: Squad) -> None:
    busy(squad)
    before = dump(squad)
    report = squad.person.consolidate()
    assert set(kinds(report)) >= {ActionKind.PROMOTE, ActionKind.MERGE, ActionKind.CONTRADICT}
    assert dump(squad) != before
    undone = squad.person.undo(str(report.id))
    assert (undone.undone_by, undone.left) == ("person-1", ())
    assert dump(squad) == before
    assert squad.person.undo(str(report.id)).undone_at == undone.undone_at


def test_undo_leaves_and_names_what_somebody_has_changed_since(squad: Squad) -> None:
    first, second = capture(squad), capture(squad, "We decided to use Redis for the session cache of the shop.")
    report = squad.person.consolidate()
    squad.lead.update(first.id, title="My own title")
    undone = squad.person.undo(str(report.id))
    assert undone.left == (first.id,)
    assert squad.author.get(first.id).title == "My own title"
    assert status(squad, second) is Status.INBOX


def test_agents_neither_consolidate_nor_undo(squad: Squad) -> None:
    capture(squad)
    report = squad.person.consolidate()
    for act in (lambda: squad.author.consolidate(), lambda: squad.author.undo(str(report.id))):
        with pytest.raises(AccessDenied):
            act()
    with pytest.raises(NotFound):
        squad.person.undo("019a0000-0000-7000-8000-000000000000")


def test_two_sources_that_agree_make_a_candidate_surer(squad: Squad) -> None:
    text = "Let's go with Redis for the session cache of the shop."
    first = capture(squad, text)
    squad.pass_time(minutes=1)
    same = capture(squad, text, thread_id="another")
    squad.person.consolidate(ids=[first.id, same.id])
    assert squad.author.get(first.id).confidence == first.confidence
    other = capture(squad, text, by=squad.teammate)
    squad.person.consolidate(ids=[first.id, other.id])
    assert squad.author.get(first.id).confidence > max(first.confidence, other.confidence)


def test_a_run_meets_a_memory_that_changes_meanwhile(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    from mycel.services import consolidation

    candidate = capture(squad)
    planned = consolidation.Consolidating._plan
    calls: list[int] = []

    def plan(self: Any, *given: Any) -> Any:
        found = planned(self, *given)
        calls.append(1)
        if len(calls) == 1:
            squad.person.update(candidate.id, title="Changed meanwhile")
        return found

    monkeypatch.setattr(consolidation.Consolidating, "_plan", plan)
    squad.person.consolidate()
    assert len(calls) == 2
    found = squad.author.get(candidate.id)
    assert (found.title, found.status) == ("Changed meanwhile", Status.ACTIVE)


def test_undo_names_nothing_that_the_caller_cannot_see(squad: Squad) -> None:
    squad.author.save("My own note.", visibility="private")
    hidden = squad.author.save("My own note.", visibility="private")
    first = squad.author.save("The same note.")
    squad.author.save("The same note.")
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    (report,) = squad.person.reports()
    assert {action.memory_id for action in report.actions} == {first.id}
    squad.author.update(hidden.id, title="changed since")
    with pytest.raises(AccessDenied):
        squad.person.undo(str(report.id))
    assert squad.lead.undo(str(report.id)).left == ()


def test_a_purge_takes_the_words_of_the_report_with_it(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    new = squad.author.save("The gateway listens on port 9090.", project="p")
    report = squad.person.consolidate()
    squad.author.purge(new.id)
    kept = squad.person.report(str(report.id))
    assert all("9090" not in action.why for action in kept.actions)
    assert all("9090" not in str(version.reason) for version in squad.author.history(old.id))


def test_runs_asked_for_by_hand_get_through_everything(squad: Squad) -> None:
    squad.lead.set_policy(consolidate_every="never")
    squad.author.save_many([{"content": f"Note {number} about topic {number}."} for number in range(600)])
    squad.author.save("The gateway listens on port 8080.", project="p")
    squad.author.save("The gateway listens on port 9090.", project="p")
    found = [kind for _ in range(3) for kind in kinds(squad.person.consolidate())]
    assert found == [ActionKind.CONTRADICT]


def test_a_merge_never_shortens_a_life(squad: Squad) -> None:
    squad.author.save("The build takes nine minutes.", ttl="1h")
    squad.author.save("The build takes nine minutes.")
    squad.person.consolidate()
    squad.pass_time(hours=2)
    assert len(squad.author.search("build nine minutes").hits) == 1


def test_what_has_expired_takes_no_part(squad: Squad) -> None:
    squad.author.save("The build takes nine minutes.", ttl="1h")
    squad.pass_time(hours=2)
    squad.author.save("The build takes nine minutes.")
    assert squad.person.consolidate().actions == ()


def test_a_candidate_that_lapsed_is_not_promoted(squad: Squad) -> None:
    late = capture(squad)
    squad.pass_time(days=45)
    assert squad.person.consolidate(ids=[late.id]).actions == ()


def test_what_holds_for_one_agent_is_not_what_holds_for_all(squad: Squad) -> None:
    squad.author.save("The build takes nine minutes.", project="p", scope="agent")
    squad.lead.save("The build takes nine minutes.", project="p")
    assert squad.person.consolidate().actions == ()


def test_a_value_under_a_key_gives_way_to_an_arbiter_alone(squad: Squad) -> None:
    keyed = squad.person.save("The gateway listens on port 8080.", key="port", project="p", category="fact")
    squad.pass_time(minutes=1)
    squad.author.save(
        "The gateway no longer listens on port 8080; it now listens on port 9090.",
        project="p",
        category="fact",
        confidence=0.1,
    )
    squad.author.save("The gateway listens on port 8080.", project="p", category="fact")
    squad.person.consolidate()
    assert status(squad, keyed) is Status.ACTIVE


def test_what_was_undone_is_not_done_again(squad: Squad) -> None:
    squad.author.save("The same note.")
    squad.author.save("The same note.")
    capture(squad)
    report = squad.lead.consolidate()
    assert set(kinds(report)) == {ActionKind.MERGE, ActionKind.PROMOTE}
    squad.lead.undo(str(report.id))
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    assert squad.lead.consolidate().actions == ()


def test_runs_are_undone_one_after_the_other(squad: Squad) -> None:
    first = squad.author.save("The same note.")
    squad.author.save("The same note.")
    one = squad.lead.consolidate()
    squad.author.save("The same note.")
    two = squad.lead.consolidate()
    assert squad.lead.undo(str(two.id)).left == ()
    assert squad.lead.undo(str(one.id)).left == ()
    assert squad.author.get(first.id).tags == ()
    assert len(squad.author.list()) == 3


def test_undo_names_what_was_deleted_since(squad: Squad) -> None:
    first = squad.author.save("The same note.", tags=["a"])
    squad.author.save("The same note.", tags=["b"])
    report = squad.lead.consolidate()
    squad.author.delete(first.id)
    assert squad.lead.undo(str(report.id)).left == (first.id,)


def test_a_candidate_whose_key_is_taken_stops_nothing(squad: Squad) -> None:
    squad.person.save("Redis 7", key="cache", project="billing", category="decision")
    candidate = capture(squad)
    squad.lead.update(candidate.id, key="cache", category="decision")
    squad.author.save("The same note.")
    squad.author.save("The same note.")
    assert kinds(squad.person.consolidate()) == [ActionKind.MERGE]


def test_a_contest_with_what_became_private_is_over(squad: Squad) -> None:
    old = squad.author.save("The gateway listens on port 8080.", project="p")
    new = squad.teammate.save("The gateway listens on port 9090.", project="p")
    squad.person.consolidate()
    squad.teammate.update(new.id, visibility="private")
    squad.pass_time(hours=2)
    squad.workspace.run_pending()
    assert CONTESTED not in squad.author.get(old.id).metadata


def test_somebody_of_low_trust_consolidates_nothing(squad: Squad) -> None:
    squad.workspace.update_member("person-1", trust="low")
    with pytest.raises(AccessDenied):
        squad.workspace.as_member("person-1").consolidate()


def test_what_somebody_rejected_is_not_made_true_by_saying_it_again(squad: Squad) -> None:
    first = capture(squad)
    squad.person.reject(first.id, "we never did")
    again = capture(squad, thread_id="another")
    squad.person.consolidate()
    assert status(squad, again) is Status.INBOX
