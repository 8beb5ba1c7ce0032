"""A vault puts nothing back that somebody of a higher rank took away, and loses nothing that waits for a reviewer."""

from __future__ import annotations

import pytest

from mycel.domain.memory import Status
from mycel.errors import NotFound
from tests.surfaces.vault.bench import Bench


def test_a_note_that_is_put_back_brings_nothing_back_that_a_lead_deleted(agent: Bench, lead: Bench) -> None:
    memory = agent.save("The registry is evil.example.")
    agent.sync()
    file = agent.only_file()
    text, agent_file = file.read_bytes(), str(file.relative_to(agent.root))
    lead.memory.delete(memory.id)
    agent.sync()
    assert not file.exists()
    agent.write(agent_file, text.decode())
    for _ in range(2):
        report = agent.sync()
    assert [problem.file for problem in report.problems] == [agent_file]
    with pytest.raises(NotFound):
        lead.memory.get(memory.id)
    assert list(lead.memory.list()) == []


def test_a_note_with_the_words_that_a_lead_corrected_does_not_bring_them_back(agent: Bench, lead: Bench) -> None:
    memory = agent.save("Deploy with make ship.")
    agent.sync()
    lead.memory.update(memory.id, content="Deploy with make release.")
    agent.sync()
    file = agent.only_file()
    file.write_text(file.read_text("utf-8").replace("make release", "make ship"), "utf-8")
    report = agent.sync()
    assert any("lead-1 changed its" in problem.about for problem in report.problems), report
    assert lead.memory.get(memory.id).content == "Deploy with make release."


def test_an_edit_that_waits_leaves_what_stands_and_is_a_note_of_its_own(agent: Bench, lead: Bench) -> None:
    memory = agent.save("Deploy with make ship.")
    agent.sync()
    lead.memory.set_policy(least_trust="high")
    file = agent.only_file()
    file.write_text(file.read_text("utf-8").replace("make ship", "make release"), "utf-8")
    report = agent.sync()
    assert any("waits for a reviewer" in problem.about for problem in report.problems), report
    assert lead.memory.get(memory.id).content == "Deploy with make ship."
    agent.sync()
    texts = [(agent.root / one).read_text("utf-8") for one in agent.files()]
    assert sorted("make release" in text for text in texts) == [False, True]
    [item] = lead.memory.inbox()
    assert item.memory.content == "Deploy with make release."
    assert lead.memory.approve(item.memory.id).id == memory.id
    agent.sync()
    assert "make release" in agent.only_file().read_text("utf-8")
    assert lead.memory.get(memory.id).status is Status.ACTIVE
