"""Under load, nothing but SQLite closes a descriptor of a database that is open: seen from outside, by strace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability import descriptors
from tests.reliability.descriptors import Watched
from tests.reliability.test_shared_files import check, run_load

pytestmark = pytest.mark.skipif(descriptors.missing() is not None, reason=str(descriptors.missing()))

STORES = r"\.sqlite(-shm)?$"


def test_nothing_closes_a_descriptor_next_to_sqlite(tmp_path: Path) -> None:
    data = tmp_path / "data"
    load = run_load(data, callers=3, programs=2, seconds=2.0, watch=lambda name: descriptors.command(tmp_path / name))
    check(data, load)
    outputs = list(tmp_path.glob("*.strace"))
    assert len(outputs) == 4
    for output in outputs:
        seen = Watched(output, STORES)
        assert seen.harmful == []
        if not output.name.startswith("http"):
            assert seen.locks > 100, output.name
            assert seen.closes > 4, output.name


PLAIN_READ = """
import sys, mycel
with mycel.open(sys.argv[1]) as workspace:
    workspace.as_operator().save("A note.")
    open(sys.argv[1] + "/teams/executive/memory.sqlite-shm", "rb").read(100)
    workspace.as_operator().save("Another note.")
"""


def test_a_plain_read_next_to_sqlite_is_seen(tmp_path: Path) -> None:
    """The control."""
    output = tmp_path / "one.strace"
    line = [*descriptors.command(output), sys.executable, "-c", PLAIN_READ, str(tmp_path / "data")]
    subprocess.run(line, check=True)
    assert [one.partition(": ")[2].partition("<")[0] for one in Watched(output, STORES).harmful] != []
