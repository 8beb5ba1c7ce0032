"""Puts a backup in the place of a workspace, on files or in a database, while nobody works on it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mycel.contracts.clock import SystemClock
from mycel.domain.backup import Backup, Restored, RestorePlan
from mycel.errors import InvalidInput
from mycel.services.backup_files import Report, check_backup, copy_backup
from mycel.services.restore import empty, keep_taken_away, note_kept, plan_restore
from mycel.services.transfer import Side, transfer
from mycel.settings import Settings
from mycel.storage import backups_of, open_side
from mycel.stores.layout import is_unused
from mycel.stores.sqlite import restored
from mycel.stores.sqlite.database import Disk

Confirm = Callable[[RestorePlan], None]


def restore_workspace(
    settings: Settings, folder: Path, *, confirm: Confirm | None = None, report: Report | None = None
) -> Restored:
    """All of it, or nothing where the backup is damaged or `confirm` raises; the old is kept.

    Nobody may work on the workspace meanwhile: whoever calls holds the lock of its service.
    """
    found = check_backup(folder, report=report)
    if not found.is_sound:
        raise InvalidInput(f"is damaged and cannot be restored: {'; '.join(found.problems)}", field="backup")
    new = restored.new_files(settings.data)
    try:
        copy_backup(folder, new, report=report)
        if settings.database_url is None:
            return _restore_files(settings, found.backup, new, confirm)
        return _restore_rows(settings, found.backup, new, confirm)
    finally:
        if not restored.is_pending(settings.data):
            restored.forget_new_files(settings.data)


def _restore_files(settings: Settings, backup: Backup, new: Path, confirm: Confirm | None) -> Restored:
    old = restored.kept_files(settings.data)
    with _opened(new) as then:
        if is_unused(settings.data):
            plan = _agreed(plan_restore(backup, then, None), confirm)
        else:
            with open_side(settings) as now:
                plan = _agreed(plan_restore(backup, then, now), confirm)
                keep_taken_away(then, now)
            note_kept(then, str(old.resolve()))
    kept = restored.put_in_place(settings.data, kept=old)
    return Restored(plan=plan, kept=None if kept is None else str(kept))


def _restore_rows(settings: Settings, backup: Backup, new: Path, confirm: Confirm | None) -> Restored:
    with _opened(new) as then, open_side(settings) as now:
        plan = _agreed(plan_restore(backup, then, now), confirm)
        kept = backups_of(settings, now, SystemClock(), Disk()).keep_present()
        keep_taken_away(then, now)
        empty(now, but=then.state())
        transfer(then, now, replace=True)
    return Restored(plan=plan, kept=kept.folder)


def _agreed(plan: RestorePlan, confirm: Confirm | None) -> RestorePlan:
    if confirm is not None:
        confirm(plan)
    return plan


@contextmanager
def _opened(folder: Path) -> Generator[Side]:
    """The files of the backup as a workspace; those of an earlier version are brought to this one."""
    with open_side(replace(Settings(), data=folder)) as side:
        yield side
