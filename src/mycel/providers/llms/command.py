"""A command as language model: the question goes to its standard input, and its answer is the JSON in what it prints.

No shell reads it. It runs in an empty folder and in a process group of its own, which ends with the answer.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.providers.breaker import Breaker
from mycel.providers.endpoint import LATER_SECONDS
from mycel.providers.llms import prompt as prompts
from mycel.providers.llms.prompt import fenced, object_in_prose, told_schema, wrong_answer

# An agent starts before it thinks, and a model at home may write ten words a second.
ANSWER_SECONDS = 180.0
_PIECE_BYTES = 65_536
_LOOK_SECONDS = 0.1
# What a shell, or a program that stands in for one, says of what cannot be run.
_CANNOT_RUN = frozenset((126, 127))
SETTING = "MYCEL_LLM_COMMAND"


def read_command(text: str | None) -> tuple[str, ...]:
    """Program and arguments, quoted as in a shell."""
    example = "such as `claude -p` or `ollama run llama3.2`"
    try:
        words = tuple(shlex.split(text or ""))
    except ValueError:
        raise Misconfigured(f"{SETTING} has an open quote; it must be a command {example}") from None
    if not words or "\0" in (text or ""):
        raise Misconfigured(f"{SETTING} must say what to run, {example}")
    return words


def find_program(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """By the same search as when it is run."""
    return shutil.which(command[0], path=environment.get("PATH"))


class CommandLanguageModel:
    """Each question is a process; nothing runs in between."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        model: str | None = None,
        environment: Callable[[], Mapping[str, str]] = dict[str, str],
        max_characters: int = prompts.OTHER_CHARACTERS,
        answer_seconds: float = ANSWER_SECONDS,
        breaker: Breaker | None = None,
    ) -> None:
        self._command = tuple(command)
        self._model = model or Path(command[0]).name
        self._environment = environment
        self._max_characters = max_characters
        self._seconds = answer_seconds
        self._name = f"the command {self._model}"
        self._breaker = breaker or Breaker(self._name)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._changing = threading.Lock()
        self._closed = False

    @property
    def model(self) -> str:
        return self._model

    @property
    def max_characters(self) -> int:
        return self._max_characters

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        prompt = fenced(instructions, material)
        question = f"{told_schema(prompt.instructions, schema)}\n\n{prompt.material}\n"
        wanted = tuple(map(str, schema.get("required", ())))
        return self._breaker.call(lambda: object_in_prose(self._ask(question), wanted=wanted, source=self._name))

    def close(self) -> None:
        """Whoever still waits gets `Unavailable`."""
        with self._changing:
            self._closed = True
            running = list(self._running)
        for child in running:
            # Whoever has started it buries it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)

    def _ask(self, question: str) -> str:
        with tempfile.TemporaryDirectory(prefix="mycel-llm-", ignore_cleanup_errors=True) as folder:
            child = self._start(folder)
            try:
                said = _exchange(child, question.encode(), until=time.monotonic() + self._seconds)
            except TimeoutError:
                raise self._unavailable(f"gave no answer within {self._seconds:g} s") from None
            except OverflowError:
                raise wrong_answer(
                    self._name, problem=f"it is longer than {prompts.MOST_ANSWER_BYTES:,} bytes"
                ) from None
            finally:
                _end(child)
                with self._changing:
                    self._running.discard(child)
        if child.returncode:
            raise self._failure(child.returncode)
        return said.decode("utf-8", "replace")

    def _start(self, folder: str) -> subprocess.Popen[bytes]:
        environment = dict(self._environment())
        # Held, so that nothing is started after the end.
        with self._changing:
            if self._closed:
                raise Unavailable(f"{self._name} is closed")
            try:
                child = subprocess.Popen(
                    self._command,
                    cwd=folder,
                    env=environment or None,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # It may quote the question.
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or type(error).__name__
                raise Misconfigured(f"{self._name} cannot be run ({reason}): see {SETTING}") from None
            self._running.add(child)
        return child

    def _failure(self, code: int) -> MycelError:
        if code in _CANNOT_RUN:
            return Misconfigured(f"{self._name} cannot be run (exit code {code}): see {SETTING}")
        ended = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        return self._unavailable(f"{ended}; run it by hand to see why")

    def _unavailable(self, problem: str) -> Unavailable:
        return Unavailable(f"{self._name} {problem}", retry_after=LATER_SECONDS)


def _exchange(child: subprocess.Popen[bytes], question: bytes, *, until: float) -> bytes:
    """What it prints until it ends. It may end without reading all, and leave its output open in others' hands."""
    if child.stdin is None or child.stdout is None:
        raise ValueError("a child without pipes")
    left, said = memoryview(question), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe, event in ((child.stdin, selectors.EVENT_WRITE), (child.stdout, selectors.EVENT_READ)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, event)
        while time.monotonic() < until:
            # Before looking for output: whatever it has printed by then is there.
            ended = _has_ended(child)
            ready = {key.fileobj for key, _ in selector.select(0 if ended else _LOOK_SECONDS)}
            if child.stdin in ready:
                left = _write(child.stdin, left, selector)
            if child.stdout in ready:
                piece = os.read(child.stdout.fileno(), _PIECE_BYTES)
                said += piece
                if len(said) > prompts.MOST_ANSWER_BYTES:
                    raise OverflowError
                if not piece:
                    selector.unregister(child.stdout)
            elif ended:
                return bytes(said)
    raise TimeoutError


def _write(pipe: IO[bytes], left: memoryview, selector: selectors.BaseSelector) -> memoryview:
    """What is still to be written; whoever wants no more of it has heard enough."""
    try:
        left = left[os.write(pipe.fileno(), left[:_PIECE_BYTES]) :]
    except BrokenPipeError:
        left = left[:0]
    if not left:
        selector.unregister(pipe)
        pipe.close()
    return left


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Without burying it: until then its number, and so that of its group, is nobody else's."""
    if child.returncode is not None:
        return True
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(child: subprocess.Popen[bytes]) -> None:
    """With whatever it has started."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
