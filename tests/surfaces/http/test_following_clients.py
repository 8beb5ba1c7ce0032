"""Clients that follow a service: whatever happens to their connections, nothing is missed and nothing told twice."""

from __future__ import annotations

import asyncio
import random
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import mycel
from mycel.client.async_workspace import AsyncRemoteWorkspace
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidInput, LimitExceeded, NotFound, Unauthenticated, Unavailable
from mycel.surfaces.http.feeds import StreamLimits
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)


PATIENCE = 20.0
LOOKS_AT_SOCKETS = pytest.mark.skipif(sys.platform != "linux", reason="looks at connections as Linux shows them")


@pytest.fixture
def author(workspace: Workspace) -> TeamMemory:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    return workspace.as_member("swe-1")


@pytest.fixture
def token(workspace: Workspace, author: TeamMemory) -> str:
    return workspace.issue_token("swe-1")


class Cutter:
    """Stands before a service and cuts connections off after some bytes, in the middle of whatever that is."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._chance = random.Random(7)
        self.cuts = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        left = self._chance.randint(1, 4000)
        with client, socket.create_connection(("127.0.0.1", self._port)) as service:
            service.sendall(client.recv(65536))
            while left > 0 and (part := service.recv(left)):
                client.sendall(part)
                left -= len(part)
            self.cuts += left == 0


@contextmanager
def cut_off(workspace: Workspace) -> Iterator[Cutter]:
    with served(workspace) as url, closing(Cutter(url)) as cutter:
        yield cutter


@contextmanager
def writing(author: TeamMemory, count: int) -> Iterator[None]:
    def write() -> None:
        for place in range(count):
            author.save(f"note {place}")
            time.sleep(0.002)

    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join()


def test_a_client_that_is_cut_off_again_and_again_misses_nothing(
    workspace: Workspace, author: TeamMemory, token: str
) -> None:
    with cut_off(workspace) as cutter, mycel.connect(cutter.url, token=token) as remote:
        following = remote.me().changes(after=0, follow=True)
        with writing(author, 150):
            assert [change.sequence for change in islice(following, 150)] == list(range(1, 151))
        assert cutter.cuts > 5


def test_an_async_client_that_is_cut_off_again_and_again_misses_nothing(
    workspace: Workspace, author: TeamMemory, token: str
) -> None:
    async def follow(url: str) -> list[int]:
        found: list[int] = []
        async with AsyncRemoteWorkspace(url, token=token) as remote:
            async for change in remote.me().changes(after=0, follow=True):
                found.append(change.sequence)
                if len(found) == 150:
                    return found
        raise AssertionError

    with cut_off(workspace) as cutter, writing(author, 150):
        assert asyncio.run(follow(cutter.url)) == list(range(1, 151))
        assert cutter.cuts > 5


def streams_of(url: str) -> int:
    """How many connections are open there, as seen from this machine."""
    port = int(url.rpartition(":")[2])
    return sum(line.split()[2].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines_of_tcp())


def lines_of_tcp() -> list[str]:
    return Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]


def eventually_closed(url: str) -> bool:
    deadline = time.monotonic() + PATIENCE
    while streams_of(url):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@LOOKS_AT_SOCKETS
def test_closing_the_iterator_closes_its_connection(workspace: Workspace, author: TeamMemory, token: str) -> None:
    def close(following: Any) -> None:
        following.close()

    def forget(_following: Any) -> None:
        """Whoever has lost it need not close it."""

    with served(workspace) as url, mycel.connect(url, token=token) as remote:
        for end in (close, forget):
            for read in (0, 1):
                following: Any = remote.me().changes(after=0, follow=True)
                author.save("a")
                assert len(list(islice(following, read))) == read
                assert streams_of(url) == 1
                end(following)
                del following
                assert eventually_closed(url)


@LOOKS_AT_SOCKETS
def test_closing_the_async_iterator_closes_its_connection(workspace: Workspace, author: TeamMemory, token: str) -> None:
    async def follow(url: str) -> None:
        async with AsyncRemoteWorkspace(url, token=token) as remote:
            memory = remote.me()
            assert (await memory.member_id, await memory.team) == ("swe-1", "squad")
            following = await memory.changes(after=None, follow=True)
            saved = await memory.save("a")
            assert (await anext(following)).memory_id == saved.id
            await following.aclose()
            async with memory.changes(after=None, follow=True) as again:
                saved = await memory.save("b")
                assert (await anext(again)).memory_id == saved.id
            # It was not begun, and so has nothing to close.
            await memory.changes(follow=True).aclose()
            with pytest.raises(StopAsyncIteration):
                await anext(following)
            assert [change.sequence async for change in memory.changes()] == [1, 2]

    with served(workspace) as url:
        asyncio.run(follow(url))
        assert eventually_closed(url)


def test_a_revoked_token_and_what_is_refused_are_errors_of_ours(
    workspace: Workspace, author: TeamMemory, token: str
) -> None:
    with (
        served(workspace, stream_limits=StreamLimits(per_member=1)) as url,
        mycel.connect(url, token=token) as remote,
    ):
        memory = remote.me()
        for wrong, error in (({"path": "notes"}, InvalidInput), ({"team": "executive"}, NotFound)):
            with pytest.raises(error):
                memory.changes(follow=True, **wrong)  # pyright: ignore[reportArgumentType]
        following = memory.changes(after=None, follow=True)
        with pytest.raises(LimitExceeded):
            memory.changes(follow=True)
        threading.Timer(0.2, workspace.revoke_token, [token]).start()
        with pytest.raises(Unauthenticated):
            next(following)
        with pytest.raises(Unauthenticated):
            memory.changes(follow=True)


def test_a_service_that_is_not_there_is_told_soon(token: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with mycel.connect(url, token=token) as remote:
        began = time.monotonic()
        with pytest.raises(Unavailable):
            remote.me().changes(follow=True)
        assert time.monotonic() - began < PATIENCE


def test_many_can_be_followed_by_one_client(workspace: Workspace, author: TeamMemory, token: str) -> None:
    """More than a pool of connections has by default; other requests go on beside."""
    limits = StreamLimits(per_member=150)
    with served(workspace, stream_limits=limits) as url, mycel.connect(url, token=token) as remote:
        memory = remote.me()
        following = [memory.changes(after=None, follow=True) for _ in range(120)]
        saved = memory.save("for all")
        assert {next(one).memory_id for one in following} == {saved.id}
