"""A workspace behind a service for programs with an event loop: the same methods, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mycel.client.archives import Archives
from mycel.client.async_api import AsyncOperations, AsyncRemoteMemory
from mycel.client.changes import AsyncChanges
from mycel.client.exchanges import exchange
from mycel.client.senders import AsyncSender, Sender
from mycel.client.workspace import IN_TEAM, acting_as, planned
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.team import EXECUTIVE, PlannedTeam
from mycel.wire.http1 import OWN_NAMING
from mycel.wire.operations import Operation


class AsyncRemoteWorkspace(AsyncOperations):
    """See `contracts.workspace_api.WorkspaceApi`; every method is awaited."""

    def __init__(
        self, url: str, *, token: str, service_secret: str | None = None, sender: AsyncSender | None = None
    ) -> None:
        """`service_secret` is that of a service of this machine, which must prove that it knows it."""
        self._sender = sender or AsyncSender(url, secret=service_secret)
        self._pooled = partial(Sender, url, secret=service_secret)
        self._headers = {"authorization": f"Bearer {token}", **OWN_NAMING}
        super().__init__(self._call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def me(self) -> AsyncRemoteMemory:
        """The memory of whoever the token was issued to."""
        return self._memory({})

    def as_member(self, id: str, *, may_be_new: bool = False) -> AsyncRemoteMemory:
        """Return the memory of a member's team, as that member; see `RemoteWorkspace.as_member`."""
        return self._memory(acting_as(id, may_be_new=may_be_new))

    def as_operator(self, team: str = EXECUTIVE) -> AsyncRemoteMemory:
        return self._memory({IN_TEAM: team})

    async def issue_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> str:
        """The secret; it is shown this once and only its hash is kept."""
        return (await self.new_token(member_id, label=label, ttl=ttl)).secret

    async def load_org(self, path: str | Path) -> tuple[PlannedTeam, ...]:
        """Makes the teams and members of `org/teams/*.md` on this machine true in the workspace."""
        return await self.arrange(await asyncio.to_thread(planned, path))

    async def export(self, file: str | Path, *, team: str = EXECUTIVE) -> ExportReport:
        """All of a team into one archive on this machine, private memories included."""
        return await self._files({IN_TEAM: team}).export(file, whole=True)

    async def import_(self, file: str | Path, *, team: str = EXECUTIVE, dry_run: bool = False) -> MoveReport:
        """Takes in the archive of a whole team, with ids, times and authors; what is newer or purged there stays so."""
        return await self._files({IN_TEAM: team}).import_(file, whole=True, dry_run=dry_run)

    async def close(self) -> None:
        await self._sender.close()

    def _memory(self, headers: Mapping[str, str]) -> AsyncRemoteMemory:
        self._sender.require_open()
        sent = {**self._headers, **headers}

        def call(operation: Operation, arguments: Mapping[str, Any]) -> Any:
            return self._sender.send(exchange(operation, arguments, sent))

        files = self._files(headers)
        changes = AsyncChanges(self._sender, sent)
        return AsyncRemoteMemory(call, changes=changes, export=files.export, import_=files.import_)

    def _files(self, headers: Mapping[str, str]) -> _Files:
        return _Files(self._pooled, {**self._headers, **headers}, require_open=self._sender.require_open)

    def _call(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        return self._sender.send(exchange(operation, arguments, self._headers))


class _Files:
    """Archives go from and to the disk, which an event loop must not wait for: in a thread, with its own sender."""

    def __init__(
        self, make: Callable[[], Sender], headers: Mapping[str, str], *, require_open: Callable[[], None]
    ) -> None:
        self._make = make
        self._headers = headers
        self._require_open = require_open

    async def export(self, file: str | Path, *, whole: bool = False) -> ExportReport:
        def work() -> ExportReport:
            with self._archives() as archives:
                return archives.export(file, whole=whole)

        return await asyncio.to_thread(work)

    async def import_(self, file: str | Path, *, whole: bool = False, dry_run: bool = False) -> MoveReport:
        def work() -> MoveReport:
            with self._archives() as archives:
                return archives.import_(file, whole=whole, dry_run=dry_run)

        return await asyncio.to_thread(work)

    @contextmanager
    def _archives(self) -> Generator[Archives]:
        self._require_open()
        sender = self._make()
        try:
            yield Archives(sender, self._headers)
        finally:
            sender.close()
