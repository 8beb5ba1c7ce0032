"""Writes that the service has not acknowledged yet: one file each, sent in order, whoever comes first."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mycel.surfaces.hooks.files import make_folder, sync_folder, write_whole
from mycel.surfaces.hooks.transcript import TimeBucket

MAX_FILES = 1000
MAX_BYTES = 256 * 1024 * 1024
MAX_AGE_SECONDS = 30 * 86_400
_SUFFIX = ".write"
_DIGITS = 20


class Write(NamedTuple):
    """What is to be sent: the path of an operation, and its JSON body.

    One that `may_repeat` holds what was perhaps sent before; any other is new, though it may read the same.

    Of a transcript the queue keeps where it stands, not what it says: a long one need not be copied while an agent
    waits. Its lines are the `messages` when it is sent.
    """

    path: str
    body: dict[str, Any]
    transcript: TimeBucket | None = None
    may_repeat: bool = False


class Entry(NamedTuple):
    """A write as it lies in the queue. `to` says at which service and as whom it is to arrive: not everybody's writes
    are everybody's to send. `key` is empty where the service is to tell by the text what it knows."""

    file: Path
    path: str
    key: str
    to: str
    body: bytes
    transcript: TimeBucket | None = None

    def with_messages(self, text: str, *, is_last: bool) -> Entry | None:
        """To be sent for one piece of its transcript; whatever ends a session ends it with its last piece.

        A piece has a key of its own, the same whoever queued it: a hook that was cut off queues it once more.
        """
        told: dict[str, Any] = json.loads(self.body)
        closes = is_last and told.get("closed") is True
        if not (text or closes):
            return None
        body = _json({**told, "messages": text or [], "closed": closes})
        return self._replace(body=body, key=self.key and self._piece_key(text))

    def _piece_key(self, text: str) -> str:
        import hashlib

        place = f"{self.transcript.file}:{self.transcript.since}:" if self.transcript else ""
        return hashlib.sha256((place + text).encode("utf-8", "replace")).hexdigest()


class Queue:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, writes: Sequence[Write], *, to: str) -> int:
        """Durable when it returns; tells how many old ones had to go to make room."""
        make_folder(self.folder)
        names = self._names()
        last = int(names[-1].name[:_DIGITS]) if names else 0
        # Also when the clock was set back: the parts of a session must arrive in order.
        first = max(time.time_ns(), last + 1)
        for number, write in enumerate(writes, start=first):
            file = self.folder / f"{number:0{_DIGITS}d}{_SUFFIX}"
            key = "" if write.may_repeat else os.urandom(16).hex()
            self._keep(Entry(file, write.path, key, to, _json(write.body), write.transcript))
            names.append(file)
        sync_folder(self.folder)
        return self._make_room(names)

    def advance(self, entry: Entry, rest: TimeBucket) -> Entry:
        """So much of a transcript is left. Lost by a power cut, more is told twice, and kept once."""
        further = entry._replace(transcript=rest)
        self._keep(further, durable=False)
        return further

    def entries(self) -> Iterator[Entry]:
        """In order. What cannot be understood is removed: nobody could send it."""
        for file in self._names():
            try:
                head, _, body = file.read_bytes().partition(b"\n")
                found = json.loads(head)
                stretch = TimeBucket(*found["transcript"]) if found.get("transcript") else None
                entry = Entry(file, str(found["path"]), str(found["key"]), str(found["to"]), body, stretch)
            except FileNotFoundError:
                continue
            except (ValueError, KeyError, TypeError):
                file.unlink(missing_ok=True)
                continue
            yield entry

    def size(self) -> int:
        return len(self._names())

    def _names(self) -> list[Path]:
        try:
            found = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return []
        return [file for file in found if file.suffix == _SUFFIX and file.name[:_DIGITS].isdigit()]

    def _keep(self, entry: Entry, *, durable: bool = True) -> None:
        head = {"path": entry.path, "key": entry.key, "to": entry.to, "transcript": entry.transcript}
        write_whole(entry.file, _json(head), b"\n", entry.body, durable=durable)

    def _make_room(self, names: Sequence[Path]) -> int:
        sizes = [_size(name) for name in names]
        total, oldest = sum(sizes), time.time_ns() - MAX_AGE_SECONDS * 10**9
        dropped = 0
        for name, size in zip(names, sizes, strict=True):
            left = len(names) - dropped
            if left <= MAX_FILES and total <= MAX_BYTES and int(name.name[:_DIGITS]) >= oldest:
                break
            name.unlink(missing_ok=True)
            total -= size
            dropped += 1
        return dropped


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
