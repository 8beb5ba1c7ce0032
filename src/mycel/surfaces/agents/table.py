"""The coding agents: which files hold their settings, and how these say what Mycel needs said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mycel.surfaces.agents import shapes
from mycel.surfaces.agents.shapes import Connection, Entry
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.events import Event

USER, PROJECT = "user", "project"


@dataclass(frozen=True, slots=True)
class Files:
    """Below the home of the user or the root of a project: where servers stand, and where hooks do."""

    servers: str
    hooks: str


@dataclass(frozen=True, slots=True)
class Agent:
    """`moved_by` is the variable that puts the user's files elsewhere, in place of `folder`."""

    name: str
    title: str
    user: Files
    project: Files
    server: Callable[[Connection], Entry]
    # None where hooks are not settings but a program.
    hook: Callable[[Event, str], Entry] | None
    folder: str = ""
    moved_by: str | None = None
    servers_key: str = "mcpServers"
    # What a file of hooks needs beside them.
    beside_hooks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # The agent reads its files with comments and trailing commas in them.
    comments: bool = False
    # What only the user can do, once it is set up.
    after_install: str | None = None

    def places(self, scope: str, root: Path, *, moved_to: Path | None) -> Files:
        """The files with their whole paths."""
        named = self.user if scope == USER else self.project
        if scope == USER and moved_to is not None:
            inside = [moved_to / one.removeprefix(f"{self.folder}/") for one in (named.servers, named.hooks)]
            return Files(*map(str, inside))
        return Files(str(root / named.servers), str(root / named.hooks))


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            told.CLAUDE_CODE,
            "Claude Code",
            user=Files(".claude.json", ".claude/settings.json"),
            project=Files(".mcp.json", ".claude/settings.json"),
            server=shapes.like_claude,
            hook=shapes.grouped_hook,
            folder=".claude",
            moved_by="CLAUDE_CONFIG_DIR",
        ),
        Agent(
            told.CODEX,
            "Codex",
            user=Files(".codex/config.toml", ".codex/hooks.json"),
            project=Files(".codex/config.toml", ".codex/hooks.json"),
            server=shapes.like_codex,
            hook=shapes.grouped_hook,
            folder=".codex",
            moved_by="CODEX_HOME",
            servers_key="mcp_servers",
            after_install="Codex runs no hook that is not trusted: start codex, open /hooks, and trust those of mycel.",
        ),
        Agent(
            told.CURSOR,
            "Cursor",
            user=Files(".cursor/mcp.json", ".cursor/hooks.json"),
            project=Files(".cursor/mcp.json", ".cursor/hooks.json"),
            server=shapes.like_cursor,
            hook=shapes.plain_hook,
            beside_hooks={"version": 1},
        ),
        Agent(
            told.GEMINI,
            "Gemini CLI",
            user=Files(".gemini/settings.json", ".gemini/settings.json"),
            project=Files(".gemini/settings.json", ".gemini/settings.json"),
            server=shapes.like_gemini,
            hook=shapes.gemini_hook,
            comments=True,
        ),
        Agent(
            told.OPENCODE,
            "OpenCode",
            user=Files(".config/opencode/opencode.json", ".config/opencode/plugins/mycel.js"),
            project=Files("opencode.json", ".opencode/plugins/mycel.js"),
            server=shapes.like_opencode,
            hook=None,
            folder=".config",
            moved_by="XDG_CONFIG_HOME",
            servers_key="mcp",
            comments=True,
        ),
    )
}
