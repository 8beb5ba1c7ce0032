"""The installed `mycel` as real processes, in a pipe and on a terminal."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).with_name("mycel")

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="mycel is not installed beside this Python")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """On the files: what goes through a service as real processes is tested end to end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MYCEL_")}
    own = {"MYCEL_DATA": str(tmp_path / "data"), "MYCEL_EMBEDDER": "none", "MYCEL_DAEMON": "off"}
    return {**kept, **own, "TERM": "xterm-256color"}


def run(environment: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *args], env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_memory_saved_by_one_process_is_found_by_the_next(environment: dict[str, str]) -> None:
    id = run(environment, "save", "Deploys go out on Tuesdays.").stdout.strip()
    found = json.loads(run(environment, "search", "deploys", "--json").stdout)
    assert [hit["memory"]["id"] for hit in found["hits"]] == [id]


def test_only_what_needs_meaning_loads_the_model(environment: dict[str, str]) -> None:
    """One process runs them all, so each must leave out what none before it needed."""
    script = """
import contextlib, io, sys
from mycel.surfaces.cli.main import build

def run(*args):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
        build()(args)
    return printed.getvalue()

def heavy():
    return sorted({"numpy", "onnxruntime", "tokenizers", "openai"} & set(sys.modules))

run("search", "anything")
print("search where nothing is saved", heavy())
id = run("save", "Deploys go out on Tuesdays.").strip()
assert "Deploys" in run("get", id)
for command in ("list", "recent", "tree", "stats", "context", "model list", "policy"):
    assert run(*command.split()), command
print("the others", heavy())
run("search", "when do we ship")
print("search", heavy())
"""
    unset = {name: value for name, value in environment.items() if name != "MYCEL_EMBEDDER"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=unset, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines() == [
        "search where nothing is saved []",
        "the others []",
        "search ['numpy', 'onnxruntime']",
    ], done.stderr


def test_the_environment_names_data_and_member(environment: dict[str, str], tmp_path: Path) -> None:
    saved = json.loads(run({**environment, "MYCEL_AGENT": "swe-1"}, "save", "x", "--json").stdout)
    assert saved["agent_id"] == "swe-1"
    assert (tmp_path / "data" / "workspace.sqlite").exists()


def test_a_pipe_that_closes_early_is_met_with_silence(environment: dict[str, str]) -> None:
    run(environment, "save", "x")
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([SCRIPT, "recent"], env=environment, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.stderr == b""


def test_an_interrupt_ends_a_command_with_130_and_no_traceback(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    with subprocess.Popen(
        [SCRIPT, "save", "-"],
        env=environment,
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background of a script is deaf to interrupts, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        os.close(reader)
        _wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == (b"", b"")
        assert process.returncode == 130
    os.close(writer)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_terminal_gets_colours_but_no_sequence_from_stored_text(environment: dict[str, str]) -> None:
    run(environment, "save", "--", "\x1b]0;owned\x07 [red]title[/red]")
    shown = _run_on_terminal(environment, "list", "--status", "inbox")
    assert b"\x1b[1m" in shown
    assert b"\x1b]" not in shown
    assert b"\\x1b]0;owned\\x07 [red]title[/red]" in shown
    assert "─".encode() in shown


def test_a_pipe_gets_neither_colours_nor_lines(environment: dict[str, str]) -> None:
    run(environment, "save", "x")
    for args in (["recent"], ["search", "x"], ["tree"], ["--help"], ["save", "--help"]):
        shown = run(environment, *args).stdout
        assert shown
        assert not set("\x1b─│└├╭") & set(shown)


@pytest.fixture
def service(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [SCRIPT, "serve", "--port", "0", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        try:
            yield process, json.loads(process.stdout.readline())["url"]
        finally:
            process.kill()


def test_the_service_answers_that_it_is_well(service: tuple[subprocess.Popen[str], str]) -> None:
    import httpx2

    _, url = service
    assert httpx2.get(f"{url}/health").json()["status"] == "ok"
    assert httpx2.get(f"{url}/health", headers={"Host": "elsewhere.example"}).status_code == 421


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_stops_cleanly(service: tuple[subprocess.Popen[str], str], number: signal.Signals) -> None:
    process, _ = service
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["listening", "stopping", "stopped"]


def test_a_taken_port_is_an_error_that_names_it(
    environment: dict[str, str], service: tuple[subprocess.Popen[str], str], tmp_path: Path
) -> None:
    port = service[1].rpartition(":")[2]
    result = run(environment, "serve", "--port", port, "--data", str(tmp_path / "other"))
    assert result.returncode == 9
    assert result.stderr.startswith(f"mycel: cannot listen on 127.0.0.1, port {port}: Address already in use")


def test_the_service_refuses_a_broken_data_directory_at_start(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run(environment, "serve", "--port", "0", "--data", str(tmp_path / "file"))
    assert result.returncode == 9
    assert result.stderr.startswith("mycel: the data directory has to be a folder")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_on_a_terminal_the_service_talks_to_a_person(environment: dict[str, str]) -> None:
    shown = _run_on_terminal(environment, "serve", "--port", "0", "--stop-when-idle", "1s").decode()
    said = [line.partition(" ")[2] for line in shown.splitlines()]
    # The log is written beside, so either may come first.
    assert sorted(line.partition("http://127.0.0.1:")[0].split()[-2:] for line in said[:2]) == [
        ["for", "people:"],
        ["listens", "on"],
    ]
    assert said[2:] == ["the service stops: nobody uses it", "the service has stopped"]


def _wait_until_reading(pid: int) -> None:
    """Until the process sleeps after its imports; its start-up is the one part that an interrupt may cut rudely."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        time.sleep(0.5)
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().split()[2] == "S":
            time.sleep(0.5)
            return


def _run_on_terminal(environment: dict[str, str], *args: str) -> bytes:
    import pty

    leader, follower = pty.openpty()
    with subprocess.Popen([SCRIPT, *args], env=environment, stdout=follower, stderr=follower) as process:
        os.close(follower)
        shown = b""
        while select.select([leader], [], [], 30)[0]:
            try:
                part = os.read(leader, 65_536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not part:
                break
            shown += part
        process.wait(timeout=30)
    os.close(leader)
    return shown
