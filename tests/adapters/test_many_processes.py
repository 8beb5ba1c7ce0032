"""Several processes on one file, one item and one session lose nothing and double nothing."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mycel.adapters.anthropic_memory import MycelMemoryTool
from mycel.adapters.langgraph_store import MycelStore
from mycel.adapters.openai_session import MycelSession
from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.stores.sqlite.database import Disk
from tests.adapters.writer_process import work

ROOT = Path(__file__).parents[2]
# This one and another.
PROCESSES, ROUNDS = 2, 25


def run_together(memory: MemoryApi, data: Path) -> list[list[int]]:
    """Which files each process created."""
    command = [sys.executable, "-m", "tests.adapters.writer_process", str(data), "1", str(ROUNDS)]
    other = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not (data / "ready").exists():
            assert time.monotonic() < deadline, "the process never got ready"
            time.sleep(0.01)
        (data / "start").touch()
        ours = work(memory, 0, ROUNDS)
        told, _ = other.communicate(timeout=60)
        assert other.returncode == 0
        return [ours, json.loads(told)]
    finally:
        other.kill()
        other.wait()


@pytest.mark.proof
def test_processes_on_the_same_things_lose_and_double_nothing(tmp_path: Path) -> None:
    names = {f"{number}-{turn}" for number in range(PROCESSES) for turn in range(ROUNDS)}
    with open_workspace(tmp_path, disk=Disk(synchronous="OFF")) as workspace:
        workspace.add_team("builders")
        workspace.add_member("swe-1", team="builders")
        memory = workspace.as_member("swe-1")
        tool, store, session = MycelMemoryTool(memory), MycelStore(memory), MycelSession("shared", memory)
        tool.call({"command": "create", "path": "/memories/log", "file_text": "end\n"})
        created = run_together(memory, tmp_path)

        assert sorted(turn for one in created for turn in one) == list(range(ROUNDS))
        for number, turns in enumerate(created):
            for turn in turns:
                shown = tool.call({"command": "view", "path": f"/memories/{turn}"})
                assert shown.endswith(f"\t{number}-{turn}")
        log = tool.call({"command": "view", "path": "/memories/log"}).split("\n")[1:]
        assert {line.split("\t")[1] for line in log} == {*names, "end", ""}

        assert sorted(item.key for item in store.search((), limit=100)) == sorted(map(str, range(ROUNDS)))
        for turn in range(ROUNDS):
            (item,) = memory.list(path=f"/store/shared/{turn}")
            assert len(memory.history(item.id)) == PROCESSES

        said = [item["content"] for item in asyncio.run(session.get_items())]
        assert sorted(said) == sorted(f"{name}-{place}" for name in names for place in range(2))
        pairs = [(said[index], said[index + 1]) for index in range(0, len(said), 2)]
        assert all(first[:-1] == second[:-1] for first, second in pairs)
