"""`mycel install`, `mycel uninstall` and `mycel doctor` as a person meets them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("on_files", "words_only", "home")


def server(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())["mcpServers"]["mycel"]


def members(mycel) -> list[tuple[str, str, str]]:
    found = mycel.json("member", "list")["items"]
    return [(one["id"], one["team"], one["role"]) for one in found if one["id"] != "operator"]


def test_installing_shows_the_change_and_adds_the_member(mycel, home: Path) -> None:
    told = mycel.run("install", "claude-code")
    assert told.exit_code == 0
    assert '+    "mycel": {' in told.stdout
    assert "Claude Code acts as claude-code" in told.stderr
    assert members(mycel) == [("claude-code", "executive", "agent")]
    found = server(home / ".claude.json")
    assert Path(found["command"]).is_absolute()
    # The data directory is not the one that a command finds by itself.
    assert found["args"] == ["mcp", "--data", str(mycel.data)]
    again = mycel.run("install", "claude-code")
    assert (again.stdout, again.stderr) == ("", "Nothing changes: it is set up.\n")


def test_a_member_and_a_team_can_be_named(mycel, home: Path) -> None:
    mycel.ok("team", "add", "squad")
    mycel.ok("install", "cursor", "--as", "swe-1", "--create", "--team", "squad")
    assert members(mycel) == [("swe-1", "squad", "agent")]
    assert server(home / ".cursor/mcp.json")["env"] == {"MYCEL_AGENT": "swe-1"}
    assert "--as swe-1" in (home / ".cursor/hooks.json").read_text()
    elsewhere = mycel.run("install", "codex", "--as", "swe-1", "--team", "executive")
    assert elsewhere.exit_code == 5
    assert "squad" in elsewhere.stderr
    assert not (home / ".codex").exists()


@pytest.fixture
def rooms(mycel):
    mycel.ok("team", "add", "engineering")
    mycel.ok("team", "add", "marketing")
    return mycel


def joined(mycel, *args: str) -> tuple[str, str]:
    """The team, and what was said of it."""
    told = mycel.run("install", "claude-code", "--yes", *args)
    assert told.exit_code == 0, told.output
    return dict(one[:2] for one in members(mycel))["claude-code"], told.stderr


def test_an_agent_joins_the_only_team_with_memories(rooms) -> None:
    for _ in range(2):
        rooms.save("We ship on Tuesdays.", "--team", "engineering", "--type", "decision")
    rooms.save("The cache is warm.", "--team", "engineering")
    rooms.save("A guess.", "--team", "marketing", "--needs-review")
    team, told = joined(rooms)
    assert team == "engineering"
    assert "claude-code joins engineering: 3 memories, 2 decisions." in told
    assert "engineering was chosen since it has the most memories" in told
    assert "another one (executive, marketing) by `mycel install claude-code --team TEAM`" in told


def test_an_agent_joins_the_team_that_knows_the_repository(rooms, home: Path) -> None:
    for number in range(3):
        rooms.save(f"Note {number}.", "--team", "engineering")
    (home / "project/.mycel.toml").write_text('project = "shop"\n')
    rooms.save("The till is green.", "--team", "marketing", "--project", "shop")
    team, told = joined(rooms)
    assert team == "marketing"
    assert "marketing was chosen since it knows project" in told


def test_an_agent_joins_the_team_with_members_where_nothing_is_known(rooms) -> None:
    rooms.ok("member", "add", "swe-1", "--team", "engineering")
    team, told = joined(rooms)
    assert team == "engineering"
    assert "joins engineering: 0 memories, 0 decisions" in told


def test_an_agent_in_the_wrong_room_is_moved_by_naming_the_right_one(rooms) -> None:
    rooms.save("We ship on Tuesdays.", "--team", "engineering")
    assert joined(rooms, "--team", "executive")[0] == "executive"
    assert "Nothing changes" in joined(rooms)[1]
    team, told = joined(rooms, "--team", "engineering")
    assert team == "engineering"
    assert "claude-code moves from executive to engineering: 1 memory, 0 decisions." in told


def test_with_one_team_nothing_is_asked_and_nothing_chosen(mycel) -> None:
    mycel.save("We ship on Tuesdays.", "--type", "decision")
    _, told = joined(mycel)
    assert "claude-code joins executive: 1 memory, 1 decision." in told
    assert "chosen" not in told


def test_a_person_at_a_terminal_is_asked_for_the_team(rooms, terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms.save("We ship on Tuesdays.", "--team", "engineering")
    rooms.save("We write on Mondays.", "--team", "marketing")
    terminal()
    monkeypatch.setattr("mycel.surfaces.cli.install._may_ask", lambda call, *, yes: not yes)
    told = rooms.run("install", "claude-code", input="marketing\ny\n")
    assert "Which team does it join? engineering (1 memory), marketing (1 memory)" in told.stderr
    assert "claude-code joins marketing" in told.stderr
    assert rooms.run("install", "codex", input="sales\n").exit_code == 2
    assert members(rooms) == [("claude-code", "marketing", "agent")]


def test_a_dry_run_tells_the_room_and_adds_nobody(rooms) -> None:
    rooms.save("We ship on Tuesdays.", "--team", "engineering")
    assert "claude-code joins engineering" in rooms.run("install", "claude-code", "--dry-run").stderr
    shown = rooms.json("install", "claude-code", "--dry-run")
    assert (shown["member"], shown["team"]) == ("claude-code", "engineering")
    assert members(rooms) == []


def test_installing_codex_says_that_its_hooks_want_to_be_trusted(mycel) -> None:
    told = mycel.run("install", "codex").stderr
    assert "start codex, open /hooks, and trust" in told


def test_installing_is_a_first_command(untouched) -> None:
    untouched.ok("install", "claude-code", "--dry-run")
    assert not untouched.data.exists()
    assert untouched.run("install", "claude-code", "--as", "swe-1").exit_code == 2
    assert not untouched.data.exists()
    untouched.ok("install", "claude-code")
    assert members(untouched) == [("claude-code", "executive", "agent")]


def test_a_project_has_nothing_of_one_machine_in_its_files(mycel, home: Path) -> None:
    (home / "project/deep/down").mkdir(parents=True)
    mycel.ok("install", "claude-code", "--project")
    found = server(home / "project/.mcp.json")
    assert (found["command"], found["args"]) == ("mycel", ["mcp"])
    text = (home / "project/.claude/settings.json").read_text()
    assert '"mycel hook claude-code SessionStart --as claude-code"' in text
    assert str(home) not in text
    assert not (home / ".claude.json").exists()


def test_a_dry_run_writes_nothing(mycel, home: Path) -> None:
    shown = mycel.json("install", "gemini", "--dry-run")
    assert shown["written"] is False
    assert [Path(file["path"]).name for file in shown["files"]] == ["settings.json"]
    assert not (home / ".gemini").exists()
    assert members(mycel) == []


def test_uninstalling_says_what_it_could_not_restore(mycel, home: Path) -> None:
    path = home / ".claude.json"
    path.write_text('{"userID": "x"}\n')
    mycel.ok("install", "claude-code")
    path.write_text(path.read_text().replace('"x"', '"y"'))
    told = mycel.run("uninstall", "claude-code")
    assert f"{path} has changed since" in told.stderr
    assert path.read_text() == '{"userID": "y"}\n'
    assert not (home / ".claude").exists()
    assert "not set up" in mycel.run("uninstall", "claude-code").stderr


def test_a_token_of_the_environment_stays_there(mycel, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    secret = mycel.ok("token", "issue", "swe-1").strip()
    monkeypatch.setenv("MYCEL_TOKEN", secret)
    monkeypatch.setenv("MYCEL_URL", "https://memory.example.org")
    for agent in ("claude-code", "codex", "cursor", "gemini", "opencode"):
        mycel.ok("install", agent)
    written = [path for path in home.rglob("*") if path.is_file()]
    assert len(written) == 9
    assert not [path for path in [*written, *(mycel.data / "installs").rglob("*.json")] if secret in path.read_text()]
    assert server(home / ".claude.json")["url"] == "https://memory.example.org/mcp"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["install", "emacs"], "must be one of claude-code, codex"),
        (["install", "codex", "--user", "--project"], "--user"),
    ],
)
def test_what_cannot_be_meant_is_refused(mycel, line: list[str], said: str) -> None:
    told = mycel.run(*line)
    assert told.exit_code == 2
    assert said in told.stderr


def test_settings_that_are_no_json_are_named_and_left(mycel, home: Path) -> None:
    path = home / ".claude.json"
    path.write_text("{ not json")
    told = mycel.run("install", "claude-code")
    assert told.exit_code == 9
    assert f"{path} is left as it is" in told.stderr
    assert path.read_text() == "{ not json"
    assert members(mycel) == []


def checks(mycel, *, code: int = 0) -> dict[str, tuple[str, str]]:
    told = mycel.run("doctor", "--json")
    assert told.exit_code == code, told.output
    return {one["name"]: (one["state"], one["text"]) for one in json.loads(told.stdout)["checks"]}


def test_the_doctor_finds_all_well(mycel) -> None:
    found = checks(mycel)
    assert [name for name, (state, _) in found.items() if state == "ok"] == [
        *("settings", "data", "sqlite", "member", "stores", "index", "hooks"),
    ]
    assert found["agents"] == ("warning", "no coding agent is set up")
    assert "acts as operator" in found["member"][1]


def test_the_doctor_tries_what_is_installed(mycel, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # However busy the machine is.
    monkeypatch.setattr("mycel.surfaces.agents.agent_checks.SLOW_SECONDS", 60)
    mycel.ok("install", "claude-code", "--as", "swe-1", "--create")
    state, text = checks(mycel)["claude-code"]
    assert state == "ok", text
    assert "acts as swe-1 of executive, a hook takes" in text
    assert text.endswith("6 tools")
    path = home / ".claude/settings.json"
    whole = path.read_text()
    path.write_text(whole.replace("PreCompact", "PreCompaction"))
    assert checks(mycel)["claude-code"][0] == "warning"
    path.write_text(whole.replace('"command": "', '"command": "/nowhere/'))
    assert "cannot be run" in checks(mycel, code=1)["claude-code"][1]
    path.write_text("{}")
    assert checks(mycel, code=1)["claude-code"] == ("problem", "there is nothing of Mycel among its hooks")


def test_the_doctor_minds_hooks_that_run_twice(mycel, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    mycel.ok("install", "cursor")
    mycel.ok("install", "cursor", "--project")
    state, text = checks(mycel)[f"cursor in {home / 'project'}"]
    assert state == "warning"
    assert "run twice" in text
    mycel.ok("uninstall", "cursor")
    assert "run twice" not in checks(mycel)[f"cursor in {home / 'project'}"][1]


def test_the_doctor_names_settings_that_cannot_be_read(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_HOOK_SECONDS", "soon")
    state, text = checks(mycel, code=1)["settings"]
    assert state == "problem"
    assert "MYCEL_HOOK_SECONDS" in text


def test_the_doctor_minds_a_full_disk(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mycel.surfaces.agents.checks.TOO_LITTLE_BYTES", 2**60)
    monkeypatch.setattr("mycel.surfaces.agents.checks.SCARCE_BYTES", 2**60)
    assert checks(mycel, code=1)["data"][0] == "problem"


def test_on_a_terminal_a_person_is_asked(mycel, home: Path, terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal()
    monkeypatch.setattr("mycel.surfaces.cli.install.is_terminal", lambda: True)
    monkeypatch.setattr("mycel.surfaces.cli.install.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    refused = mycel.run("install", "cursor", input="n\n")
    assert refused.exit_code == 1
    assert "Write this?" in refused.output
    assert not (home / ".cursor").exists()
    assert members(mycel) == []
    mycel.ok("install", "cursor", input="y\n")
    assert (home / ".cursor/mcp.json").exists()
    assert "Write this?" not in mycel.ok("uninstall", "cursor", "--yes")
