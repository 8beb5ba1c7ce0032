"""Live changes on the wire: as Server-Sent Events, and as the text frames of a WebSocket.

`change` tells of one. `cursor` says how far the log has been looked at, for whoever comes back later. `end` is the last
one, and holds a problem.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from mycel.domain.change import Change
from mycel.errors import Unavailable
from mycel.wire.naming import Naming, encoded

CHANGES = "/api/memory/changes"
# Instead of a sequence: begin with what comes from now on.
NOW = "now"
LAST_EVENT_ID = "last-event-id"
MEDIA_TYPE = "text/event-stream"
CHANGE, CURSOR, END = "change", "cursor", "end"
HEARTBEAT = b": still here\n\n"
# Whoever sends a longer line speaks another language.
MAX_LINE_BYTES = 1024 * 1024


class Event(NamedTuple):
    """`data` is JSON."""

    id: int | None
    name: str
    data: bytes

    def to_stream(self) -> bytes:
        head = b"" if self.id is None else b"id: %d\n" % self.id
        return b"%sevent: %s\ndata: %s\n\n" % (head, self.name.encode(), self.data)

    def to_frame(self) -> str:
        id = "" if self.id is None else f'"id":{self.id},'
        return f'{{{id}"event":"{self.name}","data":{self.data.decode()}}}'


# All who follow a team are told the same.
@lru_cache(maxsize=4096)
def change_event(change: Change, naming: Naming = Naming.SNAKE) -> Event:
    return Event(change.sequence, CHANGE, encoded(change, naming))


def cursor_event(sequence: int) -> Event:
    return Event(sequence, CURSOR, b'{"sequence":%d}' % sequence)


def end_event(problem: bytes) -> Event:
    return Event(None, END, problem)


class EventReader:
    """Puts events together from the parts of a stream, however those are cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}

    def read(self, part: bytes) -> list[Event]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise Unavailable("the service sent a line without an end")
        found = [self._line(line.removesuffix(b"\r")) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            fields, self._fields = self._fields, {}
            return _event(fields) if "data" in fields else None
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        # Without a name it is a comment.
        if name:
            before = self._fields.get(name)
            self._fields[name] = value if before is None or name != "data" else f"{before}\n{value}"
        return None


def _event(fields: Mapping[str, str]) -> Event:
    id = fields.get("id", "")
    return Event(int(id) if id.isdecimal() else None, fields.get("event", "message"), fields["data"].encode())


def problem_in(event: Event) -> Mapping[str, Any]:
    try:
        found = json.loads(event.data)
    except ValueError:
        found = None
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}
