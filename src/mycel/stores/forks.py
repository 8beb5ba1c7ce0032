"""A store belongs to the process that opened it."""

from __future__ import annotations

import os

from mycel.errors import Misconfigured


def require_process(id: int) -> None:
    """Locks of files, connections and our threads do not survive a fork."""
    if os.getpid() != id:
        raise Misconfigured("a workspace cannot be used across a fork: open it in the new process")
