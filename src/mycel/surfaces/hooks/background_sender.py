"""A short-lived process that does for a hook what an agent need not wait for: start the service, empty the queue."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.environment import AUTO, OFF, HookSettings, child_environment, read_environment
from mycel.surfaces.hooks.files import FOLDER, OWNER_ONLY, Log, locked, make_folder
from mycel.surfaces.hooks.service import Caller, caller_of

LIFE_SECONDS = 30.0
# A service that does not start is not started again before.
REST_SECONDS = 15.0
START, SEND = "start", "send"
STAMP, LOCK = "courier.stamp", "courier.lock"


def is_at_work(folder: Path) -> bool:
    """Whether one is starting the service, or bringing it what waits."""
    if not folder.exists():
        return False
    with locked(folder / LOCK, Deadline(0)) as is_free:
        return not is_free


def dispatch(settings: HookSettings, caller: Caller, log: Log, *, starts_service: bool) -> None:
    """In a session of its own and with nothing of the agent's: its pipes end with the hook."""
    folder = settings.data / FOLDER
    make_folder(folder)
    if is_at_work(folder) or (starts_service and not _is_due(folder)):
        return
    import subprocess

    # Without -P a module of the folder it runs in could take the place of one that it imports.
    command = [sys.executable, "-P", "-m", "mycel.surfaces.hooks.background_sender", str(settings.data.resolve())]
    command += [START if starts_service else SEND]
    try:
        subprocess.Popen(
            [*command, *([caller.member] if caller.member else [])],
            cwd=settings.data,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        log.write(f"nothing could be started: {type(error).__name__}")


def main(words: list[str]) -> None:
    data, errand, *member = words
    settings = read_environment(data)
    caller = caller_of(settings, member[0] if member else None)
    log = Log(settings.data, name="courier")
    deadline = Deadline(LIFE_SECONDS)
    with locked(settings.data / FOLDER / LOCK, Deadline(0)) as is_ours:
        if is_ours and (settings.url is not None or settings.daemon != AUTO or _start_service(settings.data, log)):
            # It stands in the place of a hook that could not go on, and sends nobody else.
            _work(settings._replace(daemon=OFF), caller, deadline, log, is_new=errand == START)


def _start_service(data: Path, log: Log) -> bool:
    from mycel.client.daemon import ensure_daemon
    from mycel.errors import MycelError

    try:
        ensure_daemon(data)
    except MycelError as error:
        log.write(f"the service could not be started: {error}")
        return False
    return True


def _work(settings: HookSettings, caller: Caller, deadline: Deadline, log: Log, *, is_new: bool) -> None:
    from mycel.surfaces.hooks.delivery import deliver_all
    from mycel.surfaces.hooks.inject import make_ready

    try:
        if is_new:
            make_ready(settings, caller, deadline)
    except (TimeUp, Unreachable) as error:
        log.write(f"the service does not answer: {type(error).__name__}")
    left = None
    while (now_left := deliver_all(settings, caller, deadline, log)) and now_left != left:
        # Others may have added to it meanwhile; what nobody takes stays.
        left = now_left


def _is_due(folder: Path) -> bool:
    stamp = folder / STAMP
    with suppress(OSError):
        if abs(time.time() - stamp.stat().st_mtime) < REST_SECONDS:
            return False
    with suppress(OSError):
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, OWNER_ONLY))
        os.utime(stamp)
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
