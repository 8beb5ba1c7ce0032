"""A process that waits for its start and then upserts one key several times, noting what each write became."""

import json
import os
import random
import sys
import time
from pathlib import Path

from mycel.app import open_workspace
from mycel.errors import Conflict, NotFound


def main(data: str, notes: str, start: str, member: str, seed: str, writes: str) -> None:
    """Half of the writes first read what stands and state its version, as a careful agent would."""
    chance = random.Random(int(seed))
    handle = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with open_workspace(Path(data)) as workspace:
        knowledge = workspace.as_member(member).knowledge
        os.write(handle, b"ready\n")
        while not Path(start).exists():
            time.sleep(0.001)
        for number in range(int(writes)):
            value, confidence = f"{member} says {seed}-{number}", chance.choice((0.2, 0.4, 0.6, 0.8, chance.random()))
            expected: int | None = None
            if chance.random() < 0.5:
                try:
                    expected = knowledge.get(project="p", key="k").version
                except NotFound:
                    expected = 0
            try:
                stored = knowledge.upsert(
                    project="p", key="k", value=value, confidence=confidence, expected_version=expected
                )
            except Conflict:
                continue
            told = [value, confidence, stored.id, stored.version, stored.status.value]
            os.write(handle, (json.dumps(told) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
