"""The coding agents as programs: where they come from, how they are set up and run, and what they call their tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.real_agents.scripted_model import Call

# Filled in where a program is set up.
MODEL, PROJECT, PROMPT = "{model}", "{project}", "{prompt}"
# Nothing checks it; a program without any asks the user to sign in.
KEY = "not-a-key"


class Switch(NamedTuple):
    """How the user turns off the hooks of a program: in this file, what stands first becomes the second."""

    file: str
    on: str
    off: str


@dataclass(frozen=True)
class Program:
    """`agent` is what Mycel calls it, `package` and `version` what npm does.

    `prompt` runs one prompt to its end, `resume` one more in the session before. `shell` and `write` are the calls by
    which its model runs a command and writes a file, `tools` what its names of Mycel's tools begin with.
    """

    agent: str
    command: str
    package: str
    version: str
    prompt: tuple[str, ...]
    resume: tuple[str, ...]
    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    tools: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    # What the user has in the home before anything of Mycel.
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    # Without these a new hook is not run until the user has agreed to it.
    trust: tuple[str, ...] = ()
    hooks_off: Switch | None = None
    subagent: Callable[[str], Call] | None = None
    # npm runs the scripts of a package only if it is told to.
    needs_scripts: bool = False

    def tool(self, name: str, **arguments: object) -> Call:
        """A call of a tool of Mycel."""
        return Call(f"{self.tools}{name}", arguments)


def _patch(path: str, text: str) -> Call:
    lines = ["*** Begin Patch", f"*** Add File: {path}", *(f"+{line}" for line in text.splitlines()), "*** End Patch"]
    return Call("apply_patch", "\n".join(lines))


def _claude_subagent(prompt: str) -> Call:
    told = {"description": "Look into it", "prompt": prompt, "subagent_type": "general-purpose"}
    return Call("Agent", {**told, "run_in_background": False})


_CLAUDE = ("claude", "-p", PROMPT, "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Agent,mcp__mycel")
_CODEX = ("codex", "exec", "--sandbox", "danger-full-access")
_GEMINI = ("gemini", "--approval-mode", "yolo", "--prompt", PROMPT)

CLAUDE_CODE = Program(
    agent="claude-code",
    command="claude",
    package="@anthropic-ai/claude-code",
    version="2.1.325",
    prompt=_CLAUDE,
    resume=(*_CLAUDE, "--continue"),
    shell=lambda command: Call("Bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("Write", {"file_path": path, "content": text}),
    tools="mcp__mycel__",
    variables={
        "ANTHROPIC_BASE_URL": MODEL,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    hooks_off=Switch(".claude/settings.json", "{", '{"disableAllHooks": true,'),
    subagent=_claude_subagent,
    needs_scripts=True,
)

CODEX = Program(
    agent="codex",
    command="codex",
    package="@openai/codex",
    version="0.166.0",
    prompt=(*_CODEX, PROMPT),
    resume=(*_CODEX, "resume", "--last", PROMPT),
    shell=lambda command: Call("exec_command", {"cmd": command}),
    write=_patch,
    tools="mcp__mycel__",
    variables={"MODEL_KEY": KEY},
    files={
        ".codex/config.toml": f"""\
# My own settings.
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{MODEL}/v1"
env_key = "MODEL_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."{PROJECT}"]
trust_level = "trusted"
"""
    },
    trust=("--dangerously-bypass-hook-trust",),
    hooks_off=Switch(".codex/config.toml", "hooks = true", "hooks = false"),
)

GEMINI = Program(
    agent="gemini",
    command="gemini",
    package="@google/gemini-cli",
    version="0.61.0",
    prompt=_GEMINI,
    resume=(*_GEMINI, "--resume", "latest"),
    shell=lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("write_file", {"file_path": path, "content": text}),
    tools="mcp_mycel_",
    variables={
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": MODEL,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    },
    files={
        ".gemini/settings.json": """\
{
  // My own settings.
  "model": {"name": "gemini-2.5-flash"},
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
    },
    hooks_off=Switch(".gemini/settings.json", "{", '{"hooksConfig": {"enabled": false},'),
)

OPENCODE = Program(
    agent="opencode",
    command="opencode",
    package="opencode-ai",
    version="1.18.33",
    prompt=("opencode", "run", PROMPT),
    resume=("opencode", "run", "--continue", PROMPT),
    shell=lambda command: Call("bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: Call("write", {"filePath": path, "content": text}),
    tools="mycel_",
    variables={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
    files={
        ".config/opencode/opencode.json": json.dumps(
            {
                "autoupdate": False,
                "share": "disabled",
                "model": "scripted/model",
                "provider": {
                    "scripted": {
                        "npm": "@ai-sdk/openai-compatible",
                        "options": {"baseURL": f"{MODEL}/v1", "apiKey": KEY},
                        "models": {"model": {"name": "Scripted"}},
                    }
                },
            },
            indent=2,
        )
    },
    needs_scripts=True,
)

PROGRAMS = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)
