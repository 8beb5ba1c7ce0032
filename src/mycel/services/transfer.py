"""Moving a workspace from one database to another: row by row, compared afterwards, and the old side left as it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import NamedTuple

from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.contracts.tables import Row, Table, Tables, Take
from mycel.domain.damage import DamagedRow
from mycel.domain.ids import TeamName
from mycel.domain.team import OPERATOR
from mycel.domain.transfer import ORGANISATION, Outcome, PartMoved, TransferReport
from mycel.errors import Conflict, StoreDamaged, Unavailable

# The name of the part, and how many rows of how many are done.
Report = Callable[[str, int, int], None]
_HASH_BYTES = 16
_MOST = 1 << 8 * _HASH_BYTES


class Side(NamedTuple):
    """One of the two databases."""

    directory: Directory
    stores: Stores

    @contextmanager
    def tables(self, name: str) -> Generator[Tables]:
        if name == ORGANISATION:
            yield self.directory.tables
        else:
            with self.stores.lease(TeamName(name)) as store:
                yield store.tables

    def close(self) -> None:
        self.stores.close()
        self.directory.close()

    def find_damaged_rows(self) -> dict[str, list[DamagedRow]]:
        """Look through every row of each part."""
        found = {ORGANISATION: self.directory.files.find_damaged_rows()}
        for team in self.stores.teams_with_store():
            with self.stores.lease(team) as store:
                found[team] = store.files.find_damaged_rows()
        return found

    def state(self) -> dict[str, tuple[int, int]]:
        """Of each part, what changes when it is written to: the end of its log, and how many rows it has."""
        found = {ORGANISATION: (self.directory.revision(), self.directory.tables.count())}
        for team in self.stores.teams_with_store():
            with self.stores.lease(team) as store:
                found[team] = (store.log.last_sequence(), store.tables.count())
        return found


def transfer(source: Side, target: Side, *, replace: bool = False, report: Report | None = None) -> TransferReport:
    """Part after part, each all or nothing; what is there already and the same is left, so a second try goes on.

    Raises `Conflict` where the target has something else; with `replace`, that is dropped there first.
    """
    for damage in source.stores.damages():
        if not damage.rows:
            raise StoreDamaged(damage.message)
    # First: what was passed on cannot be taken back, and what is counted must be what is read.
    left_out = tuple(f"{name}: {row.text}" for name, rows in source.find_damaged_rows().items() for row in rows)
    before = source.state()
    others = sorted(name for name, (_, rows) in target.state().items() if rows and name not in before)
    if others:
        raise Conflict(f"the other side has teams of its own: {', '.join(others)}")
    parts = tuple(_Move(name, source, target, report).run(replace=replace) for name in before)
    after = source.state()
    return TransferReport(
        parts=parts,
        written_meanwhile=tuple(name for name, state in after.items() if before.get(name) != state),
        left_out=left_out,
    )


class _Move:
    """Of one part."""

    def __init__(self, name: str, source: Side, target: Side, report: Report | None) -> None:
        self._name = name
        self._source = source
        self._target = target
        self._report = report

    def run(self, *, replace: bool) -> PartMoved:
        there = self._digest(self._target)
        if there.rows:
            here = self._digest(self._source)
            if here.is_same(there):
                return self._told(Outcome.ALREADY_THERE, here)
            if not replace and not (self._name == ORGANISATION and _is_fresh(self._target)):
                raise Conflict(f"{self._name} is on the other side already, and is not the same there")
        return self._told(Outcome.MOVED, self._copy())

    def _copy(self) -> _Digest:
        sent = _Digest()
        with self._source.tables(self._name) as old, self._target.tables(self._name) as new:
            whole = old.count()

            def read(take: Take) -> None:
                # Asked for again, it begins again.
                sent.clear()

                def pass_on(table: Table, rows: Sequence[Row]) -> None:
                    sent.take(table, rows)
                    take(table, rows)
                    if self._report is not None:
                        self._report(self._name, sent.rows, whole)

                old.read(pass_on)

            new.replace(read)
        if not self._digest(self._target).is_same(sent):
            raise Unavailable(f"{self._name} does not read on the other side as it was written: begin again")
        return sent

    def _digest(self, side: Side) -> _Digest:
        found = _Digest()
        with side.tables(self._name) as tables:
            tables.read(found.take)
        return found

    def _told(self, outcome: Outcome, digest: _Digest) -> PartMoved:
        return PartMoved(name=self._name, outcome=outcome, rows=digest.rows, checksum=digest.checksum)


def _is_fresh(side: Side) -> bool:
    """Whether nobody has done more than open it."""
    directory = side.directory
    members = [member.id for member in directory.list_members()]
    return not side.stores.teams_with_store() and members == [OPERATOR] and not directory.list_tokens()


class _Digest:
    """How many rows there are, and a sum over all of them that is the same in whatever order they come."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.rows = 0
        self._sum = 0

    def take(self, table: Table, rows: Sequence[Row]) -> None:
        # Databases may have the columns in another order.
        order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
        self.rows += len(rows)
        for row in rows:
            said = repr((table.name, [row[place] for place in order]))
            self._sum += int.from_bytes(blake2b(said.encode(errors="surrogatepass"), digest_size=_HASH_BYTES).digest())
        self._sum %= _MOST

    @property
    def checksum(self) -> str:
        return f"{self._sum:0{2 * _HASH_BYTES}x}"

    def is_same(self, other: _Digest) -> bool:
        return (self.rows, self.checksum) == (other.rows, other.checksum)
