"""Whoever takes the port of a service after a crash hears one question from each client, and nothing else: no token,
no text. Nor does it help to pass the question on to the service."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

import mycel
from mycel.app import open_workspace
from mycel.client import daemon
from mycel.client import workspace as client_workspace
from mycel.client.async_workspace import AsyncRemoteWorkspace
from mycel.client.daemon import find_daemon
from mycel.client.exchanges import TRIES
from mycel.client.workspace import RemoteWorkspace
from mycel.errors import MycelError, Unavailable
from mycel.settings import Settings, load_settings
from mycel.surfaces.agents.checks import check_queue, check_service
from mycel.surfaces.cli.invocation import Invocation
from mycel.surfaces.cli.main import build
from mycel.surfaces.hooks import background_sender, command, delivery
from mycel.surfaces.hooks.clock import Deadline, Unreachable
from mycel.surfaces.hooks.delivery import Queue, Write
from mycel.surfaces.hooks.environment import read_environment
from mycel.surfaces.hooks.hook_event import EVENTS
from mycel.surfaces.hooks.service import Caller, Line, find_service
from mycel.wire.daemon_file import DAEMON_FILE, OPERATOR_TOKEN, DaemonFile
from mycel.wire.http1 import read_address
from tests.serving import served
from tests.surfaces.hooks.hooking import recorded, said

SECRET = "of the service"
TOKEN = f"mycel_{'t' * 43}"
TEXT = "a text that is for nobody else"
QUESTION = re.compile(rb"GET /health\?challenge=[0-9a-f]{64} HTTP/1\.1\r\nhost: [\w.:\[\]]+\r\n\r\n")
_LIES = json.dumps({"status": "ok", "version": mycel.__version__, "nonce": SECRET, "proof": "0" * 64}).encode()


class Stranger:
    """Takes every connection, keeps every byte, and answers as the service would if it knew how; or passes it on."""

    def __init__(self, *, passes_on_to: str | None = None) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._to = None if passes_on_to is None else urlsplit(passes_on_to)
        self.heard: list[bytes] = []
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._server.accept()
                threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line: socket.socket) -> None:
        place = len(self.heard)
        self.heard.append(b"")
        with line, contextlib.suppress(OSError):
            while part := line.recv(65536):
                self.heard[place] += part
                line.sendall(self._answer(part))

    def _answer(self, asked: bytes) -> bytes:
        if self._to is None:
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(_LIES) + _LIES
        with socket.create_connection((self._to.hostname or "", self._to.port or 0), timeout=10) as there:
            host = self._to.netloc.encode()
            there.sendall(re.sub(rb"host: [^\r]+", b"host: " + host, asked))
            return there.recv(65536)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    found = Stranger()
    yield found
    found.close()


@pytest.fixture
def data(tmp_path: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of a service that was killed, and whose port the stranger has by now."""
    folder = tmp_path / "data"
    folder.mkdir()
    announce(folder, stranger.url)
    (folder / OPERATOR_TOKEN).write_text(f"{TOKEN}\n")
    for name, value in {"DATA": str(folder), "DAEMON": "auto", "HOOK_SECONDS": "5", "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"MYCEL_{name}", value)

    def stay_down(*_: object) -> None:
        raise OSError(1, "not in this test")

    monkeypatch.setattr(daemon, "_launch", stay_down)
    monkeypatch.setattr("mycel.client.exchanges.FIRST_WAIT", 0.0)
    return folder


def announce(folder: Path, url: str) -> None:
    (folder / DAEMON_FILE).write_bytes(DaemonFile(url, SECRET, 7, "0.0.1", datetime.now(UTC)).render())


def queue_a_write(data: Path) -> None:
    write = Write("/api/memory", {"content": TEXT}, None)
    Queue(data / "hooks" / "queue").put([write], to="here as operator")


def by_command(data: Path, _stranger: Stranger) -> None:
    for line in (["save", TEXT], ["search", TEXT], ["watch"], ["export", str(data / "x.gz")], ["token", "list"]):
        assert CliRunner().invoke(build(line), line).exit_code != 0


def by_python(_data: Path, stranger: Stranger) -> None:
    """By its usual address, of which the file says that it is the service's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_workspace, "DEFAULT_URL", stranger.url)
        with mycel.connect(token=TOKEN) as remote, pytest.raises(Unavailable):
            remote.me().save(TEXT)
        with mycel.connect(token=TOKEN) as remote, pytest.raises(Unavailable):
            remote.me().changes(follow=True)
        asyncio.run(awaited(mycel.connect_async(token=TOKEN)))


async def awaited(remote: AsyncRemoteWorkspace) -> None:
    async with remote:
        with pytest.raises(Unavailable):
            await remote.me().save(TEXT)


def by_mcp(data: Path, stranger: Stranger) -> None:
    """When it starts, and when the service is gone in between."""
    with pytest.raises(MycelError):
        Invocation(data=str(data)).lasting()
    with RemoteWorkspace.at(stranger.url, token=TOKEN, service_secret=SECRET) as lasting, pytest.raises(Unavailable):
        lasting.me().save(TEXT)


def by_command_in_between(_data: Path, stranger: Stranger) -> None:
    """The service was there when the command began."""
    with RemoteWorkspace.here(stranger.url, token=TOKEN, service_secret=SECRET) as remote:
        for attempt in (lambda: remote.me().save(TEXT), lambda: remote.me().changes(follow=True)):
            with pytest.raises(Unavailable):
                attempt()


def by_doctor(data: Path, _stranger: Stranger) -> None:
    queue_a_write(data)
    finding, endpoint = check_service(load_settings())
    assert (finding.state, endpoint) == ("problem", None)
    with pytest.MonkeyPatch.context() as patch:
        # It would send a courier, which is tried by itself.
        patch.setenv("MYCEL_DAEMON", "off")
        assert check_queue(load_settings(), None).state == "warning"


def by_courier(data: Path, _stranger: Stranger) -> None:
    for errand in (delivery.START, delivery.SEND):
        queue_a_write(data)
        with pytest.MonkeyPatch.context() as patch:
            # Also where it takes the service for started.
            patch.setattr(background_sender, "_start_service", lambda *_: True)
            background_sender.main([str(data), errand])


def by_hooks(data: Path, _stranger: Stranger) -> None:
    transcript = data.parent / "talk.jsonl"
    transcript.write_text(said("user", TEXT, id="1") + said("assistant", TEXT, id="2"))
    notes = data.parent / "notes.md"
    notes.write_text(TEXT)
    (data.parent / ".mycel.toml").write_text('memory_folders = ["."]\n')
    places = {"cwd": data.parent, "transcript": transcript, "subagent": transcript, "file": notes}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYCEL_DAEMON", "off")
        for agent, events in EVENTS.items():
            for event in events:
                payload = json.dumps({**recorded_or_empty(agent, event.name, places), "prompt": TEXT}).encode()
                patch.setattr(command, "read_stdin", lambda *_, payload=payload: payload)
                command.hook(command.Asked(agent, event.name))
    assert list((data / "hooks/queue").glob("*.write"))


def recorded_or_empty(agent: str, event: str, places: dict[str, Path]) -> dict[str, object]:
    try:
        return recorded(agent, event, **places)
    except KeyError:
        return {"cwd": str(places["cwd"]), "session_id": "s"}


CLIENTS: list[Callable[[Path, Stranger], None]] = [
    by_command,
    by_command_in_between,
    by_python,
    by_mcp,
    by_doctor,
    by_courier,
    by_hooks,
]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_it_hears_the_question_and_nothing_else(
    data: Path, stranger: Stranger, client: Callable[[Path, Stranger], None]
) -> None:
    client(data, stranger)
    assert stranger.heard, "it was not even asked"
    assert [heard for heard in stranger.heard if not QUESTION.fullmatch(heard)] == []


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_where_the_file_is_of_an_older_version_it_hears_nothing(
    data: Path, stranger: Stranger, client: Callable[[Path, Stranger], None]
) -> None:
    if client in {by_command_in_between, by_mcp, by_python}:
        pytest.skip("they have a secret, or say so before")
    old = json.loads((data / DAEMON_FILE).read_bytes())
    (data / DAEMON_FILE).write_text(json.dumps({**old, "secret": None, "nonce": SECRET}))
    client(data, stranger)
    assert stranger.heard == []


def test_passing_the_question_on_to_the_service_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By every kind of connection; the same ones reach the service itself."""
    monkeypatch.setattr("mycel.client.exchanges.FIRST_WAIT", 0.0)
    settings = Settings(data=tmp_path / "workspace", embedder="none")
    with open_workspace(settings=settings) as workspace, served(workspace, secret=SECRET) as url:
        token = workspace.issue_token("operator")
        (tmp_path / OPERATOR_TOKEN).write_text(f"{token}\n")
        announce(tmp_path, url)
        assert reached(tmp_path, url, token) == dict.fromkeys(KINDS, True)
        relay = Stranger(passes_on_to=url)
        announce(tmp_path, relay.url)
        assert reached(tmp_path, relay.url, token) == dict.fromkeys(KINDS, False)
        relay.close()
        assert len(relay.heard) >= len(KINDS) + TRIES - 1
        assert [heard for heard in relay.heard if not QUESTION.fullmatch(heard)] == []


KINDS = ("find", "here", "pooled", "async", "hook", "hook line")


def reached(data: Path, url: str, token: str) -> dict[str, bool]:
    async def by_async() -> None:
        async with AsyncRemoteWorkspace(url, token=token, service_secret=SECRET) as remote:
            await remote.me().save(TEXT)

    def by(workspace: RemoteWorkspace) -> None:
        with workspace:
            workspace.me().save(TEXT)

    def by_hook() -> None:
        found = find_service(read_environment(data), Caller(None, None), Deadline(10))
        if found is None:
            raise Unreachable
        found.close()

    def by_line() -> None:
        line = Line(read_address(url), Deadline(10), secret=SECRET)
        line.ask("GET", "/api/me")
        line.close()

    return {
        "find": find_daemon(data) is not None,
        "here": works(lambda: by(RemoteWorkspace.here(url, token=token, service_secret=SECRET))),
        "pooled": works(lambda: by(RemoteWorkspace.at(url, token=token, service_secret=SECRET))),
        "async": works(lambda: asyncio.run(by_async())),
        "hook": works(by_hook),
        "hook line": works(by_line),
    }


def works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (Unavailable, Unreachable):
        return False
    return True
