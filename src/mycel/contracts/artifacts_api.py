"""The artifacts of a team, as every way into its memory shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mycel.domain.artifact import Artifact, Verification
from mycel.domain.query import Page


class ArtifactsApi(Protocol):
    def register(
        self,
        *,
        path: str,
        type: str = "file",
        task_id: str | None = None,
        description: str | None = None,
        agent_id: str | None = None,
        content: str | bytes | None = None,
        keep_content: bool = False,
        size_bytes: int | None = None,
        checksum: str | None = None,
        project: str | None = None,
        repo: str | None = None,
        session_id: str | None = None,
        tags: Sequence[str] | str | None = None,
        visibility: str | None = None,
        allowed_roles: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Artifact:
        """Stores what an agent produced, found at once by its path and description.

        Size and checksum, a SHA-256, are of `content` or, without it, of the file in the first workspace folder that
        has it, and those given must agree; when none has it, the given ones are taken. `keep_content` keeps the text
        too. What the same author has registered alike is returned as it is; a changed file is a new artifact. Only an
        orchestrator, a lead or an admin names another as `agent_id`.
        """
        ...

    def get(self, id: str) -> Artifact:
        """`NotFound` also for a memory that is no artifact."""
        ...

    def verify(self, id: str) -> Verification:
        """Whether the file is as it was when it was registered, by its SHA-256."""
        ...

    def delete(self, id: str) -> None:
        """As deleting the memory; the file is not touched."""
        ...

    def list(
        self,
        *,
        task_id: str | None = None,
        type: str | None = None,
        path: str | None = None,
        agent_id: str | None = None,
        project: str | None = None,
        text: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
    ) -> Page[Artifact]:
        """Newest first; with `text` what a search finds, best first, in one page.

        A `path` that ends in `/` asks for everything below that folder.
        """
        ...
