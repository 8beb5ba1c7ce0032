"""The service under load: what HTTP adds to a search, and how many saves and searches it answers in a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.client.workspace import RemoteWorkspace
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings

CONNECTIONS = 64
ADDED_AIM, DIFFERENT_AIM, KNOWN_AIM, REPEATED_AIM, SAVES_AIM = 0.003, 250.0, 300.0, 800.0, 1800.0
# So few that their vectors stay in the service's cache.
KNOWN_QUESTIONS = 50
# Of these, what one member asks again and again.
REPEATED_QUESTIONS = 5
NOTES = Notes()


def run(folder: Path, *, quick: bool) -> None:
    memories = 500 if quick else 2000
    settings = Settings(data=folder, embedder="builtin")
    with open_workspace(settings=settings) as workspace:
        tokens = _fill(workspace, memories)
    with service(folder) as port, open_workspace(settings=settings) as workspace:
        figures = [
            *_search(workspace, port, tokens[0]),
            *_searches(port, tokens, quick=quick),
            *_saves(port, tokens, quick=quick),
        ]
    show(f"The service: {memories:,} memories, {CONNECTIONS} connections, clients on the same two cores", figures)


@contextmanager
def service(folder: Path, *, embedder: str = "builtin") -> Iterator[int]:
    environment = {**os.environ, "MYCEL_EMBEDDER": embedder, "MYCEL_DATA": str(folder)}
    command = [
        sys.executable,
        "-c",
        "from mycel.surfaces.cli.main import main; main()",
        "serve",
        "--port",
        "0",
        "--json",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
        finally:
            process.terminate()
            process.wait(timeout=30)


def _fill(workspace: Workspace, memories: int) -> list[str]:
    workspace.add_team("bench")
    tokens: list[str] = []
    for number in range(CONNECTIONS):
        workspace.add_member(f"swe-{number}", team="bench")
        tokens.append(workspace.issue_token(f"swe-{number}"))
    notes, memory = NOTES, workspace.as_member("swe-0")
    for first in range(0, memories, 500):
        memory.save_many([{"content": notes.text()} for _ in range(first, min(first + 500, memories))])
    workspace.embed_pending()
    return tokens


def question(notes: Notes) -> str:
    """In words that are in the store: looking for what a misspelt one may have meant is another matter."""
    return " ".join(notes.text().split()[:6])


def _search(workspace: Workspace, port: int, token: str) -> Iterator[Figure]:
    questions, here = NOTES, workspace.as_member("swe-0")
    with RemoteWorkspace(f"http://127.0.0.1:{port}", token=token) as remote:
        there = remote.me()
        asked = iter([question(questions) for _ in range(2000)])
        ours, plain = interleaved(
            lambda: there.search(next(asked), limit=10), lambda: here.search(next(asked), limit=10), rounds=200
        )
    added = p50(ours) - p50(plain)
    yield Figure(
        "search by the client, p50 / in process",
        f"{p50(ours) * 1000:.1f} ms",
        f"{p50(plain) * 1000:.1f} ms",
        f"+{added * 1000:.1f} ms",
        f"<= +{ADDED_AIM * 1000:.0f} ms",
        added <= ADDED_AIM,
    )


def _searches(port: int, tokens: Sequence[str], *, quick: bool) -> Iterator[Figure]:
    notes, each = NOTES, 10 if quick else 40
    known = [question(notes) for _ in range(KNOWN_QUESTIONS)]

    def new(_place: int, _number: int) -> str:
        return question(notes)

    def of_others(place: int, number: int) -> str:
        return known[(place * each + number) % KNOWN_QUESTIONS]

    def of_its_own(place: int, number: int) -> str:
        return known[(place + number % REPEATED_QUESTIONS) % KNOWN_QUESTIONS]

    for name, aim, ask, times in (
        ("different searches, each embedded", DIFFERENT_AIM, new, 1),
        ("searches for what other members have asked", KNOWN_AIM, of_others, 1),
        ("searches for what the same member has asked", REPEATED_AIM, of_its_own, 5),
    ):
        bodies = [[{"query": ask(place, one)} for one in range(each * times)] for place in range(CONNECTIONS)]
        _load(port, tokens, "/api/memory/search", [some[:REPEATED_QUESTIONS] for some in bodies])
        yield _rate(name, _load(port, tokens, "/api/memory/search", bodies), aim)


def _saves(port: int, tokens: Sequence[str], *, quick: bool) -> Iterator[Figure]:
    notes, each = NOTES, 50 if quick else 200
    bodies = [[{"content": notes.text()} for _ in range(each)] for _ in range(CONNECTIONS)]
    yield _rate("acknowledged saves", _load(port, tokens, "/api/memory", bodies), SAVES_AIM)


def _rate(name: str, load: Mapping[str, Any], aim: float) -> Figure:
    rate = len(load["latencies"]) / load["seconds"]
    wrong = sum(count for status, count in load["statuses"].items() if not status.startswith("2"))
    return Figure(
        f"{name}, a second (p50, p99)",
        f"{rate:,.0f}",
        f"{p50(load['latencies']) * 1000:.0f}, {p99(load['latencies']) * 1000:.0f} ms",
        f"{wrong} refused",
        f">= {aim:,.0f}",
        rate >= aim and not wrong,
    )


def _load(port: int, tokens: Sequence[str], path: str, bodies: Sequence[Sequence[Any]]) -> dict[str, Any]:
    connections = [
        {"token": token, "path": path, "bodies": list(each)} for token, each in zip(tokens, bodies, strict=False)
    ]
    started = perf_counter()
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.http_load"],
        input=json.dumps({"port": port, "connections": connections}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert perf_counter() - started < 600
    return json.loads(found.stdout)
