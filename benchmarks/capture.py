"""Captures: how long the agent waits, beside a plain durable save, while the engine is idle, busy, or stuck."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings

# A session of an hour's work: the most that an agent's turn usually reports.
TURNS = 40
AIM = 2.0


class HangingModel:
    """An endpoint that takes a question and never answers."""

    model = "hanging"
    max_characters = 40_000

    def __init__(self) -> None:
        self._closed = threading.Event()

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        self._closed.wait()
        return {}

    def close(self) -> None:
        self._closed.set()


def run(folder: Path, *, quick: bool) -> None:
    notes = Notes()
    rounds = 150 if quick else 600
    figures: list[Figure] = []
    with _workspace(folder / "idle") as workspace:
        figures.append(_measure("the engine idle", workspace, notes, rounds))
    with _workspace(folder / "busy") as workspace:
        _load(workspace, notes, sessions=400 if quick else 1500)
        workspace.work_beside()
        figures.append(_measure("the engine busy with a queue of sessions", workspace, notes, rounds))
    with _workspace(folder / "hanging", model=HangingModel()) as workspace:
        workspace.work_beside()
        _load(workspace, notes, sessions=20)
        figures.append(_measure("the model endpoint hanging", workspace, notes, rounds))
    show("Capturing a session, acknowledged", figures)


@contextmanager
def _workspace(folder: Path, *, model: HangingModel | None = None) -> Iterator[Workspace]:
    settings = Settings(data=folder, embedder="none")
    with open_workspace(settings=settings, language_model=model) as workspace:
        workspace.add_team("bench")
        workspace.add_member("swe-1", team="bench")
        yield workspace


def _load(workspace: Workspace, notes: Notes, *, sessions: int) -> None:
    member = workspace.as_member("swe-1")
    for number in range(sessions):
        member.capture_session(_session(notes), session_id=f"load-{number}", project="bench")


def _session(notes: Notes) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[turn % 2], "content": notes.text()} for turn in range(TURNS)]


def _measure(what: str, workspace: Workspace, notes: Notes, rounds: int) -> Figure:
    capture, save = _calls(workspace.as_member("swe-1"), notes, rounds)
    captures, saves = interleaved(capture, save, rounds=rounds)
    ratio = p99(captures) / p99(saves)
    return Figure(
        f"p99 of {rounds}, {what}",
        f"{p99(captures) * 1000:.2f} ms (p50 {p50(captures) * 1000:.2f})",
        f"a durable save: {p99(saves) * 1000:.2f} ms (p50 {p50(saves) * 1000:.2f})",
        f"{ratio:.2f} x",
        f"<= {AIM:g} x",
        ratio <= AIM,
    )


def _calls(member: TeamMemory, notes: Notes, rounds: int) -> tuple[Callable[[], object], Callable[[], object]]:
    sessions = iter([_session(notes) for _ in range(rounds)])
    texts = iter([notes.text() for _ in range(rounds)])
    numbers = count()

    def capture() -> object:
        return member.capture_session(next(sessions), session_id=f"s-{next(numbers)}", project="bench")

    def save() -> object:
        return member.save(next(texts), project="bench")

    return capture, save
