"""Long work keeps nobody waiting: it has threads of its own, bounds, turns by team, and ends with its caller."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from mycel.app import open_workspace
from mycel.contracts.long_work import STOPPING, LongWork, doing, report_progress, require_wanted
from mycel.domain.ids import MemberId, TeamName
from mycel.embedded.workspace import Visit, Workspace
from mycel.engine import executor
from mycel.engine.consolidation import Judged
from mycel.engine.executor import InlineExecutor, Pair
from mycel.engine.executor_process import FairLock, ProcessExecutor
from mycel.engine.judging.judgement import Statement
from mycel.errors import LimitExceeded, Unavailable
from mycel.services import backups
from mycel.services.find_pairs import PairFinder
from mycel.services.scheduler import Engine
from mycel.settings import Settings
from mycel.surfaces.http.calls import Answer, Call
from mycel.surfaces.http.long_requests import LongLimits, LongRequests
from mycel.surfaces.http.threads import READERS, WRITERS
from mycel.surfaces.http.turns import Turns
from mycel.surfaces.mcp.tools import TOOLS
from mycel.surfaces.web import runs
from mycel.surfaces.web.site import FORMS
from mycel.wire.operations import OPERATIONS, Operation
from tests.conformance.tenancy_calls import ALSO, PLAIN
from tests.service_process import eventually
from tests.serving import ADDRESS, AppTransport, LoopThread, app_in_loop, served

pytestmark = pytest.mark.each_database(slow=True)

PATIENCE = 30.0
BUSY, OTHER = "busy", "other"
NOBODY = "019a0000-0000-7000-8000-000000000000"
LONG = sorted({operation.name for operation in OPERATIONS if operation.takes_long})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path) as opened:
        for team in (BUSY, OTHER):
            opened.add_team(team)
            opened.add_member(f"{team}-admin", team=team, role="admin", kind="human")
        opened.as_member("other-admin").save("Deploys run on Mondays.")
        yield opened


class Service:
    """The app in a loop of its own, and how to ask it."""

    def __init__(self, app: Any, loop: LoopThread, workspace: Workspace) -> None:
        self.app = app
        self.loop = loop
        members = ("operator", f"{BUSY}-admin", f"{OTHER}-admin")
        self.tokens = {member: workspace.issue_token(member) for member in members}

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=AppTransport(self.app), base_url=ADDRESS, timeout=None)

    def ask(self, client: httpx2.AsyncClient, operation: Operation, member: str) -> asyncio.Task[httpx2.Response]:
        given = {name: PLAIN[name] for name in operation.required if name in PLAIN} | ALSO.get(operation.name, {})
        given = {name: value for name, value in given.items() if name not in operation.in_path}
        path = re.sub(r"\{(\w+)\}", NOBODY, operation.path)
        headers = {"authorization": f"Bearer {self.tokens[member]}"}
        if operation.in_query:
            asked = client.request(operation.method, path, headers=headers)
        else:
            asked = client.request(operation.method, path, headers=headers, json=given)
        return asyncio.ensure_future(asked)

    async def save_and_search(self, client: httpx2.AsyncClient) -> list[int]:
        headers = {"authorization": f"Bearer {self.tokens[f'{OTHER}-admin']}"}
        saved = await client.post("/api/memory", json={"content": f"Note {time.monotonic_ns()}."}, headers=headers)
        found = await client.post("/api/memory/search", json={"query": "deploys"}, headers=headers)
        alive = await client.get("/health")
        return [saved.status_code, found.status_code, alive.status_code]


@pytest.fixture
def service(workspace: Workspace) -> Iterator[Service]:
    settings = Settings(data=Path(), requests_per_second=1e6)
    with app_in_loop(workspace, settings=settings) as (app, loop):
        yield Service(app, loop, workspace)


class Held:
    """What the member of the busy team asks for goes on until it is let go, or nobody wants it any more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: list[str] = []
        self.ended: list[str] = []
        self.release = threading.Event()
        answer = Call.answer

        def hold(call: Call, visit: Visit) -> Answer:
            if visit.caller().member_id != f"{BUSY}-admin":
                return answer(call, visit)
            self.threads.append(threading.current_thread().name)
            try:
                while not self.release.wait(0.01):
                    require_wanted()
                return Answer(200, b"{}", ())
            finally:
                self.ended.append(call.operation.name)

        monkeypatch.setattr(Call, "answer", hold)


