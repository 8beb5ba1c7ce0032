"""The note beside a damaged store's file: a restart must not forget what was found."""

from __future__ import annotations

import contextlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mycel.stores.sqlite.file_guard import Identity, identity_of

ENDING = ".damaged"
MAX_BYTES = 10_000


class Noted(NamedTuple):
    """`file` is the one that was damaged: another in its place may be sound.

    `is_loss`: writes are gone, and what is left of the file is sound.
    """

    problem: str
    since: datetime
    file: Identity | None
    is_loss: bool = False


def marker_of(path: Path) -> Path:
    return path.with_name(path.name + ENDING)


def note(path: Path, problem: str, since: datetime, *, is_loss: bool) -> None:
    """As well as it can be done: on a full or broken disk the damage is found again after a restart."""
    content = {"problem": problem, "since": since.isoformat(), "file": identity_of(path), "is_loss": is_loss}
    with contextlib.suppress(OSError):
        marker_of(path).write_text(json.dumps(content), "utf-8")


def find(path: Path) -> Noted | None:
    try:
        with marker_of(path).open("rb") as file:
            content: dict[str, Any] = json.loads(file.read(MAX_BYTES))
        known = content["file"]
        identity = None if known is None else Identity(int(known[0]), int(known[1]))
        since = datetime.fromisoformat(str(content["since"]))
        return Noted(str(content["problem"]), since, identity, is_loss=bool(content["is_loss"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        # Whatever has become of the note, somebody wrote it.
        return Noted("a check found damage", datetime.fromtimestamp(_written_at(path)).astimezone(), None)


def remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        marker_of(path).unlink()


def _written_at(path: Path) -> float:
    try:
        return marker_of(path).stat().st_mtime
    except OSError:
        return 0.0
