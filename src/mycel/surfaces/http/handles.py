"""File handles: each connection takes one, and many systems begin a program with few."""

from __future__ import annotations

# More than this only makes starting other programs slower.
ENOUGH_HANDLES = 65_536


def raise_handle_limit() -> int:
    """As far as the system allows it; how many this process may have from now on."""
    try:
        import resource
    except ImportError:  # Windows has no such limit per process.
        return ENOUGH_HANDLES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = ENOUGH_HANDLES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_HANDLES)
    if soft == resource.RLIM_INFINITY or soft >= allowed:
        return ENOUGH_HANDLES if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):
        # macOS allows less than it says.
        return soft
    return allowed


def most_streams(handles: int, *, wanted: int) -> int:
    """A third: the stores take up to half of them, and requests that come and go need theirs."""
    return max(1, min(wanted, handles // 3))
