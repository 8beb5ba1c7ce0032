"""Every error Mycel raises on purpose.

MycelError
├── InvalidInput      change the request
│   └── InvalidState     right in form, but not for what stands, or not together
│       └── AmbiguousId  name one of its `candidates`
├── NotFound          absent or hidden: the two look alike
│   ├── MemoryDamaged          it is there, and cannot be read any more
│   └── ReferenceNotFound      it is there, but not what the request refers to or takes it for
├── AccessDenied      seen, but not allowed
│   └── Unauthenticated  say who you are
├── Conflict          read again and retry
├── LimitExceeded     wait, or send less
│   └── TooLarge      send less
├── Unavailable       retry later
│   ├── StorageFull   make room on the disk first
│   └── StoreDamaged  restore the store first
└── Misconfigured     for the operator
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

# What every object of a workspace says, and says at once, when it is used after the end.
CLOSED = "the workspace is closed"
KEY_TAKEN = "another active memory of this project and category has the same key"


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this environment, by the tool that made the environment.

    The extra belongs to `mycel-memory`: `mycel` is another project's name in the index.
    """
    import tomllib
    from importlib.util import find_spec
    from pathlib import Path

    receipt = Path(sys.prefix, "uv-receipt.toml")
    if receipt.is_file():
        # An installed tool is made again from what the command names, so extras it already has are named again.
        installed: list[dict[str, Any]] = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
        present = (name for one in installed if one["name"] == "mycel-memory" for name in one.get("extras", ()))
        return f"uv tool install 'mycel-memory[{','.join(sorted({extra, *present}))}]'"
    # Environments that uv makes have no pip.
    installer = f"{sys.executable} -m pip install" if find_spec("pip") else f"uv pip install --python {sys.executable}"
    return f"{installer} 'mycel-memory[{extra}]'"


class MycelError(Exception):
    """Root of the tree. `code` is stable and safe to branch on; the text is for people."""

    code = "error"


class InvalidInput(MycelError):
    """The request is wrong; `field` names the part that must change."""

    code = "invalid_input"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.problem = message


class InvalidState(InvalidInput):
    """Each part is right by itself: what stands now, or another part, does not go with it."""

    code = "unfitting"


class Candidate(NamedTuple):
    """One of the memories that an ambiguous id may mean. The title is stored text: surfaces show it as such."""

    id: str
    title: str
    team: str


# Enough to choose from; an answer does not grow with the workspace.
MOST_CANDIDATES = 10


class AmbiguousId(InvalidState):
    """An id, or a part of one, names several memories that the caller may see: nothing was done to any of them."""

    code = "ambiguous"

    def __init__(self, message: str, *, field: str, candidates: Sequence[Candidate] = ()) -> None:
        super().__init__(message, field=field)
        self.candidates = tuple(candidates)


class NotFound(MycelError):
    """Also raised for what the caller may not see, so existence never leaks."""

    code = "not_found"


class MemoryDamaged(NotFound):
    """A stored value of it is broken: it can be deleted, purged or restored from a backup, but not read."""

    code = "memory_damaged"


class ReferenceNotFound(NotFound):
    """What the request is about is there; what it refers to beside, or takes it for, is absent or hidden."""

    code = "dangling"


class AccessDenied(MycelError):
    """The caller may see it but not do this to it, or did not prove who it is."""

    code = "access_denied"


class Unauthenticated(AccessDenied):
    """No token came along, or one that is unknown, expired or revoked."""

    code = "unauthenticated"


class Conflict(MycelError):
    """Somebody was faster, or the same key was used for something else."""

    code = "conflict"


class LimitExceeded(MycelError):
    """A bound that protects everyone was reached; waiting `retry_after` seconds helps, where that is known."""

    code = "limit_exceeded"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLarge(LimitExceeded):
    """No waiting helps: what was sent is larger than what is taken."""

    code = "too_large"


class Unavailable(MycelError):
    """Nothing is known to be stored; the same call may succeed after `retry_after` seconds."""

    code = "unavailable"

    def __init__(self, message: str, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageFull(Unavailable):
    """The disk has no room; reads go on, and writes work again once there is some."""

    code = "storage_full"


class StoreDamaged(Unavailable):
    """A store's files are damaged or gone: nothing is written until its operator has restored them."""

    code = "store_damaged"

    def __init__(self, message: str, *, retry_after: float = 60.0) -> None:
        super().__init__(message, retry_after=retry_after)


class Misconfigured(MycelError):
    """The installation needs its operator: a setting, a file or a version is wrong."""

    code = "misconfigured"
