"""Embeddings: the vectors of a memory's passages, as they are stored and indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mycel.domain.ids import MemoryId


class Passage(NamedTuple):
    """Part of a memory's text, by characters, and its vector as signed bytes."""

    start: int
    end: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory whose text has no vectors of the wanted model yet."""

    number: int
    id: MemoryId
    version: int
    text: str
    text_hash: bytes


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of one memory, made from the text it had at `version`."""

    number: int
    version: int
    text_hash: bytes
    passages: tuple[Passage, ...]


class Reached(NamedTuple):
    """How far embedding has come: through the memories up to `last_number`, then along the change log."""

    number: int
    last_number: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The next memories to embed, where that brings us (and whether further), and how many changes wait beyond.

    `started` is what was noted before, and None where nobody has begun with this model.
    """

    items: tuple[Unembedded, ...]
    started: Reached | None
    reached: Reached
    moved: bool
    left: int


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How far the vectors of one model have come in one team."""

    model: str | None
    embedded: int
    pending: int


class IndexRow(NamedTuple):
    """What filters and access rules look at, of one memory; times in microseconds, lists as their stored text.

    `number` is the store's own name of the memory: small, dense, never given out twice.
    """

    number: int
    visibility: str
    agent_id: str
    allowed_roles: str | None
    status: str
    deleted_at: int | None
    expires_at: int | None
    type: str
    scope: str
    project_id: str | None
    repo_id: str | None
    path: str
    created_at: int
    category: str | None
    key: str | None
    session_id: str | None
    task_id: str | None
    tags: str | None
    valid_from: int
    source_id: str | None = None
    holds_from: int | None = None
    holds_until: int | None = None
