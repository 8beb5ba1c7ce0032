"""Teams, members and tokens on Postgres, in transactions that name no team."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage, DamagedRow
from mycel.domain.ids import MemberId
from mycel.errors import Misconfigured
from mycel.stores.postgres.care import refuse_backup
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import ORGANISATION, Database
from mycel.stores.postgres.schema import schema_version
from mycel.stores.postgres.session import ReadSession
from mycel.stores.postgres.tables import PostgresTables
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.damaged_rows import Exclusion
from mycel.stores.sql.directory import SqlDirectoryReads, SqlDirectoryWriter
from mycel.stores.sql.tables import OF_ORGANISATION

ResultT = TypeVar("ResultT")

# Locks the row, so that one writer follows the other.
_RAISE = "UPDATE organisation SET revision = revision + 1 RETURNING revision"
_COUNT = """
    INSERT INTO request_counts (node, member_id, requests)
    SELECT %s, member_id, requests FROM unnest(%s::text[], %s::bigint[]) AS given (member_id, requests)
    ON CONFLICT (node, member_id) DO UPDATE SET requests = excluded.requests, counted_at = excluded.counted_at"""
# A node that counts does so every second; what is older was taken note of.
_COUNTED = """
    SELECT member_id, sum(requests) FROM request_counts
    WHERE node <> %s AND member_id = ANY (%s) AND counted_at > clock_timestamp() - interval '1.5 seconds'
    GROUP BY member_id"""


class PostgresDirectory(SqlDirectoryReads):
    """See `contracts.directory.Directory`."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        super().__init__(ReadSession(database, ORGANISATION, clock))
        self._database = database
        self._clock = clock
        self.files = DirectoryCare(database)
        self.tables = PostgresTables(database, ORGANISATION, OF_ORGANISATION)

    def transact(self, work: Callable[[SqlDirectoryWriter], ResultT]) -> ResultT:
        def write(exclusion: Exclusion | None) -> ResultT:
            def run(connection: PostgresConnection) -> ResultT:
                connection.lock(_RAISE)
                connection.exclusion = exclusion
                return work(SqlDirectoryWriter(connection, now=self._clock.now()))

            return self._database.write(ORGANISATION, run)

        exclusion = self._database.exclusion(ORGANISATION)
        try:
            return write(exclusion)
        except Exception as error:
            more = self._database.row_damage(ORGANISATION).explain(error, exclusion)
            if more is None:
                raise
        return write(more)

    def revision(self) -> int:
        return self._database.read(ORGANISATION, _revision)

    def share_requests(self, node: str, counts: Mapping[MemberId, int]) -> Mapping[MemberId, int]:
        def run(connection: PostgresConnection) -> dict[MemberId, int]:
            connection.raw.execute(_COUNT, (node, list(counts), list(counts.values())))
            rows = connection.raw.execute(_COUNTED, (node, list(counts))).fetchall()
            return {MemberId(member): int(requests) for member, requests in rows}

        # Nothing that is looked up has changed: the revision stays.
        return self._database.write(ORGANISATION, run)

    def require_ready(self) -> None:
        if self._database.read(ORGANISATION, lambda connection: schema_version(connection.raw)).pending():
            raise Misconfigured("the schema of the database is older than this Mycel")

    def close(self) -> None:
        self._database.close()


class DirectoryCare:
    """See `contracts.file_care.Files`."""

    name = "organisation"

    def __init__(self, database: Database) -> None:
        self._database = database

    def backup(self, folder: Path) -> NoReturn:
        refuse_backup()

    def check(self) -> list[str]:
        return []

    def damage(self) -> Damage | None:
        return None

    @property
    def damaged_rows(self) -> Damage | None:
        return self._database.row_damage(ORGANISATION).damage

    def find_damaged_rows(self) -> list[DamagedRow]:
        return self._database.row_damage(ORGANISATION).find()


def _revision(connection: Connection) -> int:
    return connection.execute("SELECT revision FROM organisation").fetchone()[0]
