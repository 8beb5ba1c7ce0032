"""A process that saves until its time is up or it is killed, and notes each acknowledged id in a file."""

import os
import sys
import threading
import time
from pathlib import Path

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace


def main(data: str, notes: str, threads: str, seconds: str, *teams: str) -> None:
    """Whatever a caller is told that is not an acknowledgement is noted as well, as FAILED."""
    # One write of one line: it is in the kernel's hands before the next save begins, so a kill cannot lose it.
    handle = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    ends_at = time.monotonic() + float(seconds)
    try:
        workspace = open_workspace(Path(data))
        for team in teams:
            workspace.add_team(team)
    except Exception as error:
        os.write(handle, f"FAILED {error!r}\n".encode())
        raise
    writers = [
        threading.Thread(target=_save, args=(workspace, teams[number % len(teams)], handle, ends_at))
        for number in range(int(threads))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    workspace.close()


def _save(workspace: Workspace, team: str, handle: int, ends_at: float) -> None:
    memory = workspace.as_operator(team)
    while time.monotonic() < ends_at:
        try:
            saved = memory.save(f"written by {os.getpid()} at {time.monotonic_ns()}", tags=["kill"])
            os.write(handle, f"{team} {saved.id} 1\n".encode())
            if saved.id[-1] in "0123":
                changed = memory.update(saved.id, content=f"{saved.content}, then changed")
                os.write(handle, f"{team} {changed.id} {changed.version}\n".encode())
        except Exception as error:
            os.write(handle, f"FAILED {error!r}\n".encode())
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
