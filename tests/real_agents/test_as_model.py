"""The program of a coding agent as the language model of Mycel: it extracts, and its own hooks stay silent."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from mycel.domain.source import Transcript, Turn
from mycel.engine.by_model.extraction import extract_with_model
from mycel.engine.by_model.summary import summarize_with_model
from mycel.providers.llms.command import CommandLanguageModel
from tests.real_agents.user_home import PROMPT_SECONDS, UserHome

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]
COMMANDS = {"claude-code": ("claude", "-p"), "codex": ("codex", "exec", "--skip-git-repo-check", "-")}
SAID = "We decided to keep all amounts of the till in cents, since floats lose money."
CANDIDATE = {
    **{"type": "decision", "category": "decision", "title": "Amounts in cents", "turn": 1, "quote": SAID},
    **{"content": "Amounts of the till are kept in cents.", "rationale": "Floats lose money."},
    **{"alternatives": [], "confidence": 0.9},
}


def model_of(user: UserHome) -> CommandLanguageModel:
    if user.program.agent not in COMMANDS:
        pytest.skip("only Claude Code and Codex are tried as models")
    environment = {**user.environment(), "MYCEL_HOOK_ACTIVE": "1"}
    program, *words = COMMANDS[user.program.agent]
    command = (str(user.programs / program), *words)
    return CommandLanguageModel(command, environment=lambda: environment, answer_seconds=PROMPT_SECONDS)


def test_a_program_extracts_and_summarises(user: UserHome) -> None:
    talk = Transcript(SAID, (Turn("user", 0, len(SAID), "swe-1"),))
    with closing(model_of(user)) as model:
        answer = f"Here is what I found:\n\n```json\n{json.dumps({'candidates': [CANDIDATE]}, indent=2)}\n```\n"
        user.model.play("floats lose money", answer=answer)
        found = extract_with_model(model, talk)
        assert [one.content for one in found.candidates] == ["Amounts of the till are kept in cents."]
        user.model.play("floats lose money", answer='{"summary": {"decided": ["Amounts are kept in cents."]}}')
        assert summarize_with_model(model, talk) == "Decided:\n- Amounts are kept in cents."
        assert model.model == COMMANDS[user.program.agent][0]
    asked = [one for one in user.model.requests if "floats lose money" in one.text]
    assert asked
    assert not any("stored-notes" in one.text for one in asked), "a hook of ours has spoken below the engine"
    assert user.sources("floats lose money") == [], "a hook of ours has captured what the engine asked"
