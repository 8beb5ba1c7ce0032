"""Finds the service of a data directory, has it prove that it is the one, and starts it where none runs.

Light to import: every command and hook comes by here.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from mycel.errors import Misconfigured, Unavailable
from mycel.settings import service_environment
from mycel.wire.daemon_file import (
    OLD_SERVICE_LOG,
    OWNER_ONLY,
    SERVICE_LOCK,
    SERVICE_LOG,
    START_LOCK,
    DaemonFile,
    other_version,
    read_daemon_file,
    read_operator_token,
)

MAX_LOG_BYTES = 5 * 1024 * 1024
# Enough for the last line, however long its traceback.
TAIL_BYTES = 64 * 1024
MAX_MESSAGE = 500


class ServiceLog:
    """Begins a new file when the old one has grown large, and keeps that one beside."""

    def __init__(self, data: Path) -> None:
        self._path = data / SERVICE_LOG
        if self._size() > MAX_LOG_BYTES:
            self._path.replace(data / OLD_SERVICE_LOG)
        self._before = self._size()

    def open(self) -> IO[bytes]:
        """Where there is no room for a log, the service runs without."""
        with contextlib.suppress(OSError):
            return self._open()
        return Path(os.devnull).open("ab")

    def _open(self) -> IO[bytes]:
        return os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY), "ab")

    def last_message(self) -> str | None:
        """Of what was written since this was made."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(self._before, self._size() - TAIL_BYTES))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return None
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return _message_of(last)[:MAX_MESSAGE] or None

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0


def _message_of(line: str) -> str:
    """A line of the log, or the one line with which a command ends that never came to log."""
    try:
        found: object = json.loads(line)
    except ValueError:
        return line.removeprefix("mycel: ")
    values = cast(dict[str, Any], found) if isinstance(found, dict) else {}
    return str(values.get("message") or values.get("event") or line)


# A service that is well answers in milliseconds; one that was stopped by its terminal never does.
HEALTH_SECONDS = 2.0
START_SECONDS = 20.0
# As long as it may take for its last requests and its files.
STOP_SECONDS = 20.0
LOOK_SECONDS = 0.02
IDLE_SPAN = "15m"
# Without -P a module of the folder it runs in could take the place of one that it imports.
_COMMAND = ("-P", "-m", "mycel.surfaces.cli.main", "serve", "--port", "0", "--stop-when-idle", IDLE_SPAN)


@dataclass(frozen=True, slots=True)
class Daemon:
    """A service that has just proved itself, and the operator's token for it where this user may read it.

    It may have ended since: `secret` is for asking it again on each connection, before a token is sent over it.
    """

    url: str
    token: str | None = field(repr=False)
    secret: str = field(repr=False)
    version: str
    pid: int
    database: str | None = None

    @property
    def note(self) -> str | None:
        """What to tell whoever uses it, if its version is another one."""
        from importlib.metadata import version

        own = version("mycel-memory")
        if own == self.version:
            return None
        return f"the service at {self.url} is Mycel {self.version}, this is {own}: restart it to have both alike"


def find_daemon(data_dir: Path) -> Daemon | None:
    """The service of a data directory, if it answers and is the one that its file names."""
    named = read_daemon_file(data_dir)
    if named is None or named.secret is None:
        return None
    health = _ask_health(named, named.secret)
    if health is None:
        return None
    version = str(health.get("version", named.version))
    return Daemon(named.url, read_operator_token(data_dir), named.secret, version, named.pid, named.database)


def ensure_daemon(data_dir: Path) -> Daemon:
    """The service of a data directory, started if none answers; however many ask at once, one is started.

    Raises `Unavailable` with what its log says when it does not come up.
    """
    data = data_dir.resolve()
    return find_daemon(data) or _start_alone(data, deadline=time.monotonic() + START_SECONDS)


def stop_daemon(data_dir: Path) -> Daemon | None:
    """Ends the service of a data directory and waits until it has let go of its files; None where none runs.

    `Unavailable` says which process to end by hand where it does not answer, or is still there after a while.
    """
    import signal

    data = data_dir.resolve()
    found = find_daemon(data)
    if found is None:
        if hanging := find_hanging(data):
            raise Unavailable(f"the service at {hanging.url} does not answer: end process {hanging.pid}")
        return None
    # It has just proved that it wrote the file that names this process.
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while _owns(data):
        if time.monotonic() >= deadline:
            raise Unavailable(f"the service at {found.url} was told to end and has not yet: see process {found.pid}")
        time.sleep(LOOK_SECONDS)
    return found


def find_hanging(data_dir: Path) -> DaemonFile | None:
    """The service that owns a data directory and takes connections, where it did not answer when it was asked."""
    import socket
    from urllib.parse import urlsplit

    named = read_daemon_file(data_dir)
    if named is None or not _owns(data_dir):
        return None
    parts = urlsplit(named.url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=HEALTH_SECONDS):
            return named
    except OSError:
        return None


def _start_alone(data: Path, *, deadline: float) -> Daemon:
    from filelock import FileLock, Timeout

    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(data / START_LOCK, mode=OWNER_ONLY, fallback_to_soft=False, poll_interval=LOOK_SECONDS)
        with lock.acquire(timeout=START_SECONDS):
            _require_own_version(data)
            return find_daemon(data) or _start(data, deadline=deadline)
    except Timeout:
        raise Unavailable("the service is being started by somebody else and does not answer yet; retry") from None
    except OSError as error:
        raise Misconfigured(f"the service of {data} cannot be started: {error.strerror}") from None


def _require_own_version(data: Path) -> None:
    """One that runs is never sent anything; of one that was killed only the file is left, which is no matter."""
    named = read_daemon_file(data)
    if named is not None and named.secret is None and _owns(data):
        raise Unavailable(other_version(named))


def _owns(data: Path) -> bool:
    """Whether a service has this data directory."""
    from filelock import FileLock, Timeout

    lock = FileLock(data / SERVICE_LOCK, mode=OWNER_ONLY, fallback_to_soft=False)
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True


def _start(data: Path, *, deadline: float) -> Daemon:
    log = ServiceLog(data)
    service = _launch(data, log)
    ended = False
    while time.monotonic() < deadline and not ended:
        # Looked at first: the last question comes after the end, when somebody else's service may have won.
        ended = service.poll() is not None
        if found := find_daemon(data):
            return found
        time.sleep(LOOK_SECONDS)
    why = log.last_message() or (f"it ended with code {service.returncode}" if ended else "it does not answer")
    raise Unavailable(f"the service could not be started: {why}")


def _launch(data: Path, log: ServiceLog) -> subprocess.Popen[bytes]:
    """In a session and a folder of its own: it outlives whoever started it, and holds nothing of theirs."""
    detached = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with log.open() as output:
        service = subprocess.Popen(
            [sys.executable, *_COMMAND],
            cwd=data,
            env=service_environment(data),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=detached,
        )
    # Whoever lives longer than the service it has started takes note of its end, as the system wants it.
    threading.Thread(target=service.wait, name="mycel-service", daemon=True).start()
    return service


def _ask_health(named: DaemonFile, secret: str) -> dict[str, Any] | None:
    import socket
    from urllib.parse import urlsplit

    from mycel.wire.proof import prove

    deadline = time.monotonic() + HEALTH_SECONDS
    try:
        parts = urlsplit(named.url)
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=HEALTH_SECONDS) as line:
            return prove(line, secret, host=parts.netloc, seconds=lambda: max(0.001, deadline - time.monotonic()))
    except (OSError, ValueError):
        return None
