"""Our entries go into an agent's files and come out again, and nothing else in them is touched."""

from __future__ import annotations

import json
import stat
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.errors import Misconfigured
from mycel.surfaces.agents.agent import PROJECT, USER, Connection
from mycel.surfaces.agents.install import install, plan_install, plan_uninstall, uninstall
from mycel.surfaces.agents.records import Records
from mycel.surfaces.agents.registry import AGENTS
from mycel.surfaces.agents.site import Setup, Site
from mycel.surfaces.hooks.hook_event import installed_events

CONNECTION = Connection("/opt/my tools/mycel", "swe-1")
NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=6)
SCALARS = st.booleans() | st.integers(-(2**31), 2**31) | st.text(max_size=8) | st.floats(-10, 10)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
# Some have begun what our entries go into.
BEGUN = st.sampled_from([{}, {"mcpServers": {}, "hooks": {}, "mcp": {}}, {"hooks": {"Stop": [], "stop": []}}])
SETTINGS = st.builds(lambda begun, others: {**others, **begun}, BEGUN, st.dictionaries(NAMES, VALUES, max_size=4))


def site(agent: str, root: Path, *, scope: str = USER) -> Site:
    return Site(AGENTS[agent], scope, root)


def records(root: Path) -> Records:
    return Records(root / "data")


