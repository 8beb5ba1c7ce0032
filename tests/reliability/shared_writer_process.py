"""A process whose threads write into a workspace that others write too: through its service, or on its files.

Everything that was acknowledged is noted outside of the workspace, with how long it took.
"""

import json
import os
import random
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mycel

WORDS = ("quokka", "wombat", "numbat", "dugong", "bilby", "potoroo", "echidna", "platypus", "wallaby", "quoll")


@dataclass(frozen=True)
class Task:
    """What one process is to do; without a URL it opens the files itself."""

    data: str
    url: str | None
    # By the member that writes with it: one thread for each.
    tokens: dict[str, str]
    notes: str
    ready: str
    start: str
    seconds: float

    def run(self) -> None:
        with ExitStack() as stack:
            threads: list[threading.Thread] = []
            opened = None if self.url else stack.enter_context(mycel.open(self.data))
            for member, token in self.tokens.items():
                if opened is not None:
                    memory: Any = opened.as_member(member)
                else:
                    memory = stack.enter_context(mycel.connect(str(self.url), token=token)).me()
                # What is loaded for the first search is loaded before the clock starts; no team has a store by then.
                memory.search("ready")
                threads.append(threading.Thread(target=self._write, args=(memory, member)))
            Path(self.ready).touch()
            while not Path(self.start).exists():
                time.sleep(0.02)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _write(self, memory: Any, member: str) -> None:
        chance = random.Random(member)
        notes = os.open(self.notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        mine: list[str] = []
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            text = f"{chance.choice(WORDS)} {chance.choice(WORDS)} of {member} {os.urandom(6).hex()}"
            what = chance.choices(["save", "update", "search"], [10, 6, 3])[0] if mine else "save"
            began_at = time.monotonic()
            try:
                if what == "save":
                    mine.append(memory.save(text).id)
                    note = ["save", mine[-1], text]
                elif what == "update":
                    note = ["update", memory.update(chance.choice(mine), content=text).id, text]
                else:
                    memory.search(chance.choice(WORDS))
                    note = ["search", None, None]
            except Exception as error:  # noqa: BLE001 - whoever reads the notes judges
                note = ["failed", what, f"{type(error).__name__}: {error}"]
            took = round(time.monotonic() - began_at, 4)
            os.write(notes, (json.dumps([*note, round(time.time(), 3), took]) + "\n").encode())


def as_argument(task: Task) -> str:
    return json.dumps(asdict(task))


if __name__ == "__main__":
    Task(**json.loads(sys.argv[1])).run()
