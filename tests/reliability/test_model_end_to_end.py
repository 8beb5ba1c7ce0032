"""A language model of a team, by an endpoint or a command, draws, judges and summarises, and fails without harm."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.contracts.judge import PairOdds, Sentence, SentenceOdds
from mycel.domain.memory import Memory, Status
from mycel.embedded.workspace import Workspace
from mycel.engine.by_model.summary import PARTS
from mycel.settings import Settings
from tests.reliability import embedding_server as faults
from tests.reliability.embedding_server import Exchange, Script
from tests.reliability.language_model_server import LanguageModelServer, answering, speaking

ONE = "The staging database is restored every night."
OTHER = "Each night the database of staging is restored from scratch."
DECIDED = "We decided to keep all amounts in cents, since floats lose money."
ASKED = "The invoices are off by a cent, can you find out why?"
# Long enough for an honest answer, and for a hanging one not to hold up the tests.
PATIENCE = 60.0
SHORT = 0.3

CANDIDATES = {
    "candidates": [
        {
            "type": "decision",
            "title": "Amounts in cents",
            "content": "Amounts are kept in cents.",
            "quote": DECIDED,
            "turn": 2,
            "confidence": 0.9,
            "category": "decision",
            "rationale": "Floats lose money.",
            "alternatives": [],
        }
    ]
}
SUMMARY = {
    "summary": {part.lower(): [] for part in PARTS} | {"decided": ["swe-1: amounts are kept in cents"]},
}
VERDICTS = {"verdicts": [{"pair": 1, "relation": "duplicate"}]}


class DoubtfulJudge:
    """Finds every pair doubtful, and nothing in any talk worth keeping."""

    def compare(
        self, pairs: Sequence[tuple[str, str]], *, is_enough: Callable[[int, PairOdds], bool] | None = None
    ) -> Sequence[PairOdds]:
        return [PairOdds(0.8, 0.02, 0.0, 0.18, 0.0)] * len(pairs)

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
        return [SentenceOdds(0.0, 0.0, {"fact": 1.0}, {"status_chatter": 1.0})] * len(sentences)


def answer_to(asked: str) -> dict[str, Any]:
    """Each sort of question is told by its schema."""
    for name, found in (("verdicts", VERDICTS), ("candidates", CANDIDATES)):
        if f'"{name}"' in asked:
            return found
    return SUMMARY


COMMAND = f"""
import json, sys
asked = sys.stdin.read()
for name, found in (("verdicts", {VERDICTS!r}), ("candidates", {CANDIDATES!r}), ("summary", {SUMMARY!r})):
    if f'"{{name}}"' in asked:
        print("Sure:", json.dumps(found))
        break
"""
COMMANDS = {
    "answers": COMMAND,
    "garbage": "print('I would rather talk about {the weather}')",
    "wrong": 'print(\'{"candidates": 5, "summary": [1], "verdicts": {"pair": 1}}\')',
    "hangs": "import time; time.sleep(600)",
}


def honest(exchange: Exchange) -> None:
    answering(answer_to(json.dumps(exchange.body)))(exchange)


SCRIPTS: dict[str, Script] = {
    "answers": honest,
    "garbage": speaking("I would rather talk about {the weather}"),
    "wrong": answering({"candidates": 5, "summary": [1], "verdicts": {"pair": 1}}),
    "hangs": faults.hanging,
}


@pytest.fixture
def server(near_endpoint: None) -> Iterator[LanguageModelServer]:
    made = LanguageModelServer()
    yield made
    made.stop()


Open = Callable[[str], Workspace]


@pytest.fixture(params=["openai", "anthropic", "command"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, server: LanguageModelServer, monkeypatch: pytest.MonkeyPatch
) -> Open:
    """A workspace whose model behaves so."""
    monkeypatch.setattr("mycel.app._judge", DoubtfulJudge)

    def build(behaviour: str) -> Workspace:
        llm: dict[str, Any] = {"llm": request.param, "llm_model": "m"}
        if request.param == "command":
            program = tmp_path / "model.py"
            program.write_text(COMMANDS[behaviour], "utf-8")
            llm["llm_command"] = f"{sys.executable} {program}"
        else:
            server.script = SCRIPTS[behaviour]
            llm |= {"llm_url": server.url, "llm_key": "k"}
        seconds = SHORT if behaviour == "hangs" else PATIENCE
        settings = Settings(data=tmp_path / "data", embedder="none", llm_seconds=seconds, **llm)
        return open_workspace(settings.data, settings=settings)

    return build


def worked(workspace: Workspace) -> tuple[list[Memory], list[str]]:
    """Two of the same and a session: what the team has afterwards, and why each action was taken."""
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad", role="agent")
    workspace.add_member("lead-1", team="squad", role="lead")
    memory = workspace.as_member("swe-1")
    for text in (ONE, OTHER):
        memory.save(text, project="p")
    talk = [{"role": "user", "content": ASKED}, {"role": "user", "name": "swe-1", "content": DECIDED}]
    memory.capture_session(talk, project="p")
    workspace.run_pending()
    lead = workspace.as_member("lead-1")
    reports = [lead.consolidate(), *lead.reports()]
    return list(memory.list(status="any")), [action.why for report in reports for action in report.actions]


def contents(found: list[Memory], status: Status) -> set[str]:
    return {memory.content for memory in found if memory.status is status}


def test_a_model_draws_judges_and_summarises(opened: Open) -> None:
    with opened("answers") as workspace:
        found, reasons = worked(workspace)
    assert any(memory.content == "Amounts are kept in cents." for memory in found)
    assert any("amounts are kept in cents" in memory.content and "Decided:" in memory.content for memory in found)
    assert any("(m)" in why for why in reasons), reasons
    assert len({ONE, OTHER} & contents(found, Status.ACTIVE)) == 1


@pytest.mark.parametrize("behaviour", ["garbage", "wrong", "hangs"])
def test_a_model_that_fails_leaves_the_rules_at_work_and_both_memories_standing(opened: Open, behaviour: str) -> None:
    with opened(behaviour) as workspace:
        found, reasons = worked(workspace)
    assert {ONE, OTHER} <= contents(found, Status.ACTIVE)
    assert any("probably the same statement" in why for why in reasons), reasons
    assert not any("(m)" in why for why in reasons)
    assert any(memory.type == "episode" and "off by a cent" in memory.content for memory in found)
