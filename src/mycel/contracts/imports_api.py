"""Taking in what other memory systems hold, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mycel.domain.foreign_import import ImportedRecord


class ImportsApi(Protocol):
    def take(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        system: str,
        trust: str = "low",
        capture_mode: str = "store",
        dry_run: bool = False,
    ) -> list[ImportedRecord]:
        """Up to 1000 records of another system, each for itself: one that is refused stops no other.

        A record is an object with its `id` there and `content` and the fields of `save`, and as `memory` the id of the
        memory here that it was once written from, whose text is not taken in a second time; or its `id`, `messages` (or
        text) and the fields of a captured conversation, which stays raw unless `capture_mode` is `extract`; or a link:
        `from_id`, `to_id` and `relation`, by ids of the same `system`. The same record again changes nothing; one that
        says something else is a new version, unless its text was changed or it was deleted here. What was purged stays
        away.

        They are memories of the caller, made by `import`. `trust` is at most the caller's; what is below what the
        team asks for waits in the inbox.
        """
        ...
