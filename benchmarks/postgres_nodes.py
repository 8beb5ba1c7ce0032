"""One, two and four services on one Postgres: searches and saves by the same clients, spread over the nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg

from benchmarks.report import Figure, p50, p99, show
from benchmarks.service import service
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.settings import Settings
from tests.postgres import another, as_url

NODES = (1, 2, 4)
CONNECTIONS = 16
# So few that nodes write to the same ones.
TEAMS = 2
# Of four connections one saves and three search.
SAVES_EVERY = 4
SAMPLE_SECONDS = 0.02
LONG_WAIT_SECONDS = 0.1
_WAITING = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float8
    FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE a.wait_event_type = 'Lock' AND NOT l.granted"""


def run(folder: Path, *, quick: bool) -> None:
    memories, each = (400, 40) if quick else (4000, 200)
    database = another()
    url = as_url(database.service)
    tokens = _fill(folder, url, memories)
    figures: list[Figure] = []
    alone = 0.0
    for count in NODES:
        with _Locks(database.admin) as locks:
            loads = _mixed(folder, url, tokens, nodes=count, each=each)
        latencies = [one for load in loads for one in load["latencies"]]
        wrong = sum(n for load in loads for status, n in load["statuses"].items() if not status.startswith("2"))
        rate = len(latencies) / max(load["seconds"] for load in loads)
        alone = alone or rate
        figures.append(
            Figure(
                f"requests a second, {count} node{'s' * (count > 1)} (p50, p99)",
                f"{rate:,.0f}",
                f"{p50(latencies) * 1000:.0f}, {p99(latencies) * 1000:.0f} ms, {wrong} refused",
                f"{rate / alone:.2f} x",
            )
        )
        figures.append(
            Figure(
                "  longest wait for a lock",
                f"{locks.longest * 1000:.0f} ms",
                f"{locks.samples} samples",
                "",
                f"<= {LONG_WAIT_SECONDS * 1000:.0f} ms",
                locks.longest <= LONG_WAIT_SECONDS and not wrong,
            )
        )
    show(
        f"Nodes on one Postgres: {memories:,} memories in {TEAMS} teams, {CONNECTIONS} connections, "
        "server and clients on the same cores",
        figures,
    )


def _fill(folder: Path, url: str, memories: int) -> list[str]:
    """A token of a member of each team."""
    notes = Notes()
    with open_workspace(settings=Settings(data=folder / "fill", database_url=url, embedder="none")) as workspace:
        tokens: list[str] = []
        for number in range(TEAMS):
            workspace.add_team(f"team-{number}")
            member = workspace.add_member(f"swe-{number}", team=f"team-{number}").id
            for _ in range(0, memories // TEAMS, 100):
                workspace.as_member(member).save_many([{"content": notes.text()} for _ in range(100)])
            tokens.append(workspace.issue_token(member))
        return tokens


def _mixed(folder: Path, url: str, tokens: Sequence[str], *, nodes: int, each: int) -> list[dict[str, Any]]:
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, {"MYCEL_DATABASE_URL": url}))
        places = [folder / f"{nodes}-{number}" for number in range(nodes)]
        ports = [stack.enter_context(service(place, embedder="none")) for place in places]
        shares = [_connections(tokens, CONNECTIONS // nodes, each, node=number) for number in range(nodes)]
        with ThreadPoolExecutor(nodes) as pool:
            list(pool.map(_sent, ports, [_connections(tokens, SAVES_EVERY, 5)] * nodes))
            return list(pool.map(_sent, ports, shares))


def _connections(tokens: Sequence[str], count: int, each: int, *, node: int = 0) -> list[dict[str, Any]]:
    """The same mixture on every node; of those who save to a team, some are on another one."""
    notes = Notes(seed=node)

    def body(number: int) -> dict[str, str]:
        if number % SAVES_EVERY:
            return {"query": " ".join(notes.rare(2) + notes.common(1))}
        return {"content": notes.text()}

    return [
        {
            "token": tokens[(number // SAVES_EVERY + node) % len(tokens)],
            "path": "/api/memory/search" if number % SAVES_EVERY else "/api/memory",
            "bodies": [body(number) for _ in range(each)],
        }
        for number in range(count)
    ]


def _sent(port: int, connections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.http_load"],
        input=json.dumps({"port": port, "connections": connections}),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(found.stdout)


class _Locks:
    """Looks again and again at who waits for a lock, and for how long by now."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.longest = 0.0
        self.samples = 0

    def __enter__(self) -> _Locks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._ended.wait(SAMPLE_SECONDS):
                row = connection.execute(_WAITING).fetchone()
                self.longest = max(self.longest, row[0] if row else 0.0)
                self.samples += 1
