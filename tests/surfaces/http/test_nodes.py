"""Two services on one database are one service: whichever node is asked, and whichever was asked before."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import mycel
from mycel.app import open_workspace
from mycel.client.workspace import RemoteWorkspace
from mycel.settings import Settings
from mycel.stores.postgres.schema import SCHEMA, steps
from mycel.surfaces.http.connections import LOOK_SECONDS
from mycel.surfaces.http.rate_limit import BURST_SECONDS
from tests.postgres import Server, another, as_url
from tests.service_process import Service, connected, eventually, service
from tests.serving import served
from tests.surfaces.mcp.test_endpoint import ACCEPT, LISTING, OPENING

TOGETHER = 12
# The schema of these nodes.
KNOWN = len(steps())


class Nodes:
    """The services, and their operator."""

    def __init__(self, database: Server, nodes: list[Service]) -> None:
        self.database = database
        self.urls = [node.url for node in nodes]
        self.operator: RemoteWorkspace = connected(nodes[0])

    def ask(self, node: int, path: str, secret: str, *, method: str = "GET", **given: Any) -> httpx2.Response:
        headers = {"authorization": f"Bearer {secret}", **given.pop("headers", {})}
        return httpx2.request(method, f"{self.urls[node]}{path}", headers=headers, timeout=30, **given)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    database = another()
    folder = tmp_path_factory.mktemp("nodes")
    with ExitStack() as stack:
        started = [
            stack.enter_context(service(folder / name, MYCEL_DATABASE_URL=as_url(database.service)))
            for name in ("one", "two")
        ]
        found = Nodes(database, started)
        with found.operator:
            found.operator.add_team("squad")
            for member in ("swe-1", "swe-2"):
                found.operator.add_member(member, team="squad")
            yield found


@pytest.fixture
def secret(nodes: Nodes) -> str:
    return nodes.operator.issue_token("swe-1")


def test_what_one_node_saves_the_other_finds_at_once(nodes: Nodes, secret: str) -> None:
    one, other = (mycel.connect(url, token=secret) for url in nodes.urls)
    with one, other:
        for number in range(5):
            assert not other.me().search(f"ibis{number}").hits
            saved = one.me().save(f"the ibis{number} stands in the reeds")
            assert [hit.memory.id for hit in other.me().search(f"ibis{number}").hits] == [saved.id]
            one.me().delete(saved.id)
            assert not other.me().search(f"ibis{number}").hits


def test_a_key_repeats_nothing_whichever_node_is_asked_again(nodes: Nodes, secret: str) -> None:
    def save(node: int) -> tuple[int, str]:
        answer = nodes.ask(
            *(node, "/api/memory", secret),
            method="POST",
            json={"content": "the heron is grey"},
            headers={"idempotency-key": "once-across-nodes"},
        )
        return answer.status_code, answer.json()["id"]

    with ThreadPoolExecutor(TOGETHER) as pool:
        answers = list(pool.map(save, [number % 2 for number in range(TOGETHER)]))
    assert len({id for _, id in answers}) == 1
    assert {status for status, _ in answers} <= {200, 201}


def test_a_link_signs_in_on_any_node_and_only_once(nodes: Nodes, secret: str) -> None:
    url = nodes.ask(0, "/api/sign-in-links", secret, method="POST", json={}).json()["url"]
    code = url.partition("code=")[2]

    def use(node: int) -> httpx2.Response:
        return httpx2.post(f"{nodes.urls[node]}/api/sign-in", json={"code": code}, timeout=30)

    with ThreadPoolExecutor(TOGETHER) as pool:
        answers = list(pool.map(use, [(number + 1) % 2 for number in range(TOGETHER)]))
    [used] = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in answers if answer is not used} <= {401, 429}
    cookie = {"cookie": used.headers["set-cookie"].partition(";")[0]}
    for url in nodes.urls:
        assert httpx2.get(f"{url}/api/me", headers=cookie).json()["member_id"] == "swe-1"


def test_a_token_that_one_node_revokes_is_refused_by_the_other_within_a_second(nodes: Nodes, secret: str) -> None:
    for node in (0, 1):
        assert nodes.ask(node, "/api/me", secret).status_code == 200
    assert nodes.ask(0, "/api/me", secret).status_code == 200
    nodes.operator.revoke_token(secret)
    ends_at = time.monotonic() + 1.0
    while nodes.ask(1, "/api/me", secret).status_code == 200:
        assert time.monotonic() < ends_at


def test_a_session_of_mcp_goes_on_on_another_node(nodes: Nodes, secret: str) -> None:
    accepted = {"accept": ACCEPT}
    begun = nodes.ask(0, "/mcp", secret, method="POST", json=OPENING, headers=accepted)
    session = {**accepted, "mcp-session-id": begun.headers["mcp-session-id"]}
    for node in (0, 1, 0, 1):
        answer = nodes.ask(node, "/mcp", secret, method="POST", json=LISTING, headers=session)
        assert answer.status_code == 200, answer.text
        assert "search_memory" in answer.text
    reading = {**session, "accept": "text/event-stream"}
    assert nodes.ask(1, "/mcp", secret, headers=reading).status_code == 405
    assert nodes.ask(1, "/mcp", "mycel_" + "x" * 43, method="POST", json=LISTING, headers=session).status_code == 401
    assert nodes.ask(1, "/mcp", secret, method="DELETE", headers=session).status_code == 204


def test_whoever_follows_one_node_is_told_what_the_other_stores(nodes: Nodes, secret: str) -> None:
    headers = {"authorization": f"Bearer {secret}", "accept": "text/event-stream"}
    with httpx2.stream("GET", f"{nodes.urls[1]}/api/memory/changes", headers=headers, timeout=30) as stream:
        assert stream.status_code == 200
        lines = stream.iter_lines()
        next(lines)
        saved = [
            nodes.ask(node, "/api/memory", secret, method="POST", json={"content": f"plover {node}"}).json()["id"]
            for node in (0, 1)
        ]
        told: list[str] = []
        for line in lines:
            if line.startswith("data:") and "memory_id" in line:
                told.append(json.loads(line.removeprefix("data:"))["memory_id"])
            if len(told) == len(saved):
                break
    assert told == saved


def test_each_piece_of_work_is_done_by_one_node(nodes: Nodes, secret: str) -> None:
    for number in range(6):
        answer = nodes.ask(
            *(number % 2, "/api/capture/conversation", secret),
            method="POST",
            json={"messages": f"user: we decided to use port {7000 + number} for service {number}"},
        )
        assert answer.status_code < 300, answer.text
    with psycopg.connect(nodes.database.admin, autocommit=True) as admin:
        waiting = f"SELECT count(*) FROM {SCHEMA}.ingestion_events WHERE state <> 'done'"
        ends_at = time.monotonic() + 20
        while admin.execute(waiting).fetchone() != (0,):
            assert time.monotonic() < ends_at
            time.sleep(0.1)
        events = admin.execute(f"SELECT tries, takeovers FROM {SCHEMA}.ingestion_events").fetchall()
        assert set(events) == {(0, 0)}
        texts = admin.execute(f"SELECT content, count(*) FROM {SCHEMA}.memories GROUP BY content HAVING count(*) > 1")
        assert texts.fetchall() == []


def test_maintenance_asked_for_on_both_nodes_runs_one_at_a_time(nodes: Nodes, secret: str) -> None:
    """Its event is one while it waits or runs; asked for again afterwards, it is done again."""
    nodes.ask(0, "/api/memory", secret, method="POST", json={"content": "a wren in the hedge"})
    operator = nodes.operator.issue_token("operator")

    def maintain(number: int) -> int:
        return nodes.ask(number % 2, "/api/maintenance/nightly", operator, method="POST").status_code

    with ThreadPoolExecutor(TOGETHER) as pool:
        # A node takes so much long work of one member at the same time, and refuses more.
        answered = Counter(pool.map(maintain, range(TOGETHER)))
    assert set(answered) <= {200, 429}
    assert answered[200] > 1
    with psycopg.connect(nodes.database.admin) as admin:
        asked = f"SELECT state, tries, takeovers FROM {SCHEMA}.ingestion_events WHERE steps = 'maintain'"
        assert set(admin.execute(asked).fetchall()) == {("done", 0, 0)}


def reachable(database: Server, *, allowed: bool) -> None:
    """As a server that went away, or came back, would look to those who use this database."""
    name = conninfo_to_dict(database.admin)["dbname"]
    with psycopg.connect(make_conninfo(database.admin, dbname="postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(str(name)), allowed))
        if not allowed:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))


def test_a_node_is_ready_while_it_reaches_its_database_and_lives_all_the_while(nodes: Nodes) -> None:
    def state() -> tuple[int, int]:
        return tuple(
            httpx2.get(f"{nodes.urls[0]}{path}", timeout=10).status_code for path in ("/health", "/health/ready")
        )

    assert state() == (200, 200)
    reachable(nodes.database, allowed=False)
    try:
        eventually(lambda: state() == (200, 503))
        told = httpx2.get(f"{nodes.urls[0]}/health/ready", timeout=10).json()
        assert (told["code"], told["detail"]) == ("unavailable", "the workspace cannot be read at the moment")
    finally:
        reachable(nodes.database, allowed=True)
    eventually(lambda: state() == (200, 200))


@pytest.fixture
def migrated(nodes: Nodes) -> Iterator[Callable[..., None]]:
    """As a node of another version would leave the tables; put right in the end."""
    with psycopg.connect(nodes.database.owner, autocommit=True) as owner:

        def migrate(*, by: int = 0, oldest_writer: int = 0) -> None:
            owner.execute(
                f"UPDATE {SCHEMA}.schema_version SET version = %s, oldest_writer = %s", (KNOWN + by, oldest_writer)
            )

        yield migrate
        migrate()
    eventually(lambda: readiness(nodes).status_code == 200)


def readiness(nodes: Nodes) -> httpx2.Response:
    return httpx2.get(f"{nodes.urls[1]}/health/ready", timeout=10)


@pytest.mark.parametrize("tables", [{"by": -1}, {"by": 2, "oldest_writer": KNOWN + 1}], ids=["older", "newer"])
def test_a_node_is_not_ready_for_tables_that_it_may_not_write_to(
    nodes: Nodes, migrated: Callable[..., None], tables: dict[str, int]
) -> None:
    migrated(**tables)
    eventually(lambda: readiness(nodes).status_code == 503)
    assert "another version" in readiness(nodes).json()["detail"]


def test_old_nodes_stay_ready_while_a_workspace_is_upgraded(nodes: Nodes, migrated: Callable[..., None]) -> None:
    """The tables are migrated first: a balancer that left all nodes out then would have none."""
    migrated(by=2, oldest_writer=KNOWN)
    asked_until = time.monotonic() + 2 * LOOK_SECONDS
    while time.monotonic() < asked_until:
        assert readiness(nodes).status_code == 200
        time.sleep(0.05)


def test_a_member_that_asks_much_on_both_nodes_is_held_to_one_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path))
    rate, seconds = 50.0, 3.0
    settings = Settings(data=tmp_path, database_url=as_url(another().service), requests_per_second=rate)
    with ExitStack() as stack:
        workspaces = [stack.enter_context(open_workspace(settings=settings)) for _ in range(2)]
        workspaces[0].add_member("swe-1", team="executive")
        secret = {"authorization": f"Bearer {workspaces[0].issue_token('swe-1')}"}
        urls = [stack.enter_context(served(workspace, settings=settings)) for workspace in workspaces]

        def hammer(url: str) -> int:
            ends_at, answered = time.monotonic() + seconds, 0
            with httpx2.Client(headers=secret) as client:
                while time.monotonic() < ends_at:
                    answered += client.get(f"{url}/api/me").status_code == 200
            return answered

        with ThreadPoolExecutor(2) as pool:
            answered = sum(pool.map(hammer, urls))
    by_itself = rate * (BURST_SECONDS + seconds)
    assert rate * seconds < answered < 1.6 * by_itself
