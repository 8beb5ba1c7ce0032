"""Finds the service of a data directory, and starts it where none runs.

Light to import: every command and hook comes by here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mycel.client.service_log import ServiceLog
from mycel.errors import Misconfigured, Unavailable
from mycel.settings import service_environment
from mycel.wire.daemon_file import OWNER_ONLY, START_LOCK, DaemonFile, read_daemon_file, read_operator_token

# A service that is well answers in milliseconds; one that was stopped by its terminal never does.
HEALTH_SECONDS = 2.0
MAX_HEALTH_BYTES = 64 * 1024
START_SECONDS = 20.0
LOOK_SECONDS = 0.02
IDLE_SPAN = "15m"
# Without -P a module of the folder it runs in could take the place of one that it imports.
_COMMAND = ("-P", "-m", "mycel.surfaces.cli.main", "serve", "--port", "0", "--stop-when-idle", IDLE_SPAN)


@dataclass(frozen=True, slots=True)
class Daemon:
    """A service that has just answered, and the operator's token for it where this user may read it."""

    url: str
    token: str | None = field(repr=False)
    version: str
    pid: int

    @property
    def note(self) -> str | None:
        """What to tell whoever uses it, if its version is another one."""
        from importlib.metadata import version

        own = version("mycel")
        if own == self.version:
            return None
        return f"the service at {self.url} is Mycel {self.version}, this is {own}: restart it to have both alike"


def find_daemon(data_dir: Path) -> Daemon | None:
    """The service of a data directory, if it answers and is the one that its file names."""
    named = read_daemon_file(data_dir)
    health = None if named is None else _ask_health(named)
    if named is None or health is None or health.get("nonce") != named.nonce:
        return None
    return Daemon(named.url, read_operator_token(data_dir), str(health.get("version", named.version)), named.pid)


def ensure_daemon(data_dir: Path) -> Daemon:
    """The service of a data directory, started if none answers; however many ask at once, one is started.

    Raises `Unavailable` with what its log says when it does not come up.
    """
    data = data_dir.resolve()
    return find_daemon(data) or _start_alone(data, deadline=time.monotonic() + START_SECONDS)


def _start_alone(data: Path, *, deadline: float) -> Daemon:
    from filelock import FileLock, Timeout

    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(data / START_LOCK, mode=OWNER_ONLY, fallback_to_soft=False, poll_interval=LOOK_SECONDS)
        with lock.acquire(timeout=START_SECONDS):
            return find_daemon(data) or _start(data, deadline=deadline)
    except Timeout:
        raise Unavailable("the service is being started by somebody else and does not answer yet; retry") from None
    except OSError as error:
        raise Misconfigured(f"the service of {data} cannot be started: {error.strerror}") from None


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


def _ask_health(named: DaemonFile) -> Mapping[str, Any] | None:
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(named.url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=HEALTH_SECONDS)
    except (ValueError, HTTPException):
        return None
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        found: object = json.loads(answer.read(MAX_HEALTH_BYTES)) if answer.status == 200 else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return cast(Mapping[str, Any], found) if isinstance(found, dict) else None
