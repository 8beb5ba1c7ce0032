"""A virtual environment per peer, made from its pins and kept for the next run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from benchmarks.peers.catalogue import Peer

REPOSITORY = Path(__file__).parents[2]
MOST_INSTALLING_SECONDS = 30 * 60


class NotInstallable(Exception):
    """Says why in a line."""


@dataclass(frozen=True, slots=True)
class Environment:
    """`size` counts the files of all packages as installed, without compiled Python files; `runs` is its Python."""

    python: str
    runs: str
    packages: int
    size: int
    version: str


def ready(peer: Peer, work: Path) -> Environment:
    folder = work / "environments" / peer.name
    card = folder / "environment.json"
    python = _interpreter(peer.python, extensions=peer.extensions)
    pins = {"base": python, "requirements": [*peer.requirements]}
    kept = json.loads(card.read_text()) if card.exists() and not peer.ours else {}
    if kept.get("pins") == pins:
        return Environment(**kept["made"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _install(folder, [str(REPOSITORY)] if peer.ours else pins["requirements"], python=python)
    made = _measured(folder, peer)
    card.write_text(json.dumps({"pins": pins, "made": asdict(made)}))
    return made


def _install(folder: Path, requirements: list[str], *, python: str) -> None:
    inside = folder / "bin" / "python"
    if uv := _uv():
        _run([uv, "venv", "--quiet", "--no-python-downloads", "--python", python, str(folder)])
        _run([uv, "pip", "install", "--quiet", "--python", str(inside), *requirements])
    else:
        _run([python, "-m", "venv", "--without-pip", str(folder)])
        _run([sys.executable, "-m", "pip", "--quiet", "--python", str(inside), "install", *requirements])


def _uv() -> str | None:
    return shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


@cache
def _interpreter(least: tuple[int, int], *, extensions: bool) -> str:
    """The first that is new enough and, where the peer needs it, whose SQLite loads extensions; Mycel takes it too."""
    names = ["python3", *(f"python3.{minor}" for minor in range(least[1], least[1] + 4))]
    beside = sorted(Path(sys.base_prefix).parent.glob("*/bin"))
    on_path = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    for candidate in (folder / name for folder in (Path(sys.base_prefix) / "bin", *on_path, *beside) for name in names):
        if candidate.is_file() and _suits(candidate, least, extensions=extensions):
            return str(candidate)
    needed = " whose sqlite3 module loads extensions" if extensions else ""
    raise NotInstallable(f"no Python {least[0]}.{least[1]} or newer{needed}")


def _suits(python: Path, least: tuple[int, int], *, extensions: bool) -> bool:
    asked = f"import sqlite3, sys; sys.exit(sys.version_info < {least})"
    if extensions:
        asked = f"{asked[:-1]} or not hasattr(sqlite3.Connection, 'enable_load_extension'))"
    return subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0


def _measured(folder: Path, peer: Peer) -> Environment:
    packages = next(folder.glob("lib/python*/site-packages"))
    cards = list(packages.glob("*.dist-info"))
    own = peer.package.replace("-", "_").lower()
    version = next(card.name.split("-")[1] for card in cards if card.name.lower().startswith(f"{own}-"))
    files = (file for file in packages.rglob("*") if file.suffix != ".pyc" and file.is_file() and not file.is_symlink())
    python = str(folder / "bin" / "python")
    return Environment(
        python=python,
        runs=_run([python, "-c", "import platform; print(platform.python_version())"]).strip(),
        packages=len(cards),
        size=sum(file.stat().st_size for file in files),
        version=version.removesuffix(".dist"),
    )


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_INSTALLING_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstallable(f"not installed within {MOST_INSTALLING_SECONDS // 60} minutes") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise NotInstallable(" ".join(lines[-2:])[:300])
    return done.stdout
