"""One candidate: who looks at it, who has put it off, what it is merged with, and how a decision is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.domain.memory import Memory, Status
from mycel.errors import AccessDenied, Conflict, InvalidInput, InvalidState, NotFound
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


@pytest.fixture
def candidate(squad: Squad) -> Memory:
    return squad.author.save("The gateway listens on port 8080.", project="shop", tags=["net"], needs_review=True)


def test_whoever_looks_first_keeps_it_for_five_minutes(squad: Squad, candidate: Memory) -> None:
    assert squad.person.reviews.claim(candidate.id).member_id == "person-1"
    assert squad.admin.reviews.claim(candidate.id).member_id == "person-1"
    (item,) = squad.admin.inbox()
    assert item.claim is not None
    assert item.claim.member_id == "person-1"
    squad.clock.move(timedelta(minutes=5))
    assert squad.admin.reviews.get(candidate.id).claim is None
    assert squad.admin.reviews.claim(candidate.id).member_id == "admin-1"


def test_a_claim_stops_nobody_and_ends_with_the_decision(squad: Squad, candidate: Memory) -> None:
    squad.person.reviews.claim(candidate.id)
    squad.admin.approve(candidate.id)
    with pytest.raises(Conflict, match="no longer in the inbox"):
        squad.person.reviews.claim(candidate.id)
    assert squad.admin.reviews.reopen(candidate.id).status is Status.INBOX
    assert squad.person.reviews.get(candidate.id).claim is None


def test_what_one_puts_off_waits_for_the_others(squad: Squad, candidate: Memory) -> None:
    until = squad.clock.now() + timedelta(days=1)
    item = squad.person.reviews.snooze(candidate.id, until=until)
    assert item.snoozed_until == until
    assert list(squad.person.inbox()) == []
    assert [one.memory.id for one in squad.person.inbox(snoozed=True)] == [candidate.id]
    assert [one.memory.id for one in squad.admin.inbox()] == [candidate.id]
    squad.clock.move(timedelta(days=1, seconds=1))
    assert [one.memory.id for one in squad.person.inbox()] == [candidate.id]
    for wrong in (squad.clock.now(), squad.clock.now() + timedelta(days=400), "tomorrow"):
        with pytest.raises(InvalidInput, match="until"):
            squad.person.reviews.snooze(candidate.id, until=wrong)


def test_nobody_decides_about_a_text_that_is_no_longer_the_one_that_was_read(squad: Squad, candidate: Memory) -> None:
    squad.author.update(candidate.id, content="The gateway listens on port 9090.")
    for decide in (
        lambda: squad.person.approve(candidate.id, expected_version=1),
        lambda: squad.person.reject(candidate.id, "no", expected_version=1),
        lambda: squad.person.reviews.merge(candidate.id, into=squad.author.save("x").id, expected_version=1),
    ):
        with pytest.raises(Conflict, match="version 2"):
            decide()
    assert squad.person.approve(candidate.id, expected_version=2).status is Status.ACTIVE


def test_a_candidate_is_merged_into_what_stands_and_out_of_it_again(squad: Squad, candidate: Memory) -> None:
    kept = squad.teammate.save("The gateway is on 8080.", project="shop", tags=["gateway"])
    both = "The gateway listens on port 8080, behind the proxy."
    merged = squad.person.reviews.merge(candidate.id, into=kept.id, content=both)
    assert (merged.id, merged.content, merged.tags) == (kept.id, both, ("gateway", "net"))
    assert squad.person.get(candidate.id).status is Status.SUPERSEDED
    (link,) = squad.person.links(candidate.id)
    assert (link.from_id, link.relation.value) == (kept.id, "supersedes")
    assert list(squad.person.inbox()) == []
    assert squad.person.reviews.reopen(candidate.id).status is Status.INBOX
    restored = squad.person.get(kept.id)
    assert (restored.content, restored.tags) == (kept.content, kept.tags)
    assert squad.person.links(candidate.id) == []


def test_a_merge_is_refused_where_it_would_tell_others_or_change_what_is_gone(squad: Squad, candidate: Memory) -> None:
    private = squad.person.save("The gateway is on 8080.", visibility="private")
    with pytest.raises(InvalidState, match="others read"):
        squad.person.reviews.merge(candidate.id, into=private.id)
    gone = squad.author.save("old")
    squad.author.update(gone.id, status="archived")
    with pytest.raises(InvalidState, match="archived"):
        squad.person.reviews.merge(candidate.id, into=gone.id)
    with pytest.raises(InvalidInput, match="another"):
        squad.person.reviews.merge(candidate.id, into=candidate.id)
    with pytest.raises(NotFound):
        squad.admin.reviews.merge(candidate.id, into=private.id)
    with pytest.raises(AccessDenied):
        squad.teammate.reviews.merge(candidate.id, into=squad.teammate.save("x").id)


def test_a_rejection_is_taken_back_as_long_as_nothing_came_after(squad: Squad, candidate: Memory) -> None:
    squad.person.reject(candidate.id, "hearsay")
    again = squad.admin.reviews.reopen(candidate.id)
    assert (again.status, again.content, again.metadata) == (Status.INBOX, candidate.content, candidate.metadata)
    assert squad.person.history(candidate.id)[-1].reason == "the decision was taken back"
    with pytest.raises(Conflict, match="nothing has been decided"):
        squad.person.reviews.reopen(candidate.id)
    squad.person.approve(candidate.id)
    squad.author.update(candidate.id, content="The gateway listens on port 1.")
    with pytest.raises(Conflict, match="nothing has been decided"):
        squad.person.reviews.reopen(candidate.id)


def test_taking_an_approval_back_brings_back_what_it_replaced(squad: Squad) -> None:
    old = squad.author.save("We deploy on Mondays.")
    new = squad.teammate.save("We deploy on Tuesdays.", supersedes=old.id, needs_review=True)
    squad.person.approve(new.id)
    assert squad.person.get(old.id).status is Status.SUPERSEDED
    squad.person.reviews.reopen(new.id)
    assert squad.person.get(old.id).status is Status.ACTIVE
    assert squad.person.get(new.id).status is Status.INBOX
    assert len(squad.person.links(new.id)) == 1


def test_what_lost_a_contradiction_stands_again(squad: Squad) -> None:
    one, other = squad.author.save("The port is 1."), squad.teammate.save("The port is 2.")
    squad.author.link(one.id, other.id, "contradicts")
    squad.person.settle(one.id, over=other.id)
    assert squad.person.reviews.reopen(other.id).status is Status.ACTIVE
    assert squad.person.get(one.id).status is Status.ACTIVE


def test_an_item_names_what_stands_near_it(squad: Squad) -> None:
    squad.author.save("The gateway listens on port 8080.")
    waiting = squad.teammate.save("The gateway listens on port 8080!", needs_review=True)
    assert [one.title for one in squad.person.reviews.get(waiting.id).memory.similar] == [
        "The gateway listens on port 8080."
    ]


def test_the_inbox_of_one_source(squad: Squad) -> None:
    for topic in ("billing", "search"):
        squad.author.capture_conversation(
            [{"role": "assistant", "content": f"We decided to use PostgreSQL for {topic} because it is there."}],
            capture_mode="extract",
        )
    squad.workspace.run_pending()
    first, second = squad.person.inbox()
    assert first.evidence is not None
    (only,) = squad.person.inbox(source=first.evidence.source_id)
    assert only.memory.id == first.memory.id != second.memory.id
