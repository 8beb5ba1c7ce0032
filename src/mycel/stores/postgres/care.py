"""What there is to look after where the files are the server's."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from mycel.domain.damage import Damage, DamagedRow
from mycel.errors import Misconfigured
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.session import ReadSession
from mycel.stores.sql.checks import find_inconsistency


def refuse_backup() -> NoReturn:
    raise Misconfigured("a workspace on Postgres is backed up with the tools of Postgres: pg_dump, or its archives")


class PostgresCare:
    """See `contracts.file_care.FileCare`."""

    is_damaged = False

    def __init__(self, session: ReadSession, database: Database, *, name: str) -> None:
        self.name = name
        self._session = session
        self._database = database

    def backup(self, folder: Path) -> NoReturn:
        refuse_backup()

    def check(self) -> list[str]:
        return self._session.run(find_inconsistency)

    def damage(self) -> Damage | None:
        return None

    @property
    def damaged_rows(self) -> Damage | None:
        return self._database.row_damage(self.name).damage

    def find_damaged_rows(self) -> list[DamagedRow]:
        return self._database.row_damage(self.name).find()

    def is_readable(self) -> bool:
        return True

    def scrub(self) -> int:
        """What was purged leaves the server's files when it vacuums and its logs are recycled; nobody can tell when."""
        return 0

    def save_index(self, model: str, *, dimensions: int) -> None:
        """The index is the database's own."""
