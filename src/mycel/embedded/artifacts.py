"""The artifacts of a team as one member sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from mycel.domain.artifact import Artifact, Verification
from mycel.domain.query import Page
from mycel.domain.team import Caller
from mycel.services.artifacts import ArtifactRegistry


class Artifacts:
    """See `contracts.artifacts_api.ArtifactsApi` for what each method promises."""

    def __init__(self, caller: Callable[[], Caller], registry: ArtifactRegistry) -> None:
        self._caller = caller
        self._registry = registry

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
        given = {
            "path": path,
            "type": type,
            "task_id": task_id,
            "description": description,
            "agent_id": agent_id,
            "content": content,
            "keep_content": keep_content,
            "size_bytes": size_bytes,
            "checksum": checksum,
            "project": project,
            "repo": repo,
            "session_id": session_id,
            "tags": tags,
            "visibility": visibility,
            "allowed_roles": allowed_roles,
            "idempotency_key": idempotency_key,
        }
        return self._registry.register(self._caller(), given)

    def get(self, id: str) -> Artifact:
        return self._registry.get(self._caller(), id)

    def verify(self, id: str) -> Verification:
        return self._registry.verify(self._caller(), id)

    def delete(self, id: str) -> None:
        self._registry.delete(self._caller(), id)

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
        given = {
            "task_id": task_id,
            "type": type,
            "path": path,
            "agent_id": agent_id,
            "project": project,
            "text": text,
            "since": since,
            "until": until,
            "limit": limit,
            "cursor": cursor,
            "team": team,
        }
        return self._registry.list(self._caller(), given)
