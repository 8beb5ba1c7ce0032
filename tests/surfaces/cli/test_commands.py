"""What every command has in common."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click.testing
import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from mycel import __version__
from mycel.errors import MycelError, Unavailable
from mycel.surfaces.cli.failure import EXIT_CODES
from mycel.surfaces.cli.main import MODULES, build

PROMISED = {
    "save", "search", "context", "recent", "get", "list", "tree", "watch", "update", "delete", "restore", "purge",
    "stats", "serve", "mcp", "hook", "explain", "embed", "export", "import", "migrate",
    "team add", "team list", "team load", "member add", "member list", "member move", "member remove", "member resolve",
    "token issue", "token list", "token revoke", "model list", "model check", "model use",
    "capture session", "capture conversation", "capture thread", "capture file",
    "task brief", "task complete", "task fail",
    "inbox list", "inbox show", "inbox approve", "inbox edit", "inbox reject", "inbox merge", "inbox snooze",
    "inbox reopen",
    "consolidate", "reports", "undo", "settle", "events list", "events show", "events retry", "work", "maintain",
    "policy show", "policy set", "cascade", "escalate", "withdraw", "cascades", "learn", "profile set",
    "episodes list", "episodes log", "episodes get", "episodes similar", "episodes agents", "episodes rates",
    "knowledge list", "knowledge get", "knowledge set", "knowledge history", "knowledge candidates",
    "knowledge arbitrate", "knowledge delete", "knowledge import",
    "artifacts list", "artifacts register", "artifacts get", "artifacts verify", "artifacts delete",
    "install", "uninstall", "doctor", "check", "team reset", "database migrate", "database index", "database publish",
    "status", "stop", "open", "demo",
    "mount", "vault sync", "vault watch", "vault status",
    "backup create", "backup list", "backup verify", "backup restore",
}  # fmt: skip


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


WHOLE = get_command(build())
ALL = dict(commands(WHOLE))


def test_the_commands_are_exactly_these() -> None:
    assert set(ALL) == PROMISED


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_command_has_help_and_the_shared_options(name: str) -> None:
    result = click.testing.CliRunner().invoke(WHOLE, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert len(ALL[name].help) > 10
    for option in ("--json", "--data", "--as", "--team", "--help"):
        assert f"  {option} " in result.stdout
    assert "╭" not in result.stdout


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_option_says_what_it_is_for(name: str) -> None:
    silent = [param.name for param in ALL[name].params if not param.help]
    assert not silent


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_parameter_is_mistaken_for_a_shared_one(name: str) -> None:
    shared = {param.name for param in WHOLE.params}
    assert not shared & {param.name for param in ALL[name].params}


@pytest.mark.parametrize("args", [[], ["team"], ["member"], ["token"], ["model"], ["capture"], ["task"], ["profile"]])
def test_a_group_without_a_command_shows_its_help(args: list[str]) -> None:
    result = CliRunner().invoke(build(), args)
    assert result.exit_code == 2
    assert "Commands:" in result.stdout or "Usage:" in result.stdout


@pytest.mark.parametrize("group", ["inbox", "events", "policy", "episodes", "knowledge", "artifacts"])
def test_a_group_that_mostly_lists_does_so_alone(mycel, group: str) -> None:
    first = next(name for name in ALL if name.startswith(f"{group} "))
    assert mycel.ok(group, "--json") == mycel.ok(*first.split(), "--json")
    assert "Commands:" in mycel.ok(group, "--help")


@pytest.mark.parametrize(("module", "added"), MODULES.items())
def test_a_line_has_only_the_module_of_its_command_loaded(module: str, added: tuple[str, ...]) -> None:
    for command in added:
        for line in ([command, "x"], ["--data", "save", "--json", command], ["--as=swe-1", command]):
            assert set(get_command(build(line)).commands) == set(added), (module, line)


@pytest.mark.parametrize("line", [[], ["--help"], ["--help", "save"], ["--version"], ["nonsense", "save"], ["--jsn"]])
def test_a_line_without_a_known_command_has_them_all(line: list[str]) -> None:
    assert set(get_command(build(line)).commands) == {name for added in MODULES.values() for name in added}


@pytest.mark.parametrize(
    ("args", "suggested"), [(["serch", "x"], "'search'"), (["member", "ad"], "'add'"), (["recent", "--jsn"], "--json")]
)
def test_a_mistyped_name_suggests_the_near_one(args: list[str], suggested: str) -> None:
    result = CliRunner().invoke(build(), args)
    assert result.exit_code == 2
    assert result.stderr.startswith("mycel: No such ")
    assert suggested in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(build(), ["--version"]).stdout == f"mycel {__version__}\n"


@pytest.mark.parametrize(
    ("raised", "exit_code", "stderr"),
    [
        (KeyboardInterrupt(), 130, ""),
        (Unavailable("busy"), 7, "mycel: busy\n"),
        (OSError(28, "No space left on device"), 1, "mycel: No space left on device\n"),
    ],
)
def test_a_command_that_is_stopped_ends_without_a_traceback(
    mycel, monkeypatch: pytest.MonkeyPatch, raised: BaseException, exit_code: int, stderr: str
) -> None:
    def stop(*_args: object) -> None:
        raise raised

    monkeypatch.setattr("mycel.surfaces.cli.organisation.print_table", stop)
    result = mycel.run("team", "list")
    assert (result.exit_code, result.stderr) == (exit_code, stderr)


def test_an_error_message_cannot_steer_the_terminal() -> None:
    result = CliRunner().invoke(build(), ["\x1b[31mred"])
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


def test_typer_is_asked_for_exits_it_can_hand_back() -> None:
    """The root relies on typer returning an exit code instead of raising it."""
    app = typer.Typer()
    app.callback()(lambda: None)

    @app.command()
    def leave() -> None:
        raise typer.Exit(3)

    assert get_command(app).main(["leave"], standalone_mode=False) == 3


def test_the_reference_has_every_exit_code_of_an_error() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "command-line.md").read_text("utf-8")
    table = text.partition("## Exit codes")[2]
    for error, code in EXIT_CODES.items():
        rows = [row for row in table.splitlines() if row.startswith(f"| {code} |")]
        assert rows, (error, code)
        assert error is MycelError or f"`{error.code}`" in rows[0], error
