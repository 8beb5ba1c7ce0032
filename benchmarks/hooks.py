"""How long a coding agent waits for its hooks, from the start of the process to its end, with the service running."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, sleep

from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.service import question, service
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.settings import Settings

MEMBER, TEAM, PROJECT = "claude-code", "bench", "pricing"
P50_AIM, P99_AIM, IMPORT_AIM = 0.150, 0.300, 0.060
LONG_BYTES = 5 * 1024 * 1024
# A hook as the installed program runs it.
PROGRAM = "from mycel.surfaces.entry import main; main()"
IMPORTS = "import mycel.surfaces.entry, mycel.surfaces.hooks.command, mycel.surfaces.hooks.actions"


def run(folder: Path, *, quick: bool) -> None:
    notes = Notes()
    memories, rounds = (500, 30) if quick else (5000, 200)
    data = folder / "data"
    with open_workspace(settings=Settings(data=data, embedder="builtin")) as workspace:
        workspace.add_team(TEAM)
        workspace.add_member(MEMBER, team=TEAM)
        writer = workspace.as_member(MEMBER)
        for first in range(0, memories, 500):
            items = [{"content": notes.text(), "project": PROJECT} for _ in range(first, min(first + 500, memories))]
            writer.save_many(items)
        workspace.embed_pending()
    checkout = folder / PROJECT
    (checkout / ".git").mkdir(parents=True)
    with service(data):
        hooks = Hooks(data, checkout, notes)
        figures = [*_waits(hooks, rounds=rounds), *_long(hooks, rounds=max(5, rounds // 10))]
    show(f"Hooks of an agent: {memories:,} memories, a process for each", [*figures, _imports(rounds=rounds)])


class Hooks:
    def __init__(self, data: Path, checkout: Path, notes: Notes) -> None:
        self._environment = {**_installed(), "MYCEL_DATA": str(data), "MYCEL_AGENT": MEMBER, "MYCEL_DAEMON": "off"}
        self._checkout = checkout
        self._notes = notes
        self._number = 0
        self.queue = data / "hooks/queue"

    def start(self) -> None:
        self._number += 1
        self._run("SessionStart", {"session_id": f"start-{self._number}", "source": "startup"})

    def prompt(self) -> None:
        self._number += 1
        self._run("UserPromptSubmit", {"session_id": f"prompt-{self._number}", "prompt": question(self._notes)})

    def write_elsewhere(self) -> None:
        tool = {"tool_name": "Write", "tool_input": {"file_path": str(self._checkout / "main.py")}}
        self._run("PostToolUse", {"session_id": "write", **tool})

    def stop(self, transcript: Path) -> None:
        """After one more turn."""
        self.say(transcript)
        self._run("Stop", {"session_id": transcript.stem, "transcript_path": str(transcript)})

    def say(self, transcript: Path, *, paragraphs: int = 1) -> None:
        with transcript.open("a") as file:
            for role in ("user", "assistant"):
                self._number += 1
                text = " ".join(self._notes.text() for _ in range(paragraphs))
                line = {"type": role, "uuid": str(self._number), "sessionId": transcript.stem}
                file.write(json.dumps({**line, "message": {"role": role, "content": text}}) + "\n")

    def transcript(self, name: str, *, size: int = 0) -> Path:
        found = self._checkout.parent / f"{name}.jsonl"
        found.touch()
        while found.stat().st_size < size:
            self.say(found, paragraphs=20)
        return found

    def _run(self, event: str, payload: dict[str, object]) -> None:
        given = json.dumps({"cwd": str(self._checkout), "hook_event_name": event, **payload})
        subprocess.run(
            [sys.executable, "-c", PROGRAM, "hook", "claude-code", event],
            input=given.encode(),
            env=self._environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def _waits(hooks: Hooks, *, rounds: int) -> Iterator[Figure]:
    small = hooks.transcript("small")
    calls: dict[str, Callable[[], object]] = {
        "session start": hooks.start,
        "prompt": hooks.prompt,
        "turn ended": lambda: hooks.stop(small),
        "file written elsewhere": hooks.write_elsewhere,
    }
    for call in calls.values():
        call()
    bare, *found = interleaved(_bare, *calls.values(), rounds=rounds)
    for name, seconds in zip(calls, found, strict=True):
        yield _wait(name, seconds, p50(bare))


def _long(hooks: Hooks, *, rounds: int) -> Iterator[Figure]:
    """The first report of a session that is long already, how long until all of it was taken, and the turns after."""
    bare: list[float] = []
    first: list[float] = []
    whole: list[float] = []
    later: list[float] = []
    for number in range(rounds):
        transcript = hooks.transcript(f"long-{number}", size=LONG_BYTES)
        began = perf_counter()
        hooks.stop(transcript)
        first.append(perf_counter() - began)
        while any(hooks.queue.glob("*.write")) and perf_counter() - began < 20:
            sleep(0.01)
        whole.append(perf_counter() - began)
        for kept, call in ((later, lambda transcript=transcript: hooks.stop(transcript)), (bare, _bare)):
            began = perf_counter()
            call()
            kept.append(perf_counter() - began)
        transcript.unlink()
    size = f"{LONG_BYTES / 1e6:.0f} MB"
    yield _wait(f"turn ended, first report of {size}", first, p50(bare))
    yield Figure("  until the service has all of it", f"{p50(whole):.1f} s", "", "")
    yield _wait(f"turn ended, after {size} were reported", later, p50(bare))


def _wait(name: str, seconds: list[float], bare: float) -> Figure:
    return Figure(
        f"{name} (p50, p99)",
        f"{p50(seconds) * 1000:.0f}, {p99(seconds) * 1000:.0f} ms",
        f"Python alone: {bare * 1000:.0f} ms",
        f"+{(p50(seconds) - bare) * 1000:.0f} ms",
        f"<= {P50_AIM * 1000:.0f}, {P99_AIM * 1000:.0f} ms",
        p50(seconds) <= P50_AIM and p99(seconds) <= P99_AIM,
    )


def _imports(*, rounds: int) -> Figure:
    """In time of the processor: it is the same on a busy machine."""
    _python(IMPORTS)
    both = [(_cpu("pass"), _cpu(IMPORTS)) for _ in range(rounds)]
    bare, ours = [seconds for seconds, _ in both], [seconds for _, seconds in both]
    added = p50(ours) - p50(bare)
    return Figure(
        "importing all of the way of a hook, CPU",
        f"{p50(ours) * 1000:.0f} ms",
        f"Python alone: {p50(bare) * 1000:.0f} ms",
        f"+{added * 1000:.0f} ms",
        f"<= +{IMPORT_AIM * 1000:.0f} ms",
        added <= IMPORT_AIM,
    )


def _cpu(text: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _bare() -> None:
    _python("pass")


def _python(text: str) -> None:
    subprocess.run([sys.executable, "-c", text], check=True, env=_installed())


def _installed() -> dict[str, str]:
    """An installed package is compiled, and so is this one after its first run, unless that is forbidden."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
