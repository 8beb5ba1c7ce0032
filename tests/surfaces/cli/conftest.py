"""The command line in this process, on a real data directory of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mycel.surfaces.cli.main import build


class CommandLine:
    """Runs `mycel` with a data directory; `ok` also insists on success."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def run(self, *args: str, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(build(), ["--data", str(self.data), *args], input=input)
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


@pytest.fixture
def mycel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    for name in ("MYCEL_DATA", "MYCEL_AGENT"):
        monkeypatch.delenv(name, raising=False)
    return CommandLine(tmp_path / "data")


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
