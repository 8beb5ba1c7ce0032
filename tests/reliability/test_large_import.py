"""However large a file is, importing it takes the memory of a few of its records."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MIB = 1024 * 1024
# A conversation of this size is held a few times over while it is read, screened and stored.
TALK_BYTES = 256 * 1024
MOST_MIB = 160


def conversation(number: int) -> dict[str, Any]:
    """Plain words, said in turns."""
    line = f"In step {number} the worker reads the queue, and the cache is filled again from the store. "
    nodes: dict[str, Any] = {}
    for turn in range(16):
        content = {"content_type": "text", "parts": [line * (TALK_BYTES // 16 // len(line))]}
        message = {"author": {"role": "user" if turn % 2 else "assistant"}, "content": content, "create_time": turn}
        nodes[f"n{turn}"] = {
            "id": f"n{turn}",
            "parent": f"n{turn - 1}",
            "children": [f"n{turn + 1}"],
            "message": message,
        }
    return {"id": f"c-{number}", "title": f"Talk {number}", "current_node": "n15", "mapping": nodes}


def write(path: Path, size: int) -> int:
    """How many conversations it took."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < size:
            file.write(("," if number else "") + json.dumps(conversation(number)))
            number += 1
        file.write("]")
    return number


def imported(path: Path, data: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.reliability.import_process", str(path), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYCEL_EMBEDDER": "none"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "size", [48 * MIB, pytest.param(1024 * MIB, marks=[pytest.mark.proof, pytest.mark.timeout(3000)])]
)
def test_a_large_export_is_imported_in_bounded_memory(tmp_path: Path, size: int) -> None:
    count = write(tmp_path / "conversations.json", size)
    found = imported(tmp_path / "conversations.json", tmp_path / "data")
    assert (found["taken"], found["read"]) == (count, count)
    assert found["mib"] < MOST_MIB
