"""Moving a team: out into an archive, and in from one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from mycel.access.rules import require_operator
from mycel.access.scope import ReadScope, engine_scope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.long_work import require_wanted
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain.archive import ExportReport, Header, MemoryRecord, MoveReport, Record, Taken
from mycel.domain.archive_lines import kind_of
from mycel.domain.damage import DamagedRow
from mycel.domain.ids import MemberId
from mycel.domain.link import Link
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.policy import Policy
from mycel.domain.source import EventState, IngestionEvent, Source, Step
from mycel.domain.team import Caller
from mycel.errors import InvalidInput
from mycel.retrieval.terms import packed_terms
from mycel.services.archive_files import ArchiveWriter, new_file, open_archive
from mycel.services.archive_records import checked_archive
from mycel.services.import_records import Adopting, screened, weighed
from mycel.services.policies import Policies
from mycel.services.write import Writing

# Called with how many records are done.
Progress = Callable[[int], None]
# Small enough that other writers get in between, large enough that a commit is not what takes the time.
BATCH_RECORDS = 200
BATCH_LETTERS = 2_000_000


class Moving:
    def __init__(self, stores: Stores, clock: Clock, policies: Policies, writing: Writing) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._writing = writing

    def export(self, caller: Caller, file: Path, *, progress: Progress | None = None) -> ExportReport:
        """What the caller sees of its own team."""
        return self._export(caller, file, scope=read_scope(caller), progress=progress)

    def export_team(self, caller: Caller, file: Path, *, progress: Progress | None = None) -> ExportReport:
        """All of the team, private memories included."""
        require_operator(caller)
        return self._export(caller, file, scope=engine_scope(caller.team), progress=progress)

    def import_own(self, caller: Caller, file: Path, *, dry_run: bool = False) -> MoveReport:
        """Memories that stand, as new ones of the caller; what others wrote waits in the inbox."""
        with open_archive(file) as lines, self._stores.lease(caller.team) as store:
            header, records = checked_archive(lines, team=caller.team)
            adopting = Adopting(caller, header, self._writing, self._clock.now())
            outcome = _Outcome()
            for batch in _batches(records):
                require_wanted()
                outcome.add(batch, _adopted(store, adopting, outcome, batch, dry_run=dry_run))
            return MoveReport(team=caller.team, origin=header, counts=outcome.counts, dry_run=dry_run)

    def import_team(
        self, caller: Caller, file: Path, *, dry_run: bool = False, progress: Progress | None = None
    ) -> MoveReport:
        """Everything as the archive has it: ids, times, authors. A second time, or after a crash, it ends the same."""
        require_operator(caller)
        with open_archive(file) as lines, self._stores.lease(caller.team) as store:
            header, records = checked_archive(lines, team=caller.team)
            if not header.whole:
                raise InvalidInput("holds what one member saw; only the archive of a whole team is taken", field="file")
            policy = self._policies.of(caller.team)
            intake = _Intake(store, engine_scope(caller.team), policy, by=caller.member_id, dry_run=dry_run)
            intake.take_all(_batches(records), progress)
            return MoveReport(team=caller.team, origin=header, counts=intake.outcome.counts, dry_run=dry_run)

    def _export(self, caller: Caller, file: Path, *, scope: ReadScope, progress: Progress | None) -> ExportReport:
        header = Header(team=caller.team, made_by=caller.member_id, made_at=self._clock.now(), whole=scope.everything)
        with new_file(file) as opened, self._stores.lease(caller.team) as store:
            writer = ArchiveWriter(opened, header)
            done = 0

            def take(record: Record) -> None:
                nonlocal done
                writer.add(record)
                done += 1
                if done % BATCH_RECORDS == 0:
                    require_wanted()
                    if progress is not None:
                        progress(done)

            # First: a record that was written cannot be taken back.
            damaged = store.files.find_damaged_rows()
            store.archive.read(scope, take)
            return replace(writer.finish(), left_out=_left_out(damaged, whole=scope.everything))


def _left_out(damaged: Sequence[DamagedRow], *, whole: bool) -> tuple[str, ...]:
    """Name the damaged rows; a member may not see all of them, and learns how many the team has."""
    if not damaged or whole:
        return tuple(row.text for row in damaged)
    rows = "1 row" if len(damaged) == 1 else f"{len(damaged)} rows"
    return (f"{rows} of the team cannot be read, and may have been yours to see",)


# As it was given, screened (None where nothing of it can be kept), and its words.
_Prepared = tuple[Record, Record | None, PackedTerms | None]


class _Intake:
    """Takes batches into one store, and counts what became of them."""

    def __init__(self, store: Store, scope: ReadScope, policy: Policy, *, by: MemberId, dry_run: bool) -> None:
        self._store = store
        self._scope = scope
        self._policy = policy
        self._by = by
        self._dry_run = dry_run
        self.outcome = _Outcome()

    def take_all(self, batches: Iterable[Sequence[Record]], progress: Progress | None) -> None:
        """One after the other; while one is stored, the next is read and screened."""
        done = 0
        with ThreadPoolExecutor(1, "import") as storing:
            stored: Future[None] | None = None
            for batch in batches:
                require_wanted()
                prepared = self._prepared(batch)
                if stored is not None:
                    stored.result()
                stored = storing.submit(self._store_batch, prepared)
                done += len(batch)
                if progress is not None:
                    progress(done)
            if stored is not None:
                stored.result()

    def _prepared(self, batch: Sequence[Record]) -> list[_Prepared]:
        screened = [self._screened(record) for record in batch]
        words = [packed_terms(one.present.memory) if isinstance(one, MemoryRecord) else None for one in screened]
        return list(zip(batch, screened, words, strict=True))

    def _store_batch(self, prepared: Sequence[_Prepared]) -> None:
        def work(transaction: Transaction) -> list[Taken]:
            return [taken for part in _parts(prepared) for taken in self._take(transaction, part)]

        self.outcome.add([given for given, _, _ in prepared], self._store.transact(work))

    def _screened(self, record: Record) -> Record | None:
        try:
            return screened(record, self._policy)
        except InvalidInput:
            return None

    def _take(self, transaction: Transaction, part: Sequence[_Prepared]) -> list[Taken]:
        """All are weighed before one is stored: a question sends every row that is waiting to the database alone."""
        found = [self._weighed(transaction, *one) for one in part]
        for taken, store in found:
            if taken in {Taken.NEW, Taken.UPDATED} and not self._dry_run:
                store()
        return [taken for taken, _ in found]

    def _weighed(
        self, transaction: Transaction, given: Record, record: Record | None, words: PackedTerms | None
    ) -> tuple[Taken, Callable[[], object]]:
        if self.outcome.lacks_an_end_of(given):
            return Taken.END, _nothing
        if record is None:
            return Taken.REFUSED, _nothing
        if record is not given and record != given:
            # What was approved here stays so when its archive comes back.
            taken, _ = weighed(transaction, self._scope, given, by=self._by)
            if taken is Taken.UNCHANGED:
                return taken, _nothing
        if isinstance(record, IngestionEvent) and Step.DELIVER in record.steps and record.state is not EventState.DONE:
            return Taken.SENDING, _nothing
        return weighed(transaction, self._scope, record, by=self._by, words=words)


def _nothing() -> None: ...


def _parts(prepared: Sequence[_Prepared]) -> Iterator[Sequence[_Prepared]]:
    """What may be weighed together: memories without a key, since none of them decides what becomes of another."""
    for alike, group in groupby(prepared, key=lambda one: _stands_by_itself(one[0])):
        several = list(group)
        yield from [several] if alike else ([one] for one in several)


def _stands_by_itself(record: Record) -> bool:
    return isinstance(record, MemoryRecord) and record.present.memory.key is None


class _Outcome:
    """What became of the records so far."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[Taken]] = {}
        self._absent: set[str] = set()

    def add(self, batch: Sequence[Record], outcomes: Sequence[Taken]) -> None:
        for record, taken in zip(batch, outcomes, strict=True):
            self.counts.setdefault(kind_of(record), Counter())[taken] += 1
            # Of these nothing stands here; what was left out for another reason does.
            if isinstance(record, MemoryRecord) and taken.left_out and taken not in {Taken.NEWER, Taken.OTHER}:
                self._absent.add(record.present.memory.id)

    def lacks_an_end_of(self, record: Record) -> bool:
        return isinstance(record, Link) and not self._absent.isdisjoint((record.from_id, record.to_id))


def _adopted(
    store: Store, adopting: Adopting, outcome: _Outcome, batch: Sequence[Record], *, dry_run: bool
) -> list[Taken]:
    prepared = [Taken.END if outcome.lacks_an_end_of(one) else adopting.prepare(one) for one in batch]

    def work(transaction: Transaction) -> list[Taken]:
        return [
            one if isinstance(one, Taken) else adopting.store(transaction, one, dry_run=dry_run) for one in prepared
        ]

    return store.transact(work)


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Links in batches of their own: what they link was counted by then."""
    batch: list[Record] = []
    letters = 0
    for record in records:
        full = len(batch) == BATCH_RECORDS or letters > BATCH_LETTERS
        if batch and (full or isinstance(record, Link) != isinstance(batch[-1], Link)):
            yield batch
            batch, letters = [], 0
        batch.append(record)
        letters += _letters(record)
    if batch:
        yield batch


def _letters(record: Record) -> int:
    if isinstance(record, Source):
        return len(record.text)
    if isinstance(record, MemoryRecord):
        return sum(len(state.memory.content) for state in (record.present, *record.past))
    return 0
