"""A short-lived process that does for a hook what an agent need not wait for: start the service, empty the queue."""

from __future__ import annotations

import sys
from pathlib import Path

from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.delivery import SENDER_LOCK, START, deliver_all
from mycel.surfaces.hooks.environment import AUTO, OFF, HookSettings, read_environment
from mycel.surfaces.hooks.files import FOLDER, Log, locked
from mycel.surfaces.hooks.service import Caller, caller_of

LIFE_SECONDS = 30.0


def main(words: list[str]) -> None:
    data, errand, *member = words
    settings = read_environment(data)
    caller = caller_of(settings, member[0] if member else None)
    log = Log(settings.data, name="courier")
    deadline = Deadline(LIFE_SECONDS)
    with locked(settings.data / FOLDER / SENDER_LOCK, Deadline(0)) as is_ours:
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


if __name__ == "__main__":
    main(sys.argv[1:])
