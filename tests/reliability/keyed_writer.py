"""Writers that repeat what they were not told of, under its key, until they are told."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import mycel
from mycel.errors import Unavailable

THREADS = 8
RETRY_SECONDS = 0.05


def save_on(memory: Any, note: Callable[[str, str], None], name: str, ended: Callable[[], bool]) -> None:
    """Each memory says its key, so that one stored twice is seen."""
    number = 0
    while not ended():
        number += 1
        key = f"{name}-{number}"
        while True:
            try:
                saved = memory.save(f"memory {key}", tags=["outage"], idempotency_key=key)
            except Unavailable:
                time.sleep(RETRY_SECONDS)
                continue
            note(key, saved.id)
            break


def main(url: str, notes: str, team: str) -> None:
    """Until it is killed."""
    handle = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def note(key: str, id: str) -> None:
        # One write of one line: a kill cannot lose it.
        os.write(handle, f"{json.dumps([key, id])}\n".encode())

    workspace = mycel.open(url)
    memory = workspace.as_operator(team)
    for number in range(THREADS):
        name = f"{os.getpid()}-{number}"
        threading.Thread(target=save_on, args=(memory, note, name, lambda: False)).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
