"""After the end every object of a workspace says that it is closed, at once, on local files and through the service."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.client.async_workspace import AsyncRemoteWorkspace
from mycel.client.workspace import RemoteWorkspace
from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.workspace_api import WorkspaceApi
from mycel.domain.ids import TeamName, new_id
from mycel.embedded.workspace import Workspace
from mycel.errors import CLOSED, MycelError, Unavailable
from mycel.services import callers
from mycel.stores.sqlite.database import Disk
from tests.serving import served
from tests.squad import TEAM, open_squad, wide_embedder
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


AT_ONCE_SECONDS = 1.0
# Longer than what a caller is known for without another look.
SECRET = "s" * 64
A_MOMENT = 2 * callers.FRESH_SECONDS
# Those that end it or begin another, and those for whoever watches, which tell what is remembered and read no file.
EXEMPT = {"close", "at", "here", "lasting", "find_damages", "store_is_damaged"}


def argument(parameter: inspect.Parameter, folder: Path) -> Any:
    """Something that is right in form: a method should not get as far as finding that it is wrong."""
    file = folder / "archive.jsonl"
    file.touch()
    (folder / "builders.md").write_text("---\nname: builders\nmembers: []\n---\n")
    special: dict[str, Any] = {
        "file": file,
        "folder": folder / "backup",
        "path": folder if "Path" in str(parameter.annotation) else "/",
        "relation": "supports",
        "about": "swe-1",
        "outcome": "completed",
        "useful": True,
        "teams": [],
        "items": [{"content": "a note"}],
        "ids": [new_id()],
        "messages": [{"role": "user", "content": "hello"}],
        "id": "swe-1" if "member" in str(parameter.annotation) else new_id(),
    }
    if parameter.name in special:
        return special[parameter.name]
    return new_id() if parameter.name.endswith("_id") else "a-name"


def called(method: Callable[..., Any], signed: Callable[..., Any], folder: Path) -> Any:
    given = {
        parameter.name: argument(parameter, folder)
        for parameter in inspect.signature(signed).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    }
    return method(**given)


def methods_of(owner: object) -> list[tuple[str, Any]]:
    names = [name for name in dir(owner) if not name.startswith("_") and name not in EXEMPT]
    found = [(name, inspect.getattr_static(owner, name)) for name in names]
    return [(name, getattr(owner, name)) for name, value in found if not isinstance(value, property)]


def every_method(owner: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Its own and those of its parts."""
    for name, value in methods_of(owner):
        if inspect.isroutine(value) or inspect.isfunction(value):
            yield name, value
        else:
            if callable(value):
                yield name, value
            yield from ((f"{name}.{inner}", method) for inner, method in methods_of(value) if callable(method))


def says_so(call: Callable[[], Any]) -> str | None:
    """What is wrong with the way it says that it is closed."""
    started = time.monotonic()
    try:
        answer = call()
        if inspect.iscoroutine(answer):
            asyncio.run(answer)
        elif isinstance(answer, Iterator):
            next(answer)
    except Unavailable as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 - told by the test
        return f"raised {type(error).__name__}: {error}"
    else:
        return f"answered {answer!r}"
    seconds = time.monotonic() - started
    if said != CLOSED:
        return f"said {said}"
    return None if seconds < AT_ONCE_SECONDS else f"took {seconds:.1f} s"


def wrong(owners: dict[str, object], folder: Path, *, signed: dict[str, object] | None = None) -> dict[str, str]:
    """By method. The client makes its methods from a table; what they take is told by those of local files."""
    found: dict[str, str] = {}
    seen = 0
    for owner_name, owner in owners.items():
        signatures = dict(every_method((signed or owners)[owner_name]))
        for name, method in every_method(owner):
            seen += 1
            signature = signatures.get(name, method)
            problem = says_so(lambda method=method, signature=signature: called(method, signature, folder))
            if problem is not None:
                found[f"{owner_name}.{name}"] = problem
    assert seen > len(names_of(WorkspaceApi)) + len(names_of(MemoryApi))
    return found


def names_of(protocol: type) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]


@pytest.mark.parametrize("after", [0.0, A_MOMENT], ids=["at once", "a moment later"])
def test_everything_embedded_says_that_it_is_closed(tmp_path: Path, after: float) -> None:
    squad = open_squad(tmp_path / "data", embedder=wide_embedder())
    token = squad.workspace.issue_token("swe-1")
    memory, visit = squad.admin, squad.workspace.sign_in(token)
    memory.save("a note")
    memory.search("note")
    squad.workspace.close()
    time.sleep(after)
    owners: dict[str, object] = {
        "workspace": squad.workspace,
        "memory": memory,
        "visit.memory": visit.memory,
        "visit.workspace": visit.workspace,
    }
    found = wrong(owners, tmp_path)
    assert found == {}
    assert says_so(lambda: visit.follow(wake=lambda: None)) is None
    for name in ("member_id", "team"):
        assert says_so(lambda name=name: getattr(memory, name)) is None


