"""Standard input, read without waiting for an agent that never closes it."""

from __future__ import annotations

import os
import sys

from mycel.surfaces.hooks.clock import Deadline

MOST_BYTES = 32 * 1024 * 1024
_CHUNK = 256 * 1024


def read_stdin(deadline: Deadline) -> bytes:
    """All of it or, when it does not end in time, what has come by then."""
    if sys.stdin is None:
        return b""
    source = sys.stdin.fileno()
    if sys.platform == "win32":
        return sys.stdin.buffer.read(MOST_BYTES)
    import select

    parts: list[bytes] = []
    size = 0
    while size < MOST_BYTES:
        ready, _, _ = select.select([source], [], [], max(0.0, deadline.left / 2))
        part = os.read(source, _CHUNK) if ready else b""
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
