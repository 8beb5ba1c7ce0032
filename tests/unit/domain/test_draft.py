"""What a request leaves out is derived, and what it must not say is refused."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.draft import changed_memory, default_path, first_sentence, new_memory, read_fields, written_at
from mycel.domain.ids import MemberId, MemoryId, TeamName, new_id
from mycel.domain.memory import Memory, MemoryType, Scope, Status, Visibility
from mycel.domain.team import Caller, Kind, Role, Trust
from mycel.errors import InvalidInput

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
AGENT = Caller(MemberId("swe-1"), TeamName("squad"), Role.AGENT)
PERSON = replace(AGENT, member_id=MemberId("person-1"), role=Role.MEMBER, kind=Kind.HUMAN)
LOW = replace(AGENT, trust=Trust.LOW)


def written(caller: Caller = AGENT, **given: Any) -> Memory:
    draft = read_fields({"content": "One. Two.", **given})
    return written_at(
        new_memory(draft, caller=caller),
        NOW,
        id=MemoryId(new_id()),
        expires_at=None if draft.ttl is None else NOW + draft.ttl,
    )


def changed(memory: Memory, caller: Caller = AGENT, **given: Any) -> Memory:
    return changed_memory(
        memory, read_fields(given), caller=caller, at=NOW + timedelta(hours=1), now=NOW + timedelta(hours=1)
    )


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("One. Two.", "One."),
        ("Really? Yes.", "Really?"),
        ("First line\nsecond", "First line"),
        ("  # Heading  \ntext", "Heading"),
        ("v1.2 is out. Go.", "v1.2 is out."),
        ("决定。 下一句", "决定。"),
        ("### ", "###"),
        ("a\t b", "a b"),
        ("x" * 200, "x" * 79 + "…"),
        ("word " * 40, "word " * 14 + "word…"),
    ],
)
def test_the_title_is_the_first_sentence(content: str, title: str) -> None:
    assert first_sentence(content) == title


@given(st.text(min_size=1))
def test_a_derived_title_is_one_short_line(content: str) -> None:
    title = first_sentence(content)
    assert 0 < len(title) <= 80
    assert "\n" not in title
    assert title == title.strip()


@pytest.mark.parametrize("type", MemoryType)
@pytest.mark.parametrize("project", [None, "pricing"])
def test_every_type_has_a_folder(type: MemoryType, project: str | None) -> None:
    path = default_path(type, project, "swe-1")
    expected = "/projects/pricing/" if project else ("/context", "/decisions", "/docs", "/notes", "/agents/swe-1")
    assert path.startswith(expected)


@pytest.mark.parametrize(
    ("caller", "given", "status"),
    [
        (AGENT, {}, Status.ACTIVE),
        (AGENT, {"needs_review": True}, Status.INBOX),
        (AGENT, {"metadata": {"needsReview": True}}, Status.INBOX),
        (AGENT, {"metadata": {"needsReview": "no"}}, Status.ACTIVE),
        (AGENT, {"type": "profile"}, Status.INBOX),
        (PERSON, {"type": "profile"}, Status.ACTIVE),
        (PERSON, {"needs_review": True}, Status.INBOX),
        (LOW, {}, Status.INBOX),
        (replace(AGENT, trust=Trust.HIGH), {}, Status.ACTIVE),
    ],
)
def test_what_nobody_vouches_for_waits(caller: Caller, given: dict[str, Any], status: Status) -> None:
    assert written(caller, **given).status is status


def test_who_wrote_it_is_the_caller_whatever_the_request_says() -> None:
    memory = written(LOW, source={"type": "human", "authorId": "admin-1"})
    assert (memory.agent_id, memory.trust, memory.team) == ("swe-1", Trust.LOW, "squad")


@pytest.mark.parametrize("name", ["agent_id", "trust", "id", "team", "version", "created_at", "made_by", "deleted_at"])
def test_what_only_the_system_knows_cannot_be_given(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name}: "):
        read_fields({"content": "a", name: "x"})


def test_a_lifetime_counts_from_the_moment_of_writing() -> None:
    memory = written(ttl="1h")
    assert memory.expires_at == NOW + timedelta(hours=1)
    assert changed(memory, ttl="2h").expires_at == NOW + timedelta(hours=3)
    assert changed(memory, content="b").expires_at == memory.expires_at


def test_a_new_version_keeps_what_it_does_not_change() -> None:
    memory = written(tags=["t"], project="p", metadata={"a": 1}, visibility="role", allowed_roles=["lead"])
    after = changed(memory, summary="s")
    expected = replace(memory, summary="s", version=2, updated_at=NOW + timedelta(hours=1))
    assert after == expected


def test_leaving_a_role_audience_drops_the_roles() -> None:
    memory = written(visibility="role", allowed_roles=["lead"])
    assert changed(memory, visibility="team").allowed_roles == ()
    with pytest.raises(InvalidInput):
        changed(memory, visibility="team", allowed_roles=["lead"])
    with pytest.raises(InvalidInput):
        changed(written(), visibility="role")
    with pytest.raises(InvalidInput):
        changed(memory, allowed_roles=[])


def test_trust_is_the_lower_of_the_memory_and_its_changer() -> None:
    assert changed(written(), LOW).trust is Trust.LOW
    assert changed(written(LOW), replace(AGENT, trust=Trust.HIGH)).trust is Trust.LOW


def test_a_changed_scope_follows_project_and_repo_until_it_was_chosen() -> None:
    memory = written()
    assert changed(memory, repo="r").scope is Scope.REPO
    assert changed(memory, project="p").scope is Scope.PROJECT
    chosen = changed(memory, scope="agent")
    assert changed(chosen, project="p").scope is Scope.AGENT


def test_a_private_memory_needs_no_roles() -> None:
    assert written(visibility="private").visibility is Visibility.PRIVATE
