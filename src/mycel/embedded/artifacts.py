"""The artifacts of a team as one member sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from mycel.contracts.artifacts_api import ArtifactFilterFields
from mycel.contracts.written_fields import ArtifactFields
from mycel.domain.artifact import Artifact, Verification
from mycel.domain.query import Page
from mycel.domain.team import Caller
from mycel.services.artifacts import ArtifactRegistry


class Artifacts:
    """See `contracts.artifacts_api.ArtifactsApi` for what each method promises."""

    def __init__(self, caller: Callable[[], Caller], registry: ArtifactRegistry) -> None:
        self._caller = caller
        self._registry = registry

    def register(self, *, path: str, **fields: Unpack[ArtifactFields]) -> Artifact:
        return self._registry.register(self._caller(), {**fields, "path": path})

    def get(self, id: str) -> Artifact:
        return self._registry.get(self._caller(), id)

    def verify(self, id: str) -> Verification:
        return self._registry.verify(self._caller(), id)

    def delete(self, id: str) -> None:
        self._registry.delete(self._caller(), id)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[ArtifactFilterFields],
    ) -> Page[Artifact]:
        return self._registry.list(self._caller(), filters, limit=limit, cursor=cursor, team=team)
