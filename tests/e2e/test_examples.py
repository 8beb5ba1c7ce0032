"""The examples print what their README shows, offline and from nothing, and leave nothing behind unless told to."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text("utf-8")
# Of several commands, what is shown is printed by the last.
SHOWN = re.compile(r"```console\n((?:\$ [^\n]+\n)+)```\n\n```text\n(.*?)```", re.DOTALL)
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(command: str, folder: Path) -> str:
    """In an environment that sets nothing: what a newcomer has."""
    words = shlex.split(command.replace(".venv/bin/python", sys.executable).replace("examples/", f"{EXAMPLES}/"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), command
    return done.stdout


@pytest.mark.parametrize("block", range(len(SHOWN.findall(README))))
def test_the_commands_of_the_readme_print_what_it_shows(block: int, tmp_path: Path) -> None:
    commands, shown = SHOWN.findall(README)[block]
    printed = [run(line.removeprefix("$ "), tmp_path) for line in commands.splitlines()]
    assert printed[-1] == shown


def test_every_example_is_in_the_readme() -> None:
    assert PROGRAMS
    run_there = re.findall(r"^\$ \S+ examples/(\w+\.py)$", README, re.MULTILINE)
    assert sorted(run_there) == PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_example_leaves_nothing_behind(program: str, tmp_path: Path) -> None:
    run(f".venv/bin/python examples/{program}", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_agents_do_not_save_what_the_team_knows_already(tmp_path: Path) -> None:
    first, second = (run(".venv/bin/python examples/agent_loop.py --data kept", tmp_path) for _ in range(2))
    assert first.count("save_memory") == 2
    assert "save_memory" not in second
    assert second.count("The team knows this already.") == 2
    start = "\nSecond run:"
    assert second.partition(start)[2] == first.partition(start)[2] != ""