def files(root: Path) -> dict[str, bytes | None]:
    """Everything but the data directory."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.relative_to(root).parts[0] != "data"
    }


def place(agent: str, root: Path, content: dict[str, Any], *, form: Any) -> None:
    """Settings that somebody has already, in both files of the agent."""
    for name in {AGENTS[agent].user.servers, AGENTS[agent].user.hooks}:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".toml":
            path.write_text(tomlkit.dumps(content))
        elif path.suffix == ".json":
            path.write_text(json.dumps(content, indent=form) + ("\n" if form else ""))


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=20, deadline=None)
@given(SETTINGS, st.sampled_from([None, 2, "\t"]))
def test_uninstalling_gives_every_byte_back(agent: str, content: dict[str, Any], form: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        place(agent, root, content, form=form)
        before = files(root)
        install(site(agent, root), CONNECTION, records(root))
        assert files(root) != before
        uninstall(site(agent, root), CONNECTION, records(root))
        assert files(root) == before


@pytest.mark.parametrize("scope", [USER, PROJECT])
@pytest.mark.parametrize("agent", AGENTS)
def test_files_and_folders_that_were_not_there_go_again(agent: str, scope: str, tmp_path: Path) -> None:
    where = site(agent, tmp_path, scope=scope)
    install(where, CONNECTION, records(tmp_path))
    assert len(files(tmp_path)) > 1
    uninstall(where, CONNECTION, records(tmp_path))
    assert files(tmp_path) == {}
    assert plan_uninstall(where, CONNECTION, records(tmp_path)) == []


@pytest.mark.parametrize("agent", AGENTS)
def test_what_others_wrote_since_stays(agent: str, tmp_path: Path) -> None:
    content = {"theme": "dark", "mcpServers": {"other": {"command": "x"}}, "mcp_servers": {"other": {"command": "y"}}}
    place(agent, tmp_path, content, form=2)
    where = site(agent, tmp_path)
    install(where, CONNECTION, records(tmp_path))
    paths = {tmp_path / AGENTS[agent].user.servers, tmp_path / AGENTS[agent].user.hooks}
    for path in paths:
        text = path.read_text()
        path.write_text(text.replace('"dark"', '"light"') if "dark" in text else text + "\n// mine\n")
    done = uninstall(where, CONNECTION, records(tmp_path))
    assert {change.path for change in done} == paths
    assert all(change.merely_own for change in done)
    for path in paths:
        if path.suffix == ".json":
            assert json.loads(path.read_text()) == {**content, "theme": "light"}
        elif path.suffix == ".toml":
            found = tomllib.loads(path.read_text())
            assert {**found, "features": None} == {**content, "theme": "light", "features": None}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_time_changes_nothing(agent: str, tmp_path: Path) -> None:
    where = site(agent, tmp_path)
    install(where, CONNECTION, records(tmp_path))
    assert all(change.is_none for change in plan_install(where, CONNECTION))


@pytest.mark.parametrize("agent", AGENTS)
def test_an_older_entry_of_ours_is_replaced_and_the_first_files_come_back(agent: str, tmp_path: Path) -> None:
    place(agent, tmp_path, {"a": 1}, form=2)
    before = files(tmp_path)
    where = site(agent, tmp_path)
    install(where, replace(CONNECTION, command="/old/mycel", member="old"), records(tmp_path))
    install(where, CONNECTION, records(tmp_path))
    texts = [path.read_text() for path in where.forms(CONNECTION)]
    assert not any("/old/" in text or '"old"' in text for text in texts)
    uninstall(where, CONNECTION, records(tmp_path))
    assert files(tmp_path) == before


def test_an_event_has_one_entry_of_ours_beside_those_of_others(tmp_path: Path) -> None:
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    theirs = {"type": "command", "command": "make lint"}
    ours = {"type": "command", "command": "mycel hook claude-code Stop"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [ours, theirs]}], "Notification": [{"hooks": [ours]}]}}))
    install(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    hooks = json.loads(path.read_text())["hooks"]
    assert set(hooks) == {event.name for event in installed_events("claude-code")}
    assert hooks["Stop"][0] == {"hooks": [theirs]}
    assert [len(groups) for event, groups in hooks.items() if event != "Stop"] == [1] * (len(hooks) - 1)
    assert hooks["Stop"][1]["hooks"][0]["command"] == "'/opt/my tools/mycel' hook claude-code Stop --as swe-1"


def test_the_same_entry_twice_becomes_one(tmp_path: Path) -> None:
    where = site("cursor", tmp_path)
    install(where, CONNECTION, records(tmp_path))
    path = tmp_path / ".cursor/hooks.json"
    once = json.loads(path.read_text())
    path.write_text(json.dumps({**once, "hooks": {**once["hooks"], "stop": once["hooks"]["stop"] * 2}}))
    install(where, CONNECTION, records(tmp_path))
    assert json.loads(path.read_text()) == once


def test_an_empty_table_that_was_there_before_stays(tmp_path: Path) -> None:
    path = tmp_path / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text("[mcp_servers]\n")
    install(site("codex", tmp_path), CONNECTION, records(tmp_path))
    path.write_text(path.read_text() + "# mine\n")
    uninstall(site("codex", tmp_path), CONNECTION, records(tmp_path))
    assert tomllib.loads(path.read_text())["mcp_servers"] == {}
    assert "# mine" in path.read_text()


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude-code", ".claude.json", '{"a": 1,}'),
        ("claude-code", ".claude/settings.json", '{"hooks": []}'),
        ("codex", ".codex/config.toml", "a = \n"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n"),
        ("opencode", ".config/opencode/plugins/mycel.js", "export const Mine = 1\n"),
        ("cursor", ".cursor/mcp.json", "\udcff"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(agent: str, name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, errors="surrogateescape")
    before = files(tmp_path)
    with pytest.raises(Misconfigured, match="is left as it is"):
        install(site(agent, tmp_path), CONNECTION, records(tmp_path))
    assert files(tmp_path) == before


def test_a_link_is_written_through(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles/claude.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    link = tmp_path / ".claude.json"
    link.symlink_to(real)
    install(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    assert link.is_symlink()
    assert "mycel" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    uninstall(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    assert link.is_symlink()
    assert real.read_text() == "{}\n"


def test_a_link_that_leads_nowhere_does_so_again(tmp_path: Path) -> None:
    link = tmp_path / ".claude.json"
    link.symlink_to(tmp_path / "later.json")
    install(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    assert "mycel" in (tmp_path / "later.json").read_text()
    uninstall(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    assert link.is_symlink()
    assert not link.exists()


def test_records_and_backups_are_for_their_owner_alone(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text('{"secret": 1}')
    install(site("claude-code", tmp_path), CONNECTION, records(tmp_path))
    kept = [path for path in (tmp_path / "data/installs").rglob("*") if path.is_file()]
    assert len(kept) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


@pytest.mark.parametrize("url", [None, "https://memory.example.org"])
@pytest.mark.parametrize(
    ("agent", "reference"),
    [
        ("claude-code", "${MYCEL_TOKEN}"),
        ("codex", '"MYCEL_TOKEN"'),
        ("cursor", "${env:MYCEL_TOKEN}"),
        ("gemini", "${MYCEL_TOKEN}"),
        ("opencode", "{env:MYCEL_TOKEN}"),
    ],
)
def test_a_token_is_named_by_its_variable(agent: str, reference: str, url: str | None, tmp_path: Path) -> None:
    connection = replace(CONNECTION, names_token=True, url=url)
    install(site(agent, tmp_path), connection, records(tmp_path))
    text = (tmp_path / AGENTS[agent].user.servers).read_text()
    assert reference in text
    assert ("https://memory.example.org/mcp" in text) == (url is not None)


def test_without_a_record_only_our_entries_go(tmp_path: Path) -> None:
    where = site("claude-code", tmp_path, scope=PROJECT)
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"mycel": {"command": "mycel"}, "other": {"command": "x"}}}\n')
    done = uninstall(where, CONNECTION, records(tmp_path))
    assert [change.merely_own for change in done] == [True]
    assert (tmp_path / ".mcp.json").read_text() == '{"mcpServers": {"other": {"command": "x"}}}\n'


def test_a_variable_of_the_agent_moves_its_files(tmp_path: Path) -> None:
    for agent, moved in (("claude-code", "m/.claude.json m/settings.json"), ("codex", "m/config.toml m/hooks.json")):
        where = Site(AGENTS[agent], USER, tmp_path, moved_to=Path("m"))
        assert " ".join(map(str, where.forms(CONNECTION))) == moved


def test_the_plugin_of_opencode_knows_the_events_of_the_table(tmp_path: Path) -> None:
    install(site("opencode", tmp_path), CONNECTION, records(tmp_path))
    program = (tmp_path / ".config/opencode/plugins/mycel.js").read_text()
    assert 'const COMMAND = ["/opt/my tools/mycel", "hook", "opencode", "--as", "swe-1"];' in program
    assert [event.name for event in installed_events("opencode") if f'"{event.name}"' not in program] == []


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_reflecting_stands_in_the_hook_of_a_turns_end_and_goes_again(agent: str, tmp_path: Path) -> None:
    asking = replace(CONNECTION, reflects=True)
    install(site(agent, tmp_path), asking, records(tmp_path))
    hooks = json.loads((tmp_path / AGENTS[agent].user.hooks).read_text())["hooks"]
    assert {event for event, entries in hooks.items() if "--reflect" in json.dumps(entries)} == {"Stop"}
    install(site(agent, tmp_path), CONNECTION, records(tmp_path))
    assert "--reflect" not in (tmp_path / AGENTS[agent].user.hooks).read_text()
    install(site(agent, tmp_path), asking, records(tmp_path))
    uninstall(site(agent, tmp_path), CONNECTION, records(tmp_path))
    assert files(tmp_path) == {}


def test_who_cannot_be_asked_says_why() -> None:
    assert {name for name, agent in AGENTS.items() if not agent.no_reflection} == {"claude-code", "codex"}
    assert all(agent.no_reflection.startswith("its ") for agent in AGENTS.values() if agent.no_reflection)


@pytest.mark.parametrize("agent", list(AGENTS))
@pytest.mark.parametrize("url", [None, "https://memory.example.org"])
def test_a_tool_set_stands_in_the_entry_of_the_server_and_goes_again(
    agent: str, url: str | None, tmp_path: Path
) -> None:
    where, plain = site(agent, tmp_path), replace(CONNECTION, url=url, names_token=url is not None)
    install(where, replace(plain, tools="swarm"), records(tmp_path))
    found = where.forms(plain)[where.servers_file].present(where.servers_file.read_text("utf-8"))[0]
    setup = Setup(where, None, found, [])
    assert setup.tools == "swarm"
    assert setup.install_command == f"mycel install {agent} --tools swarm"
    install(where, plain, records(tmp_path))
    assert "swarm" not in where.servers_file.read_text("utf-8")
    uninstall(where, plain, records(tmp_path))
    assert files(tmp_path) == {}
