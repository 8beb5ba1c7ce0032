"""The async client keeps every promise of a team's memory, through the service."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from mycel.client.async_workspace import AsyncRemoteWorkspace
from mycel.client.changes import AsyncChangeIterator
from mycel.client.remote import Remote
from mycel.domain.change import Change
from mycel.embedded.workspace import Workspace
from tests.conformance.memory_api_cast import Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance
from tests.serving import ADDRESS, LoopThread, in_process_async

pytestmark = pytest.mark.each_database(slow=True)


class Waiting:
    """Has everything done in the loop and waits for it, so that the suite can call it like any other."""

    def __init__(self, awaited: Any, loop: LoopThread) -> None:
        self._awaited = awaited
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._waited_for(getattr(self._awaited, name))

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._waited_for(self._awaited(*given, **named))

    def _waited_for(self, found: Any) -> Any:
        if isinstance(found, AsyncChangeIterator):
            return self._iterate(self._loop.run(_begun(found)))
        if inspect.isawaitable(found):
            return self._loop.run(_result(found))
        return Waiting(found, self._loop) if isinstance(found, Remote) or callable(found) else found

    def _iterate(self, told: AsyncChangeIterator) -> Iterator[Change]:
        try:
            while (change := self._loop.run(_next(told))) is not None:
                yield change
        finally:
            self._loop.run(told.aclose())


async def _result(awaitable: Any) -> Any:
    return await awaitable


async def _begun(told: AsyncChangeIterator) -> AsyncChangeIterator:
    return await told


async def _next(told: AsyncChangeIterator) -> Change | None:
    return await anext(told, None)


class TestAsyncMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, workspace: Workspace, tokens: dict[str, str]) -> Iterator[Cast]:
        with in_process_async(workspace) as (sender, loop):
            clients = {
                name: AsyncRemoteWorkspace(ADDRESS, token=token, sender=sender) for name, token in tokens.items()
            }
            members: Any = {name: Waiting(client.me(), loop) for name, client in clients.items()}
            yield Cast(**members)
