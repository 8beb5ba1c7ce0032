"""The file of one agent's working memory in one session: whole or not there, and read by nobody else."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.ids import MemberId
from mycel.domain.working_memory import MAX_TOTAL_BYTES, WorkingState, read_key, read_value
from mycel.durable_file import replace_file, sync_folder
from mycel.errors import InvalidInput, Misconfigured, StorageFull

FORMAT = "mycel-working-memory"
VERSION = 1


class Refused(Exception):
    """Why a snapshot is not loaded; never quotes it."""


def encode(state: WorkingState, *, agent_id: MemberId, session_id: str) -> bytes:
    content = {
        "agent_id": agent_id,
        "session_id": session_id,
        "updated_at": state.updated_at.isoformat(),
        "current_plan": state.current_plan,
        "active_constraints": state.active_constraints,
        "task_context": {key: state.value(key) for key in state.values},
        "scratchpad": state.scratchpad,
    }
    line = json.dumps(content, ensure_ascii=False).encode()
    about = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(line).hexdigest()}
    return b"%s\n%s\n" % (json.dumps(about).encode(), line)


def decode(content: bytes, *, agent_id: MemberId, session_id: str) -> WorkingState:
    """Checked as if it were written anew, so that no file can bring in what a write could not."""
    first, _, second = content.partition(b"\n")
    about = _object(first)
    version = about.get("version")
    if about.get("format") != FORMAT or not isinstance(version, int) or version < 1:
        raise Refused("it is not a snapshot of a working memory")
    if version > VERSION:
        raise Refused("a newer version of Mycel has written it")
    if about.get("sha256") != hashlib.sha256(second.removesuffix(b"\n")).hexdigest():
        raise Refused("it is damaged")
    found = _object(second)
    if (found.get("agent_id"), found.get("session_id")) != (agent_id, session_id):
        raise Refused("it is that of another agent or session")
    try:
        return _state(found)
    except InvalidInput as error:
        raise Refused(f"it holds what no working memory does: {error}") from None


def _state(found: dict[str, Any]) -> WorkingState:
    state = WorkingState(updated_at=fields.moment(found.get("updated_at"), field="updated_at"))
    state = state.with_plan(found.get("current_plan"))
    for constraint in _list(found, "active_constraints"):
        state = state.with_constraint(constraint)
    context = found.get("task_context")
    if not isinstance(context, dict):
        raise InvalidInput("must be an object", field="task_context")
    for key, value in cast(dict[str, object], context).items():
        state = state.with_value(read_key(key), read_value(value))
    for note in _list(found, "scratchpad"):
        state = state.with_note(note)
    return state


def _list(found: dict[str, Any], name: str) -> list[object]:
    value = found.get(name)
    if not isinstance(value, list):
        raise InvalidInput("must be a list", field=name)
    return cast(list[object], value)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    # Also what is nested too deeply to be read.
    except (ValueError, RecursionError):
        raise Refused("it is damaged") from None
    if not isinstance(found, dict):
        raise Refused("it is damaged")
    return cast(dict[str, Any], found)


FOLDER = "working"
# Twice what is kept leaves room for the punctuation of every list.
MAX_FILE_BYTES = 2 * MAX_TOTAL_BYTES
# A write takes far less, so that what is older was left by a process that was killed.
STALE_SECONDS = 600.0
_UNREADABLE = re.compile(r"[^a-z0-9]+")
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HAS_MODES = os.name == "posix"


@dataclass(frozen=True, slots=True)
class Loaded:
    state: WorkingState | None = None
    problem: str | None = None


class WorkingSnapshot:
    def __init__(self, data: Path, *, agent_id: MemberId, session_id: str) -> None:
        self._agent_id = agent_id
        self._session_id = session_id
        self._folders = (data / FOLDER, data / FOLDER / safe_name(agent_id))
        self.path = self._folders[-1] / f"{safe_name(session_id)}.jsonl"

    def save(self, state: WorkingState) -> Path:
        content = encode(state, agent_id=self._agent_id, session_id=self._session_id)
        with self._translated("written"):
            self._make_folders()
            replace_file(self.path, content, mode=0o600)
        return self.path

    def load(self) -> Loaded:
        """What cannot be trusted is not loaded but moved aside; this never raises."""
        try:
            self._require_real_folders()
        except Misconfigured as error:
            return Loaded(problem=f"{self.path} was not looked for: {error}")
        # What a killed process left does no harm where it cannot be removed.
        with contextlib.suppress(OSError):
            self._remove_unfinished(older_than=STALE_SECONDS)
        try:
            content = self._read()
            return Loaded(state=decode(content, agent_id=self._agent_id, session_id=self._session_id))
        except FileNotFoundError:
            return Loaded()
        except (OSError, Refused) as error:
            return Loaded(problem=f"{self.path} was not loaded: {_reason(error)}; {self._set_aside()}")

    def remove(self) -> None:
        with self._translated("removed"):
            self._require_real_folders()
            self.path.unlink(missing_ok=True)
            self._remove_unfinished()
            if self.path.parent.exists():
                sync_folder(self.path.parent)

    def _read(self) -> bytes:
        if self.path.is_symlink():
            raise Refused("it is a symbolic link")
        handle = os.open(self.path, _READ)
        try:
            _require_own(os.fstat(handle))
            with open(handle, "rb", closefd=False) as file:
                return file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(handle)

    def _set_aside(self) -> str:
        aside = self.path.with_name(f"{self.path.name}.refused-{os.urandom(4).hex()}")
        try:
            self.path.rename(aside)
        except OSError as error:
            return f"it could not be moved aside: {error.strerror}"
        return f"it is now {aside.name}"

    def _make_folders(self) -> None:
        own = self._folders[-1]
        missing = [folder for folder in (own, *own.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._require_real_folders()
        for folder in self._folders:
            if _HAS_MODES and stat.S_IMODE(folder.stat().st_mode) & 0o077:
                folder.chmod(0o700)
        for folder in missing:
            sync_folder(folder.parent)

    def _require_real_folders(self) -> None:
        """A link in their place would lead to files of somebody else's."""
        for folder in self._folders:
            if folder.is_symlink():
                raise Misconfigured(f"{folder} is a symbolic link: put a folder there")

    def _remove_unfinished(self, *, older_than: float = 0.0) -> None:
        latest = time.time() - older_than
        for file in self.path.parent.glob(f".{self.path.name}.*"):
            with contextlib.suppress(FileNotFoundError):
                if file.lstat().st_mtime <= latest:
                    file.unlink()

    @contextlib.contextmanager
    def _translated(self, done: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
                raise StorageFull("the disk is full: make room, then retry; no snapshot was taken") from None
            raise Misconfigured(f"{self.path} cannot be {done}: {error.strerror}") from None


def safe_name(id: str) -> str:
    """A name that every file system takes; two ids that differ only in case, or a little, have two."""
    readable = _UNREADABLE.sub("-", id.lower())[:40].strip("-")
    return f"{readable or 'id'}-{hashlib.sha256(id.encode()).hexdigest()[:32]}"


def _require_own(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused("it is not a plain file")
    if _HAS_MODES and stat.S_IMODE(status.st_mode) & 0o077:
        raise Refused("its mode lets others read or write it")
    if _HAS_MODES and status.st_uid != os.geteuid():
        raise Refused("it is owned by another user")
    if status.st_size > MAX_FILE_BYTES:
        raise Refused(f"it is larger than {MAX_FILE_BYTES:,} bytes")


def _reason(error: OSError | Refused) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error)
