"""The artifacts of a team, as every way into its memory shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypedDict, Unpack

from mycel.contracts.written_fields import ArtifactFields
from mycel.domain.artifact import Artifact, Verification
from mycel.domain.query import Page


class ArtifactFilterFields(TypedDict, total=False):
    """Everything given must hold; `text` is searched for."""

    task_id: str | None
    type: str | None
    path: str | None
    agent_id: str | None
    project: str | None
    text: str | None
    since: datetime | str | None
    until: datetime | str | None


class ArtifactsApi(Protocol):
    def register(self, *, path: str, **fields: Unpack[ArtifactFields]) -> Artifact:
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
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[ArtifactFilterFields],
    ) -> Page[Artifact]:
        """Newest first; with `text` what a search finds, best first, in one page.

        A `path` that ends in `/` asks for everything below that folder.
        """
        ...
