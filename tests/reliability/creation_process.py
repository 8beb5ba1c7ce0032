"""Makes or upgrades a store again and again, killed before the first statement, the second, and so on.

Each attempt is a fork of this one process, which has no threads: starting an interpreter each time would take
minutes. Prints one line per kill: how many statements came before, and what was found after reopening.
"""

import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import apsw

from mycel.app import open_workspace
from mycel.stores.migrate import Migration
from mycel.stores.sqlite import database
from tests.reliability.inspection import find_damage, team_file

TEAM = "builders"
LATER_STEPS = (
    Migration(0, "notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY); INSERT INTO notes VALUES (1), (2);"),
    Migration(0, "shout", "ALTER TABLE notes ADD COLUMN loud TEXT; UPDATE notes SET loud = 'yes';"),
    Migration(0, "index", "CREATE INDEX notes_by_loud ON notes (loud);"),
)


def main(folder: str, kind: str, stride: str) -> None:
    start, data = Path(folder) / "start", Path(folder) / "data"
    # Also loads what is loaded on first use, so that not every fork has to.
    _fill(start)
    if kind == "new":
        shutil.rmtree(start)
        start.mkdir()
    _expect_later_steps()
    for statements in range(0, 10_000, int(stride)):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(start, data)
        outcome = _fork(lambda: _save(data, kill_after=statements))  # noqa: B023 - it runs at once
        if outcome == 0:
            break
        if outcome != -signal.SIGKILL:
            _tell(f"{statements} ended with {outcome}")
        found = _fork(lambda: _reopen(data, expected=20 if kind == "upgrade" else 0))
        _tell(f"{statements} {'resumed' if found == 0 else 'NOT RESUMED'}")


def _expect_later_steps() -> None:
    real = database.migrations

    def with_later(package: str, schema: str) -> tuple[Migration, ...]:
        steps = real(package, schema)
        later = (replace(step, number=steps[-1].number + place) for place, step in enumerate(LATER_STEPS, start=1))
        return (*steps, *later)

    database.migrations = with_later


def _fork(work) -> int:
    """What became of the work: 0, or the negative number of the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - told to the test
            _tell(f"FAILED {error!r}")
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fill(data: Path) -> None:
    with open_workspace(data) as workspace:
        workspace.add_team(TEAM)
        memory = workspace.as_operator(TEAM)
        for number in range(20):
            memory.save(f"kept {number}")


def _save(data: Path, *, kill_after: int) -> None:
    left = [kill_after]

    def count(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    with open_workspace(data) as workspace:
        workspace.add_team(TEAM)
        workspace.as_operator(TEAM).save("the first")


def _reopen(data: Path, *, expected: int) -> None:
    with open_workspace(data) as workspace:
        workspace.add_team(TEAM)
        memory = workspace.as_operator(TEAM)
        kept = [found for found in memory.list(limit=100) if found.content.startswith("kept")]
        assert len(kept) == expected, kept
        saved = memory.save("after the kill")
        assert memory.get(saved.id).content == "after the kill"
        assert workspace.check() == {}
    connection = apsw.Connection(str(team_file(data, TEAM)))
    assert connection.pragma("user_version") == len(database.migrations("mycel.stores.sqlite", "team"))
    assert connection.execute("SELECT count(*), count(loud) FROM notes").fetchall() == [(2, 2)]
    connection.close()
    assert find_damage(team_file(data, TEAM)) == []


def _tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
