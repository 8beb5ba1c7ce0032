"""A peer's process: commands go in as JSON lines and answers come out, each within its time."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers.prepared import Prepared

INSIDE = Path(__file__).with_name("inside")
CLOSING_SECONDS = 30
# Nothing is to be sent or fetched; what these variables do not stop is stopped by there being no way out.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "BASIC_MEMORY_NO_PROMOS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "NO_PROXY": "*",
    "PYTHONWARNINGS": "ignore",
    "TRANSFORMERS_OFFLINE": "1",
}


class PeerFailed(Exception):
    """The peer raised, ended, or took too long."""


class Child:
    """Ends with the block, by its own process id."""

    def __init__(self, python: str, script: str, *, home: Path, log: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [python, str(INSIDE / script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=home,
                env=kept | QUIET | {"HOME": str(home)},
                text=True,
                # A group of its own, so that whatever it starts ends with it.
                start_new_session=True,
            )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._stdin().close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if error else CLOSING_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def open(self, folder: Path, prepared: Prepared, *, endpoint: str) -> dict[str, Any]:
        return self.ask("open", 120, folder=str(folder), prepared=str(prepared.folder), endpoint=endpoint)

    def ask(self, command: str, timeout: float, **arguments: Any) -> dict[str, Any]:
        self.send(command, **arguments)
        return self.next_answer(timeout)

    def send(self, command: str, **arguments: Any) -> None:
        try:
            self._stdin().write(json.dumps({"do": command} | arguments) + "\n")
            self._stdin().flush()
        except BrokenPipeError:
            raise PeerFailed("its process has ended") from None

    def next_answer(self, timeout: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=timeout)
        except queue.Empty:
            raise PeerFailed(f"no answer within {timeout:.0f} s") from None
        if not line:
            raise PeerFailed(f"its process has ended with {self._process.wait(CLOSING_SECONDS)}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def _stdin(self):
        assert self._process.stdin is not None
        return self._process.stdin