@pytest.mark.parametrize(
    "operation", OPERATIONS, ids=[f"{operation.method} {operation.path}" for operation in OPERATIONS]
)
def test_whatever_one_member_asks_for_others_save_and_search(
    service: Service, monkeypatch: pytest.MonkeyPatch, operation: Operation
) -> None:
    held, limits = Held(monkeypatch), LongLimits()
    # More than there are threads.
    count = 36 if operation.takes_long else (WRITERS if operation.writes else READERS) + 4

    async def crowd() -> list[int]:
        async with service.client() as client:
            asked = [service.ask(client, operation, f"{BUSY}-admin") for _ in range(count)]
            wanted = limits.at_once_of_a_team if operation.takes_long else 1
            while len(held.threads) < wanted:
                await asyncio.sleep(0.002)
            told = await asyncio.wait_for(service.save_and_search(client), PATIENCE)
            held.release.set()
            answers = [(await one).status_code for one in asked]
            assert told == [201, 200, 200]
            return answers

    answers = Counter(service.loop.run(crowd()))
    kinds = {name.rpartition("_")[0] or name for name in held.threads}
    if operation.takes_long:
        assert kinds == {"mycel-long"}
        assert answers == {200: limits.of_a_member, 429: count - limits.of_a_member}
    else:
        assert kinds == {"mycel-write" if operation.writes else "mycel-read"}
        assert answers == {200: count}


# What waits for another process, a model or the files of all teams; and by which module and name it is reached.
SLOW: Sequence[tuple[Any, str]] = (
    (PairFinder, "judge"),
    (Engine, "run_pending"),
    (Engine, "maintain"),
    (backups.Backups, "_create"),
    (backups, "check_backup"),
)


