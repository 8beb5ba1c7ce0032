"""A service as a real process, for tests that stop, kill or crowd it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import mycel
from mycel.client.daemon import Daemon, find_daemon
from mycel.client.workspace import RemoteWorkspace
from mycel.wire.daemon_file import read_operator_token

START_SECONDS = 30.0
STOP_SECONDS = 30.0


def environment(**given: str) -> dict[str, str]:
    """Of whoever has set nothing but what is given, and the database that a test is run on; memories are found by their
    words."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MYCEL_", "MEMORY_"))}
    if "MYCEL_DATABASE_URL" in os.environ:
        kept["MYCEL_DATABASE_URL"] = os.environ["MYCEL_DATABASE_URL"]
    return {**kept, "MYCEL_EMBEDDER": "none", **given}


class Service:
    """`mycel serve` on a free port. What it logs goes to a file beside the data."""

    def __init__(self, data: Path, *args: str, command: tuple[str, ...] | None = None, **variables: str) -> None:
        self.data = data
        self.log = data.parent / f"{data.name}-{time.monotonic_ns()}.log"
        line = command or (sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--json")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*line, *([] if command else ["--port", "0"]), *args],
                env=environment(**variables),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # Whoever runs the tests may have been told to outlive its terminal; a service started by hand was not.
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
            )
        assert self.process.stdout
        first = self.process.stdout.readline()
        assert first, self.log.read_text()
        self.url: str = json.loads(first)["url"]

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def children(self) -> list[int]:
        return children_of(self.process.pid)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        assert self.process.stdout
        self.process.stdout.close()
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.wait()


@contextlib.contextmanager
def service(data: Path, *args: str, command: tuple[str, ...] | None = None, **variables: str) -> Iterator[Service]:
    running = Service(data, *args, command=command, **variables)
    try:
        yield running
    finally:
        running.kill()


def connected(running: Service) -> RemoteWorkspace:
    """As its operator."""
    token = read_operator_token(running.data)
    assert token is not None
    return mycel.connect(running.url, token=token)


@contextlib.contextmanager
def started_on_demand(data: Path) -> Iterator[Path]:
    """A data directory whose service, if a client starts one, ends with the test."""
    try:
        yield data
    finally:
        # One that was killed under the file's name, or is just stopping, is no longer found and does no harm.
        if (found := find_daemon(data)) is not None:
            end(found)


def end(found: Daemon) -> None:
    os.kill(found.pid, signal.SIGTERM)
    eventually(lambda: not is_alive(found.pid))


def children_of(process_id: int) -> list[int]:
    found = Path(f"/proc/{process_id}/task/{process_id}/children")
    tasks = Path(f"/proc/{process_id}/task").glob("*/children") if found.exists() else []
    return [int(child) for task in tasks for child in task.read_text().split()]


def services_below(folder: Path) -> list[int]:
    """The processes that serve a data directory somewhere in a folder."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"\0serve\0" in line and str(folder).encode() in line + (process / "environ").read_bytes():
                found.append(int(process.name))
    return [process_id for process_id in found if is_alive(process_id)]


def is_alive(process_id: int) -> bool:
    """A process that nobody has waited for yet has ended all the same."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(condition: Callable[[], object], *, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
