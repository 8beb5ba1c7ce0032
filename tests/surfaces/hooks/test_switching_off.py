"""Hooks do nothing where somebody does not want them, and nothing that goes wrong reaches the agent."""

from __future__ import annotations

import json
import pty
import subprocess
from pathlib import Path

import pytest

from tests.service_process import Service
from tests.surfaces.hooks.hooking import COMMAND, PATIENT, environment, log_of, queued, recorded, run_hook, said

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    file = tmp_path / "session.jsonl"
    file.write_text(said("user", "Keep money in cents.", id="1") + said("assistant", "I will.", id="2"))
    return file


def prompt_and_stop(data: Path, checkout: Path, transcript: Path, **env: str) -> tuple[str, int]:
    """What a prompt is answered, and how many writes a turn leaves in the queue of a service that is away."""
    asked = recorded("claude-code", "UserPromptSubmit", cwd=checkout, session_id=str(checkout))
    answer = run_hook("claude-code", "UserPromptSubmit", asked, "--as", "claude-code", data=data, **env).output
    ended = recorded("claude-code", "Stop", cwd=checkout, transcript=transcript)
    away = checkout.parent / "away"
    run_hook("claude-code", "Stop", ended, "--as", "claude-code", data=away, **env)
    return answer, len(queued(away))


def test_without_a_word_hooks_do_both(running: Service, checkout: Path, transcript: Path) -> None:
    answer, writes = prompt_and_stop(running.data, checkout, transcript, MYCEL_HOOKS="on")
    assert "integer cents" in answer
    assert writes == 1


@pytest.mark.parametrize(
    ("hooks", "injects", "captures"),
    [("off", False, 0), ("inject", True, 0), ("capture", False, 1), ("none", False, 0)],
)
def test_a_session_can_have_one_half_or_nothing(
    running: Service, checkout: Path, transcript: Path, hooks: str, injects: bool, captures: int, tmp_path: Path
) -> None:
    checkout = checkout.rename(tmp_path / hooks)
    answer, writes = prompt_and_stop(running.data, checkout, transcript, MYCEL_HOOKS=hooks, MYCEL_AGENT="gemini")
    assert ("integer cents" in answer) is injects
    assert writes == captures


@pytest.mark.parametrize("text", ["hooks = false\n", "hooks = fal"])
def test_a_project_can_be_left_out(running: Service, checkout: Path, transcript: Path, text: str) -> None:
    (checkout / ".mycel.toml").write_text(text)
    inside = checkout / "src/deep"
    inside.mkdir(parents=True)
    assert prompt_and_stop(running.data, inside, transcript) == ("", 0)


def test_a_hook_below_a_hook_does_nothing(running: Service, checkout: Path, transcript: Path) -> None:
    assert prompt_and_stop(running.data, checkout, transcript, MYCEL_HOOK_ACTIVE="1") == ("", 0)


@pytest.mark.parametrize(
    ("agent", "event", "given"),
    [
        ("nobody", "SessionStart", b"{}"),
        ("claude-code", "Dance", b"{}"),
        ("claude-code", "SessionStart", b""),
        ("claude-code", "UserPromptSubmit", b"\xff\xfe not JSON"),
        ("codex", "Stop", b"[1, 2]"),
        ("codex", "Stop", b"[" * 100_000),
        ("claude-code", "Stop", b'{"session_id": 7, "cwd": [], "transcript_path": {"a": 1}}'),
        ("claude-code", "Stop", b'{"session_id": "x", "cwd": "/nowhere", "transcript_path": "/nowhere/x"}'),
        ("claude-code", "PostToolUse", b'{"tool_name": "Write", "tool_input": "text", "cwd": "\\u0000"}'),
        ("cursor", "beforeSubmitPrompt", b'{"workspace_roots": [3], "prompt": ["a"]}'),
        ("gemini", "BeforeAgent", b'{"prompt": null}'),
        ("opencode", "session.idle", b'{"session_id": "s", "messages": [1, {"role": "user"}, null]}'),
    ],
)
def test_whatever_comes_the_agent_goes_on(tmp_path: Path, agent: str, event: str, given: bytes) -> None:
    ran = run_hook(agent, event, given, data=tmp_path / "data", cwd=tmp_path)
    empty = {"gemini": "{}\n", "cursor": '{"continue": true}\n'}.get(agent, "")
    assert (ran.code, ran.output, ran.errors) == (0, empty, "")
    assert queued(tmp_path / "data") == []


def test_what_is_not_known_is_logged_without_what_was_said(tmp_path: Path) -> None:
    run_hook("claude-code", "Dance", b'{"prompt": "secret words"}', data=tmp_path)
    run_hook("claude-code", "Stop", b'{"prompt": "secret words"', data=tmp_path)
    assert "claude-code Dance: is not known" in log_of(tmp_path)
    assert "claude-code Stop: standard input is no JSON object" in log_of(tmp_path)
    assert "secret" not in log_of(tmp_path)


def test_the_log_stays_small(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/hooks.log").write_bytes(b"x" * 300_000)
    run_hook("claude-code", "Dance", b"{}", data=tmp_path)
    assert len(log_of(tmp_path)) < 200
    assert (tmp_path / "hooks/hooks.log").stat().st_mode & 0o777 == 0o600


def test_events_are_known_in_any_spelling(running: Service, checkout: Path) -> None:
    payload = recorded("codex", "UserPromptSubmit", cwd=checkout, session_id="spelling")
    for number, event in enumerate(("user-prompt-submit", "userPromptSubmit", "user_prompt_submit")):
        payload = {**payload, "session_id": f"spelling {number}"}
        assert "integer cents" in run_hook("codex", event, payload, "--as", "codex", data=running.data).output


def test_only_a_person_at_a_terminal_is_told_about_wrong_usage(tmp_path: Path) -> None:
    silent = run_hook("claude-code", "Stop", b"{}", "--unknown", data=tmp_path)
    assert (silent.code, silent.output, silent.errors) == (0, "", "")
    _, terminal = pty.openpty()
    told = subprocess.run([*COMMAND, "claude-code"], stdin=terminal, capture_output=True, text=True, timeout=60)
    assert told.returncode == 2
    assert "usage: mycel hook AGENT EVENT" in told.stderr


@pytest.mark.parametrize("words", [("--as", "codex", "--json"), ("--as=codex",)])
def test_options_are_understood_without_the_command_line(
    running: Service, checkout: Path, words: tuple[str, ...]
) -> None:
    payload = recorded("codex", "UserPromptSubmit", cwd=checkout, session_id=f"options {words}")
    assert "integer cents" in run_hook("codex", "UserPromptSubmit", payload, *words, data=running.data).output


def test_a_hook_works_with_options_before_it_as_well(running: Service, checkout: Path) -> None:
    payload = recorded("codex", "UserPromptSubmit", cwd=checkout, session_id="before")
    line = [*COMMAND[:-1], "--data", str(running.data), "--as", "codex", "hook", "codex", "UserPromptSubmit"]
    ran = subprocess.run(line, input=json.dumps(payload), env=environment(**PATIENT), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "integer cents" in ran.stdout
