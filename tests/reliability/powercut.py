"""A power-cut simulator for SQLite: records what reaches the disk, then rebuilds what a cut could leave.

A `RecordingDisk` is a VFS over the default one. Connections opened through it work as always (WAL, many
connections and threads); every write, truncate, sync, creation, deletion and acknowledgement goes into one
ordered log. A cut picks a position in that log and decides by chance what the medium holds:

- What a completed sync of a file covers is there, exactly. A sync covers what was written before it *began*.
- Later writes to that file may all be there, or none, a beginning, all but one, any subset, in any order, by
  whole writes, 4096-byte pages or 512-byte sectors. One of them may be torn inside a sector: new bytes up to
  a point, then old bytes or rubbish. Bytes that no write touched stay as they were; SQLite is told the same
  by the default VFS (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`).
- Later truncates may or may not have happened. A file may have grown without its bytes: zeros fill the gap.
- Names are durable once their folder is synced. SQLite does that with the first sync of each journal or WAL
  it opens, and with deletions that ask for it; this covers every name in the folder. Until then a created
  file may be missing and a deleted or replaced one may be back, each name on its own.
- The `-shm` file is rebuilt by recovery and is never part of a state, nor are temporary files.

What the model leaves out: other files than SQLite's; folders made for the store, and database files put in
place past SQLite, which are taken as durable when SQLite opens them; other processes; disks that lie about a
sync; and decay of bytes already synced.
"""

# ruff: noqa: N802 (SQLite names the methods of a VFS)

import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path, PurePath
from random import Random
from types import TracebackType
from typing import Generic, Self, TypeVar

import apsw

Payload = TypeVar("Payload")

_JOURNAL_KINDS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL
_DURABLE_KINDS = _JOURNAL_KINDS | apsw.SQLITE_OPEN_MAIN_DB

# The last stands for whole writes: larger than any single write of SQLite.
_GRANULARITIES = (512, 4096, 1 << 30)
_SECTOR = 512

# A quiet disk takes about this long; other threads must get the chance to run while a sync is under way.
_SYNC_SECONDS = 0.0003


@dataclass(frozen=True, slots=True)
class _Created:
    path: str
    inode: int


@dataclass(frozen=True, slots=True)
class _Deleted:
    path: str


@dataclass(frozen=True, slots=True)
class _Written:
    inode: int
    offset: int
    chunk: bytes


@dataclass(frozen=True, slots=True)
class _Truncated:
    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class _Synced:
    inode: int
    began_at: int


@dataclass(frozen=True, slots=True)
class _FolderSynced:
    folder: PurePath
    began_at: int


@dataclass(frozen=True, slots=True)
class _Acknowledged:
    pass


_Change = _Written | _Truncated
_Event = _Created | _Deleted | _Written | _Truncated | _Synced | _FolderSynced | _Acknowledged


