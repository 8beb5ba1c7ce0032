"""Mycel: the shared memory of a team of AI agents and the people they work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.errors import (
    AccessDenied,
    AmbiguousId,
    Conflict,
    InvalidInput,
    InvalidState,
    LimitExceeded,
    MemoryDamaged,
    Misconfigured,
    MycelError,
    NotFound,
    ReferenceNotFound,
    StorageFull,
    StoreDamaged,
    TooLarge,
    Unauthenticated,
    Unavailable,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mycel.client.async_workspace import AsyncRemoteWorkspace
    from mycel.client.workspace import RemoteWorkspace
    from mycel.embedded.team_memory import TeamMemory
    from mycel.embedded.working_memory import WorkingMemory
    from mycel.embedded.workspace import Workspace

    __version__: str

__all__ = [
    "AccessDenied",
    "AmbiguousId",
    "Conflict",
    "InvalidInput",
    "InvalidState",
    "LimitExceeded",
    "MemoryDamaged",
    "Misconfigured",
    "MycelError",
    "NotFound",
    "ReferenceNotFound",
    "StorageFull",
    "StoreDamaged",
    "TeamMemory",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "WorkingMemory",
    "Workspace",
    "__version__",
    "connect",
    "connect_async",
    "open",
]


def open(data: str | Path | None = None, *, embedder: object = None) -> Workspace:
    """Opens the workspace of a data directory, or of a Postgres database by its address.

    Without either, MYCEL_DATABASE_URL or MYCEL_DATA says which. `embedder` takes the place of MYCEL_EMBEDDER: one of
    its values, or an object with `model`, `dimensions` and `embed_documents(texts)`.
    """
    from mycel.app import open_for_program

    return open_for_program(data, embedder)


def connect(url: str | None = None, *, token: str | None = None) -> RemoteWorkspace:
    """The workspace behind a service, as the member that the token was issued to.

    Without them, MYCEL_URL and MYCEL_TOKEN say which.
    """
    from mycel.client import workspace

    return workspace.connect(url, token=token)


def connect_async(url: str | None = None, *, token: str | None = None) -> AsyncRemoteWorkspace:
    """The same for programs with an event loop: every method is awaited."""
    from mycel.client.async_workspace import AsyncRemoteWorkspace
    from mycel.client.workspace import find_service

    reached = find_service(url, token)
    return AsyncRemoteWorkspace(reached.url, token=reached.token, service_secret=reached.secret)


def __getattr__(name: str) -> object:
    """Imported when first named: a command or a hook that needs only the errors starts faster."""
    if name == "__version__":
        from importlib.metadata import version

        return version("mycel-memory")
    if name == "TeamMemory":
        from mycel.embedded.team_memory import TeamMemory

        return TeamMemory
    if name == "WorkingMemory":
        from mycel.embedded.working_memory import WorkingMemory

        return WorkingMemory
    if name == "Workspace":
        from mycel.embedded.workspace import Workspace

        return Workspace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
