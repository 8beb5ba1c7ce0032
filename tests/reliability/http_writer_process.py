"""A process whose threads write through services that may be killed under them, and those that follow what they do.

Each says the same again, under the same key, to one node after the other where there are several, until it is told
that it was stored, and notes that outside. Careless ones take a new key each time, as the control of what keys are good
for. On each node somebody follows.
"""

import json
import os
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mycel
from mycel.client import exchanges
from mycel.errors import Unavailable

END = "/end"
CAREFUL, CARELESS = "careful", "careless"


class Writer:
    def __init__(self, nodes: Sequence[Any], notes: int, *, stop: Path, careful: bool) -> None:
        self._nodes = deque(nodes)
        self._notes = notes
        self._stop = stop
        self._careful = careful

    def run(self) -> None:
        try:
            while not self._stop.exists():
                self._write()
        except BaseException as error:
            self._note("failed", repr(error))
            raise

    def follow(self) -> None:
        try:
            sequences: list[int] = []
            for change in self._nodes[0].changes(0, follow=True):
                sequences.append(change.sequence)
                if change.path == END:
                    break
            self._note("followed", sequences)
        except BaseException as error:
            self._note("failed", repr(error))
            raise

    def _write(self) -> None:
        key = str(uuid.uuid4())
        saved = self._until_told(
            lambda memory: memory.save(f"said as {key}", idempotency_key=key if self._careful else str(uuid.uuid4()))
        )
        self._note("saved", saved.id, saved.version, saved.content)
        if saved.id[-1] in "01234567":
            content = f"said better as {key}"
            changed = self._until_told(
                lambda memory: memory.update(
                    saved.id, content=content, expected_version=1, idempotency_key=f"{key}-better"
                )
            )
            self._note("saved", changed.id, changed.version, changed.content)

    def end(self) -> None:
        self._until_told(lambda memory: memory.save("This was all.", path=END, idempotency_key="end"))

    def _until_told(self, call: Callable[[Any], Any]) -> Any:
        while True:
            try:
                return call(self._nodes[0])
            except Unavailable:
                self._nodes.rotate(1)
                time.sleep(0.05)

    def _note(self, *note: object) -> None:
        os.write(self._notes, (json.dumps(note) + "\n").encode())


def main(urls: str, token: str, notes: str, stop: str, threads: str, care: str) -> None:
    handle = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    if care != CAREFUL:
        # The client would say it again by itself, and under one key.
        exchanges.TRIES = 1
    with ExitStack() as connections:
        nodes = [connections.enter_context(mycel.connect(url, token=token)).me() for url in urls.split()]
        made = [
            Writer(
                nodes[place % len(nodes) :] + nodes[: place % len(nodes)],
                handle,
                stop=Path(stop),
                careful=care == CAREFUL,
            )
            for place in range(int(threads))
        ]
        followers = [threading.Thread(target=one.follow) for one in made[: len(nodes)]]
        writers = [threading.Thread(target=one.run) for one in made]
        for thread in (*followers, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        made[0].end()
        for thread in followers:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
