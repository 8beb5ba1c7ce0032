"""What every script in here shares: vectors looked up by text, and commands read as JSON lines.

The scripts run in the peers' environments, where neither Mycel nor its packages are installed.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import sys
import traceback
import urllib.request
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, cast

KEY_BYTES = 16
FLOAT_BYTES = 4
# One call of a bulk add, for whoever has one.
BULK = 500


@dataclass(frozen=True, slots=True)
class Item:
    """A memory: our own id, its text, what a search stays inside of, and a folder below that."""

    id: str
    text: str
    scope: str
    folder: str


class Vectors:
    """Vectors that were made beforehand; what is missing is asked from the endpoint."""

    def __init__(self, folder: Path, *, endpoint: str) -> None:
        card = json.loads((folder / "card.json").read_text())
        self.card: dict[str, Any] = card
        self.dimensions: int = card["dimensions"]
        self.endpoint = endpoint
        keys = (folder / "keys.bin").read_bytes()
        self._rows = {keys[place : place + KEY_BYTES]: place // KEY_BYTES for place in range(0, len(keys), KEY_BYTES)}
        with (folder / "vectors.f32").open("rb") as file:
            self._floats = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def find(self, text: str) -> bytes | None:
        """32-bit floats in the order of this machine."""
        row = self._rows.get(key(text))
        width = self.dimensions * FLOAT_BYTES
        return None if row is None else self._floats[row * width : (row + 1) * width]

    def packed(self, text: str) -> bytes:
        return self.find(text) or array("f", self._asked(text)).tobytes()

    def numbers(self, text: str) -> list[float]:
        return array("f", self.packed(text)).tolist()

    def _asked(self, text: str) -> list[float]:
        body = json.dumps({"input": [text], "model": "given"}).encode()
        request = urllib.request.Request(self.endpoint, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"][0]["embedding"]


def key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=KEY_BYTES).digest()


class Store(Protocol):
    """One peer's store. `search` answers with our own ids, best first."""

    def add(self, item: Item) -> None: ...
    def search(self, question: str, *, scope: str, limit: int) -> list[str]: ...
    def settle(self) -> None:
        """Finishes what goes on beside: afterwards everything added is found in every way there is."""
        ...

    def close(self) -> None: ...


class BulkStore(Store, Protocol):
    def add_many(self, items: Sequence[Item]) -> None:
        """All of one scope."""
        ...


Opening = Callable[[Path, Vectors], Store]


def serve(opening: Opening) -> None:
    """Answers each line with one; the first command opens the store, and the end of the input closes it."""
    # What a peer prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    session = _Session(opening)
    with contextlib.closing(session):
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = getattr(session, f"do_{command.pop('do')}")(**command)
            # A peer may raise anything, and the other side is told.
            except Exception as error:  # noqa: BLE001
                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)


class _Session:
    """One method per command."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._store: Store | None = None
        self._items: Iterator[Item] = iter(())

    def do_open(self, *, folder: str, prepared: str, endpoint: str) -> dict[str, Any]:
        self._items = _items(Path(prepared))
        vectors = Vectors(Path(prepared), endpoint=endpoint)
        started = perf_counter()
        self._store = self._opening(Path(folder), vectors)
        return {"seconds": perf_counter() - started, "bulk": hasattr(self._store, "add_many")}

    def do_add(self, *, count: int, seconds: float) -> dict[str, Any]:
        """The next texts one by one, as far as the time goes."""
        store, each, end = self._opened(), [], perf_counter() + seconds
        for item in islice(self._items, count):
            started = perf_counter()
            store.add(item)
            finished = perf_counter()
            each.append(finished - started)
            if finished > end:
                break
        return {"each": each}

    def do_add_many(self, *, count: int, seconds: float) -> dict[str, Any]:
        """The next texts by the bulk add, as far as they and the time go."""
        store, added, spent = cast(BulkStore, self._opened()), 0, 0.0
        while spent < seconds and (part := list(islice(self._items, min(BULK, count - added)))):
            for _, same in groupby(part, key=lambda item: item.scope):
                together = list(same)
                started = perf_counter()
                store.add_many(together)
                spent += perf_counter() - started
            added += len(part)
        return {"added": added, "seconds": spent}

    def do_settle(self) -> dict[str, Any]:
        started = perf_counter()
        self._opened().settle()
        return {"seconds": perf_counter() - started}

    def do_search(self, *, questions: list[tuple[str, str]], limit: int, seconds: float) -> dict[str, Any]:
        """Each question with its scope."""
        store, each, found, end = self._opened(), [], [], perf_counter() + seconds
        for question, scope in questions:
            started = perf_counter()
            found.append(store.search(question, scope=scope, limit=limit))
            finished = perf_counter()
            each.append(finished - started)
            if finished > end:
                break
        return {"each": each, "found": found}

    def do_add_and_find(self, *, count: int, limit: int, seconds: float) -> dict[str, Any]:
        """One memory and at once a search for its own text: what was just learned must be there."""
        store, each, found, end = self._opened(), [], 0, perf_counter() + seconds
        for item in islice(self._items, count):
            started = perf_counter()
            store.add(item)
            hits = store.search(item.text, scope=item.scope, limit=limit)
            finished = perf_counter()
            each.append(finished - started)
            found += item.id in hits
            if finished > end:
                break
        return {"each": each, "found": found}

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _opened(self) -> Store:
        if self._store is None:
            raise RuntimeError("the first command is open")
        return self._store


def _items(folder: Path) -> Iterator[Item]:
    with (folder / "texts.jsonl").open() as lines:
        for line in lines:
            yield Item(*json.loads(line))
