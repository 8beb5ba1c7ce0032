"""The changes of a team from its service: what has happened, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.client.exchanges import Exchange, Received, Sent, attempts, written
from mycel.client.senders import Sender
from mycel.domain.change import Change
from mycel.wire.reading import read_text

PATH = "/api/memory/changes"
_TYPES: Mapping[str, Any] = {"after": int, "path": str, "team": str}


class Changes:
    def __init__(self, sender: Sender, headers: Mapping[str, str]) -> None:
        self._sender = sender
        self._headers = headers

    def __call__(
        self, after: int = 0, path: str = "/", *, follow: bool = False, team: str | None = None
    ) -> Iterator[Change]:
        given = {"path": path, "team": team}
        # Asked before the first change is wanted, so that what is wrong with the request is said at once.
        first, more = self._page(given, after)
        return self._walk(given, first, more=more)

    def _walk(self, given: Mapping[str, Any], page: list[Change], *, more: bool) -> Iterator[Change]:
        while True:
            yield from page
            if not more:
                return
            page, more = self._page(given, page[-1].sequence)

    def _page(self, given: Mapping[str, Any], after: int) -> tuple[list[Change], bool]:
        query = written(_TYPES, {**given, "after": after})
        return self._sender.send(_page_of(Sent("GET", PATH, query, None, dict(self._headers))))


def _page_of(request: Sent) -> Exchange:
    came: Received = yield from attempts(request, repeatable=True)
    return read_text(list[Change], came.body), "link" in came.headers
