"""How many file handles the service gets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mycel.surfaces.http.serving import most_streams

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit per process")
PROGRAM = """
import resource, sys
from mycel.surfaces.http.serving import raise_handle_limit
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (200, min(hard, int(sys.argv[1])) if hard > 0 else int(sys.argv[1])))
print(raise_handle_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize("hard", [200, 900])
def test_it_takes_as_many_as_the_system_allows(hard: int) -> None:
    made = subprocess.run([sys.executable, "-c", PROGRAM, str(hard)], capture_output=True, text=True, check=True)
    assert made.stdout.split() == [str(hard)] * 3


def test_streams_leave_handles_for_the_rest() -> None:
    assert [most_streams(handles, wanted=5000) for handles in (20_000, 900, 1)] == [5000, 300, 1]
