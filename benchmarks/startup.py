"""How long the service needs from its start to its first answer, on a workspace of fifty teams and on an empty one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import mycel
from benchmarks.report import Figure, p50, show
from benchmarks.texts import Notes

TEAMS = 50
MEMORIES = 40
AIM_SECONDS = 1.5


def run(folder: Path, *, quick: bool) -> None:
    rounds = 3 if quick else 9
    _fill(folder / "full", Notes())
    seconds: dict[str, list[float]] = {"full": [], "empty": []}
    stops: list[float] = []
    # One start of each before the clock runs: files come from the disk and not yet from memory.
    for turn in range(rounds + 1):
        for name, kept in seconds.items():
            data = folder / name if name == "full" else folder / f"{name}-{turn}"
            started, stopped = _start_and_stop(data)
            if turn:
                kept.append(started)
                stops.append(stopped)
    full, empty, bare = p50(seconds["full"]), p50(seconds["empty"]), p50([_bare() for _ in range(rounds)])
    show(
        f"Start-up: {TEAMS} teams of {MEMORIES} memories each",
        [
            Figure(
                "from start to the first answer of /health",
                f"{full * 1000:,.0f} ms, at most {max(seconds['full']) * 1000:,.0f}",
                f"new workspace: {empty * 1000:,.0f} ms",
                f"{full / empty:.2f} x",
                f"< {AIM_SECONDS} s",
                max(seconds["full"]) < AIM_SECONDS,
            ),
            Figure("of it, Python that imports nothing", f"{bare * 1000:,.0f} ms", "", ""),
            Figure("from SIGTERM to the end", f"{p50(stops) * 1000:,.0f} ms", "", ""),
        ],
    )


def _fill(data: Path, notes: Notes) -> None:
    with mycel.open(data) as workspace:
        for team in range(TEAMS):
            workspace.add_team(f"team-{team}")
            memory = workspace.as_operator(f"team-{team}")
            for _ in range(MEMORIES):
                memory.save(notes.text())


def _start_and_stop(data: Path) -> tuple[float, float]:
    """As for whoever has set nothing: the built-in model has all memories to embed as soon as the service runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MYCEL_")}
    began = perf_counter()
    command = [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as service:
        assert service.stdout
        _ask_health(json.loads(service.stdout.readline())["url"])
        answered = perf_counter()
        service.terminate()
        service.wait(30)
        return answered - began, perf_counter() - answered


def _ask_health(url: str) -> None:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request("GET", "/health")
    assert connection.getresponse().status == 200
    connection.close()


def _bare() -> float:
    began = perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return perf_counter() - began
