"""Waiting for a call that may never return."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 20.0
ResultT = TypeVar("ResultT")


def ends(call: Callable[[], ResultT]) -> ResultT:
    """Within the patience of somebody who waits for it; the thread of one that never does is left behind."""
    failures: list[BaseException] = []
    results: list[ResultT] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive(), "it never returns"
    if failures:
        raise failures[0]
    return results[0]
