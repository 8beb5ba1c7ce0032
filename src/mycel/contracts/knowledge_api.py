"""Knowledge as every way into a team's memory offers it: one standing value per project, category and key."""

from __future__ import annotations

from typing import Protocol, Unpack

from mycel.contracts.written_fields import KnowledgeFields
from mycel.domain.knowledge import ImportReport
from mycel.domain.memory import Memory, Version
from mycel.domain.query import Page
from mycel.domain.recall import Recall


class KnowledgeApi(Protocol):
    """Memories with a key, but for facts about people."""

    def upsert(
        self,
        *,
        key: str,
        value: str,
        project: str | None = None,
        category: str = "fact",
        confidence: float | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[KnowledgeFields],
    ) -> Memory:
        """Replaces the standing value if it is surer, as sure and by the same member, or by the orchestrator.

        Otherwise it waits in the inbox, linked to the standing value as contradicting. What only repeats the value that
        stands or waits changes nothing. `expected_version` is that of the standing value as the writer has read it, 0
        for none; `Conflict` when it is another.
        """
        ...

    def get(self, *, key: str, project: str | None = None, category: str = "fact", team: str | None = None) -> Memory:
        """The standing value; the one for the whole team before one for fewer readers."""
        ...

    def candidates(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """What waits for an arbiter, newest first."""
        ...

    def history(self, id: str) -> list[Version]: ...
    def search(
        self, query: str | None, *, project: str | None = None, category: str | None = None, limit: int = 10
    ) -> Recall: ...
    def delete(self, id: str) -> None: ...
    def arbitrate(self, id: str, *, reason: str | None = None) -> Memory:
        """This value holds: another that stood becomes `contradicted`, what else waits for the same place is rejected.

        For the orchestrator, leads and admins. Deciding the same twice changes nothing.
        """
        ...

    def import_markdown(
        self,
        text: str,
        *,
        name: str,
        project: str | None = None,
        category: str | None = None,
        confidence: float = 0.8,
        dry_run: bool = False,
    ) -> ImportReport:
        """The sections and `- key: value` lines of a shared markdown file, each as one value with its evidence.

        All of it in one transaction. The same file again changes nothing; of a changed one only what changed is
        written. `category` is for sections whose headings name none.
        """
        ...

    # Last: below this line `list` means this method.
    def list(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
    ) -> Page[Memory]:
        """The values that stand, newest first."""
        ...
