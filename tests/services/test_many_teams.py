"""A thousand teams in one process that may open only 256 files, and what happens after a fork."""

import subprocess
import sys
from pathlib import Path

import pytest

MANY_TEAMS = """
import os, resource, sys, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from mycel.app import open_workspace
from mycel.stores.sqlite.database import Disk

TEAMS = int(sys.argv[2])
folder = Path(sys.argv[1])
org = folder / "org" / "teams"
org.mkdir(parents=True)
for number in range(TEAMS):
    (org / f"team-{number}.md").write_text(f"---\\nmembers: [swe-{number}]\\n---\\n")
most = 0
done = threading.Event()

def watch():
    global most
    while not done.wait(0.01):
        most = max(most, len(os.listdir("/proc/self/fd")))

# What is stored is not in question here, and a thousand syncs would take most of the time.
with open_workspace(folder / "data", disk=Disk(synchronous="OFF")) as workspace:
    workspace.load_org(org)
    watcher = threading.Thread(target=watch)
    watcher.start()

    def write(number):
        workspace.as_member(f"swe-{number}").save(f"note of team {number}")

    def read(number):
        [memory] = workspace.as_member(f"swe-{number}").list()
        assert memory.content == f"note of team {number}", memory
        assert workspace.as_member(f"swe-{number}").search("note").hits

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(TEAMS)))
        list(pool.map(read, range(0, TEAMS, 10)))
    done.set()
    watcher.join()
assert len(list((folder / "data" / "teams").glob("*/memory.sqlite"))) == TEAMS
assert 20 < most < 256, most
print("handles", most, "after closing", len(os.listdir("/proc/self/fd")))
assert len(os.listdir("/proc/self/fd")) < 10
"""

FORK = """
import os, signal, sys
from mycel.app import open_workspace
from mycel.errors import Misconfigured

workspace = open_workspace(sys.argv[1])
workspace.add_member("swe-1", team="executive")
member = workspace.as_member("swe-1")
member.save("before")
calls = {
    "save": lambda: member.save("in the child"),
    "list": lambda: member.list(),
    "as_member": lambda: workspace.as_member("swe-1").list(),
    "add_team": lambda: workspace.add_team("squad"),
}
child = os.fork()
if child == 0:
    signal.alarm(5)
    try:
        calls[sys.argv[2]]()
    except Misconfigured as error:
        os._exit(0 if "fork" in str(error) else 3)
    except BaseException:
        os._exit(4)
    os._exit(5)
_, status = os.waitpid(child, 0)
assert status == 0, f"the child ended with {status}"
member.save("after")
assert len(member.list()) == 2
workspace.close()
"""


def run(script: str, *arguments: str, timeout: float = 60) -> str:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files through /proc")
@pytest.mark.parametrize("teams", [260, pytest.param(1000, marks=pytest.mark.proof)])
def test_many_more_teams_than_file_handles_live_with_256_of_them(tmp_path: Path, teams: int) -> None:
    assert "handles" in run(MANY_TEAMS, str(tmp_path), str(teams))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.each_database(slow=True)
@pytest.mark.parametrize("call", ["save", "list", "as_member", "add_team"])
def test_a_workspace_refuses_to_work_across_a_fork(tmp_path: Path, call: str) -> None:
    run(FORK, str(tmp_path), call, timeout=20)
