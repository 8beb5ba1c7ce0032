"""Making backups of a whole workspace while it is in use, by hand or on a schedule, and keeping the last of them."""

from __future__ import annotations

import itertools
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from pathlib import Path

from mycel.access.rules import require_operator
from mycel.contracts.clock import Clock
from mycel.contracts.long_work import report_progress
from mycel.contracts.store import Store, Transaction
from mycel.domain import fields
from mycel.domain.archive import BackupNote
from mycel.domain.backup import Backup, BackupCheck
from mycel.domain.team import Caller
from mycel.errors import InvalidInput, MycelError, StoreDamaged
from mycel.services.backup_files import (
    Report,
    check_backup,
    find_backups,
    new_backup,
    remove_backup,
    write_manifest,
)
from mycel.services.screening import refuse_secret
from mycel.services.transfer import Side, transfer

# How soon a scheduled one that failed is tried again.
RETRY = timedelta(minutes=10)
# Looked at so often at least: the clock may have been set.
LOOK_SECONDS = 600.0
CLOSING_SECONDS = 5.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SCHEDULED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z(?:-[0-9]+)?")

_log = logging.getLogger("mycel.backups")

# Opens a folder as the data directory of a workspace on files.
OpenFiles = Callable[[Path], Side]


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """Where backups go that nobody names a place for; how often one is made by itself, and how many of those stay."""

    folder: Path
    every: timedelta | None = None
    kept: int = 7


