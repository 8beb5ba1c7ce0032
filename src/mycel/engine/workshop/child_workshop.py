"""The heavy steps in a child process: one thread of extraction here would make every save wait for its turn."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from mycel.domain.source import Candidate, Transcript
from mycel.engine.judging.pair import Judgement
from mycel.engine.workshop.child_messages import (
    candidate_from,
    json_line,
    judgement_from,
    pair_values,
    transcript_values,
)
from mycel.engine.workshop.workshop import Pair
from mycel.errors import Unavailable

CLOSING_SECONDS = 2.0
# The largest transcript takes a minute; what takes so long would keep every team waiting.
MOST_SECONDS = 600.0


class ChildWorkshop:
    """Started by the first work, and again when it has died. One piece of work at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        # Held while a child is started or ended, so that none is started after the end.
        self._changing = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._closed = False

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        found = self._ask({"work": "extract", "transcript": transcript_values(transcript), "start": start})
        return [candidate_from(values) for values in found]

    def summarize(self, transcript: Transcript) -> str:
        return self._ask({"work": "summarize", "transcript": transcript_values(transcript)})

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        if not pairs:
            return []
        found = self._ask({"work": "judge", "pairs": [pair_values(pair) for pair in pairs]})
        return [judgement_from(values) for values in found]

    def close(self) -> None:
        """Whoever still waits gets `Unavailable`."""
        with self._changing:
            self._closed = True
            child = self._child
        if child is not None:
            child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(CLOSING_SECONDS)
            _close_pipes(child)

    @property
    def process_id(self) -> int | None:
        """Of the child that runs now."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def _ask(self, request: Mapping[str, Any]) -> Any:
        with self._turn:
            with self._changing:
                child = self._running()
            watchdog = threading.Timer(MOST_SECONDS, child.kill)
            watchdog.daemon = True
            watchdog.start()
            try:
                answer = _exchange(child, json_line(request))
            finally:
                watchdog.cancel()
        if answer is None:
            raise Unavailable("the engine's child process ended in the middle of its work")
        if "error" in answer:
            raise Unavailable(f"the engine's child process failed: {answer['error']}")
        return answer["result"]

    def _running(self) -> subprocess.Popen[str]:
        if self._closed:
            raise Unavailable("the engine is closed")
        if self._child is None or self._child.poll() is not None:
            if self._child is not None:
                _close_pipes(self._child)
            self._child = subprocess.Popen(
                [sys.executable, "-m", "mycel.engine.workshop.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # It gets texts and nothing else: no key of the environment.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} if sys.platform != "win32" else None,
                text=True,
                encoding="utf-8",
            )
        return self._child


def _exchange(child: subprocess.Popen[str], line: str) -> Mapping[str, Any] | None:
    """None when the child is gone."""
    if child.stdin is None or child.stdout is None:
        return None
    try:
        child.stdin.write(line + "\n")
        child.stdin.flush()
        answer = child.stdout.readline()
    except (OSError, ValueError):
        return None
    return json.loads(answer) if answer.endswith("\n") else None


def _close_pipes(child: subprocess.Popen[str]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