def test_no_operation_waits_in_a_thread_of_readers_or_writers(
    service: Service, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation is asked for once; where something slow is reached, it is in a thread of long work."""
    where: dict[str, set[str]] = {}
    for owner, name in SLOW:
        slow = getattr(owner, name)

        def noted(*given: Any, slow: Any = slow, name: str = name, **named: Any) -> Any:
            where.setdefault(name, set()).add(threading.current_thread().name.rpartition("_")[0] or "mycel-long")
            return slow(*given, **named)

        monkeypatch.setattr(owner, name, noted)
    workspace.create_backup(name=NOBODY)
    where.clear()

    async def ask_all() -> None:
        async with service.client() as client:
            for operation in OPERATIONS:
                if operation.name not in {"workspace.reset_store", "workspace.remove_member"}:
                    await asyncio.wait_for(service.ask(client, operation, "operator"), PATIENCE)

    service.loop.run(ask_all())
    assert where.keys() == {name for _, name in SLOW}
    assert set().union(*where.values()) == {"mycel-long"}


def test_tools_and_forms_take_as_long_as_the_operations_behind_them() -> None:
    by_name = {operation.name: operation for operation in OPERATIONS}
    for tool in TOOLS:
        if tool.does in by_name:
            assert tool.takes_long is by_name[tool.does].takes_long, tool.name
    assert {tool.name for tool in TOOLS if tool.takes_long} >= {"export", "import"}
    assert {form.address for form in FORMS if form.takes_long} == {f"{runs.HERE}/undo"}


@pytest.mark.parametrize("path", ["/api/consolidate", "/api/maintenance/nightly"])
def test_what_nobody_waits_for_any_more_ends(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    held, token = Held(monkeypatch), workspace.issue_token(f"{BUSY}-admin")
    with served(workspace) as url:
        address = urlsplit(url)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        connection.request("POST", path, body=b"{}", headers=headers)
        eventually(lambda: bool(held.threads))
        connection.close()
        eventually(lambda: bool(held.ended))


def test_a_service_that_stops_answers_long_work_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what hears nothing of it, such as a question to a model, as long as it has changed nothing."""
    begun, release = threading.Event(), threading.Event()

    def judge(*_: Any) -> list[Judged]:
        begun.set()
        release.wait(PATIENCE)
        return []

    monkeypatch.setattr(PairFinder, "judge", judge)
    operation = next(one for one in OPERATIONS if one.name == "consolidate")

    async def stop() -> list[httpx2.Response]:
        async with service.client() as client:
            # Two that have begun, one that waits for its turn.
            asked = [service.ask(client, operation, f"{BUSY}-admin") for _ in range(3)]
            await asyncio.to_thread(begun.wait, PATIENCE)
            service.app.state.begin_to_stop()
            return [await one for one in (*asked, service.ask(client, operation, f"{OTHER}-admin"))]

    answers = service.loop.run(asyncio.wait_for(stop(), PATIENCE))
    release.set()
    assert [(one.status_code, one.headers.get("retry-after"), one.json()["detail"]) for one in answers] == [
        (503, "5", STOPPING)
    ] * 4


def test_what_has_begun_to_change_something_is_told_by_its_own_end() -> None:
    """503 promises that nothing was stored."""
    work = LongWork("consolidate")
    assert not work.stop("the end")
    work = LongWork("consolidate")
    work.prepare()
    work.begin_to_change()
    assert not work.stop("the end")
    work = LongWork("consolidate")
    work.prepare()
    assert work.stop("the end")
    with pytest.raises(Unavailable):
        work.begin_to_change()


def test_too_much_long_work_is_refused_with_its_progress() -> None:
    limits = LongLimits(at_once=1, at_once_of_a_team=1, of_a_member=2, of_a_team=3, in_all=4)

    def work(team: str, member: str) -> LongWork:
        return LongWork("consolidate", team=TeamName(team), member=MemberId(member))

    async def crowd() -> None:
        requests, release, begun = LongRequests(limits), threading.Event(), threading.Event()

        def do() -> None:
            report_progress(61, 100)
            begun.set()
            release.wait(PATIENCE)

        asked = [asyncio.ensure_future(requests.run(work("a", "one"), do)) for _ in range(2)]
        await asyncio.to_thread(begun.wait, PATIENCE)
        with pytest.raises(LimitExceeded, match=r"you have .*consolidate \(61 % after 0 s\), consolidate \(queued\)"):
            await requests.run(work("a", "one"), do)
        asked.append(asyncio.ensure_future(requests.run(work("a", "two"), do)))
        await asyncio.sleep(0)
        with pytest.raises(LimitExceeded, match="your team has"):
            await requests.run(work("a", "three"), do)
        asked.append(asyncio.ensure_future(requests.run(work("b", "four"), do)))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await requests.run(work("c", "five"), do)
        release.set()
        await asyncio.gather(*asked)
        assert requests.under_way == 0

    asyncio.run(crowd())


def test_teams_take_turns() -> None:
    turns, begun = Turns(at_once=1, of_a_team=1), list[str]()

    def begin(team: str) -> Callable[[], bool]:
        def begins() -> bool:
            begun.append(team)
            return True

        return begins

    for team in ("a", "a", "a", "b", "c"):
        turns.wait(team, begin(team))
    turns.wait("b", lambda: False)
    for team in ("a", "b", "c", "a", "a"):
        assert begun[-1] == team
        turns.leave(team)
    assert turns.try_take(None)
    assert not turns.try_take("a")


def test_teams_share_the_judge() -> None:
    """A team that asks for much, and one that asks for little: the second waits for one turn, not for all."""
    lock, order, begun = FairLock(), list[str](), threading.Event()
    ready = threading.Barrier(6)

    def take(team: str) -> None:
        if team != "first":
            ready.wait(PATIENCE)
        with lock.held_for(team):
            if team == "first":
                begun.set()
                ready.wait(PATIENCE)
                time.sleep(0.3)
            order.append(team)

    first = threading.Thread(target=take, args=["first"])
    first.start()
    assert begun.wait(PATIENCE)
    threads = [threading.Thread(target=take, args=[team]) for team in ("much", "much", "much", "much", "little")]
    for thread in threads:
        thread.start()
    for thread in (first, *threads):
        thread.join(PATIENCE)
    assert order.index("little") <= 2


def test_who_waits_for_the_judge_can_leave() -> None:
    lock, work = FairLock(), LongWork("consolidate")
    with lock.held_for("other"):
        work.stop("its caller has gone")
        with doing(work), pytest.raises(Unavailable), lock.held_for("own"):
            pass
    with lock.held_for("own"):
        pass


def test_a_save_waits_for_no_turn_at_the_judge() -> None:
    """It compares with what stands near, by rules alone, also while the child judges for hours."""
    child, pair = ProcessExecutor(), Pair(Statement("The port is 8080."), Statement("The port is 9090."), 0.9)
    with child.turns.held_for("other"):
        assert child.judge([pair], quick=True) == InlineExecutor().judge([pair], quick=True)
    assert child.process_id is None


def test_pairs_judged_in_parts_are_judged_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    from mycel.providers.judge.shipped import builtin_judge

    texts = ["The port is 8080.", "It listens on port 8080.", "The port is 9090.", "Deploys run on Mondays."]
    pairs = [Pair(Statement(one), Statement(other), 0.9) for one in texts for other in texts if one != other]
    whole = InlineExecutor(builtin_judge).judge(pairs)
    monkeypatch.setattr(executor, "COMPARED_AT_ONCE", 1)
    monkeypatch.setattr(executor, "WEIGHED_AT_ONCE", 1)
    assert InlineExecutor(builtin_judge).judge(pairs) == whole
