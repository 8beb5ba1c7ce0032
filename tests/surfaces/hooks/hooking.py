"""Hooks as agents run them: a process each, fed with a payload that was recorded from the agent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.service_process import environment

PAYLOADS = Path(__file__).parent / "payloads"
COMMAND = (sys.executable, "-c", "from mycel.surfaces.entry import main; main()", "hook")
# Of a machine that runs other tests as well; those about time say how much there is.
PATIENT = {"MYCEL_HOOK_SECONDS": "10"}


class Ran(NamedTuple):
    code: int
    output: str
    errors: str
    seconds: float

    @property
    def answer(self) -> dict[str, Any]:
        return json.loads(self.output)


def recorded(agent: str, event: str, **places: object) -> dict[str, Any]:
    """With the places of this test in it, and whatever else is given in place of what was recorded."""
    text = json.dumps(json.loads((PAYLOADS / f"{agent}.json").read_text("utf-8"))[event])
    for name in ("cwd", "transcript", "subagent", "file"):
        text = text.replace(f"{{{name}}}", json.dumps(str(places.pop(name, f"/nowhere/{name}")))[1:-1])
    return {**json.loads(text), **places}


def run_hook(
    agent: str, event: str, payload: object, *words: str, data: Path, cwd: Path | None = None, **env: str
) -> Ran:
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    began = time.perf_counter()
    ran = subprocess.run(
        [*COMMAND, agent, event, *words],
        input=given,
        capture_output=True,
        cwd=cwd,
        env=environment(**{"MYCEL_DATA": str(data), "MYCEL_DAEMON": "off", **PATIENT, **env}),
        timeout=60,
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode(), time.perf_counter() - began)


def queued(data: Path) -> list[Path]:
    return sorted((data / "hooks/queue").glob("*.write"))


def log_of(data: Path) -> str:
    log = data / "hooks/hooks.log"
    return log.read_text() if log.exists() else ""


def said(role: str, text: str, *, id: str) -> str:
    """A line of a transcript of Claude Code."""
    entry = {
        "type": role,
        "uuid": id,
        "sessionId": "s",
        "timestamp": "2026-11-16T02:00:00.000Z",
        "message": {"role": role, "content": text},
    }
    return json.dumps(entry) + "\n"
