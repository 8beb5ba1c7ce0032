"""What every way into a team's memory promises about who may do what, review and knowledge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.memory import Memory
from mycel.errors import AccessDenied, Conflict, NotFound
from tests.conformance.memory_api_cast import Cast, outcome

# Whose memory it is → who may edit and delete it, when it is for the team.
TEAM_EDITORS = {"author", "lead", "admin"}
EVERYONE = ("author", "teammate", "human", "lead", "orchestrator", "admin", "newcomer")
OTHERS = ("outsider", "child_lead")


class ApiAccess:
    """Needs the fixture `cast`."""

    @pytest.mark.parametrize("who", EVERYONE)
    def test_who_may_edit_and_delete_what_is_for_the_team(self, cast: Cast, who: str) -> None:
        memory = cast.author.save("a")
        member = member_of(cast, who)
        refusal = None if who in TEAM_EDITORS else AccessDenied
        outcome(lambda: member.update(memory.id, summary="b"), refusal)
        outcome(lambda: member.delete(memory.id), refusal)
        if refusal:
            cast.author.delete(memory.id)
        outcome(lambda: member.restore(memory.id), refusal)
        outcome(lambda: member.purge(memory.id), refusal)

    @pytest.mark.parametrize("who", ["teammate", "human", "lead", "orchestrator", "outsider", "child_lead"])
    def test_nobody_else_finds_what_is_private(self, cast: Cast, who: str) -> None:
        memory = cast.author.save("a", visibility="private", key="k")
        member = member_of(cast, who)
        for attempt in attempts(member, memory):
            outcome(attempt, NotFound)

    def test_an_admin_purges_private_text_unseen(self, cast: Cast) -> None:
        memory = cast.author.save("a", visibility="private")
        for attempt in attempts(cast.admin, memory)[:-1]:
            outcome(attempt, NotFound)
        receipt = cast.admin.purge(memory.id)
        assert (receipt.memory_id, receipt.purged_by, receipt.state) == (memory.id, "admin-1", "logical")
        outcome(lambda: cast.author.get(memory.id), NotFound)

    @pytest.mark.parametrize("who", OTHERS)
    def test_other_teams_cannot_write(self, cast: Cast, who: str) -> None:
        memory = cast.author.save("a")
        member = member_of(cast, who)
        for attempt in attempts(member, memory)[1:]:
            outcome(attempt, NotFound, AccessDenied)
        assert cast.author.get(memory.id) == memory

    def test_an_orchestrator_edits_knowledge_only(self, cast: Cast) -> None:
        knowledge, note = cast.author.save("a", key="k"), cast.author.save("b")
        assert cast.orchestrator.update(knowledge.id, content="c").content == "c"
        outcome(lambda: cast.orchestrator.update(note.id, content="c"), AccessDenied)
        outcome(lambda: cast.orchestrator.delete(note.id), AccessDenied)
        cast.orchestrator.delete(knowledge.id)
        cast.orchestrator.restore(knowledge.id)

    @pytest.mark.parametrize("who", EVERYONE)
    def test_only_its_author_or_an_admin_changes_who_sees_it(self, cast: Cast, who: str) -> None:
        memory = cast.author.save("a", key="k")
        refusal = None if who in {"author", "admin"} else AccessDenied
        member = member_of(cast, who)
        outcome(lambda: member.update(memory.id, visibility="role", allowed_roles=["agent"]), refusal)

    @pytest.mark.parametrize("who", EVERYONE)
    def test_people_leads_and_admins_decide_what_leaves_the_inbox(self, cast: Cast, who: str) -> None:
        memory = cast.author.save("a", needs_review=True)
        assert memory.status == "inbox"
        refusal = None if who in {"human", "lead", "admin"} else AccessDenied
        member = member_of(cast, who)
        outcome(lambda: member.update(memory.id, status="active", reason="checked"), refusal)
        if refusal is None:
            assert [version.changed_by for version in cast.author.history(memory.id)][1:] == [cast_id(who)]

    @pytest.mark.parametrize("status", ["archived", "superseded", "contradicted", "active"])
    def test_an_author_cannot_take_its_own_out_of_the_inbox(self, cast: Cast, status: str) -> None:
        memory = cast.author.save("a", needs_review=True)
        outcome(lambda: cast.author.update(memory.id, status=status), AccessDenied)
        assert cast.author.update(memory.id, content="b").status == "inbox"

    def test_a_human_reviews_but_does_not_edit_what_stands(self, cast: Cast) -> None:
        memory = cast.author.save("a")
        outcome(lambda: cast.human.update(memory.id, content="b"), AccessDenied)
        waiting = cast.author.save("b", metadata={"needsReview": True})
        assert cast.human.update(waiting.id, content="c", status="active").status == "active"

    def test_what_a_low_trust_member_writes_waits(self, cast: Cast) -> None:
        memory = cast.newcomer.save("a", key="k")
        assert (memory.status, memory.trust) == ("inbox", "low")
        assert cast.author.list().items == ()
        assert cast.human.update(memory.id, status="active").status == "active"
        assert cast.newcomer.update(memory.id, content="b").status == "inbox"

    def test_a_profile_waits_unless_a_person_writes_it(self, cast: Cast) -> None:
        assert cast.author.save("Likes tabs.", type="profile").status == "inbox"
        assert cast.human.save("Likes tabs.", type="profile").status == "active"
        note = cast.author.save("Likes spaces.")
        assert cast.author.update(note.id, type="profile").status == "inbox"

    def test_trust_never_rises(self, cast: Cast) -> None:
        memory = cast.newcomer.save("a")
        assert cast.lead.update(memory.id, content="b").trust == "low"

    @pytest.mark.parametrize(
        ("who", "confidence", "stands"),
        [
            ("teammate", 0.4, "Port 80."),
            ("teammate", 0.5, "Port 80."),
            ("teammate", 0.6, "Port 81."),
            ("author", 0.4, "Port 80."),
            ("author", 0.5, "Port 81."),
            ("author", 0.6, "Port 81."),
            ("orchestrator", 0.1, "Port 81."),
            ("lead", 0.5, "Port 80."),
        ],
    )
    def test_knowledge_is_replaced_by_those_who_may(self, cast: Cast, who: str, confidence: float, stands: str) -> None:
        standing = cast.author.save("Port 80.", key="port", project="p", category="fact", confidence=0.5)
        incoming = member_of(cast, who).save(
            "Port 81.", key="port", project="p", category="fact", confidence=confidence
        )
        assert [memory.content for memory in cast.human.list(key="port")] == [stands]
        if stands == incoming.content:
            assert (incoming.id, incoming.version, incoming.created_at) == (standing.id, 2, standing.created_at)
            assert [version.memory.content for version in cast.human.history(standing.id)] == ["Port 80.", "Port 81."]
            assert cast.human.search("port 81").hits[0].memory == incoming
        else:
            assert incoming.status == "inbox"
            [link] = cast.human.links(standing.id)
            assert (link.from_id, link.to_id, link.relation) == (incoming.id, standing.id, "contradicts")

    def test_keys_of_other_projects_categories_and_audiences_stand_apart(self, cast: Cast) -> None:
        cast.author.save("a", key="k")
        for apart in ({"project": "p"}, {"category": "c"}, {"visibility": "private"}):
            fields: dict[str, Any] = dict(apart)
            assert cast.teammate.save("b", key="k", confidence=0.1, **fields).status == "active"

    def test_a_members_own_value_comes_before_that_of_others(self, cast: Cast) -> None:
        """Agents do not see each other's values for leads, so several can stand; a lead renews its own."""
        for_leads: dict[str, Any] = {"key": "k", "visibility": "role", "allowed_roles": ["lead"]}
        cast.author.save("a", confidence=0.5, **for_leads)
        cast.teammate.save("b", confidence=0.9, **for_leads)
        own = cast.lead.save("c", confidence=0.95, **for_leads)
        weaker = cast.lead.save("d", confidence=0.92, **for_leads)
        [link] = cast.lead.links(weaker.id)
        assert (weaker.status, link.to_id) == ("inbox", own.id)
        renewed = cast.lead.save("e", confidence=0.95, **for_leads)
        assert (renewed.id, renewed.version) == (own.id, own.version + 1)

    def test_an_update_cannot_take_the_key_of_another(self, cast: Cast) -> None:
        cast.author.save("a", key="k")
        other = cast.author.save("b")
        outcome(lambda: cast.author.update(other.id, key="k"), Conflict)

    def test_restoring_what_was_replaced_meanwhile_is_a_conflict(self, cast: Cast) -> None:
        first = cast.author.save("a", key="k")
        cast.author.delete(first.id)
        cast.author.save("b", key="k")
        outcome(lambda: cast.author.restore(first.id), Conflict)


def attempts(member: MemoryApi, memory: Memory) -> list[Callable[[], object]]:
    return [
        lambda: member.get(memory.id),
        lambda: member.update(memory.id, content="b"),
        lambda: member.delete(memory.id),
        lambda: member.restore(memory.id),
        lambda: member.link(memory.id, "project:p", "applies_to"),
        lambda: member.rate(memory.id, useful=True),
        lambda: member.purge(memory.id),
    ]


def member_of(cast: Cast, name: str) -> MemoryApi:
    return getattr(cast, name)


def cast_id(name: str) -> str:
    return {"human": "person-1", "lead": "lead-1", "admin": "admin-1"}[name]
