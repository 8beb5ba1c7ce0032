"""What every way into a team's memory promises about capture, review, policy and sending to other teams.

What the engine does later is not waited for here: a service works by itself, an embedded program when it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mycel.domain.source import EventState
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_access import member_of
from tests.conformance.memory_api_cast import Cast, check_refused, outcome
from tests.template import ABSENT

TALK = [
    {"role": "user", "content": "Which database do we take?"},
    {"role": "assistant", "content": "We decided to use PostgreSQL for the billing service."},
]

WRONG: list[tuple[str, Callable[[Any], object]]] = [
    ("messages", lambda api: api.capture_session([])),
    ("messages[1].content", lambda api: api.capture_session([TALK[0], {"role": "user", "content": 7}])),
    ("closed", lambda api: api.capture_session("x", closed="perhaps")),
    ("capture_mode", lambda api: api.capture_conversation("x", capture_mode="listen")),
    ("project", lambda api: api.capture_session("x", project="a/b")),
    ("allowed_roles", lambda api: api.capture_session("x", visibility="role")),
    ("output", lambda api: api.complete_task(task_id="T", output="")),
    ("reason", lambda api: api.reject(ABSENT, "")),
    ("ids", lambda api: api.consolidate(ids=["x"])),
    ("status", lambda api: api.inbox(status="active")),
    ("state", lambda api: api.sources.events(state="lost")),
    ("metadata", lambda api: api.save("x", metadata={"mycel_origin": 1})),
]


class ApiEngine:
    """Needs the fixtures `cast` and `clock`."""

    def test_a_capture_answers_with_an_event_and_keeps_the_material(self, cast: Cast) -> None:
        event = cast.author.capture_session(TALK, session_id="s-1", project="billing")
        assert event.agent_id == "swe-1"
        assert event.source_id is not None
        source = cast.author.sources.get(event.source_id)
        said = [source.text[turn.start : turn.end] for turn in source.turns]
        assert said == [message["content"] for message in TALK]
        assert cast.teammate.sources.event(event.id).id == event.id
        outcome(lambda: cast.outsider.sources.event(event.id), NotFound)

    def test_the_same_material_twice_is_one_event(self, cast: Cast) -> None:
        first = cast.author.capture_conversation(TALK)
        assert cast.author.capture_conversation(TALK).id == first.id
        assert len(cast.author.sources.list()) == 1

    def test_what_is_only_stored_is_done_with(self, cast: Cast) -> None:
        event = cast.author.capture_conversation("a long talk about nothing", capture_mode="store")
        assert (event.state, event.outcome) == (EventState.DONE, "stored")
        assert [found.id for found in cast.author.sources.events(state="done")] == [event.id]
        again = cast.author.capture_conversation(source_id=str(event.source_id))
        assert again.id != event.id

    def test_a_private_capture_is_its_author_s_alone(self, cast: Cast) -> None:
        event = cast.author.capture_session(TALK, visibility="private")
        assert cast.author.sources.event(event.id).id == event.id
        for member in (cast.teammate, cast.lead, cast.admin):
            outcome(lambda member=member: member.sources.event(event.id), NotFound)
            outcome(lambda member=member: member.sources.retry(event.id), NotFound)

    def test_tasks_and_files_are_found_at_once(self, cast: Cast) -> None:
        cast.author.complete_task(task_id="T-1", output="The build is green.", project="billing")
        cast.author.fail_task(task_id="T-1", what_went_wrong="The cache was stale.", project="billing")
        cast.author.index_file("notes/a.md", "Remember the milk.")
        assert {memory.metadata["outcome"] for memory in cast.author.list(type="episode")} == {"completed", "failed"}
        assert [memory.content for memory in cast.author.list(type="document")] == ["Remember the milk."]

    def test_the_inbox_says_why_something_waits(self, cast: Cast) -> None:
        marked = cast.author.save("a", needs_review=True)
        low = cast.newcomer.save("b")
        reasons = {item.memory.id: item.reason for item in cast.human.inbox()}
        assert set(reasons) == {marked.id, low.id}
        assert "review" in reasons[marked.id]
        assert "low trust" in reasons[low.id]
        assert list(cast.outsider.inbox()) == []

    @pytest.mark.parametrize("who", ["human", "lead", "admin"])
    def test_people_leads_and_admins_decide(self, cast: Cast, who: str) -> None:
        member = member_of(cast, who)
        good, bad = cast.author.save("a", needs_review=True), cast.author.save("b", needs_review=True)
        assert member.approve(good.id, edits={"title": "A"}).title == "A"
        assert member.reject(bad.id, "no").status.value == "archived"
        outcome(lambda: member.approve(bad.id), Conflict)
        outcome(lambda: member.reject(ABSENT, "no"), NotFound)

    @pytest.mark.parametrize("who", ["author", "teammate", "orchestrator"])
    def test_agents_do_not(self, cast: Cast, who: str) -> None:
        waiting = cast.author.save("a", needs_review=True)
        member = member_of(cast, who)
        for act in (
            lambda: member.approve(waiting.id),
            lambda: member.reject(waiting.id, "no"),
            member.consolidate,
            lambda: member.set_policy(promote_from=0.5),
            lambda: member.cascade(waiting.id),
            lambda: member.inject_learning("swe-2", "x", "preference"),
        ):
            outcome(act, AccessDenied)

    def test_a_contradiction_is_settled(self, cast: Cast) -> None:
        one, other = cast.author.save("The port is 8080."), cast.teammate.save("The port is 9090.")
        cast.author.link(one.id, other.id, "contradicts")
        assert cast.human.settle(one.id, over=other.id).id == one.id
        assert cast.author.get(other.id).status.value == "contradicted"
        outcome(lambda: cast.human.settle(one.id, over=one.id), InvalidInput)
        outcome(lambda: cast.human.settle(one.id, over=ABSENT), NotFound)

    def test_a_report_can_be_undone(self, cast: Cast) -> None:
        cast.author.save("The staging cluster is rebuilt every night.", tags=["a"])
        cast.teammate.save("The staging cluster is rebuilt every night.", tags=["b"])
        planned = cast.human.consolidate(dry_run=True)
        assert (planned.id, [action.kind.value for action in planned.actions]) == (None, ["merge"])
        report = cast.human.consolidate()
        assert len(cast.author.list(status="superseded")) == 1
        assert [found.id for found in cast.teammate.reports()] == [report.id]
        undone = cast.human.undo(str(report.id))
        assert undone.undone_by == "person-1"
        assert list(cast.author.list(status="superseded")) == []
        outcome(lambda: cast.human.undo(ABSENT), NotFound)

    def test_a_policy_is_the_team_s(self, cast: Cast) -> None:
        policy = cast.lead.set_policy(promote_from=0.9, review=["decision"])
        assert cast.author.policy() == policy
        assert cast.outsider.policy().promote_from == 0.8
        unknown: Any = {"colour": "red"}
        outcome(lambda: cast.lead.set_policy(**unknown), InvalidInput)
        outcome(cast.lead.set_policy, InvalidInput)

    def test_what_a_rule_found_is_left_to_a_person_unless_the_team_says_otherwise(self, cast: Cast) -> None:
        assert cast.author.policy().promote == "reviewed"
        assert cast.lead.set_policy(promote="grounded").promote == "grounded"
        assert cast.author.policy().promote == "grounded"
        wrong: Any = {"promote": "everything"}
        with pytest.raises(InvalidInput) as refused:
            cast.lead.set_policy(**wrong)
        assert refused.value.field == "promote"

    def test_replacing_what_another_wrote_is_a_suggestion_in_the_inbox(self, cast: Cast, clock: ManualClock) -> None:
        old = cast.author.save("The gateway listens on port 8080.")
        clock.move(timedelta(minutes=1))
        new = cast.teammate.save("The gateway no longer listens on port 8080, it moved from 8080 to 9090.")
        report = cast.human.consolidate()
        assert [(one.kind, one.memory_id, one.other_id) for one in report.actions] == [("suggest", new.id, old.id)]
        (item,) = cast.human.inbox()
        assert (item.memory.id, item.memory.status) == (new.id, "active")
        assert cast.author.get(old.id).status == "active"
        outcome(lambda: cast.teammate.approve(new.id), AccessDenied)
        cast.human.approve(new.id)
        assert cast.author.get(old.id).status == "superseded"
        assert not cast.human.inbox()

    def test_facts_about_a_person_wait_for_that_person(self, cast: Cast) -> None:
        said = cast.author.upsert_profile_fact("tone", "terse", about="person-1")
        assert said.status.value == "inbox"
        outcome(lambda: cast.lead.approve(said.id), AccessDenied)
        assert cast.human.approve(said.id).status.value == "active"
        assert cast.human.upsert_profile_fact("tone", "chatty").id == said.id

    def test_learnings_reach_the_team_or_one_worker(self, cast: Cast) -> None:
        shared = cast.lead.inject_learning("swe-1", "Run the linter.", "best-practice")
        own = cast.lead.inject_learning("swe-1", "Your tests are flaky.", "mistake-pattern", private=True)
        assert cast.teammate.get(shared.id).category == "best-practice"
        assert cast.author.get(own.id).content == "Your tests are flaky."
        outcome(lambda: cast.lead.get(own.id), NotFound)

    def test_leads_send_memories_to_other_teams(self, cast: Cast) -> None:
        memory = cast.lead.save("Deploy on Tuesdays.", type="decision")
        assert cast.lead.cascade(memory.id).state is EventState.PENDING
        assert [cascade.memory_id for cascade in cast.lead.cascades()] == [memory.id]
        cast.lead.withdraw(memory.id)
        assert list(cast.lead.cascades()) == []
        outcome(lambda: cast.lead.withdraw(ABSENT), NotFound)

    def test_a_wrong_request_names_its_field(self, cast: Cast) -> None:
        check_refused(cast.admin, WRONG)
