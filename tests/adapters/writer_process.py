"""One of several processes on the same file, item and session; run with a data directory, a number and a count."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from anthropic.lib.tools import ToolError

from mycel.adapters.anthropic_memory import MycelMemoryTool
from mycel.adapters.langgraph_store import MycelStore
from mycel.adapters.openai_session import MycelSession
from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.stores.sqlite.database import Disk


def work(memory: MemoryApi, number: int, rounds: int) -> list[int]:
    """Which files this one created."""
    tool, store, session = MycelMemoryTool(memory), MycelStore(memory), MycelSession("shared", memory)
    created: list[int] = []
    for turn in range(rounds):
        name = f"{number}-{turn}"
        try:
            tool.call({"command": "create", "path": f"/memories/{turn}", "file_text": name})
            created.append(turn)
        except ToolError as error:
            if "already exists" not in str(error):
                raise
        tool.call({"command": "insert", "path": "/memories/log", "insert_line": 0, "insert_text": name})
        store.put(("shared",), f"{turn}", {"by": name, "n": turn})
        asyncio.run(session.add_items([{"role": "user", "content": f"{name}-{place}"} for place in range(2)]))
    return created


def main(data: Path, number: int, rounds: int) -> None:
    with open_workspace(data, disk=Disk(synchronous="OFF")) as workspace:
        (data / "ready").touch()
        while not (data / "start").exists():
            time.sleep(0.001)
        created = work(workspace.as_member("swe-1"), number, rounds)
    sys.stdout.write(json.dumps(created))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
