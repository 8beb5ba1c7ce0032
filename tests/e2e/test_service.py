"""The service as a real process: who owns a data directory, what it leaves in it, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

import mycel
from mycel.client.daemon import find_daemon
from mycel.errors import AccessDenied
from mycel.surfaces.cli.main import build
from mycel.wire.daemon_file import read_daemon_file, read_operator_token
from tests.reliability.inspection import team_file
from tests.service_process import Service, connected, environment, eventually, is_alive, service
from tests.template import copy_template

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
    pytest.mark.each_database(slow=True),
]

ROOT = Path(__file__).parents[2]
TALK = "\n".join(
    f"user: We decided to use port {8000 + place} for service number {place}, because {place} is free.\n"
    f"assistant: Noted, and from now on I will always run the tests of part {place} before I push."
    for place in range(300)
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="module")
def running(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """For tests that leave it as it is."""
    with service(tmp_path_factory.mktemp("running") / "data") as found:
        yield found


def serve_again(data: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--port", "0", *args]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)


def test_a_second_service_is_refused_and_told_where_the_first_one_is(running: Service) -> None:
    again = serve_again(running.data)
    assert (again.returncode, again.stdout) == (5, "")
    assert again.stderr == (
        f"mycel: a service of {running.data} runs already: {running.url}, process {running.process.pid}; "
        "use it, or stop it first\n"
    )
    error = json.loads(serve_again(running.data, "--json").stderr)["error"]
    assert error["code"] == "conflict"
    assert running.url in error["message"]
    # The refused one has taken nothing away.
    assert find_daemon(running.data) is not None


def test_clients_on_this_machine_find_it_until_it_stops(data: Path) -> None:
    with service(data) as running:
        found = find_daemon(data)
        assert found is not None
        assert (found.url, found.pid, found.version) == (running.url, running.process.pid, mycel.__version__)
        assert found.note is None
        assert httpx2.get(f"{running.url}/health").json() == {"status": "ok", "version": mycel.__version__}
        assert running.stop() == 0
    assert not (data / "daemon.json").exists()
    assert find_daemon(data) is None


def test_a_service_for_every_address_is_found_by_the_one_of_this_machine(data: Path) -> None:
    with service(data, "--host", "0.0.0.0") as running:
        assert running.url.startswith("http://127.0.0.1:")
        assert find_daemon(data) is not None


def test_what_a_killed_one_left_behind_does_no_harm(data: Path) -> None:
    with service(data) as first:
        first.kill()
        before = read_daemon_file(data)
        assert before is not None
        assert find_daemon(data) is None
    with service(data) as second:
        after = read_daemon_file(data)
        assert after is not None
        assert after.secret != before.secret
        assert after.pid == second.process.pid
        assert find_daemon(data) is not None


def test_its_files_are_for_their_owner_alone(running: Service) -> None:
    data = running.data
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir() if path.is_file()}
    assert {"service.lock", "daemon.json", "operator.token"} <= set(modes)
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_the_operators_token_works_stays_and_is_made_anew_when_it_does_not(data: Path) -> None:
    with service(data) as first:
        token = read_operator_token(data)
        assert token is not None
        assert first.stop() == 0
        told = first.log.read_text()
    with mycel.open(data) as workspace:
        assert workspace.with_token(token).member_id == "operator"
    (data / "operator.token").chmod(0o644)
    with service(data) as second:
        assert read_operator_token(data) == token
        assert stat.S_IMODE((data / "operator.token").stat().st_mode) == 0o600
        second.stop()
        told += second.log.read_text()
    with mycel.open(data) as workspace:
        workspace.revoke_token(token)
    with service(data) as third:
        renewed = read_operator_token(data)
        assert renewed is not None
        third.stop()
        told += third.log.read_text()
    with mycel.open(data) as workspace:
        assert workspace.with_token(renewed).member_id == "operator"
        with pytest.raises(AccessDenied):
            workspace.with_token(token)
    assert token not in told
    assert renewed not in told


def test_a_token_of_somebody_else_in_its_place_is_replaced(data: Path) -> None:
    with mycel.open(data) as workspace:
        workspace.add_member("swe-1", team="executive")
        foreign = workspace.issue_token("swe-1")
    data.mkdir(exist_ok=True)
    (data / "operator.token").write_text(foreign)
    with service(data):
        token = read_operator_token(data)
    assert token not in {None, foreign}


def make_work(data: Path) -> None:
    """Of which nothing is done yet, in two teams."""
    with mycel.open(data) as workspace:
        workspace.add_team("engineering")
        for team in ("executive", "engineering"):
            workspace.as_operator(team).capture_session(TALK, session_id="s-1")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_in_the_middle_of_work_leaves_whole_files_and_no_process(
    data: Path, database: str, number: signal.Signals
) -> None:
    copy_template(make_work, data)
    with service(data) as running:
        eventually(running.children)
        children = running.children()
        assert (data / "workspace.sqlite-wal").exists() == (database == "files")
        assert running.stop(number) == 0
        assert [event["event"] for event in running.events()] == ["listening", "stopping", "stopped"]
    assert not any(is_alive(child) for child in children)
    # The logs stay, for a start on a full disk, and hold nothing.
    assert [path.stat().st_size for path in data.rglob("*-wal")] == ([0, 0, 0] if database == "files" else [])
    assert not (data / "daemon.json").exists()
    # What was cut short is done by whoever comes next.
    with mycel.open(data) as workspace:
        workspace.run_pending()
        assert workspace.as_operator("engineering").inbox() or workspace.as_operator("engineering").recent()
        assert workspace.check() == {}


def test_a_kill_leaves_no_child_either(data: Path, database: str) -> None:
    copy_template(make_work, data)
    with service(data) as running:
        eventually(running.children)
        children = running.children()
        running.kill()
    eventually(lambda: not any(is_alive(child) for child in children))
    assert team_file(data, "executive").exists() == (database == "files")


def test_one_that_is_used_by_nobody_stops_by_itself(data: Path) -> None:
    with service(data, "--stop-when-idle", "2s") as running:
        for _ in range(3):
            time.sleep(0.8)
            used = time.monotonic()
            assert httpx2.get(f"{running.url}/health").status_code == 200
        assert running.wait() == 0
        assert time.monotonic() - used > 1.5
        assert running.events()[1]["message"] == "the service stops: nobody uses it"
    assert not (data / "daemon.json").exists()


@pytest.mark.parametrize("span", ["0s", "soon", "-1m"])
def test_a_span_that_is_none_is_refused(data: Path, span: str) -> None:
    line = ["--data", str(data), "serve", "--port", "0", f"--stop-when-idle={span}"]
    refused = CliRunner().invoke(build(line), line)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("mycel: stop-when-idle: must be a time span")


def test_the_log_is_one_object_per_line_at_the_level_that_is_set(data: Path) -> None:
    with service(data, MYCEL_LOG_LEVEL="debug") as running:
        httpx2.get(f"{running.url}/health", params={"q": "the-vault"}, headers={"X-Request-Id": "mine"})
        httpx2.get(f"{running.url}/the-vault")
        running.stop()
        requests = [event for event in running.events() if event["event"] == "request"]
    shown = [(event["method"], event["route"], event["status"], event["request_id"]) for event in requests]
    assert shown[0] == ("GET", "/health", 200, "mine")
    assert shown[1][:3] == ("GET", None, 404)
    assert "the-vault" not in running.log.read_text()
    with service(data, MYCEL_LOG_LEVEL="warning") as running:
        running.stop()
        assert running.log.read_text() == ""


def test_it_reads_no_files_for_others_unless_it_is_told_which(data: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("one\n")
    sizes: list[int | None] = []
    for variables in ({}, {"MYCEL_ARTIFACT_ROOTS": str(tmp_path / "work")}):
        with service(data, **variables) as running, connected(running) as workspace:
            sizes.append(workspace.as_operator().artifacts.register(path="a.py").size_bytes)
    assert sizes == [None, 4]


# An app of its own, whose requests take as long as a test wants them to.
PROGRAM = """
import asyncio, json, sys
from datetime import timedelta
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from mycel.surfaces.cli.serve import _listen, _url
from mycel.surfaces.http import serving
from mycel.surfaces.http.connections import ConnectionLimits
from mycel.surfaces.http.log import begin_logs
from mycel.settings import Settings

