"""A user's home in which a coding agent works on a repository: Mycel's service, the agent's program and its model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mycel.client.daemon import find_daemon
from mycel.client.workspace import RemoteWorkspace
from mycel.domain.source import Source
from mycel.surfaces.agents.registry import AGENTS
from mycel.wire.daemon_file import read_operator_token
from tests.real_agents.npm_programs import NODE_FOLDER
from tests.real_agents.programs import MODEL, PROJECT, PROMPT, Program
from tests.real_agents.scripted_model import ScriptedModel
from tests.service_process import end, eventually

MYCEL = str(Path(sys.executable).with_name("mycel"))
TEAM = "engineering"
# A program that takes this long hangs.
PROMPT_SECONDS = 180
# Of hooks; where the machine is busy with other things, they need more than they may take otherwise.
PATIENCE_VARIABLE = "MYCEL_HOOK_SECONDS"


class UserHome:
    def __init__(self, root: Path, program: Program, programs: Path, model: ScriptedModel) -> None:
        self.program, self.model = program, model
        self.home = root / "home"
        self.data = self.home / ".local/share/mycel"
        self.project = self.home / "src/shop"
        self.programs = programs

    def prepare(self) -> None:
        """A repository, and the settings that the user has."""
        self.data.mkdir(parents=True)
        if patience := os.environ.get(PATIENCE_VARIABLE):
            (self.data / "mycel.toml").write_text(f"hook_seconds = {float(patience)}\n")
        self.project.mkdir(parents=True)
        (self.project / ".mycel.toml").write_text('project = "shop"\nmemory_folders = ["notes"]\n')
        who = ("-c", "user.name=swe-1", "-c", "user.email=swe-1@example.org")
        for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Begin")):
            self.run("git", *words)
        for name, text in self.program.files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(text))

    def environment(self) -> dict[str, str]:
        """Nothing of whoever runs the tests."""
        given = {name: self._filled(value) for name, value in self.program.variables.items()}
        folders = (self.programs, NODE_FOLDER, Path(MYCEL).parent, "/usr/local/bin", "/usr/bin", "/bin")
        path = ":".join(map(str, folders))
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", **given}

    def run(self, *words: str) -> str:
        """A command of the user, which succeeds."""
        ran = self._run(words)
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        return ran.stdout

    def mycel(self, *words: str) -> str:
        return self.run(MYCEL, *words)

    def install(self) -> str:
        return self.mycel("install", self.program.agent, "--yes", "--team", TEAM)

    def uninstall(self) -> str:
        return self.mycel("uninstall", self.program.agent, "--yes")

    def prompt(self, text: str, *, resumed: bool = False, trusted: bool = True) -> subprocess.CompletedProcess[str]:
        """The agent's program runs one prompt to its end."""
        return self._run(self._prompt_line(text, resumed=resumed, trusted=trusted))

    def timed(self, text: str) -> float:
        began = time.perf_counter()
        self.prompt(text)
        return time.perf_counter() - began

    @contextmanager
    def prompting(self, text: str) -> Iterator[subprocess.Popen[bytes]]:
        """The same while it runs, as a terminal starts it: with a group of processes of its own."""
        with subprocess.Popen(
            self._prompt_line(text),
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # Whoever runs the tests may have been told to ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def settings_files(self) -> dict[Path, bytes]:
        """Those of the agent that Mycel changes, as far as they are there."""
        named = AGENTS[self.program.agent].user
        paths = {self.home / named.servers, self.home / named.hooks}
        return {path: path.read_bytes() for path in sorted(paths) if path.exists()}

    @contextmanager
    def changed_settings(self, name: str, old: str, new: str) -> Iterator[None]:
        """The user replaces something in a file, and afterwards takes it back."""
        path = self.home / name
        before = path.read_text()
        assert old in before
        path.write_text(before.replace(old, new, 1))
        try:
            yield
        finally:
            path.write_text(before)

    def check_of(self, name: str) -> dict[str, Any]:
        """What `mycel doctor` says of one thing; it exits with 1 if anything is wrong."""
        checks = json.loads(self._run((MYCEL, "doctor", "--json")).stdout)["checks"]
        return {one["name"]: one for one in checks}[name]

    def end_service(self) -> None:
        """As it ends by itself when nobody has asked for a while."""
        if (found := find_daemon(self.data)) is not None:
            end(found)

    def sources(self, cue: str) -> list[Source]:
        """What was captured with this cue in it."""
        with self._workspace() as workspace:
            memory = workspace.as_member(self.program.agent, may_be_new=True)
            found = [memory.sources.get(one.id) for one in memory.sources.list(limit=200).items]
        return [one for one in found if cue in one.text]

    def is_closed(self, source: Source) -> bool:
        """Whether the engine waits for no more of a session."""
        with self._workspace() as workspace:
            events = workspace.as_member(self.program.agent, may_be_new=True).sources.events(limit=200).items
        due = [one for one in events if one.source_id == source.id]
        return any(one.due_at is None or one.due_at <= one.updated_at for one in due)

    def mcp_servers(self) -> list[int]:
        """The processes of `mycel mcp` in this home."""
        return [process_id for process_id, line in processes_in(self.home) if "mcp" in line]

    def _workspace(self) -> RemoteWorkspace:
        eventually(lambda: find_daemon(self.data))
        found, token = find_daemon(self.data), read_operator_token(self.data)
        assert found is not None
        assert token is not None
        return RemoteWorkspace.at(found.url, token=token)

    def _prompt_line(self, text: str, *, resumed: bool = False, trusted: bool = True) -> list[str]:
        words = self.program.resume if resumed else self.program.prompt
        trust = self.program.trust if trusted else ()
        line = [word.replace(PROMPT, text) for word in words]
        # Before a subcommand, if there is one, and after the word that makes the program run a single prompt.
        return [*line[:2], *trust, *line[2:]]

    def _run(self, words: tuple[str, ...] | list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROMPT_SECONDS,
        )

    def _filled(self, text: str) -> str:
        return text.replace(MODEL, self.model.url).replace(PROJECT, str(self.project))


def processes_in(home: Path) -> list[tuple[int, list[str]]]:
    """Those whose home this is, with their command lines."""
    wanted = f"HOME={home}".encode()
    found: list[tuple[int, list[str]]] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                line = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found.append((int(folder.name), line))
        except OSError:
            continue
    return found