class _Log:
    """The ordered events of one disk. The caller holds `lock` around the real operation and its entry."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.lock = threading.Lock()
        self.events: list[_Event] = []
        self.contents_at_start: dict[str, tuple[int, bytes]] = {}
        self._inode_by_path: dict[str, int] = {}
        self._number_by_path: dict[str, int] = {}
        self._inodes_made = 0

    def relative(self, path: str) -> str:
        resolved = Path(path).resolve()
        if not resolved.is_relative_to(self.root):
            # Left unrecorded it would survive every cut, and the test would prove less than it seems to.
            raise ValueError(f"{path} is outside the recorded folder {self.root}")
        return resolved.relative_to(self.root).as_posix()

    def look_at(self, path: str) -> None:
        """Notice what happened to a name past SQLite: the file was there already, was removed or replaced."""
        relative, exists = self.relative(path), Path(path).exists()
        number = Path(path).stat().st_ino if exists else None
        if relative in self._inode_by_path and self._number_by_path[relative] != number:
            self.delete(path)
        if exists and relative not in self._inode_by_path:
            self._adopt(relative, path)

    def open(self, path: str) -> int:
        relative = self.relative(path)
        if relative not in self._inode_by_path:
            self.events.append(_Created(relative, self._new_inode(relative, path)))
        return self._inode_by_path[relative]

    def delete(self, path: str) -> None:
        relative = self.relative(path)
        del self._inode_by_path[relative]
        self.events.append(_Deleted(relative))

    def sync_folder_of(self, path: str, *, began_at: int) -> None:
        self.events.append(_FolderSynced(PurePath(self.relative(path)).parent, began_at))

    def _adopt(self, relative: str, path: str) -> None:
        is_news = relative in self._number_by_path
        inode, content = self._new_inode(relative, path), Path(path).read_bytes()
        if not is_news:
            self.contents_at_start[relative] = (inode, content)
            return
        self.events += [_Created(relative, inode), _Written(inode, 0, content)]
        self.events.append(_Synced(inode, len(self.events)))
        self.sync_folder_of(path, began_at=len(self.events))

    def _new_inode(self, relative: str, path: str) -> int:
        self._inodes_made += 1
        self._inode_by_path[relative] = self._inodes_made
        self._number_by_path[relative] = Path(path).stat().st_ino
        return self._inodes_made


class _RecordedFile(apsw.VFSFile):
    def __init__(self, log: _Log, sync_seconds: float, name: str | apsw.URIFilename, flags: list[int]) -> None:
        self._log = log
        self._sync_seconds = sync_seconds
        self._path = _path_of(name)
        # As the unix VFS does: it asks whether creation was allowed, not whether it happened.
        self._owes_folder_sync = bool(flags[0] & _JOURNAL_KINDS and flags[0] & apsw.SQLITE_OPEN_CREATE)
        with log.lock:
            log.look_at(self._path)
            super().__init__("", name, flags)
            self._inode = log.open(self._path)

    def xWrite(self, data: bytes, offset: int) -> None:
        with self._log.lock:
            super().xWrite(data, offset)
            self._log.events.append(_Written(self._inode, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        with self._log.lock:
            super().xTruncate(newsize)
            self._log.events.append(_Truncated(self._inode, newsize))

    def xSync(self, flags: int) -> None:
        # The real disk is not synced: only the log decides what survives.
        with self._log.lock:
            began_at = len(self._log.events)
        time.sleep(self._sync_seconds)
        with self._log.lock:
            self._log.events.append(_Synced(self._inode, began_at))
            if self._owes_folder_sync:
                self._log.sync_folder_of(self._path, began_at=began_at)
                self._owes_folder_sync = False


class _RecordingVfs(apsw.VFS):
    def __init__(self, name: str, log: _Log, sync_seconds: float) -> None:
        self._log = log
        self._sync_seconds = sync_seconds
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if name is None or not flags[0] & _DURABLE_KINDS:
            return apsw.VFSFile("", name, flags)
        return _RecordedFile(self._log, self._sync_seconds, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        with self._log.lock:
            self._log.look_at(filename)
            super().xDelete(filename, False)
            self._log.delete(filename)
            if syncdir:
                self._log.sync_folder_of(filename, began_at=len(self._log.events))


def _path_of(name: str | apsw.URIFilename) -> str:
    return name if isinstance(name, str) else name.filename()


@dataclass(frozen=True, slots=True)
class State(Generic[Payload]):
    """What the disk held after one cut; `RecordingDisk.cut` makes it again from position and seed."""

    position: int
    seed: int
    acknowledged: tuple[Payload, ...] = field(repr=False)
    contents: dict[str, bytearray] = field(repr=False)

    def write_to(self, folder: Path) -> None:
        """Lay the files out as they lay under the root of the disk; the folder must be new or empty."""
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileExistsError(f"{folder} is not empty: what lies there would mix with the state")
        for relative, content in self.contents.items():
            target = folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


class RecordingDisk(Generic[Payload]):
    """Registers a VFS under `name` that records all SQLite files, which must lie under `root`."""

    def __init__(self, root: Path, *, name: str = "powercut", sync_seconds: float = _SYNC_SECONDS) -> None:
        if name in apsw.vfs_names():
            raise ValueError(f"a VFS named {name} is registered already")
        self.name = name
        self._log = _Log(root)
        self._acknowledged: list[Payload] = []
        self._vfs = _RecordingVfs(name, self._log, sync_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unregister the VFS; the log stays and states can still be made."""
        # What a failed test left open would otherwise be collected in a cycle with its VFS, and call into
        # an object already emptied.
        for connection in apsw.connections():
            if connection.open_vfs == self.name:
                connection.close()
        self._vfs.unregister()

    def mark(self, payload: Payload) -> None:
        """Record that a caller was told of success just now."""
        with self._log.lock:
            self._log.events.append(_Acknowledged())
            self._acknowledged.append(payload)

    @property
    def end(self) -> int:
        """The last position of a cut: all recorded events have happened."""
        return len(self._log.events)

    def states(self, *, count: int, random: Random) -> Iterator[State[Payload]]:
        """Cut `count` times, more often where much was at risk; in the order of the log."""
        with self._log.lock:
            events = tuple(self._log.events)
        positions = random.choices(range(len(events) + 1), weights=_risk_by_position(events), k=count)
        medium = _Medium(self._log.contents_at_start)
        acknowledged = 0
        for position in sorted(positions):
            acknowledged += medium.advance(events, to=position)
            yield self._state(medium, seed=random.getrandbits(32), acknowledged=acknowledged)

    def cut(self, *, at: int, seed: int) -> State[Payload]:
        """Cut after the first `at` events."""
        medium = _Medium(self._log.contents_at_start)
        acknowledged = medium.advance(self._log.events, to=at)
        return self._state(medium, seed=seed, acknowledged=acknowledged)

    def _state(self, medium: "_Medium", *, seed: int, acknowledged: int) -> State[Payload]:
        told = tuple(self._acknowledged[:acknowledged])
        return State(medium.position, seed, told, medium.survivors(Random(seed)))


