"""The part of a store that keeps artifacts: memories with a row of what only an artifact has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from mycel.access.scope import ReadScope
from mycel.domain.artifact import Artifact, ArtifactDetail, ArtifactFilters
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.query import Filters, Page


class ArtifactReads(Protocol):
    def find(self, scope: ReadScope, id: MemoryId) -> Artifact | None: ...
    def find_same(self, scope: ReadScope, like: Artifact) -> Artifact | None:
        """One of the same author that says the same of the same file for the same readers, and has not ended."""
        ...

    def page(
        self, scope: ReadScope, filters: Filters, wanted: ArtifactFilters, *, limit: int, cursor: str | None
    ) -> Page[Artifact]:
        """Newest first. Raises `InvalidInput` for a cursor that is not from this list."""
        ...

    def details(self, scope: ReadScope, ids: Collection[MemoryId]) -> Mapping[MemoryId, ArtifactDetail]:
        """Of those that are artifacts in sight."""
        ...


class ArtifactWrites(ArtifactReads, Protocol):
    def insert(self, memory: Memory, words: PackedTerms, detail: ArtifactDetail, *, by: MemberId) -> None:
        """A new memory and its detail, as `MemoryWrites.insert` stores one without."""
        ...
