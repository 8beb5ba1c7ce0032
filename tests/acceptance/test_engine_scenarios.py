"""The acceptance scenarios that are about the engine, by their numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.marks import CONTESTED
from mycel.domain.memory import Status
from mycel.domain.source import EventState
from tests.squad import Squad, open_squad
from tests.template import settings_of

pytestmark = pytest.mark.each_database


CONVERSATION = [
    {"role": "user", "content": "Which queue do we take for the invoices?"},
    {
        "role": "user",
        "content": "We decided to use RabbitMQ for the invoice queue because Kafka needs a team of its own.",
    },
]


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_4_an_imported_conversation_stays_raw_until_captured_then_inbox_then_perhaps_promoted(squad: Squad) -> None:
    imported = squad.person.capture_conversation(CONVERSATION, capture_mode="store", project="invoices")
    squad.workspace.run_pending()
    assert list(squad.author.list(status="any")) == []
    assert squad.author.sources.get(str(imported.source_id)).text

    captured = squad.person.capture_conversation(source_id=str(imported.source_id), capture_mode="extract")
    assert captured.state is EventState.PENDING
    squad.workspace.run_pending()
    (candidate,) = squad.author.list(status="inbox")
    assert squad.author.search("invoice queue RabbitMQ").hits == ()

    squad.lead.set_policy(review="all")
    assert squad.person.consolidate().actions == ()
    assert squad.author.get(candidate.id).status is Status.INBOX
    squad.lead.set_policy(review="none")
    assert squad.person.consolidate().actions == ()
    squad.lead.set_policy(promote="grounded")
    squad.person.consolidate()
    promoted = squad.author.get(candidate.id)
    assert promoted.status is Status.ACTIVE
    assert promoted.evidence_ref is not None
    assert [hit.memory.id for hit in squad.author.search("invoice queue RabbitMQ").hits] == [candidate.id]


class HangingModel:
    """A model endpoint that answers nobody until it is let go."""

    model = "hanging"
    max_characters = 10_000

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        self.asked.set()
        self.let_go.wait(30)
        return {"candidates": []}

    def close(self) -> None:
        self.let_go.set()


def test_5_closing_a_session_does_not_block_the_agent(tmp_path: Path) -> None:
    """Not even while the worker is stuck in a call that does not come back."""
    model = HangingModel()
    settings = settings_of(tmp_path)
    with open_workspace(settings=settings, language_model=model) as workspace:
        agent = workspace.as_operator()
        workspace.work_beside()
        agent.capture_session(CONVERSATION, session_id="s-1")
        assert model.asked.wait(30)
        later = [agent.capture_session(CONVERSATION, session_id=f"s-{number}") for number in range(2, 12)]
        note = agent.save("The agent went on with its next task.")
        assert {event.state for event in later} == {EventState.PENDING}
        assert agent.search("next task").hits[0].memory.id == note.id
        assert not model.let_go.is_set()
        model.let_go.set()


def test_6_two_contradictory_facts_stand_side_by_side_with_status_and_evidence(squad: Squad) -> None:
    for session, port in (("s-1", 8080), ("s-2", 9090)):
        squad.author.capture_session(
            [{"role": "user", "content": f"Turns out the invoice gateway listens on port {port}."}],
            session_id=session,
            project="invoices",
        )
        squad.workspace.run_pending()
        squad.pass_time(minutes=1)
    first, second = sorted(
        (memory for memory in squad.author.list(status="inbox")), key=lambda memory: memory.created_at
    )
    squad.person.approve_many([first.id, second.id])
    squad.person.consolidate()
    for memory, port in ((first, "8080"), (second, "9090")):
        found = squad.author.get(memory.id)
        assert (found.status, found.metadata[CONTESTED]) == (Status.ACTIVE, True)
        assert found.evidence_ref is not None
        source = squad.author.sources.get(found.evidence_ref.source_id)
        assert port in source.text[found.evidence_ref.start : found.evidence_ref.end]
    relations = {(link.from_id, link.to_id, link.relation.value) for link in squad.author.links(first.id)}
    assert relations == {(second.id, first.id, "contradicts")}
    found = squad.author.search("invoice gateway port", type=[first.type.value, second.type.value])
    assert {hit.memory.id for hit in found.hits} == {first.id, second.id}
