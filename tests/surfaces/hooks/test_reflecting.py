"""An agent that was set up with --reflect is asked once in a session to save what it learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mycel.surfaces.hooks.reflection import REFLECTION
from tests.surfaces.hooks.hooking import Ran, recorded, run_hook, said

TOOL_USES = {
    "claude-code": '{"type":"assistant","uuid":"3","message":{"role":"assistant","content":[{"type":"tool_use"}]}}\n',
    "codex": '{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}\n',
}


@pytest.fixture(params=TOOL_USES)
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def transcript(tmp_path: Path, agent: str) -> Path:
    file = tmp_path / "transcript.jsonl"
    file.write_text(said("user", "Keep amounts in cents.", id="1") + TOOL_USES[agent], "utf-8")
    return file


def stop(
    tmp_path: Path, agent: str, transcript: Path, *words: str, env: dict[str, str] | None = None, **more: Any
) -> Ran:
    payload = recorded(agent, "Stop", cwd=tmp_path, transcript=transcript, **{"stop_hook_active": False, **more})
    return run_hook(agent, "Stop", payload, *words, data=tmp_path / "data", cwd=tmp_path, **(env or {}))


def test_it_is_asked_at_the_end_of_the_first_turn_with_work_and_never_again(
    tmp_path: Path, agent: str, transcript: Path
) -> None:
    whole = transcript.read_text()
    transcript.write_text(whole.splitlines(keepends=True)[0])
    assert stop(tmp_path, agent, transcript, "--reflect").output == ""
    transcript.write_text(whole)
    assert stop(tmp_path, agent, transcript, "--reflect").answer == {"decision": "block", "reason": REFLECTION}
    for goes_on in (True, False):
        assert stop(tmp_path, agent, transcript, "--reflect", stop_hook_active=goes_on).output == ""
    again = stop(tmp_path, agent, transcript, "--reflect", session_id="another-session")
    assert again.answer["decision"] == "block"


def test_a_turn_that_goes_on_since_a_hook_asked_is_left_alone(tmp_path: Path, agent: str, transcript: Path) -> None:
    assert stop(tmp_path, agent, transcript, "--reflect", stop_hook_active=True).output == ""
    assert stop(tmp_path, agent, transcript, "--reflect").answer["decision"] == "block"


@pytest.mark.parametrize("env", [{"MYCEL_HOOKS": "off"}, {"MYCEL_HOOKS": "inject"}, {"MYCEL_HOOK_ACTIVE": "1"}])
def test_nobody_is_asked_where_hooks_are_off_or_below_one(
    tmp_path: Path, agent: str, transcript: Path, env: dict[str, str]
) -> None:
    assert stop(tmp_path, agent, transcript, "--reflect", env=env).output == ""


def test_nobody_is_asked_who_did_not_want_it(tmp_path: Path, agent: str, transcript: Path) -> None:
    assert stop(tmp_path, agent, transcript).output == ""


def test_a_transcript_that_cannot_be_read_is_no_work(tmp_path: Path, agent: str, transcript: Path) -> None:
    transcript.unlink()
    assert stop(tmp_path, agent, transcript, "--reflect").output == ""
