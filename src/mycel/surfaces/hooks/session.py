"""What the hooks remember of one session: how far it was captured, and what was injected already."""

from __future__ import annotations

import json
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from mycel.surfaces.hooks.clock import Deadline, TimeUp
from mycel.surfaces.hooks.files import locked, make_folder, write_whole
from mycel.surfaces.hooks.hook_event import Message

MAX_SESSIONS = 500
MAX_SHOWN = 500
MAX_NEWEST = 50
MAX_TITLE = 160
_LOCK = "sessions.lock"


class Session:
    """A file of JSON. Whatever of it cannot be read counts as not remembered."""

    def __init__(self, folder: Path, agent: str, id: str) -> None:
        name = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in f"{agent}-{id}")[:120]
        self._path = folder / f"{name}-{zlib.crc32(id.encode('utf-8', 'replace')):08x}.json"
        self._values = _read(self._path)

    @property
    def offset(self) -> int:
        """How much of the transcript has been queued."""
        return self._number("offset")

    @property
    def shown(self) -> list[str]:
        return self._texts("shown")

    @property
    def newest(self) -> list[str] | None:
        """The newest memories of the team that it knows, by their ids; None before the first prompt."""
        return self._texts("newest") if "newest" in self._values else None

    @property
    def newest_since(self) -> str:
        """Older ones than this are no news to it."""
        found = self._values.get("newest_since")
        return found if isinstance(found, str) else ""

    @property
    def has_context(self) -> bool:
        """Whether it was told what is known of its project."""
        return self._values.get("context") is True

    @property
    def has_heard_of_outage(self) -> bool:
        """Whether the agent was told that memory could not be looked at, and nothing was found since."""
        return self._values.get("outage") is True

    @property
    def has_reflected(self) -> bool:
        """Whether the agent was asked what it has learned."""
        return self._values.get("reflected") is True

    @property
    def title(self) -> str:
        """How the last prompt begins."""
        found = self._values.get("title")
        return found if isinstance(found, str) else ""

    @property
    def pending(self) -> list[Message]:
        """What was said and waits for the end of the turn."""
        return self._messages("pending")

    @property
    def unfinished(self) -> tuple[int, int] | None:
        """What was to be queued last, if nobody knows whether it was."""
        found = self._values.get("queueing")
        listed = cast("list[object]", found) if isinstance(found, list) else []
        numbers = [one for one in listed if isinstance(one, int)]
        return (numbers[0], numbers[1]) if len(numbers) == 2 else None

    def begin(self, since: int, until: int) -> None:
        """From here to there is captured, once it is queued."""
        self._values |= {"offset": until, "queueing": [since, until]}

    def finish(self) -> None:
        self._values.pop("queueing", None)

    def show(self, ids: Iterable[str]) -> None:
        self._values["shown"] = list(dict.fromkeys((*self.shown, *ids)))[-MAX_SHOWN:]

    def note_newest(self, ids: Iterable[str], *, since: str) -> None:
        self._values["newest"] = list(dict.fromkeys((*ids, *(self.newest or ()))))[:MAX_NEWEST]
        self._values["newest_since"] = max(self.newest_since, since)

    def mark_context(self, *, given: bool) -> None:
        self._values["context"] = given

    def mark_outage(self, *, heard: bool) -> None:
        self._values["outage"] = heard

    def mark_reflected(self) -> None:
        self._values["reflected"] = True

    def forget_shown(self) -> None:
        self._values["shown"] = []
        self._values.pop("newest", None)
        self._values.pop("newest_since", None)

    def entitle(self, prompt: str) -> None:
        self._values["title"] = " ".join(prompt.split())[:MAX_TITLE]

    def keep(self, messages: Iterable[Message]) -> None:
        self._values["pending"] = [*self.pending, *messages]

    def take_pending(self) -> list[Message]:
        found = self.pending
        if found:
            self._values["pending"] = []
        return found

    def save(self, *, durable: bool = False) -> None:
        text = json.dumps(self._values, ensure_ascii=False).encode("utf-8", "replace")
        write_whole(self._path, text, durable=durable)

    def _number(self, name: str) -> int:
        found = self._values.get(name)
        return found if isinstance(found, int) and found >= 0 else 0

    def _texts(self, name: str) -> list[str]:
        found = self._values.get(name)
        return [one for one in cast("list[object]", found) if isinstance(one, str)] if isinstance(found, list) else []

    def _messages(self, name: str) -> list[Message]:
        found = self._values.get(name)
        listed = cast("list[object]", found) if isinstance(found, list) else []
        return [cast("Message", one) for one in listed if isinstance(one, dict)]


class Sessions:
    def __init__(self, folder: Path, deadline: Deadline) -> None:
        self._folder = folder
        self._deadline = deadline

    @contextmanager
    def opened(self, agent: str, id: str) -> Generator[Session]:
        """To be changed, by one hook at a time; `TimeUp` when others are at it for too long."""
        make_folder(self._folder)
        with locked(self._folder / _LOCK, self._deadline) as is_ours:
            if not is_ours:
                raise TimeUp
            yield Session(self._folder, agent, id)

    def look_at(self, agent: str, id: str) -> Session:
        return Session(self._folder, agent, id)

    def forget_old(self) -> None:
        with suppress(OSError):
            files = list(self._folder.glob("*.json"))
            if len(files) > MAX_SESSIONS:
                for old in sorted(files, key=_moment)[:-MAX_SESSIONS]:
                    old.unlink(missing_ok=True)


def _moment(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read(path: Path) -> dict[str, Any]:
    try:
        found: object = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