def _risk_by_position(events: Sequence[_Event]) -> list[int]:
    """Weights for the cut positions: nothing unsynced 1, something 4, several files or much in one 12."""
    unsynced: dict[int, list[int]] = {}
    weights = [1]
    for position, event in enumerate(events):
        if isinstance(event, _Written | _Truncated):
            unsynced.setdefault(event.inode, []).append(position)
        elif isinstance(event, _Synced) and event.inode in unsynced:
            waiting = unsynced.pop(event.inode)
            if later := waiting[bisect_left(waiting, event.began_at) :]:
                unsynced[event.inode] = later
        weights.append(_risk(unsynced))
    return weights


def _risk(unsynced: dict[int, list[int]]) -> int:
    if not unsynced:
        return 1
    return 12 if len(unsynced) > 1 or any(len(waiting) > 8 for waiting in unsynced.values()) else 4


class _Fate(Enum):
    NOTHING = auto()
    EVERYTHING = auto()
    BEGINNING = auto()
    ALL_BUT_ONE = auto()
    SUBSET = auto()
    SHUFFLED = auto()


@dataclass(slots=True)
class _Inode:
    durable: bytearray
    pending: list[tuple[int, _Change]] = field(default_factory=list[tuple[int, _Change]])

    def sync(self, *, before: int) -> None:
        covered = bisect_left(self.pending, before, key=lambda entry: entry[0])
        for _, change in self.pending[:covered]:
            _apply(change, self.durable)
        del self.pending[:covered]


@dataclass(slots=True)
class _Name:
    """Which inode a path leads to: the durable answer, and the later ones that a cut may or may not keep."""

    durable: int | None = None
    pending: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])

    def sync(self, *, before: int) -> None:
        while self.pending and self.pending[0][0] < before:
            self.durable = self.pending.pop(0)[1]

    def survivor(self, common: _Fate | None, random: Random) -> int | None:
        answers = [self.durable, *(inode for _, inode in self.pending)]
        if common is None:
            return random.choice(answers)
        return answers[0] if common is _Fate.NOTHING else answers[-1]