async def slow(request):
    print("begun", flush=True)
    await asyncio.sleep(float(request.query_params["seconds"]))
    return PlainTextResponse("done")

async def stream(request):
    async def parts():
        print("begun", flush=True)
        yield "first\\n"
        try:
            await asyncio.wait_for(app.state.stopping.wait(), float(request.query_params["seconds"]))
        except TimeoutError:
            pass
        yield "last\\n"
    return StreamingResponse(parts())

async def socket(websocket):
    await websocket.accept()
    await websocket.receive_text()

async def ended():
    pass

app = Starlette(routes=[Route("/slow", slow), Route("/stream", stream), WebSocketRoute("/ws", socket)])
app.state.stopping = asyncio.Event()
app.state.begin_to_stop = app.state.stopping.set
app.state.streams_ended = ended
begin_logs("info")
serving.GRACE_SECONDS = 2
idle = timedelta(seconds=float(sys.argv[1])) if sys.argv[1:] else None
with _listen("127.0.0.1", 0) as listener:
    url = _url("127.0.0.1", listener)
    ready = lambda: print(json.dumps({"url": url}), flush=True)
    limits = ConnectionLimits.of(Settings(data=Path()), handles=1000)
    serving.run_service(app, listener, ready=ready, settled=lambda: None, limits=limits, stop_when_idle=idle)
