"""One service per data directory: the lock that says so, and the file by which clients find it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from mycel.client.daemon import find_daemon
from mycel.errors import Conflict, Misconfigured
from mycel.settings import replace_file, sync_folder
from mycel.wire.daemon_file import DAEMON_FILE, OWNER_ONLY, SERVICE_LOCK, DaemonFile, read_daemon_file

# As long as one that is stopping may take for its last requests and its files.
SETTLING_SECONDS = 20.0
LOOK_SECONDS = 0.1
SECOND_LOOK_SECONDS = 0.5


class Ownership:
    """Of a data directory, until the service has ended."""

    def __init__(self, data: Path) -> None:
        self._file = data / DAEMON_FILE
        self.nonce = secrets.token_urlsafe(16)

    def announce(self, url: str, *, version: str) -> None:
        """From now on clients find the service; it must be listening already."""
        named = DaemonFile(url, self.nonce, os.getpid(), version, datetime.now(UTC))
        replace_file(self._file, named.render(), mode=OWNER_ONLY)

    def withdraw(self) -> None:
        # What cannot be removed does no harm: nobody answers with its nonce.
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
            sync_folder(self._file.parent)


@contextmanager
def owned(data: Path) -> Generator[Ownership]:
    """`Conflict` names the service that owns the data directory already.

    One that is just starting or stopping is waited for: either it answers, or its lock becomes free.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(data / SERVICE_LOCK, mode=OWNER_ONLY, fallback_to_soft=False)
        _take(lock, data)
    except OSError as error:
        raise Misconfigured(f"the data directory cannot be used: {error.strerror}") from None
    ownership = Ownership(data)
    try:
        # Of one that was killed: its process may have become another program by now.
        ownership.withdraw()
        yield ownership
    finally:
        ownership.withdraw()
        lock.release()


def _take(lock: FileLock, data: Path) -> None:
    deadline = time.monotonic() + SETTLING_SECONDS
    answered = False
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            running = find_daemon(data)
            if running is not None and answered:
                raise Conflict(
                    f"a service of {data} runs already: {running.url}, process {running.pid}; use it, or stop it first"
                ) from None
            if time.monotonic() >= deadline:
                raise Conflict(_unanswering(data)) from None
            # One that was just told to stop still answers what it has been asked: it is asked twice.
            answered = running is not None
            time.sleep(SECOND_LOOK_SECONDS if answered else LOOK_SECONDS)
        else:
            return


def _unanswering(data: Path) -> str:
    named = read_daemon_file(data)
    who = "another process" if named is None else f"process {named.pid} at {named.url}"
    return f"{who} holds {data / SERVICE_LOCK} and does not answer: stop it first"
