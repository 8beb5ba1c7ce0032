"""Any order of concurrent upserts ends with the highest confidence on top, and no write is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from tests.reliability.inspection import damage_of
from tests.template import begin_anew

pytestmark = pytest.mark.each_database(slow=True)

ROOT = Path(__file__).parents[2]
PROCESSES = 8


@contextmanager
def writers(data: Path, folder: Path, *, seed: int, writes: int) -> Iterator[list[Path]]:
    """Eight processes that begin at the same moment and have all ended afterwards."""
    start, notes = folder / "start", [folder / f"notes-{number}" for number in range(PROCESSES)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.knowledge_process"]
            + [str(part) for part in (data, file, start, f"swe-{number}", seed * 100 + number, writes)],
            cwd=ROOT,
        )
        for number, file in enumerate(notes)
    ]
    try:
        deadline = time.monotonic() + 60
        while not all(file.exists() and file.stat().st_size for file in notes):
            assert time.monotonic() < deadline, "the processes never got ready"
            time.sleep(0.01)
        start.touch()
        assert [process.wait(60) for process in processes] == [0] * PROCESSES
        yield notes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def race(folder: Path, *, seed: int, writes: int) -> None:
    begin_anew()
    folder.mkdir()
    data = folder / "data"
    with open_workspace(data) as workspace:
        workspace.add_team("builders")
        for number in range(PROCESSES):
            workspace.add_member(f"swe-{number}", team="builders")
    with writers(data, folder, seed=seed, writes=writes) as notes:
        told = [json.loads(line) for file in notes for line in file.read_text().splitlines() if line != "ready"]
    with open_workspace(data) as workspace:
        check_told(workspace.as_operator("builders"), told)
    assert damage_of(data, "builders") == []


def check_told(memory: Any, told: list[list[Any]]) -> None:
    standing = memory.knowledge.get(project="p", key="k")
    assert standing.confidence == max(confidence for _, confidence, *_ in told)
    versions = memory.knowledge.history(standing.id)
    confidences = [version.memory.confidence for version in versions]
    assert confidences == sorted(confidences)
    waiting: list[Any] = []
    cursor: str | None = None
    while True:
        page = memory.knowledge.candidates(project="p", key="k", cursor=cursor)
        waiting += page
        cursor = page.next_cursor
        if cursor is None:
            break
    for one in waiting:
        assert [(link.relation, link.to_id) for link in memory.links(one.id)] == [("contradicts", standing.id)]
    kept = [(version.memory.content, version.memory.confidence) for version in versions]
    kept += [(one.content, one.confidence) for one in waiting]
    assert sorted(kept) == sorted((value, confidence) for value, confidence, *_ in told)
    # What each writer was told is what anybody reads now.
    known = {(version.memory.content, version.memory.version): "active" for version in versions}
    known |= {(one.content, one.version): "inbox" for one in waiting}
    assert {(value, version): status for value, _, _, version, status in told} == known


def test_any_order_of_upserts_ends_with_the_surest_and_loses_none(tmp_path: Path) -> None:
    race(tmp_path / "round", seed=1, writes=12)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_many_rounds_of_upserts_lose_none(tmp_path: Path) -> None:
    for seed in range(2, 22):
        race(tmp_path / f"round-{seed}", seed=seed, writes=20 + seed)
