"""The command line as a user runs it: each command a process, all of them through one service."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mycel
from mycel.client.daemon import find_daemon
from mycel.wire.daemon_file import read_operator_token
from tests.service_process import environment, is_alive, service, started_on_demand

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
    pytest.mark.each_database(slow=True),
]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    with started_on_demand(tmp_path / "data") as folder:
        yield folder


@pytest.fixture
def run(data: Path) -> Run:
    def run(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mycel.surfaces.cli.main", *args],
            env=environment(**{"MYCEL_DATA": str(data), **variables}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def told(answer: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return answer.returncode, answer.stdout, answer.stderr


def test_the_first_command_starts_a_service_and_the_next_ones_use_it(run: Run, data: Path) -> None:
    saved = run("save", "Deploys go out on Tuesdays.")
    assert (saved.returncode, saved.stderr) == (0, "saved as fact in /notes of team executive\n")
    first = find_daemon(data)
    assert first is not None
    found = json.loads(run("search", "deploys", "--json").stdout)
    assert [hit["memory"]["id"] for hit in found["hits"]] == [saved.stdout.strip()]
    again = find_daemon(data)
    assert again is not None
    assert (again.pid, again.url) == (first.pid, first.url)
    assert is_alive(first.pid)


def test_with_the_address_and_a_token_it_goes_to_another_service(run: Run, data: Path, tmp_path: Path) -> None:
    with service(tmp_path / "theirs") as theirs:
        operator = read_operator_token(tmp_path / "theirs")
        assert operator is not None
        with mycel.connect(theirs.url, token=operator) as workspace:
            workspace.add_team("engineering")
            workspace.add_member("swe-1", team="engineering", role="agent")
            token = workspace.issue_token("swe-1")
        there = {"MYCEL_URL": theirs.url, "MYCEL_TOKEN": token}
        id = run("save", "Deploys go out on Tuesdays.", **there).stdout.strip()
        shown = json.loads(run("get", id, "--json", **there).stdout)
        assert (shown["agent_id"], shown["team"]) == ("swe-1", "engineering")
        # Only an operator's token speaks for others.
        assert run("recent", "--as", "swe-2", **there).returncode == 4
        as_operator = run("recent", "--as", "swe-1", MYCEL_URL=theirs.url, MYCEL_TOKEN=operator)
        assert id in as_operator.stdout
    # Nothing of this has to do with the data directory of this machine.
    assert not data.exists()


def test_a_wrong_token_is_told_from_a_missing_one(run: Run, tmp_path: Path) -> None:
    with service(tmp_path / "theirs") as theirs:
        wrong = run("recent", MYCEL_URL=theirs.url, MYCEL_TOKEN="mycel_wrong")
        assert told(wrong) == (10, "", "mycel: the token is unknown, expired or revoked\n")
        missing = run("recent", MYCEL_URL=theirs.url)
        assert told(missing) == (9, "", "mycel: MYCEL_URL names a service: set MYCEL_TOKEN to a token of it as well\n")


def test_a_service_that_cannot_be_reached_is_told_as_that(run: Run, tmp_path: Path) -> None:
    with service(tmp_path / "theirs") as theirs:
        gone = theirs.url
    answer = run("recent", MYCEL_URL=gone, MYCEL_TOKEN="mycel_any")
    assert (answer.returncode, answer.stdout) == (7, "")
    assert answer.stderr.startswith("mycel: the service cannot be reached: ")
    assert len(answer.stderr.splitlines()) == 1
    assert run("recent", MYCEL_URL="nowhere", MYCEL_TOKEN="mycel_any").returncode == 9


def test_a_service_of_another_version_is_used_with_a_note(run: Run, data: Path) -> None:
    code = "import mycel; mycel.__version__ = '0.0.1'; from mycel.surfaces.cli.main import main; main()"
    line = (sys.executable, "-c", code, "--data", str(data), "serve", "--json", "--port", "0")
    with service(data, command=line) as older:
        answer = run("save", "Deploys go out on Tuesdays.")
        assert answer.returncode == 0
        noted = f"the service at {older.url} is Mycel 0.0.1, this is {mycel.__version__}: restart it to have both alike"
        assert answer.stderr.splitlines()[0] == noted


def test_what_one_command_saves_another_one_watches(run: Run, data: Path) -> None:
    with (
        service(data),
        subprocess.Popen(
            [sys.executable, "-m", "mycel.surfaces.cli.main", "watch", "--path", "/runbooks", "--json"],
            env=environment(MYCEL_DATA=str(data)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # What runs in the background of a script is deaf to interrupts, and hands that down.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as watching,
    ):
        assert watching.stderr
        assert watching.stdout
        assert watching.stderr.readline() == "Watching executive; Ctrl-C ends it.\n"
        run("save", "Elsewhere.", "--path", "/notes")
        id = run("save", "Restart the queue first.", "--path", "/runbooks").stdout.strip()
        change = json.loads(watching.stdout.readline())
        assert (change["operation"], change["memory_id"], change["path"]) == ("create", id, "/runbooks")
        watching.send_signal(signal.SIGINT)
        assert watching.communicate(timeout=30) == ("", "")
        assert watching.returncode == 130


def test_an_error_is_the_same_as_on_the_files(run: Run) -> None:
    unknown = "019a0000-0000-7000-8000-000000000000"
    for args in (("get", unknown), ("save", "x", "--confidence", "2")):
        through, local = run(*args), run(*args, MYCEL_DAEMON="off")
        assert told(through) == told(local)
        assert through.returncode != 0