"""


def ask(running: Service, path: str, answers: list[Any]) -> threading.Thread:
    """Returns when it is under way."""

    def run() -> None:
        try:
            answers.append(httpx2.get(running.url + path, timeout=30).text)
        except httpx2.TransportError as error:
            answers.append(type(error).__name__)

    thread = threading.Thread(target=run)
    thread.start()
    assert running.process.stdout
    assert running.process.stdout.readline() == "begun\n"
    return thread


def test_requests_under_way_are_answered_and_streams_end_when_it_stops(data: Path) -> None:
    answers: list[Any] = []
    with service(data, command=(sys.executable, "-c", PROGRAM)) as running:
        threads = [ask(running, "/slow?seconds=1.2", answers), ask(running, "/stream?seconds=60", answers)]
        assert running.stop() == 0
        for thread in threads:
            thread.join()
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{running.url}/slow?seconds=0")
    assert sorted(answers) == ["done", "first\nlast\n"]


def test_what_takes_longer_than_the_grace_time_is_cut(data: Path) -> None:
    answers: list[Any] = []
    with service(data, command=(sys.executable, "-c", PROGRAM)) as running:
        thread = ask(running, "/slow?seconds=60", answers)
        began = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - began > 1.5
        thread.join()
    assert answers != ["done"]


def test_a_socket_does_not_keep_it_from_stopping(data: Path) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with service(data, command=(sys.executable, "-c", PROGRAM)) as running:
        with connect(running.url.replace("http", "ws") + "/ws") as websocket:
            running.process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed):
                websocket.recv(timeout=20)
        assert running.wait() == 0


def test_an_open_stream_is_a_use(data: Path) -> None:
    answers: list[Any] = []
    with service(data, "1.5", command=(sys.executable, "-c", PROGRAM)) as running:
        thread = ask(running, "/stream?seconds=2.5", answers)
        thread.join()
        assert answers == ["first\nlast\n"]
        began = time.monotonic()
        assert running.wait() == 0
        assert time.monotonic() - began > 0.3


def test_one_that_is_stopping_is_waited_for(data: Path) -> None:
    """As when a supervisor starts the next one while the last one still closes its files."""
    with service(data) as first:
        os.kill(first.process.pid, signal.SIGSTOP)
        starting = subprocess.Popen(
            [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--port", "0", "--json"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            time.sleep(1.5)
            assert starting.poll() is None
            os.kill(first.process.pid, signal.SIGCONT)
            assert first.stop() == 0
            assert starting.stdout
            line = starting.stdout.readline()
            assert line, starting.stderr and starting.stderr.read()
            assert json.loads(line)["url"] != first.url
        finally:
            starting.terminate()
            starting.communicate(timeout=30)
    assert starting.returncode == 0
