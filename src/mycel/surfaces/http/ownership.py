"""One service per data directory: the lock that says so, and the file by which clients find it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from mycel.client.daemon import find_daemon, stop_daemon
from mycel.durable_file import replace_file, sync_folder
from mycel.errors import Conflict, Misconfigured
from mycel.surfaces.http.log import log_event
from mycel.wire.daemon_file import DAEMON_FILE, OWNER_ONLY, SERVICE_LOCK, DaemonFile, other_version, read_daemon_file
from mycel.wire.proof import new_secret

# As long as one that is stopping may take for its last requests and its files.
SETTLING_SECONDS = 20.0
LOOK_SECONDS = 0.1
SECOND_LOOK_SECONDS = 0.5
# How soon a service that found no room for its file is found once there is some.
ANNOUNCE_SECONDS = 1.0


class Ownership:
    """Of a data directory, until the service has ended."""

    def __init__(self, data: Path) -> None:
        self._file = data / DAEMON_FILE
        self._is_withdrawn = threading.Event()
        self.secret = new_secret()

    def announce(self, url: str, *, version: str, database: str | None = None, on_demand: bool = False) -> None:
        """From now on clients find the service; it must be listening already."""
        named = DaemonFile(url, self.secret, os.getpid(), version, datetime.now(UTC), database, on_demand)
        content = named.render()
        if not self._write(content):
            threading.Thread(target=self._announce_later, args=(content,), name="mycel-announce", daemon=True).start()

    def forget_earlier(self) -> None:
        """Of one that was killed: its process may have become another program by now.

        The file keeps its place: on a full disk there would be no other.
        """
        with suppress(OSError):
            _overwrite(self._file, b"")

    def withdraw(self) -> None:
        self._is_withdrawn.set()
        # What cannot be removed does no harm: nobody knows its secret any more.
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
            sync_folder(self._file.parent)

    def _write(self, content: bytes) -> bool:
        """Whether clients can find the service. On a full disk it is still there for all who know its address."""
        try:
            replace_file(self._file, content, mode=OWNER_ONLY)
        except OSError as error:
            try:
                _overwrite(self._file, content)
            except OSError:
                told = f"{DAEMON_FILE} cannot be written ({error.strerror}): clients find the service once it can be"
                log_event("not_announced", told, level=logging.ERROR)
                return False
        return True

    def _announce_later(self, content: bytes) -> None:
        while not self._is_withdrawn.wait(ANNOUNCE_SECONDS):
            if self._write(content):
                return


def _overwrite(file: Path, content: bytes) -> None:
    """In the room that it has already; whoever reads it in between finds nothing that can be understood."""
    handle = os.open(file, os.O_WRONLY)
    try:
        # Windows knows no such thing.
        with suppress(AttributeError):
            os.fchmod(handle, OWNER_ONLY)
        os.write(handle, content.ljust(os.fstat(handle).st_size))
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def owned(data: Path, *, takes_over: bool = False) -> Generator[Ownership]:
    """`Conflict` names the service that owns the data directory already.

    One that is just starting or stopping is waited for: either it answers, or its lock becomes free. With `takes_over`,
    one that some command has started on demand is told to end, and its place is taken.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(data / SERVICE_LOCK, mode=OWNER_ONLY, fallback_to_soft=False)
        _take(lock, data, takes_over=takes_over)
    except OSError as error:
        raise Misconfigured(f"the data directory cannot be used: {error.strerror}") from None
    ownership = Ownership(data)
    try:
        ownership.forget_earlier()
        yield ownership
    finally:
        ownership.withdraw()
        lock.release()


def _take(lock: FileLock, data: Path, *, takes_over: bool) -> None:
    deadline = time.monotonic() + SETTLING_SECONDS
    answered = False
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            running = find_daemon(data)
            named = None if running is None else read_daemon_file(data)
            if takes_over and named is not None and named.on_demand and time.monotonic() < deadline:
                log_event(
                    "taking_over", f"the service at {named.url}, started on demand, ends: this one takes its place"
                )
                stop_daemon(data)
                continue
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
    if named is not None and named.secret is None:
        return other_version(named)
    who = "another process" if named is None else f"process {named.pid} at {named.url}"
    return f"{who} holds {data / SERVICE_LOCK} and does not answer: stop it first"
