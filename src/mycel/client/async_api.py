"""The methods of the API for programs with an event loop: the same, each awaited.

Their types stand in the stub beside, which `python -m scripts.async_stub` makes from the contracts.
"""

from __future__ import annotations

from typing import Any

from mycel.client.remote import Caller, Remote, RemoteMemory


class AsyncRemoteMemory(RemoteMemory):
    """See `contracts.memory_api.MemoryApi`; what is a property there is awaited too: `await memory.team`.

    `changes` is an async iterator.
    """

    def __init__(self, caller: Caller, **streams: Any) -> None:
        """`streams` are the methods that are not asked and answered: `changes`, `export` and `import_`."""
        super().__init__(caller)
        for name, method in streams.items():
            setattr(self, name, method)

    @property
    def member_id(self) -> Any:
        return self._mine("member_id")

    @property
    def team(self) -> Any:
        return self._mine("team")

    async def _mine(self, name: str) -> str:
        if self._who is None:
            self._who = await self._ask_who()
        return getattr(self._who, name)


class AsyncOperations(Remote):
    """See `contracts.workspace_api.WorkspaceApi`."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller, part="workspace")