class Backups:
    """`open_files` is for a workspace that has no files of its own: its rows are copied into such."""

    def __init__(
        self, side: Side, clock: Clock, settings: BackupSettings, *, open_files: OpenFiles | None = None
    ) -> None:
        self._side = side
        self._clock = clock
        self._settings = settings
        self._open_files = open_files
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def create(self, caller: Caller, folder: Path, *, report: Report | None = None) -> Backup:
        """Into a folder that is new or empty."""
        require_operator(caller)
        return self._create(folder.absolute(), report)

    def create_named(self, caller: Caller, name: object = None) -> Backup:
        """In the folder of the settings; without a name, named after the moment."""
        require_operator(caller)
        return self._create(self._place(self._new_name() if name is None else name), None)

    def keep_present(self) -> Backup:
        """Before another state takes its place."""
        return self._create(self._settings.folder / self._new_name("before-restore-"), None)

    def list(self, caller: Caller, folder: Path | None = None) -> list[Backup]:
        require_operator(caller)
        return find_backups(self._settings.folder if folder is None else folder)

    def check(self, caller: Caller, folder: Path, *, report: Report | None = None) -> BackupCheck:
        require_operator(caller)
        return check_backup(folder, report=report)

    def check_named(self, caller: Caller, name: object) -> BackupCheck:
        require_operator(caller)
        return check_backup(self._place(name))

    def start(self) -> None:
        """Makes backups by itself from now on, if the settings say so."""
        if self._settings.every is not None and self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="mycel-backups", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)

    def run_due(self) -> Backup | None:
        """The scheduled one, if its time has come; those that are too many go afterwards."""
        if self._wait_for_next() > timedelta():
            return None
        made = self._create(self._settings.folder / self._new_name(), None)
        self._prune()
        return made

    def _create(self, target: Path, report: Report | None) -> Backup:
        self._require_sound()
        made_at, location = self._clock.now(), str(target.resolve())
        try:
            with new_backup(target) as unfinished:
                self._copy(unfinished, location)
                manifest = write_manifest(unfinished, made_at=made_at, report=report)
        except BaseException:
            self._forget(location)
            raise
        rows = self._side.find_damaged_rows()
        damaged = tuple(f"{name}: {row.text}" for name, found in rows.items() for row in found)
        return replace(manifest.describe(target), damaged=damaged)

    def _copy(self, folder: Path, location: str) -> None:
        # First: a store that is made meanwhile is found by its file, but one that is noted and has none is lost.
        if self._open_files is None:
            self._side.directory.files.backup(folder)
        # Noted before it begins and until it ends: a memory purged meanwhile may or may not be in it.
        teams = self._side.stores.teams_with_store()
        for number, team in enumerate(teams):
            report_progress(number, len(teams))
            with self._side.stores.lease(team) as store:
                begun = _note(store, location)
                if self._open_files is None:
                    store.files.backup(folder)
                    _note(store, location, begun=begun)
        if self._open_files is not None:
            self._copy_rows(self._open_files, folder, location)

    def _copy_rows(self, open_files: OpenFiles, folder: Path, location: str) -> None:
        side = open_files(folder)
        kind = Path(side.directory.files.name).suffix
        try:
            transfer(self._side, side)
        finally:
            side.close()
        for beside in folder.rglob("*"):
            # What a store keeps beside its database, emptied by now or made again.
            if beside.is_file() and beside.suffix != kind:
                beside.unlink()
        for team in self._side.stores.teams_with_store():
            with self._side.stores.lease(team) as store:
                begun = next((note for note in store.archive.backup_notes() if note.location == location), None)
                _note(store, location, begun=begun)

    def _require_sound(self) -> None:
        """A copy that lacks a team, or has its damage, must not be taken for a backup."""
        own = self._side.directory.files.damage()
        for damage in [*([] if own is None else [own]), *self._side.stores.damages()]:
            # Rows that cannot be read are in the copy as they are, and named with it.
            if not damage.rows:
                raise StoreDamaged(damage.message)

    def _forget(self, location: str) -> None:
        for team in self._side.stores.teams_with_store():
            try:
                with self._side.stores.lease(team) as store:
                    if any(note.location == location for note in store.archive.backup_notes()):
                        store.transact(lambda transaction: transaction.archive.forget_backup(location))
            except MycelError as error:
                # Its receipts name one backup too many, which is the safe side.
                _log.warning("team %s: %s", team, error)

    def _place(self, name: object) -> Path:
        text = fields.label(name, field="name")
        if not _NAME.fullmatch(text):
            raise InvalidInput("must be letters, digits, `.`, `_` and `-`, at most 100", field="name")
        refuse_secret(text, field="name")
        return self._settings.folder / text

    def _new_name(self, kind: str = "") -> str:
        """Named after the moment, and numbered after the first of a second."""
        moment = kind + self._clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        names = itertools.chain([moment], (f"{moment}-{number}" for number in itertools.count(2)))
        return next(name for name in names if not (self._settings.folder / name).exists())

    def _scheduled(self) -> list[Backup]:
        return [one for one in find_backups(self._settings.folder) if _SCHEDULED.fullmatch(one.name)]

    def _wait_for_next(self) -> timedelta:
        now, every = self._clock.now(), self._settings.every or timedelta()
        # One from after now was made by a clock that has been set back since.
        last = max((one.made_at for one in self._scheduled() if one.made_at and one.made_at <= now), default=None)
        return timedelta() if last is None else max(timedelta(), last + every - now)

    def _prune(self) -> None:
        sound = [one for one in self._scheduled() if one.made_at is not None]
        for old in sound[self._settings.kept :]:
            remove_backup(Path(old.folder))
            self._forget(str(Path(old.folder).resolve()))
            _log.info("backup %s was removed: %d newer ones are kept", old.name, self._settings.kept)

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                if (made := self.run_due()) is not None:
                    _log.info("backup %s was made: %d bytes", made.name, made.size_bytes)
                wait = self._wait_for_next()
            except MycelError as error:
                _log.error("no backup was made: %s", error)
                wait = RETRY
            except Exception:  # noqa: BLE001 - the next one must be made all the same
                _log.exception("no backup was made")
                wait = RETRY
            self._closing.wait(min(LOOK_SECONDS, max(1.0, wait.total_seconds())))


def _note(store: Store, location: str, *, begun: BackupNote | None = None) -> BackupNote:
    """That it has begun or, where that is given, ended."""

    def work(transaction: Transaction) -> BackupNote:
        now = transaction.committed_at
        note = BackupNote(location, now, None) if begun is None else replace(begun, finished_at=now)
        transaction.archive.put_backup_note(note)
        return note

    return store.transact(work)
