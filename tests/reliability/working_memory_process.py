"""An agent process with a working memory, for tests that end it in the ways processes end."""

import os
import signal
import sys
import threading
import time
from types import FrameType

from mycel import WorkingMemory


def count(data: str) -> None:
    """Saves larger and larger numbers until it is killed; each line names one that is saved."""
    memory = WorkingMemory("swe-1", data=data)
    number = int(memory.current_plan or 0)
    while True:
        number += 1
        memory.current_plan = str(number)
        memory.set_context("padding", str(number) * 5000)
        memory.snapshot()
        os.write(1, f"{number}\n".encode())


def wait(data: str, *, handled: str = "", thread: str = "") -> None:
    """Changes something after asking for a snapshot at the end, and waits."""

    def answer(number: int, frame: FrameType | None) -> None:
        os.write(1, b"handled\n")
        sys.exit(7)

    if handled:
        signal.signal(signal.SIGTERM, answer)
    memories = [WorkingMemory(agent, data=data) for agent in ("swe-1", "swe-2")]
    for memory in memories:
        if thread:
            asking = threading.Thread(target=memory.snapshot_on_exit)
            asking.start()
            asking.join()
        else:
            memory.snapshot_on_exit()
        memory.note("before the end")
    os.write(1, b"ready\n")
    if thread != "ends":
        time.sleep(60)


def write_without_pause(data: str) -> None:
    """The signal comes in the middle of a change or of a snapshot."""
    memory = WorkingMemory("swe-1", data=data)
    memory.snapshot_on_exit()

    def change() -> None:
        while True:
            memory.current_plan = str(time.monotonic_ns())

    threading.Thread(target=change, daemon=True).start()
    memory.snapshot()
    os.write(1, b"ready\n")
    number = 0
    while True:
        number += 1
        memory.set_context("number", number)
        memory.snapshot()


def fork(data: str) -> None:
    """A child made by a fork ends by SIGTERM, and by itself; neither is the agent."""
    memory = WorkingMemory("swe-1", data=data)
    memory.snapshot_on_exit()
    memory.note("of the parent")
    memory.snapshot()
    for ends_itself in (True, False):
        child = os.fork()
        if child == 0:
            memory.note("of the child")
            if ends_itself:
                sys.exit(0)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        os.waitpid(child, 0)
    os.write(1, repr(WorkingMemory("swe-1", data=data).scratchpad).encode() + b"\n")


if __name__ == "__main__":
    {"count": count, "wait": wait, "write": write_without_pause, "fork": fork}[sys.argv[1]](
        sys.argv[2], **dict(argument.split("=") for argument in sys.argv[3:])
    )
