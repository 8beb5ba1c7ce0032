"""Several callers at once."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(*work: Callable[[], object]) -> list[object]:
    """What each returned, or the error it raised."""
    ends: list[object] = [None] * len(work)
    start = threading.Barrier(len(work))

    def run(index: int) -> None:
        start.wait()
        try:
            ends[index] = work[index]()
        except Exception as error:  # noqa: BLE001
            ends[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends
