"""Where a workspace keeps its rows, on files or in a Postgres database: opened, backed up, moved, kept by its owner."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from mycel.contracts.clock import Clock, SystemClock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.errors import Misconfigured, install_command
from mycel.services.backups import Backups, BackupSettings
from mycel.services.transfer import Side, transfer
from mycel.settings import Settings
from mycel.stores.layout import BACKUPS_FOLDER
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import open_data_directory

if TYPE_CHECKING:
    from mycel.domain.transfer import TransferReport
    from mycel.services.transfer import Report
    from mycel.stores.postgres.condition import Condition


def open_stores(settings: Settings, *, clock: Clock, disk: Disk) -> tuple[Directory, Stores]:
    if settings.database_url is None:
        return open_data_directory(settings.data, clock=clock, disk=disk, limit=settings.max_open_stores)
    with _driver():
        from mycel.stores.postgres.pool import open_database
    return open_database(settings.database_url, clock=clock, trust_login=settings.database_login == "trusted")


@contextmanager
def open_side(settings: Settings) -> Generator[Side]:
    """The stores alone, without anything that works on them."""
    side = Side(*open_stores(settings, clock=SystemClock(), disk=Disk()))
    try:
        yield side
    finally:
        side.close()


def backups_of(settings: Settings, side: Side, clock: Clock, disk: Disk) -> Backups:
    every = None if settings.backup_every_hours is None else timedelta(hours=settings.backup_every_hours)
    chosen = BackupSettings(settings.backup_folder or settings.data / BACKUPS_FOLDER, every, settings.backups_kept)
    on_files = settings.database_url is None
    return Backups(
        side,
        clock,
        chosen,
        open_files=None if on_files else lambda folder: Side(*open_data_directory(folder, clock=clock, disk=disk)),
    )


def transfer_workspace(source: Settings, target: Settings, *, replace: bool, report: Report | None) -> TransferReport:
    """From the database of one to that of the other; each is that of its data directory where it names none."""
    with open_side(source) as old, open_side(target) as new:
        return transfer(old, new, replace=replace, report=report)


def migrate_database(url: str) -> tuple[int, int]:
    """Makes or migrates the tables, as the owner who logs in so; the versions before and after."""
    with _driver():
        from mycel.stores.postgres.condition import examine
        from mycel.stores.postgres.schema import migrate
    before = examine(url).schema
    migrate(url)
    return before, examine(url).schema


def index_database(url: str) -> int:
    """Makes the vector indexes of large teams, as the owner who logs in so; how many there are now."""
    with _driver():
        from mycel.stores.postgres import vector_scan
        from mycel.stores.postgres.vector_index import index_large_teams
    return index_large_teams(url, above=vector_scan.EXACT_ROWS)


def publish_database(url: str, *, to: str | None) -> bool:
    """As the owner: publishes the changes of each team to a role of the database, or to nobody; whether that is new."""
    with _driver():
        from mycel.stores.postgres.published_changes import end_publishing, publish_changes
    return end_publishing(url) if to is None else publish_changes(url, to=to)


def examine_database(settings: Settings) -> Condition:
    with _driver():
        from mycel.stores.postgres.condition import examine
    if settings.database_url is None:
        raise Misconfigured("the workspace is on files: MYCEL_DATABASE_URL names a database")
    return examine(settings.database_url)


@contextmanager
def _driver() -> Generator[None]:
    try:
        yield
    except ImportError as error:
        raise Misconfigured(f"a workspace on Postgres needs its driver: {install_command('postgres')}") from error
