"""A service that clients start when they need it: exactly one, whoever asks, with their settings and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import httpx2
import pytest

import mycel
from mycel.client import daemon
from mycel.client.daemon import ensure_daemon, find_daemon
from mycel.errors import Misconfigured, Unavailable
from tests.service_process import end, environment, eventually, is_alive, service, started_on_demand

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
    pytest.mark.each_database(slow=True),
]

CLIENTS = 20
CLIENT = """
import json, sys
from pathlib import Path
from mycel.client.daemon import ensure_daemon
found = ensure_daemon(Path(sys.argv[1]))
print(json.dumps([found.url, found.pid, found.token]))
"""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data directory whose service ends with the test."""
    with started_on_demand(tmp_path / "data") as folder:
        yield folder


def logged(data: Path) -> list[str]:
    lines = (data / "service.log").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


def test_twenty_that_ask_at_once_start_one(data: Path) -> None:
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(data)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(CLIENTS)
    ]
    told = [client.communicate(timeout=60) for client in clients]
    assert [errors for _, errors in told] == [""] * CLIENTS
    assert len({answer for answer, _ in told}) == 1
    url, pid, token = json.loads(told[0][0])
    assert logged(data).count("listening") == 1
    assert httpx2.get(f"{url}/health").json()["status"] == "ok"
    with mycel.open(data) as workspace:
        assert workspace.with_token(token).member_id == "operator"
    # Its starter is long gone.
    assert is_alive(pid)


@pytest.mark.files_only
def test_it_runs_apart_from_whoever_started_it(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    # What lies where its starter is, or where it runs, must not be taken for a part of the service.
    for folder in (elsewhere, data):
        (folder / "mycel").mkdir(parents=True)
        for name in ("typer.py", "mycel/__init__.py"):
            (folder / name).write_text("raise SystemExit(7)")
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("MYCEL_TOKEN", "mycel_of-somebody")
    monkeypatch.setenv("MYCEL_ARTIFACT_ROOTS", str(elsewhere))
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path / "another"))
    monkeypatch.setenv("MYCEL_MAX_CONTENT_BYTES", "2048")
    found = ensure_daemon(Path("../data"))
    process = Path(f"/proc/{found.pid}")
    assert (process / "cwd").readlink() == data
    variables = dict(
        part.split("=", 1) for part in (process / "environ").read_text().split("\0") if part.startswith("MYCEL_")
    )
    assert variables == {
        "MYCEL_DATA": str(data),
        "MYCEL_EMBEDDER": "none",
        "MYCEL_MAX_CONTENT_BYTES": "2048",
    }
    assert os.getsid(found.pid) == found.pid
    opened = {str(path.readlink()) for path in (process / "fd").iterdir() if path.name in {"0", "1", "2"}}
    assert opened == {"/dev/null", str(data / "service.log")}
    assert stat.S_IMODE((data / "service.log").stat().st_mode) == 0o600
    assert b"--stop-when-idle\x0015m" in (process / "cmdline").read_bytes()
    assert not (tmp_path / "another").exists()


def test_one_that_runs_is_used_whoever_started_it(data: Path) -> None:
    with service(data) as running:
        found = ensure_daemon(data)
        assert (found.url, found.pid) == (running.url, running.process.pid)
        assert not (data / "service.log").exists()


def test_after_a_kill_the_next_one_is_started(data: Path) -> None:
    first = ensure_daemon(data)
    os.kill(first.pid, signal.SIGKILL)
    second = ensure_daemon(data)
    assert second.pid != first.pid
    assert second.token == first.token


def test_one_that_is_just_stopping_is_followed_by_another(data: Path) -> None:
    first = ensure_daemon(data)
    os.kill(first.pid, signal.SIGTERM)
    eventually(lambda: find_daemon(data) is None)
    second = ensure_daemon(data)
    assert second.pid != first.pid


def test_why_it_does_not_start_is_told(data: Path) -> None:
    data.mkdir()
    (data / "mycel.toml").write_text("max_content_bytes = 7\n")
    with pytest.raises(Unavailable, match=r"could not be started: mycel\.toml: max_content_bytes: must be a whole"):
        ensure_daemon(data)
    (data / "mycel.toml").write_text("")
    assert ensure_daemon(data).url


@pytest.mark.files_only
def test_files_of_a_newer_version_are_left_to_it(data: Path) -> None:
    with mycel.open(data) as workspace:
        workspace.add_team("engineering")
    with contextlib.closing(apsw.Connection(str(data / "workspace.sqlite"))) as connection:
        connection.pragma("user_version", 999)
    with pytest.raises(Unavailable, match=r"could not be started: .*newer"):
        ensure_daemon(data)
    with contextlib.closing(apsw.Connection(str(data / "workspace.sqlite"))) as connection:
        assert connection.pragma("user_version") == 999


def test_one_that_never_answers_is_not_waited_for_without_end(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 5\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(daemon.sys, "executable", str(hanging))
    monkeypatch.setattr(daemon, "START_SECONDS", 0.5)
    with pytest.raises(Unavailable, match="could not be started: it does not answer"):
        ensure_daemon(data)


def test_a_data_directory_that_cannot_be_one_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be started: "):
        ensure_daemon(tmp_path / "file")


def test_looking_for_it_loads_nothing_heavy(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from mycel.client.daemon import find_daemon
assert find_daemon(Path(sys.argv[1])) is None
heavy = {"filelock", "http.client", "httpx2", "starlette", "uvicorn", "typer", "apsw", "numpy"}
print(sorted(heavy & set(sys.modules)))
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout == "[]\n"


def test_whoever_outlives_it_leaves_no_trace_of_it_behind(data: Path) -> None:
    found = ensure_daemon(data)
    end(found)
    eventually(lambda: not Path(f"/proc/{found.pid}").exists())


def test_status_tells_of_it_and_starts_none_and_stop_ends_it(data: Path) -> None:
    def mycel_says(*words: str) -> dict[str, object]:
        command = [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "--json", *words]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    assert mycel_says("save", "We deploy on Tuesdays.")["version"] == 1
    running = find_daemon(data)
    assert running is not None
    told = mycel_says("status")
    assert (told["running"], told["url"], told["pid"]) == (True, running.url, running.pid)
    assert told["teams"] == [{"team": "executive", "active": 1, "inbox": 0, "engine_waiting": 0}]

    assert mycel_says("stop") == {"stopped": True, "url": running.url, "pid": running.pid}
    eventually(lambda: not is_alive(running.pid))
    told = mycel_says("status")
    assert (told["running"], told["teams"]) == (False, None)
    assert mycel_says("stop") == {"stopped": False}
    assert find_daemon(data) is None


def test_a_service_that_lasts_takes_the_place_of_one_that_was_started_on_demand(data: Path) -> None:
    on_demand = ensure_daemon(data)
    with service(data) as lasting:
        found = find_daemon(data)
        assert found is not None
        assert (found.url, found.pid == on_demand.pid) == (lasting.url, False)
        eventually(lambda: not is_alive(on_demand.pid))
        # One that lasts is nobody's to take over.
        refused = subprocess.run(
            [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--port", "0"],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert refused.returncode == 5
        assert f"{lasting.url}, process {found.pid}" in refused.stderr
