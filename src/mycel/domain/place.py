"""Projects and repos: the places a memory can apply to; saved views: questions a member keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Project:
    """Known by its name, made on first mention."""

    name: str
    description: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Repo:
    """Knows its folder and remote, so that a hook can tell where it is."""

    name: str
    project_id: str | None
    folder: str | None
    remote: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SavedView:
    """A named list or search that one member keeps."""

    name: str
    query: str | None
    filters: Mapping[str, Any]
    created_at: datetime