@pytest.mark.parametrize("way", ["at", "here"])
def test_everything_through_the_service_says_that_it_is_closed(tmp_path: Path, way: str) -> None:
    workspace = open_workspace(settings=settings_of(tmp_path / "data"))
    with workspace, served(workspace, secret=SECRET) as address:
        token = workspace.issue_token("operator")
        remote: RemoteWorkspace = getattr(RemoteWorkspace, way)(address, token=token, service_secret=SECRET)
        memory = remote.me()
        memory.save("a note")
        remote.close()
        local = {"workspace": workspace, "memory": workspace.as_operator()}
        found = wrong({"workspace": remote, "memory": memory}, tmp_path, signed=local)
    assert found == {}


def test_everything_awaited_says_that_it_is_closed(tmp_path: Path) -> None:
    workspace = open_workspace(settings=settings_of(tmp_path / "data"))
    with workspace, served(workspace) as address:
        remote = AsyncRemoteWorkspace(address, token=workspace.issue_token("operator"))
        memory = remote.me()

        async def use() -> None:
            await memory.save("a note")
            await remote.close()

        asyncio.run(use())
        local = {"workspace": workspace, "memory": workspace.as_operator()}
        found = wrong({"workspace": remote, "memory": memory}, tmp_path, signed=local)
    assert {name: said for name, said in found.items() if not name.endswith(".changes")} == {}

    async def follow() -> None:
        await memory.changes(follow=True)

    assert says_so(lambda: follow()) is None


def ends_with(call: Callable[[], Any], close: Callable[[], object]) -> str | None:
    """What is wrong with how a call ends that waits while somebody else closes."""
    said: list[str | None] = []
    thread = threading.Thread(target=lambda: said.append(_text_of(call)), daemon=True)
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive(), said
    started = time.monotonic()
    close()
    thread.join(AT_ONCE_SECONDS)
    assert not thread.is_alive(), "it still waits"
    assert time.monotonic() - started < 2 * AT_ONCE_SECONDS
    return said[0]


def _text_of(call: Callable[[], Any]) -> str | None:
    try:
        call()
    except MycelError as error:
        return str(error)
    return None


def test_whoever_follows_local_files_learns_of_the_end(tmp_path: Path) -> None:
    squad = open_squad(tmp_path / "data")
    changes = squad.author.changes(follow=True)
    squad.author.save("a note")
    next(changes)
    assert ends_with(lambda: next(changes), squad.workspace.close) == CLOSED


@pytest.mark.parametrize("way", ["at", "here"])
def test_whoever_follows_the_service_learns_of_the_end(tmp_path: Path, way: str) -> None:
    workspace = open_workspace(settings=settings_of(tmp_path / "data"))
    with workspace, served(workspace, secret=SECRET) as address:
        token = workspace.issue_token("operator")
        remote: RemoteWorkspace = getattr(RemoteWorkspace, way)(address, token=token, service_secret=SECRET)
        changes = remote.me().changes(follow=True)
        remote.me().save("a note")
        next(changes)
        assert ends_with(lambda: next(changes), remote.close) == CLOSED


@pytest.mark.files_only
def test_a_reader_that_waits_for_its_turn_learns_of_the_end(tmp_path: Path) -> None:
    squad = open_squad(tmp_path / "data")
    squad.author.save("a note")
    stores = squad.workspace._do.upkeep._stores
    held, let_go = threading.Barrier(4), threading.Event()

    def hold(connection: object) -> None:
        held.wait(10)
        let_go.wait(10)

    with stores.lease(TeamName(TEAM)) as store:
        readers = [threading.Thread(target=lambda: _text_of(lambda: store._database.read(hold))) for _ in range(3)]
        for reader in readers:
            reader.start()
        held.wait(10)
        try:
            assert ends_with(store.log.last_sequence, squad.workspace.close) == CLOSED
        finally:
            let_go.set()
            for reader in readers:
                reader.join()


def test_no_connection_is_opened_after_the_end(tmp_path: Path) -> None:
    squad = open_squad(tmp_path / "data")
    squad.author.save("a note")
    stores = squad.workspace._do.upkeep._stores
    with stores.lease(TeamName(TEAM)) as store:
        squad.workspace.close()
        assert _text_of(store.log.last_sequence) == CLOSED
        assert _text_of(lambda: store.transact(lambda transaction: transaction.now)) == CLOSED


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    workspace: Workspace = open_workspace(tmp_path, disk=Disk(synchronous="OFF"))
    workspace.close()
    workspace.close()
