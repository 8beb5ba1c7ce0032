"""An agent waits no longer than it must, and what could not be delivered in time is delivered once."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mycel.client.daemon import find_daemon
from mycel.client.workspace import RemoteWorkspace
from mycel.surfaces.hooks import delivery as queueing
from mycel.surfaces.hooks.actions import NOT_LOOKED_AT
from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.delivery import Queue, Write, deliver_all
from mycel.surfaces.hooks.environment import read_environment
from mycel.surfaces.hooks.files import Log
from mycel.surfaces.hooks.service import Caller
from tests.service_process import Service, connected, eventually, is_alive, service, started_on_demand
from tests.surfaces.hooks.hooking import COMMAND, PATIENT, environment, log_of, queued, recorded, run_hook, said

pytestmark = pytest.mark.each_database(slow=True)

# Far more than the time of a hook, far less than that of a server that never answers.
NOT_LONG = 20.0


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    file = tmp_path / "session.jsonl"
    file.write_text(said("user", "Keep money in cents.", id="1") + said("assistant", "I will.", id="2"))
    return file


def stop(data: Path, checkout: Path, transcript: Path, *, session: str = "s", **env: str) -> float:
    payload = recorded("claude-code", "Stop", cwd=checkout, transcript=transcript, session_id=session)
    ran = run_hook("claude-code", "Stop", payload, "--as", "claude-code", data=data, **env)
    assert (ran.code, ran.output, ran.errors) == (0, "", "")
    return ran.seconds


def add_member(found: Service) -> None:
    with connected(found) as workspace:
        workspace.add_team("squad")
        workspace.add_member("claude-code", team="squad")


def texts_of(workspace: RemoteWorkspace) -> dict[str | None, list[str]]:
    memory = workspace.as_member("claude-code")
    found: dict[str | None, list[str]] = {}
    for one in memory.sources.list(limit=200).items:
        found.setdefault(one.session_id, []).append(memory.sources.get(one.id).text)
    return found


def test_what_was_queued_while_the_service_was_away_is_delivered_once_and_in_order(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    data = tmp_path / "data"
    with service(data) as found:
        add_member(found)
    stop(data, checkout, transcript)
    with transcript.open("a") as file:
        file.write(said("user", "And round half to even.", id="3"))
    stop(data, checkout, transcript)
    failed = recorded("claude-code", "StopFailure", cwd=checkout, transcript=transcript, session_id="s")
    run_hook("claude-code", "StopFailure", failed, "--as", "claude-code", data=data)
    assert len(queued(data)) == 3
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in queued(data))
    with service(data) as found:
        prompt = recorded("claude-code", "UserPromptSubmit", cwd=checkout, session_id="other")
        racing = [
            subprocess.Popen(
                [*COMMAND, "claude-code", "UserPromptSubmit", "--as", "claude-code"],
                stdin=subprocess.PIPE,
                env=environment(MYCEL_DATA=str(data), MYCEL_DAEMON="off", **PATIENT),
            )
            for _ in range(4)
        ]
        for process in racing:
            process.communicate(json.dumps(prompt).encode(), timeout=60)
        assert queued(data) == []
        with connected(found) as workspace:
            expected = "user: Keep money in cents.\n\nassistant: I will.\n\nuser: And round half to even."
            assert texts_of(workspace)["s"].count(expected) == 1
            episodes = workspace.as_member("claude-code").episodes.list().items
            assert [one.action for one in episodes] == ["failed"]


def test_a_write_whose_answer_was_lost_is_stored_once(tmp_path: Path, checkout: Path, transcript: Path) -> None:
    data = tmp_path / "data"
    failed = recorded("claude-code", "StopFailure", cwd=checkout, transcript=transcript, session_id="s")
    run_hook("claude-code", "StopFailure", failed, "--as", "claude-code", data=data)
    kept = {file: file.read_bytes() for file in queued(data)}
    assert len(kept) == 2
    with service(data) as found:
        add_member(found)
        for _ in range(2):
            for file, content in kept.items():
                file.write_bytes(content)
            stop(data, checkout, transcript)
            assert queued(data) == []
        with connected(found) as workspace:
            assert len(workspace.as_member("claude-code").episodes.list().items) == 1
            assert texts_of(workspace)["s"].count("user: Keep money in cents.\n\nassistant: I will.") == 1


def test_a_data_directory_that_a_hook_makes_is_for_its_owner_alone(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    data = tmp_path / "new/data"
    stop(data, checkout, transcript)
    made = [data.parent, data, *(one for one in data.rglob("*"))]
    assert len(made) > 5
    assert {one.stat().st_mode & 0o077 for one in made} == {0}


@pytest.mark.parametrize("was_queued", [True, False])
@pytest.mark.parametrize("was_sent", [True, False])
def test_a_hook_that_ended_while_it_was_queueing_is_made_up_for(
    tmp_path: Path, checkout: Path, transcript: Path, was_queued: bool, was_sent: bool
) -> None:
    data = tmp_path / "data"
    whole = [f"Statement {number}." for number in range(4)]
    transcript.write_text("")
    with service(data) as found:
        add_member(found)
        for number, text in enumerate(whole[:2]):
            with transcript.open("a") as file:
                file.write(said("user", text, id=str(number)))
            stop(data, checkout, transcript)
        if not was_sent:
            size = transcript.stat().st_size
            with transcript.open("a") as file:
                file.write(said("user", whole[2], id="2"))
            (data / "daemon.json").rename(data / "hidden.json")
            stop(data, checkout, transcript)
            (data / "hidden.json").rename(data / "daemon.json")
            for file in queued(data) if not was_queued else []:
                file.unlink()
        else:
            size = len(said("user", whole[0], id="0").encode())
        (state,) = (data / "hooks/sessions").glob("*.json")
        values = json.loads(state.read_text())
        state.write_text(json.dumps({**values, "queueing": [size, values["offset"]]}))
        with transcript.open("a") as file:
            file.write(said("user", whole[3], id="3"))
        stop(data, checkout, transcript)
        with connected(found) as workspace:
            expected = [*whole[:2], *([] if was_sent else [whole[2]]), whole[3]]
            assert texts_of(workspace)["s"] == ["\n\n".join(f"user: {text}" for text in expected)]
        assert "queueing" not in json.loads(state.read_text())


def test_writes_of_somebody_else_are_left_for_them(tmp_path: Path, checkout: Path, transcript: Path) -> None:
    data = tmp_path / "data"
    payload = recorded("codex", "Stop", cwd=checkout, transcript=transcript)
    run_hook("codex", "Stop", payload, "--as", "codex", data=data)
    with service(data) as found:
        add_member(found)
        stop(data, checkout, transcript)
        with connected(found) as workspace:
            assert list(texts_of(workspace)) == ["s"]
    assert len(queued(data)) == 1


def test_whoever_has_time_delivers_for_all(tmp_path: Path, checkout: Path, transcript: Path) -> None:
    data = tmp_path / "data"
    for agent in ("codex", "claude-code"):
        payload = recorded(agent, "Stop", cwd=checkout, transcript=transcript, session_id=agent)
        run_hook(agent, "Stop", payload, "--as", agent, data=data)
    elsewhere = {"MYCEL_URL": "http://127.0.0.1:9", "MYCEL_TOKEN": "mycel_token"}
    stop(data, checkout, transcript, session="elsewhere", **elsewhere)
    with service(data) as found:
        add_member(found)
        log = Log(data, name="test")
        left = deliver_all(read_environment(data), Caller(None, None), Deadline(20), log)
        with connected(found) as workspace:
            assert "claude-code" in texts_of(workspace)
            codex = workspace.as_member("codex", may_be_new=True)
            assert [one.session_id for one in codex.sources.list().items] == ["codex"]
    assert left == len(queued(data)) == 1


def test_what_the_service_refuses_for_now_waits(tmp_path: Path, checkout: Path, transcript: Path) -> None:
    data = tmp_path / "data"
    with service(data) as found:
        add_member(found)
        token = data / "operator.token"
        working = token.read_text()
        token.write_text("mycel_of_another_time\n")
        stop(data, checkout, transcript)
        assert len(queued(data)) == 1
        assert "/api/capture/session was answered 401: the queue waits" in log_of(data)
        token.write_text(working)
        stop(data, checkout, transcript)
        assert queued(data) == []


def test_what_the_service_can_never_take_does_not_hold_up_the_rest(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    data = tmp_path / "data"
    Queue(data / "hooks/queue").put(
        [Write("/api/capture/session", {"messages": [], "unknown": 1}), Write("/api/nothing", {})],
        to="here as claude-code",
    )
    (data / "hooks/queue/00000000000000000001.write").write_bytes(b"\x00 no head")
    with service(data) as found:
        add_member(found)
        stop(data, checkout, transcript)
        assert queued(data) == []
        with connected(found) as workspace:
            assert list(texts_of(workspace)) == ["s"]


def test_the_queue_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "MAX_FILES", 3)
    queue = Queue(tmp_path)
    for number in range(5):
        dropped = queue.put([Write("/x", {"number": number})], to="here")
    assert dropped == 1
    assert [json.loads(entry.body)["number"] for entry in queue.entries()] == [2, 3, 4]
    monkeypatch.setattr(queueing, "MAX_BYTES", 300)
    queue.put([Write("/x", {"text": "long " * 30})], to="here")
    assert len(list(queue.entries())) == 1


def test_a_prompt_that_cannot_be_answered_in_time_is_captured_all_the_same(tmp_path: Path, checkout: Path) -> None:
    with silent_server() as url:
        env = {"MYCEL_HOOK_SECONDS": "2", "MYCEL_URL": url, "MYCEL_TOKEN": "mycel_token"}
        prompt = recorded("cursor", "beforeSubmitPrompt", cwd=checkout)
        ran = run_hook("cursor", "beforeSubmitPrompt", prompt, data=tmp_path, **env)
        assert ran.answer == {"continue": True, "additional_context": NOT_LOOKED_AT}
        assert "ran out of time" in log_of(tmp_path)
        run_hook("cursor", "stop", recorded("cursor", "stop", cwd=checkout, status="completed"), data=tmp_path, **env)
    (kept,) = queued(tmp_path)
    assert b"How do we keep money" in kept.read_bytes()
    assert b"mycel_token" not in kept.read_bytes()


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """Takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def stuck_server() -> Iterator[str]:
    """Begins to answer, and never ends."""
    done = threading.Event()

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while not done.is_set():
                line, _ = server.accept()
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                threading.Thread(target=lambda line=line: (done.wait(30), line.close()), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            done.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@pytest.mark.parametrize("hanging", [silent_server, stuck_server])
@pytest.mark.parametrize("by_setting", [True, False])
def test_a_service_that_does_not_answer_costs_no_more_than_the_time_of_a_hook(
    tmp_path: Path, checkout: Path, transcript: Path, hanging: type, by_setting: bool
) -> None:
    with hanging() as url:
        env = {"MYCEL_HOOK_SECONDS": "1"}
        if by_setting:
            env |= {"MYCEL_URL": url, "MYCEL_TOKEN": "mycel_token"}
        else:
            named = {"url": url, "secret": "n", "pid": 1, "version": "0", "started_at": "2026-11-16T00:00:00+00:00"}
            (tmp_path / "daemon.json").write_text(json.dumps(named))
        seconds = stop(tmp_path, checkout, transcript, **env)
        assert seconds < NOT_LONG
        assert len(queued(tmp_path)) == 1
        prompt = recorded("claude-code", "UserPromptSubmit", cwd=checkout)
        ran = run_hook("claude-code", "UserPromptSubmit", prompt, data=tmp_path, **env)
        assert ran.code == 0
        assert ran.answer["hookSpecificOutput"]["additionalContext"] == NOT_LOOKED_AT
        assert ran.seconds < NOT_LONG


def test_an_agent_hears_once_in_a_session_that_memory_could_not_be_looked_at(tmp_path: Path, checkout: Path) -> None:
    data = tmp_path / "data"
    prompt = recorded("claude-code", "UserPromptSubmit", cwd=checkout, session_id="s", prompt="How is money kept here?")

    def ask() -> str:
        return run_hook("claude-code", "UserPromptSubmit", prompt, "--as", "claude-code", data=data).output

    assert NOT_LOOKED_AT in ask()
    assert ask() == ""
    with service(data) as found:
        add_member(found)
        with connected(found) as workspace:
            workspace.as_member("claude-code").save("Money is kept in integer cents.")
        assert "integer cents" in ask()
    # It came back in between, so that its being away again is news.
    assert NOT_LOOKED_AT in ask()
    assert ask() == ""


def test_what_looks_nothing_up_says_nothing_of_a_service_that_is_away(tmp_path: Path, checkout: Path) -> None:
    for prompt in ("/clear", "!ls"):
        payload = recorded("claude-code", "UserPromptSubmit", cwd=checkout, session_id="s", prompt=prompt)
        assert run_hook("claude-code", "UserPromptSubmit", payload, data=tmp_path).output == ""
    payload = recorded("claude-code", "SessionStart", cwd=checkout, session_id="s")
    assert run_hook("claude-code", "SessionStart", payload, data=tmp_path, MYCEL_HOOKS="capture").output == ""


def test_a_service_that_breaks_off_is_asked_once_more(tmp_path: Path, checkout: Path) -> None:
    with service(tmp_path / "data") as found:
        add_member(found)
        with connected(found) as workspace:
            workspace.as_member("claude-code").save("Money is kept in integer cents.")
            token = workspace.issue_token("claude-code")
        prompt = recorded("claude-code", "UserPromptSubmit", cwd=checkout, prompt="How is money kept here?")
        with breaking_off(found.url, times=1) as url:
            env = {"MYCEL_URL": url, "MYCEL_TOKEN": token}
            ran = run_hook("claude-code", "UserPromptSubmit", prompt, data=tmp_path / "elsewhere", **env)
        assert "integer cents" in ran.output
        with breaking_off(found.url, times=9) as url:
            env = {"MYCEL_URL": url, "MYCEL_TOKEN": token}
            ran = run_hook("claude-code", "UserPromptSubmit", prompt, data=tmp_path / "other", **env)
        assert NOT_LOOKED_AT in ran.output


@contextlib.contextmanager
def breaking_off(url: str, *, times: int) -> Iterator[str]:
    """Passes connections on to a service, but for the first, which it closes unanswered."""
    address = urlsplit(url)

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    opened: list[socket.socket] = []

    def serve(server: socket.socket) -> None:
        left = times
        with contextlib.suppress(OSError):
            while True:
                line, _ = server.accept()
                left -= 1
                if left >= 0:
                    line.close()
                    continue
                beyond = socket.create_connection((str(address.hostname), address.port or 80))
                opened.extend((line, beyond))
                for pair in ((line, beyond), (beyond, line)):
                    threading.Thread(target=pass_on, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for one in opened:
                one.close()


def test_the_first_session_of_the_day_waits_while_the_process_that_starts_the_service_lives(
    tmp_path: Path, checkout: Path
) -> None:
    """On a busy machine that process has taken more than a second to do anything that can be seen."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    with subprocess.Popen(["sleep", "2.5"]) as sender:
        (folder / "courier.stamp").write_text(str(sender.pid))
        threading.Thread(target=sender.wait, daemon=True).start()
        payload = recorded("claude-code", "SessionStart", cwd=checkout)
        env = {"MYCEL_DAEMON": "auto", "MYCEL_HOOK_START_SECONDS": "10"}
        ran = run_hook("claude-code", "SessionStart", payload, data=tmp_path, **env)
    assert ran.seconds > 2
    assert NOT_LOOKED_AT in ran.output
    assert ran.seconds < NOT_LONG


def test_the_operators_token_is_shown_only_to_the_service_that_the_file_names(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = server.accept()
                    with line:
                        heard.append(line.recv(65536))
                        line.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 18\r\n\r\n{"proof": "other"}')
                        heard.append(line.recv(65536))

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        named = {"url": url, "secret": "n", "pid": 1, "version": "0", "started_at": "2026-11-16T00:00:00+00:00"}
        (tmp_path / "daemon.json").write_text(json.dumps(named))
        (tmp_path / "operator.token").write_text("mycel_secret\n")
        stop(tmp_path, checkout, transcript)
        server.shutdown(socket.SHUT_RDWR)
    assert heard
    assert b"mycel_secret" not in b"".join(heard)


def test_an_agent_that_never_closes_its_pipe_does_not_keep_a_hook(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    began = time.monotonic()
    with subprocess.Popen(
        [*COMMAND, "claude-code", "Stop"],
        stdin=subprocess.PIPE,
        env=environment(MYCEL_DATA=str(tmp_path), MYCEL_DAEMON="off", MYCEL_HOOK_SECONDS="2"),
    ) as process:
        assert process.stdin
        payload = recorded("claude-code", "Stop", cwd=checkout, transcript=transcript)
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.flush()
        assert process.wait(NOT_LONG) == 0
        assert time.monotonic() - began < NOT_LONG
        process.stdin.close()
    assert len(queued(tmp_path)) == 1


def test_a_session_starts_the_service_without_waiting_for_it_and_leaves_nothing_else_behind(
    tmp_path: Path, checkout: Path, transcript: Path
) -> None:
    with started_on_demand(tmp_path / "data") as data:
        began = {"MYCEL_DAEMON": "auto"}
        stop(data, checkout, transcript)
        payload = recorded("claude-code", "SessionStart", cwd=checkout)
        ran = run_hook("claude-code", "SessionStart", payload, data=data, **began)
        assert (ran.code, ran.output) == (0, "")
        assert ran.seconds < NOT_LONG
        eventually(lambda: find_daemon(data) is not None)
        eventually(lambda: couriers(data) == [])
        assert find_daemon(data) is not None
        assert queued(data) == []
        assert "/api/memory/search" in (data / "service.log").read_text(), "the model is not loaded yet"


def test_what_takes_longer_is_finished_by_somebody_who_has_time(
    running: Service, workspace: RemoteWorkspace, checkout: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.jsonl"
    turns = [f"Statement number {number} is about {'plenty of things ' * 60}".strip() for number in range(2000)]
    file.write_text("".join(said("user", turn, id=str(number)) for number, turn in enumerate(turns)))
    stop(running.data, checkout, file, session="much")
    eventually(lambda: queued(running.data) == [], seconds=40)
    eventually(lambda: couriers(running.data) == [])
    assert texts_of(workspace)["much"] == ["\n\n".join(f"user: {turn}" for turn in turns)]


def test_hooks_of_one_session_at_once_and_killed_on_their_way_lose_and_double_nothing(
    running: Service, workspace: RemoteWorkspace, checkout: Path, tmp_path: Path
) -> None:
    file = tmp_path / "busy.jsonl"
    payload = recorded("claude-code", "Stop", cwd=checkout, transcript=file, session_id="busy")
    hooks: list[subprocess.Popen[bytes]] = []
    for number in range(12):
        with file.open("a") as opened:
            opened.write(said("user", f"Statement {number}.", id=str(number)))
        hook = subprocess.Popen(
            [*COMMAND, "claude-code", "Stop", "--as", "claude-code"],
            stdin=subprocess.PIPE,
            env=environment(MYCEL_DATA=str(running.data), MYCEL_DAEMON="off", **PATIENT),
        )
        assert hook.stdin
        hook.stdin.write(json.dumps(payload).encode())
        hook.stdin.close()
        hooks.append(hook)
        if number % 3 == 2:
            time.sleep(0.03 * number)
            hook.kill()
    for hook in hooks:
        hook.wait(60)
    stop(running.data, checkout, file, session="busy")
    assert queued(running.data) == []
    assert texts_of(workspace)["busy"] == ["\n\n".join(f"user: Statement {number}." for number in range(12))]


def couriers(data: Path) -> list[int]:
    """The processes that hooks of a data directory have left."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            mine = int(process.name) != os.getpid() and is_alive(int(process.name))
            if mine and b"surfaces.hooks" in line and str(data).encode() in line:
                found.append(int(process.name))
    return found
