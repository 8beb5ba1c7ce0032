"""The command line in this process, on a real data directory of its own: on the files, and through a service."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from typer.testing import CliRunner, Result

import mycel as package
from mycel.client.workspace import RemoteWorkspace
from mycel.surfaces.cli.invocation import Invocation
from mycel.surfaces.cli.main import _command_of as command_of
from mycel.surfaces.cli.main import build
from tests.serving import ADDRESS, in_process
from tests.template import copy_template, make_workspace


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every command works the same on the files and through a service; few tests are `on_files` alone."""
    if "way" in metafunc.fixturenames:
        metafunc.parametrize("way", ["files"] if "on_files" in metafunc.fixturenames else ["files", "service"])


@cache
def built(command: str | None) -> typer.Typer:
    return build([command] if command else [])


@pytest.fixture(autouse=True, scope="session")
def commands_made_once() -> Iterator[None]:
    """To make the parsers of a module's commands costs more than most commands do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


class CommandLine:
    """Runs `mycel` with a data directory; `ok` also insists on success."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def run(self, *args: str, input: str | bytes | None = None) -> Result:
        line = ["--data", str(self.data), *args]
        result = CliRunner().invoke(built(command_of(line)), line, input=input)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def ok(self, *args: str, input: str | bytes | None = None) -> str:
        result = self.run(*args, input=input)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *args: str, input: str | bytes | None = None) -> Any:
        return json.loads(self.ok(*args, "--json", input=input))

    def save(self, content: str, *args: str) -> str:
        return self.ok("save", *args, "--", content).strip()


@contextmanager
def workspace_behind_a_service(call: Invocation) -> Iterator[RemoteWorkspace]:
    """As `Invocation.open` finds it where nothing is set, but for the process and the socket."""
    with call.files(for_others=True) as opened, in_process(opened, settings=call.settings()) as sender:
        yield RemoteWorkspace(ADDRESS, token=opened.issue_token("operator"), sender=sender)


@pytest.fixture
def unwritten(untouched: CommandLine) -> CommandLine:
    """Where commands have run before, but nothing was ever written."""
    package.open(untouched.data).close()
    return untouched


@pytest.fixture
def mycel(untouched: CommandLine) -> CommandLine:
    """Where something was written before, and nothing is left of it."""
    copy_template(make_workspace, untouched.data)
    return untouched


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> CommandLine:
    """On a data directory that is not there yet."""
    for name in ("MYCEL_DATA", "MYCEL_AGENT"):
        monkeypatch.delenv(name, raising=False)
    if way == "service":
        monkeypatch.setattr(Invocation, "open", workspace_behind_a_service)
    return CommandLine(tmp_path / "data")


@pytest.fixture
def on_files() -> None:
    """For what a service does in another way, which is tested there."""


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder: what is tested here needs no vectors, and each command would load a model for them."""
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the output look like a terminal without colours to the commands that follow."""

    def pretend() -> None:
        for module in ("output", "display", "invocation"):
            monkeypatch.setattr(f"mycel.surfaces.cli.{module}.is_terminal", lambda: True)
        monkeypatch.setenv("COLUMNS", "80")

    return pretend


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of somebody who has nothing yet, in a project of theirs."""
    found = tmp_path / "home"
    (found / "project/.git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(found))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MYCEL_URL", "MYCEL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MYCEL_DAEMON", "off")
    monkeypatch.chdir(found / "project")
    return found
