"""Hooks start fast: on their way there is nothing but the standard library and light modules of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service_process import environment

# Runs one hook and tells which modules it took.
PROBE = """
import sys
before = set(sys.modules)
import mycel.surfaces.entry
from mycel.surfaces.hooks.command import run
run(sys.argv[2:])
import json
sys.stderr.write(json.dumps(sorted(set(sys.modules) - before)))
"""
HEAVY = {"dataclasses", "inspect", "asyncio", "http.client", "email", "ssl", "subprocess", "logging", "argparse"}
# Of ours, what a hook may take beside its own package.
OWN = {
    *("mycel", "mycel.durable_file", "mycel.errors", "mycel.surfaces", "mycel.surfaces.entry"),
    *(
        "mycel.domain",
        "mycel.domain.author_share",
        "mycel.domain.defaults",
        "mycel.domain.envelope",
        "mycel.domain.marks",
        "mycel.wire",
        "mycel.wire.http1",
        "mycel.wire.proof",
    ),
    *("mycel.engine", "mycel.engine.transcripts", "mycel.engine.transcripts.privacy"),
}


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "PostToolUse", "SessionEnd"])
def test_a_hook_imports_nothing_but_the_standard_library(tmp_path: Path, event: str) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"type":"user","uuid":"1","message":{"role":"user","content":"Keep it in cents."}}\n' * 2)
    notes = tmp_path / "notes/a.md"
    notes.parent.mkdir()
    notes.write_text("Words.")
    (tmp_path / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    payload = {
        "session_id": "s",
        "cwd": str(tmp_path),
        "transcript_path": str(transcript),
        "prompt": "How is money kept in here?",
        "tool_name": "Write",
        "tool_input": {"file_path": str(notes)},
    }
    named = {"url": "http://127.0.0.1:9", "secret": "n", "pid": 1, "version": "0", "started_at": "2026-11-16T00:00:00Z"}
    (tmp_path / "daemon.json").write_text(json.dumps(named))
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, "hook", "claude-code", event],
        input=json.dumps(payload),
        env=environment(MYCEL_DATA=str(tmp_path), MYCEL_DAEMON="off", MYCEL_HOOK_SECONDS="10"),
        capture_output=True,
        text=True,
        check=True,
    )
    taken = set(json.loads(ran.stderr))
    assert "mycel.surfaces.hooks.actions" in taken
    ours = {name for name in taken if name.partition(".")[0] == "mycel"}
    assert {name for name in ours if not name.startswith("mycel.surfaces.hooks")} <= OWN
    foreign = {name.partition(".")[0] for name in taken - ours} - set(sys.stdlib_module_names)
    assert foreign == set()
    assert taken & HEAVY == set()