class _Medium:
    """Plays the log forward once, keeping durable and pending apart, so that many cuts cost one replay."""

    def __init__(self, contents_at_start: dict[str, tuple[int, bytes]]) -> None:
        self.position = 0
        self._inodes = {inode: _Inode(bytearray(content)) for inode, content in contents_at_start.values()}
        self._names = {path: _Name(inode) for path, (inode, _) in contents_at_start.items()}

    def advance(self, events: Sequence[_Event], *, to: int) -> int:
        """Play up to the position; returns how many acknowledgements were passed."""
        acknowledged = 0
        for position in range(self.position, to):
            event = events[position]
            acknowledged += isinstance(event, _Acknowledged)
            self._play(event, position)
        self.position = to
        return acknowledged

    def _play(self, event: _Event, position: int) -> None:
        match event:
            case _Written(inode=inode) | _Truncated(inode=inode):
                self._inodes[inode].pending.append((position, event))
            case _Synced(inode=inode, began_at=began_at):
                self._inodes[inode].sync(before=began_at)
            case _Created(path=path, inode=inode):
                self._inodes[inode] = _Inode(bytearray())
                self._names.setdefault(path, _Name()).pending.append((position, inode))
            case _Deleted(path=path):
                self._names[path].pending.append((position, None))
            case _FolderSynced(folder=folder, began_at=began_at):
                for path, name in self._names.items():
                    if PurePath(path).parent == folder:
                        name.sync(before=began_at)
            case _Acknowledged():
                pass

    def survivors(self, random: Random) -> dict[str, bytearray]:
        # Whole-disk extremes come first: files that each draw their own fate would hardly ever meet in them.
        common = random.choices((_Fate.NOTHING, _Fate.EVERYTHING, None), weights=(1, 1, 8))[0]
        contents: dict[str, bytearray] = {}
        for path, name in self._names.items():
            fate = common or random.choice(list(_Fate))
            chosen = name.survivor(common, random)
            if chosen is not None:
                inode = self._inodes[chosen]
                contents[path] = _survivor(inode.durable, [change for _, change in inode.pending], fate, random)
        return contents


def _survivor(durable: bytearray, changes: list[_Change], fate: _Fate, random: Random) -> bytearray:
    content = bytearray(durable)
    if not changes:
        return content
    for change in _kept(changes, fate, random):
        _apply(change, content)
    if fate is not _Fate.EVERYTHING and random.random() < 0.5:
        grown = _length_after(changes, len(durable))
        content.extend(bytes(max(0, grown - len(content))))
    return content


def _kept(changes: list[_Change], fate: _Fate, random: Random) -> list[_Change]:
    granularity = random.choice(_GRANULARITIES)
    match fate:
        case _Fate.NOTHING:
            return []
        case _Fate.EVERYTHING:
            return changes
        case _Fate.BEGINNING:
            whole = random.randrange(len(changes))
            return [*changes[:whole], *_torn(changes[whole], random)]
        case _Fate.ALL_BUT_ONE:
            lost = random.randrange(len(changes))
            rest = list(_pieces(changes[lost], granularity))
            if rest:
                del rest[random.randrange(len(rest))]
            return [*changes[:lost], *rest, *changes[lost + 1 :]]
        case _Fate.SUBSET | _Fate.SHUFFLED:
            share = random.choice((0.05, 0.5, 0.95))
            pieces = (piece for change in changes for piece in _pieces(change, granularity))
            kept = [piece for piece in pieces if random.random() < share]
            if fate is _Fate.SHUFFLED:
                random.shuffle(kept)
            if kept and random.random() < 0.5:
                at = random.randrange(len(kept))
                kept[at : at + 1] = _torn(kept[at], random)
            return kept


def _pieces(change: _Change, granularity: int) -> Iterator[_Change]:
    """Split a write where sectors of the medium meet, not where the write begins."""
    if isinstance(change, _Truncated):
        yield change
        return
    start, end = change.offset, change.offset + len(change.chunk)
    while start < end:
        stop = min(end, (start // granularity + 1) * granularity)
        yield _Written(change.inode, start, change.chunk[start - change.offset : stop - change.offset])
        start = stop


def _torn(change: _Change, random: Random) -> list[_Change]:
    """The write stopped inside a sector; the rest of that sector is as before or rubbish."""
    if isinstance(change, _Truncated):
        return [change] if random.random() < 0.5 else []
    done = random.randrange(len(change.chunk) + 1)
    rubbish = b""
    if random.random() < 0.5:
        left_in_sector = -(change.offset + done) % _SECTOR
        rubbish = random.randbytes(min(left_in_sector, len(change.chunk) - done))
    return [_Written(change.inode, change.offset, change.chunk[:done] + rubbish)]


def _apply(change: _Change, content: bytearray) -> None:
    if isinstance(change, _Truncated):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
        return
    if change.offset > len(content):
        content.extend(bytes(change.offset - len(content)))
    content[change.offset : change.offset + len(change.chunk)] = change.chunk


def _length_after(changes: Sequence[_Change], length: int) -> int:
    for change in changes:
        truncated = isinstance(change, _Truncated)
        length = change.size if truncated else max(length, change.offset + len(change.chunk))
    return length
