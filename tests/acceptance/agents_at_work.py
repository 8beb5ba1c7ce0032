"""Agents as real processes, each with its own way to the memory of its team and its own notes of what it was told.

Run as a program it makes one process of each agent that its standard input names, and ends as badly as the worst.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mycel
from mycel.errors import Conflict
from tests.service_process import environment

COUNTER_TRIES = 4
END = "/end"
PROJECT, KEY = "p", "k"
CONFLICT = 5


class Notes:
    """One write of one line: it is in the kernel's hands before the next call begins."""

    def __init__(self, file: Path) -> None:
        self._handle = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def add(self, *note: object) -> None:
        os.write(self._handle, (json.dumps(note) + "\n").encode())


class Commands:
    """The few methods that an agent uses here, each as a process of its own."""

    def __init__(self, data: str, member: str) -> None:
        self._environment = environment(MYCEL_DATA=data, MYCEL_AGENT=member)
        self.knowledge = SimpleNamespace(upsert=self._upsert)

    def save(self, content: str, *, idempotency_key: str) -> Any:
        return self._run("save", content, "--idempotency-key", idempotency_key)

    def update(self, id: str, *, content: str, expected_version: int) -> Any:
        return self._run("update", id, "--content", content, "--expected-version", str(expected_version))

    def get(self, id: str) -> Any:
        return self._run("get", id)

    def search(self, query: str) -> Any:
        return self._run("search", query)

    def _upsert(self, *, project: str, key: str, value: str, confidence: float) -> Any:
        return self._run("knowledge", "set", key, value, "--project", project, "--confidence", str(confidence))

    def _run(self, *line: str) -> Any:
        command = [sys.executable, "-m", "mycel.surfaces.cli.main", *line, "--json"]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode == CONFLICT:
            raise Conflict(done.stderr)
        if done.returncode:
            raise RuntimeError(f"{line[0]} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout, object_hook=lambda found: SimpleNamespace(**found))


class Agent:
    """Saves, repeats itself, corrects itself, counts together with the others, knows better than they do, and looks."""

    def __init__(self, memory: Any, notes: Notes, *, name: str, counter: str, rounds: int) -> None:
        self._memory = memory
        self._notes = notes
        self._name = name
        self._counter = counter
        self._rounds = rounds
        self._chance = random.Random(name)

    def work(self) -> None:
        for number in range(self._rounds):
            word = f"{self._name.replace('-', '')}word{number}"
            self._save(word, key=f"{self._name}-{number}")
            self._count()
            self._know(f"{self._name} says {number}")

    def _save(self, word: str, *, key: str) -> None:
        saved = self._timed("save", lambda: self._memory.save(f"Seen: {word}", idempotency_key=key))
        self._notes.add("saved", saved.id, 1, saved.content)
        # As after an answer that never came.
        again = self._timed("save", lambda: self._memory.save(f"Seen: {word}", idempotency_key=key))
        self._notes.add("again", saved.id, again.id)
        content = f"Seen twice: {word}"
        changed = self._timed("update", lambda: self._memory.update(saved.id, content=content, expected_version=1))
        self._notes.add("saved", changed.id, changed.version, changed.content)
        found = self._timed("search", lambda: self._memory.search(word))
        self._notes.add("found", saved.id, [hit.memory.id for hit in found.hits])

    def _count(self) -> None:
        for _ in range(COUNTER_TRIES):
            now = self._memory.get(self._counter)
            content = str(int(now.content) + 1)
            try:
                counted = self._memory.update(self._counter, content=content, expected_version=now.version)
            except Conflict:
                continue
            self._notes.add("counted", counted.version)
            return

    def _know(self, value: str) -> None:
        confidence = round(self._chance.random(), 6)
        stored = self._memory.knowledge.upsert(project=PROJECT, key=KEY, value=value, confidence=confidence)
        self._notes.add("known", value, confidence, stored.id, stored.version, str(stored.status))

    def _timed(self, name: str, call: Callable[[], Any]) -> Any:
        began_at = time.monotonic()
        result = call()
        self._notes.add("took", name, time.monotonic() - began_at)
        return result


def work(memory: Any, file: Path, *, follows: bool, **task: Any) -> None:
    """Whatever it is told that it did not expect ends in its notes too."""
    notes = Notes(file)
    try:
        follower = threading.Thread(target=_follow, args=(memory, notes))
        if follows:
            follower.start()
        Agent(memory, notes, **task).work()
        notes.add("done")
        if follows:
            follower.join()
    except BaseException as error:
        notes.add("failed", repr(error), traceback.format_exc())
        raise


def _follow(memory: Any, notes: Notes) -> None:
    try:
        sequences: list[int] = []
        for change in memory.changes(0, follow=True):
            sequences.append(change.sequence)
            if change.path == END:
                break
        notes.add("followed", sequences)
    except BaseException as error:
        notes.add("failed", repr(error), traceback.format_exc())
        raise


def _be(agent: dict[str, Any]) -> None:
    with (
        mycel.connect(agent["url"], token=agent["token"])
        if agent["way"] == "http"
        else mycel.open(agent["data"]) as workspace
    ):
        memory = workspace.me() if agent["way"] == "http" else workspace.as_member(agent["task"]["name"])
        while not Path(agent["start"]).exists():
            time.sleep(0.002)
        work(memory, Path(agent["notes"]), follows=True, **agent["task"])


def _code_of(agent: dict[str, Any]) -> int:
    try:
        _be(agent)
    except Exception:  # noqa: BLE001 - a child must not go on with what its parent does
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    # Loaded once for all of them: what is proved begins after the start of a process.
    import mycel.client.senders
    import mycel.client.workspace
    import mycel.embedded.workspace  # noqa: F401

    children: list[int] = []
    for agent in json.load(sys.stdin):
        child = os.fork()
        if not child:
            os._exit(_code_of(agent))
        children.append(child)
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


if __name__ == "__main__":
    main()
