"""`mycel doctor` tells what keeps an agent from its memory, and what to do about it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("on_files", "words_only", "home")


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the agents' commands do is told by the tests of installing; here it is their files."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setattr("mycel.surfaces.agents.agent_checks.SLOW_SECONDS", 60)
    monkeypatch.setattr("mycel.surfaces.agents.agent_checks.ask_hook", lambda line, *, folder: 0.01)
    monkeypatch.setattr("mycel.surfaces.agents.agent_checks.list_tools", lambda server: ["search_memory"])


def checks(mycel) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in json.loads(mycel.run("doctor", "--json").stdout)["checks"]}


def change(path: Path, **members: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**found, **members}))


SWITCHES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "claude, by the user": (
        "claude-code",
        lambda home: change(home / ".claude/settings.json", disableAllHooks=True),
        "disableAllHooks",
    ),
    "claude, by the project": (
        "claude-code",
        lambda home: change(home / "project/.claude/settings.json", disableAllHooks=True),
        "project/.claude/settings.json says disableAllHooks",
    ),
    "claude, in this copy of the project": (
        "claude-code",
        lambda home: change(home / "project/.claude/settings.local.json", disableAllHooks=True),
        "settings.local.json says disableAllHooks",
    ),
    "gemini, by the user": (
        "gemini",
        lambda home: change(home / ".gemini/settings.json", hooksConfig={"enabled": False}),
        "hooksConfig.enabled = false",
    ),
    "gemini, by the project": (
        "gemini",
        lambda home: change(home / "project/.gemini/settings.json", hooksConfig={"enabled": False}),
        "project/.gemini/settings.json says hooksConfig.enabled = false",
    ),
    "gemini, ours alone": (
        "gemini",
        lambda home: change(home / ".gemini/settings.json", hooksConfig={"disabled": ["lint", "mycel"]}),
        "mycel in hooksConfig.disabled",
    ),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_hooks_that_the_agents_own_settings_switch_off_are_told(mycel, home: Path, switch: str) -> None:
    agent, turn_off, said = SWITCHES[switch]
    mycel.ok("install", agent, "--yes")
    assert checks(mycel)[agent]["state"] == "ok"
    turn_off(home)
    found = checks(mycel)[agent]
    assert found["state"] == "warning"
    assert said in found["text"]
    assert found["advice"]


def test_what_a_project_switches_on_again_is_on(mycel, home: Path) -> None:
    mycel.ok("install", "claude-code", "--yes")
    change(home / ".claude/settings.json", disableAllHooks=True)
    change(home / "project/.claude/settings.json", disableAllHooks=False)
    assert checks(mycel)["claude-code"]["state"] == "ok"


# As `hooks/list` of Codex 0.166 answers for these entries.
CODEX_HASHES = {
    "session_start": ("65c271b0f555d65991a027fd5f91a15ab47982c6b822fb645ebc63f0b31ff3f2", None, "SessionStart"),
    "post_tool_use": (
        "29f12a86623969971d213ddfa5776015f900f035588786e80741aed4789be6a1",
        "apply_patch|Write|Edit",
        "PostToolUse",
    ),
    "session_end": ("97b309c83eabed7bace5d4cd8d9a6f0c42606ad8f226d6eaf281b6e8eb0a46c6", None, "SessionEnd"),
    "stop": ("ca4c7fabe793d85f8062ab153778822344e512ce33adc2e39bc0d18f880db124", None, "Stop"),
}


@pytest.mark.parametrize("label", CODEX_HASHES)
def test_the_hash_of_a_hook_is_the_one_that_codex_makes(label: str) -> None:
    from mycel.surfaces.agents.codex import _hash

    expected, matcher, event = CODEX_HASHES[label]
    end = " é" if label == "post_tool_use" else ""
    hook = {"type": "command", "command": f"/x/mycel hook codex {event} --as codex{end}", "timeout": 10}
    assert _hash(label, matcher, hook) == f"sha256:{expected}"


class Codex:
    """What Codex leaves in its home."""

    def __init__(self, home: Path) -> None:
        self.home = home / ".codex"

    def run(self, *, ago: float = 0.0, cwd: str = "/somewhere") -> None:
        began = datetime.now(UTC) - timedelta(seconds=ago)
        folder = self.home / f"sessions/{began:%Y/%m/%d}"
        folder.mkdir(parents=True, exist_ok=True)
        about = {"id": "s", "timestamp": began.isoformat().replace("+00:00", "Z"), "cwd": cwd}
        first = {"timestamp": about["timestamp"], "type": "session_meta", "payload": about}
        path = folder / f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{hashlib.sha256(str(ago).encode()).hexdigest()[:8]}.jsonl"
        path.write_text(json.dumps(first) + "\n{}\n")

    def trust(self, root: Path | None = None, **more: Any) -> None:
        from mycel.surfaces.agents.codex import _hash

        path = (root / ".codex" if root else self.home) / "hooks.json"
        lines: list[str] = []
        for event, (group,) in json.loads(path.read_text())["hooks"].items():
            label = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
            state = {"trusted_hash": _hash(label, group.get("matcher"), group["hooks"][0]), **more}
            lines.append(f"[hooks.state.{json.dumps(f'{path}:{label}:0:0')}]")
            lines += [f"{name} = {json.dumps(value)}" for name, value in state.items()]
        with (self.home / "config.toml").open("a") as file:
            file.write("\n" + "\n".join(lines) + "\n")


@pytest.fixture
def codex(mycel, home: Path) -> Codex:
    (home / ".codex").mkdir()
    found = Codex(home)
    found.run(ago=3600)
    mycel.ok("install", "codex", "--yes")
    return found


def test_hooks_of_codex_that_wait_for_trust_are_well_until_a_session_ran_without_them(mycel, codex: Codex) -> None:
    fresh = checks(mycel)["codex"]
    assert fresh["state"] == "ok"
    assert "wait to be trusted" in fresh["text"]
    time.sleep(0.02)
    codex.run()
    found = checks(mycel)["codex"]
    assert found["state"] == "warning"
    assert "a session has run without its hooks" in found["text"]
    assert found["advice"] == "start codex, open /hooks, and trust those of mycel"
    codex.trust()
    trusted = checks(mycel)["codex"]
    assert trusted["state"] == "ok"
    assert "trust" not in trusted["text"]


def test_hooks_of_codex_that_ran_without_trust_are_well(mycel, codex: Codex) -> None:
    """As `--dangerously-bypass-hook-trust` lets them."""
    codex.run()
    seen = mycel.data / "hooks/sessions/codex_s-00000000.json"
    seen.parent.mkdir(parents=True)
    seen.write_text("{}")
    os.utime(seen, (time.time() + 1,) * 2)
    assert checks(mycel)["codex"]["state"] == "ok"


def test_hooks_of_codex_that_changed_since_they_were_trusted_are_told(mycel, codex: Codex, home: Path) -> None:
    codex.trust()
    path = home / ".codex/hooks.json"
    path.write_text(path.read_text().replace('"timeout": 10', '"timeout": 9'))
    codex.run(ago=-5)
    assert "not trusted" in checks(mycel)["codex"]["text"]


def test_hooks_of_codex_that_are_switched_off_are_told(mycel, codex: Codex, home: Path) -> None:
    codex.trust(enabled=False)
    assert "switched off" in checks(mycel)["codex"]["text"]
    path = home / ".codex/config.toml"
    path.write_text(path.read_text().replace("hooks = true", "hooks = false"))
    assert "[features] hooks = false" in checks(mycel)["codex"]["text"]


def test_hooks_of_a_project_are_only_missed_by_sessions_in_it(mycel, home: Path) -> None:
    (home / ".codex").mkdir()
    project, codex = home / "project", Codex(home)
    mycel.ok("install", "codex", "--project", "--yes")
    name = f"codex in {project}"
    codex.run(ago=-5)
    assert checks(mycel)[name]["state"] == "ok"
    codex.run(ago=-6, cwd=str(project / "src"))
    assert checks(mycel)[name]["state"] == "warning"
    codex.trust(project)
    assert checks(mycel)[name]["state"] == "ok"


PLUGINS = {
    "claude-code": lambda home: change(home / ".claude/settings.json", enabledPlugins={"mycel@mycel": True}),
    "codex": lambda home: (home / ".codex/config.toml").write_text('[plugins."mycel@mycel"]\nenabled = true\n'),
}


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_plugin_is_an_installation_too(mycel, home: Path, agent: str) -> None:
    (home / ".codex").mkdir()
    PLUGINS[agent](home)
    mycel.ok("member", "add", agent, "--team", "executive")
    found = checks(mycel)
    assert "agents" not in found
    assert found[f"{agent} plugin"]["state"] == "ok"
    assert f"acts as {agent} of executive" in found[f"{agent} plugin"]["text"]


def test_a_plugin_beside_an_installation_runs_everything_twice(mycel, home: Path) -> None:
    mycel.ok("install", "claude-code", "--yes")
    PLUGINS["claude-code"](home)
    found = checks(mycel)["claude-code plugin"]
    assert found["state"] == "warning"
    assert "run twice" in found["text"]
    assert found["advice"].endswith("mycel uninstall claude-code, or claude plugin uninstall mycel@mycel")
    change(home / "project/.claude/settings.json", enabledPlugins={"mycel@mycel": False})
    assert "claude-code plugin" not in checks(mycel)


def test_a_plugin_needs_the_command_on_the_path(mycel, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PLUGINS["claude-code"](home)
    monkeypatch.setenv("PATH", str(home))
    found = checks(mycel)["claude-code plugin"]
    assert (found["state"], found["text"]) == ("problem", "mycel cannot be run")


def test_an_agent_whose_member_is_gone_is_told(mycel) -> None:
    mycel.ok("install", "claude-code", "--yes")
    mycel.ok("member", "remove", "claude-code", "--yes")
    found = checks(mycel)["claude-code"]
    assert found["state"] == "warning"
    assert "there is no member claude-code" in found["text"]
    assert found["advice"] == "run mycel install claude-code"


def test_where_nothing_is_yet_the_doctor_says_so_and_tries_nothing(untouched, home: Path) -> None:
    PLUGINS["claude-code"](home)
    found = checks(untouched)
    assert found["data"]["state"] == "warning"
    assert f"there is nothing in {untouched.data} yet" in found["data"]["text"]
    assert "mycel save" in found["data"]["advice"]
    assert "not tried" in found["claude-code plugin"]["text"]
    assert not untouched.data.exists()
