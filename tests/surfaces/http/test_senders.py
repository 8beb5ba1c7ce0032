"""The ways of a client to its service: the one with a pool, and the one of commands, which has nothing to load."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

import mycel
from mycel.app import open_workspace
from mycel.client import local_sender, senders
from mycel.client.local_sender import LocalSender
from mycel.client.senders import Sender
from mycel.client.workspace import RemoteWorkspace
from mycel.embedded.workspace import Visit, Workspace
from mycel.errors import InvalidInput, NotFound, Unauthenticated, Unavailable
from mycel.surfaces.http.calls import Answer, Call
from tests.service_process import connected, environment, service
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)


SECRET = "of the service"
UNKNOWN = "019a0000-0000-7000-8000-000000000000"
Connect = Callable[[str, str], RemoteWorkspace]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "data") as opened:
        yield opened


@pytest.fixture(params=["pooled", "of commands"])
def connect(request: pytest.FixtureRequest) -> Connect:
    made = RemoteWorkspace.at if request.param == "pooled" else RemoteWorkspace.here
    return lambda url, token: made(url, token=token, service_secret=SECRET)


def test_answers_errors_and_pages_come_the_same_either_way(workspace: Workspace, connect: Connect) -> None:
    token = workspace.issue_token("operator")
    with (
        served(workspace, secret=SECRET) as url,
        connect(url, token) as client,
        connect(url, "mycel_wrong") as stranger,
    ):
        memory = client.me()
        saved = [memory.save(f"Number {number}: größer & „neu“?", tags=["a b"]) for number in range(3)]
        assert memory.get(saved[0].id) == workspace.as_operator().get(saved[0].id)
        page = memory.list(limit=2, tags=["a b"])
        rest = memory.list(limit=2, tags=["a b"], cursor=page.next_cursor)
        assert {one.id for one in [*page, *rest]} == {one.id for one in saved}
        memory.delete(saved[0].id)
        with pytest.raises(NotFound):
            memory.get(UNKNOWN)
        with pytest.raises(InvalidInput, match="confidence"):
            memory.save("x", confidence=7)
        with pytest.raises(Unauthenticated):
            stranger.me().recent()


@pytest.mark.parametrize(
    ("use", "field"),
    [
        (lambda memory: memory.list(type="a\udcff"), "type"),
        (lambda memory: memory.search("a\udcff"), "query"),
        (lambda memory: memory.get("a\udcff"), "id"),
    ],
    ids=["in a query", "in a body", "in a path"],
)
def test_text_that_is_no_unicode_is_an_error_of_its_field(
    workspace: Workspace, connect: Connect, use: Callable[..., object], field: str
) -> None:
    """As the arguments of a command are that hold other bytes than UTF-8."""
    with served(workspace, secret=SECRET) as url, connect(url, workspace.issue_token("operator")) as client:
        with pytest.raises(InvalidInput) as caught:
            use(client.me())
        assert caught.value.field == field


def test_threads_may_share_one(workspace: Workspace, connect: Connect) -> None:
    with (
        served(workspace, secret=SECRET) as url,
        connect(url, workspace.issue_token("operator")) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        saved = list(pool.map(lambda number: client.me().save(f"Number {number}").content, range(40)))
    assert saved == [f"Number {number}" for number in range(40)]


def test_archives_go_either_way(workspace: Workspace, connect: Connect, tmp_path: Path) -> None:
    workspace.as_operator().save("Kept.")
    with served(workspace, secret=SECRET) as url, connect(url, workspace.issue_token("operator")) as client:
        assert client.export(tmp_path / "all.jsonl.gz").counts == {"memory": 1}
        assert client.import_(tmp_path / "all.jsonl.gz", dry_run=True).counts


def test_a_service_that_is_gone_is_told_as_that(workspace: Workspace, connect: Connect) -> None:
    with served(workspace, secret=SECRET) as url:
        pass
    with connect(url, "mycel_any") as client, pytest.raises(Unavailable, match="cannot be reached"):
        client.me().recent()


def test_no_proxy_stands_before_a_service_of_this_machine(
    workspace: Workspace, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    token = workspace.issue_token("operator")

    async def ask(url: str) -> str:
        async with mycel.connect_async(url, token=token) as client:
            return (await client.who_am_i()).member_id

    with served(workspace, secret=SECRET) as url, connect(url, token) as client:
        assert client.me().member_id == "operator"
        assert asyncio.run(ask(url)) == "operator"


def test_what_a_command_has_no_need_of_is_not_loaded(tmp_path: Path) -> None:
    """Each of them costs a command more time than its own work."""
    script = """
import sys
from mycel.surfaces.cli.main import build
try:
    build(sys.argv[1:])(sys.argv[1:])
except SystemExit as end:
    assert not end.code
heavy = {"apsw", "asyncio", "httpx2", "numpy", "pydantic", "pydantic_core", "rich", "starlette"}
print(sorted(heavy & set(sys.modules)))
"""
    with service(tmp_path / "data") as running, connected(running) as client:
        id = client.as_operator().save("Deploys go out on Tuesdays.").id
        for line in (
            ["recent"],
            ["search", "deploys", "--type", "fact", "--json"],
            ["save", "x", "--tag", "a", "--tag", "b"],
            ["get", id],
        ):
            done = subprocess.run(
                [sys.executable, "-c", script, *line],
                env=environment(MYCEL_DATA=str(tmp_path / "data")),
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            assert done.stdout.splitlines()[-1] == "[]", line


def test_both_have_the_same_methods() -> None:
    sender = LocalSender("http://127.0.0.1:1", secret=SECRET)
    for name in (name for name in vars(Sender) if not name.startswith("_")):
        assert callable(getattr(sender, name))
    sender.close()


def test_long_work_is_waited_for(workspace: Workspace, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives up ends it, and a second try would begin from the start."""
    monkeypatch.setattr(senders, "TIMEOUT", httpx2.Timeout(0.3))
    monkeypatch.setattr(local_sender, "ANSWER_SECONDS", 0.3)
    answer = Call.answer

    def slow(call: Call, visit: Visit) -> Answer:
        if call.operation.takes_long:
            time.sleep(1.0)
        return answer(call, visit)

    monkeypatch.setattr(Call, "answer", slow)
    token = workspace.issue_token("operator")
    with served(workspace, secret=SECRET) as url, connect(url, token) as remote:
        assert remote.as_member("operator").consolidate(dry_run=True).dry_run
        assert remote.check() == {}


def test_a_name_that_nobody_has_is_refused_by_the_first_call(workspace: Workspace, connect: Connect) -> None:
    workspace.add_member("swe-1", team="executive")
    token = workspace.issue_token("operator")
    with served(workspace, secret=SECRET) as url, connect(url, token) as remote:
        # What a hook of a new agent may do is no permission for a slip of the pen.
        assert remote.as_member("swe1", may_be_new=True).who_am_i().team == "executive"
        with pytest.raises(InvalidInput, match="there is no member swe1; did you mean swe-1"):
            remote.as_member("swe1").list()
        assert remote.as_member("swe-1").list() is not None
