"""The heavy steps in a child process: one thread of extraction here would make every save wait for its turn."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from mycel.contracts.long_work import current_team, require_wanted
from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.executor import Compared, InlineExecutor, Pair, judge_in_parts
from mycel.engine.judging.judgement import Judgement, Statement
from mycel.errors import Unavailable

SLICE_CHARS = 65_536


def json_line(request: Mapping[str, Any]) -> str:
    """A text of many megabytes is written in slices: each call holds the interpreter lock."""
    return "".join(_encoded(request))


def _encoded(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield '"'
        for start in range(0, len(value), SLICE_CHARS):
            yield json.dumps(value[start : start + SLICE_CHARS])[1:-1]
        yield '"'
    elif isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        yield "{"
        for number, (name, inner) in enumerate(named.items()):
            yield f"{', ' if number else ''}{json.dumps(name)}: "
            yield from _encoded(inner)
        yield "}"
    else:
        yield json.dumps(value)


def transcript_values(transcript: Transcript) -> dict[str, Any]:
    turns = [
        [turn.role, turn.start, turn.end, turn.speaker, turn.said_at and turn.said_at.isoformat()]
        for turn in transcript.turns
    ]
    return {"text": transcript.text, "turns": turns}


def transcript_from(values: Mapping[str, Any]) -> Transcript:
    return Transcript(values["text"], tuple(_turn_from(*turn) for turn in values["turns"]))


def _turn_from(role: str, start: int, end: int, speaker: str | None, said_at: str | None) -> Turn:
    return Turn(role, start, end, speaker, None if said_at is None else datetime.fromisoformat(said_at))


def candidate_values(candidate: Candidate) -> dict[str, Any]:
    return asdict(candidate)


def candidate_from(values: Mapping[str, Any]) -> Candidate:
    read: dict[str, Any] = {**values, "type": MemoryType(values["type"])}
    read |= {name: tuple(values[name]) for name in ("tags", "alternatives")}
    return Candidate(**read)


def pair_values(pair: Pair) -> list[Any]:
    return [_statement_values(pair.earlier), _statement_values(pair.later), pair.cosine]


def pair_from(values: list[Any]) -> Pair:
    earlier, later, cosine = values
    return Pair(_statement_from(earlier), _statement_from(later), cosine)


def judgement_values(judgement: Judgement) -> dict[str, Any]:
    return asdict(judgement)


def judgement_from(values: Mapping[str, Any]) -> Judgement:
    return Judgement(**values)


def _statement_values(statement: Statement) -> list[Any]:
    at = statement.said_at
    return [statement.text, list(statement.subject), None if at is None else at.isoformat()]


def _statement_from(values: list[Any]) -> Statement:
    text, subject, at = values
    return Statement(text, tuple(subject), None if at is None else datetime.fromisoformat(at))


# What the child runs unless the program names a module that brings a judge along.
RULES_ALONE = "mycel.engine.executor_child"
CLOSING_SECONDS = 2.0
# The largest transcript takes a minute; what takes so long would keep every team waiting.
MOST_SECONDS = 600.0


# How soon somebody who waits for a turn notices that nobody waits for the work any more.
LOOK_SECONDS = 0.1


class FairLock:
    """A lock that teams take in rotation, each thread of a team in the order in which they came."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: OrderedDict[Hashable, deque[object]] = OrderedDict()
        self._is_held = False

    @contextlib.contextmanager
    def held_for(self, team: Hashable) -> Generator[None]:
        """Wait for a turn of this team; `Unavailable` when meanwhile nobody wants this thread's work any more."""
        self._take(team)
        try:
            yield
        finally:
            with self._changed:
                self._is_held = False
                self._changed.notify_all()

    def _take(self, team: Hashable) -> None:
        place = object()
        with self._changed:
            queue = self._waiting.setdefault(team, deque())
            queue.append(place)
            try:
                while self._is_held or self._next() is not place:
                    self._changed.wait(LOOK_SECONDS)
                    require_wanted()
                self._is_held = True
            finally:
                queue.remove(place)
                if queue:
                    self._waiting.move_to_end(team)
                else:
                    del self._waiting[team]
                self._changed.notify_all()

    def _next(self) -> object:
        return next(iter(self._waiting.values()))[0]


class ProcessExecutor:
    """Started by the first work, and again when it has died. One piece of work at a time, of teams in rotation."""

    def __init__(self, module: str = RULES_ALONE) -> None:
        self._module = module
        self.turns = FairLock()
        # Held while a child is started or ended, so that none is started after the end.
        self._changing = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._closed = False

    def begin(self) -> None:
        with self._changing:
            self._running()

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        found = self._ask({"work": "extract", "transcript": transcript_values(transcript), "start": start})
        return [candidate_from(values) for values in found]

    def summarize(self, transcript: Transcript) -> str:
        return self._ask({"work": "summarize", "transcript": transcript_values(transcript)})

    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        if quick:
            # A dozen pairs by rules alone take milliseconds here: who saves a memory waits for no turn at the child.
            return InlineExecutor().judge(pairs, quick=True)
        return judge_in_parts(pairs, compare=self._compare, weigh=self._weigh)

    def _compare(self, pairs: Sequence[Pair]) -> Sequence[Compared]:
        found = self._ask({"work": "compare", "pairs": [pair_values(pair) for pair in pairs]})
        return [Compared(judgement_from(values), is_open) for values, is_open in found]

    def _weigh(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        found = self._ask({"work": "weigh", "pairs": [pair_values(pair) for pair in pairs]})
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
        with self.turns.held_for(current_team()):
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
            self._child = self._start()
        return self._child

    def _start(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # It gets texts and nothing else: no key of the environment.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} if sys.platform != "win32" else None,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise Unavailable(
                f"the engine's child process cannot be started: {error.strerror}", retry_after=5.0
            ) from None


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
