"""One import: what a reader finds goes in batches through the operation that every client has, and is counted."""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any

from mycel.contracts.imports_api import ImportsApi
from mycel.domain.foreign_import import ForeignReport, ImportCount, ImportedRecord, ImportOutcome
from mycel.engine.imports.material import Material
from mycel.engine.imports.records import Found, Left, Related, Remembered, Talk, Warned
from mycel.engine.imports.registry import Form
from mycel.errors import InvalidInput, TooLarge

# Called with how many records are done.
Progress = Callable[[int], None]
BATCH_RECORDS = 500
BATCH_LETTERS = 4_000_000
TAKEN, SKIPPED, REFUSED = "taken", "skipped", "refused"
# What whoever imports has said: wrong for every record alike.
_OF_ALL = frozenset({"system", "trust", "capture_mode", "dry_run"})
_MOST_WARNINGS = 20
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
_EXAMPLE = 120
# Why a record is refused names its field first; of what kind the refusal is does not depend on the record.
_MOST_REASONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What whoever imports has said about all of it."""

    origin: str
    trust: str = "low"
    extract: bool = False
    project: str | None = None
    dry_run: bool = False


@dataclass(slots=True)
class Tally:
    """Every record once, whichever thread has it."""

    _counts: dict[tuple[str, str, str, str | None], tuple[int, str | None]] = field(
        default_factory=dict[tuple[str, str, str, str | None], tuple[int, str | None]]
    )
    warnings: list[str] = field(default_factory=list[str])
    done: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, kind: str, becomes: str, outcome: str, reason: str | None = None, example: str | None = None) -> None:
        with self._lock:
            self._add((kind, becomes, outcome, reason), example)

    def _add(self, what: tuple[str, str, str, str | None], example: str | None) -> None:
        kind, becomes, outcome, reason = what
        if len(self._counts) >= _MOST_REASONS and (kind, becomes, outcome, reason) not in self._counts:
            reason, example = reason and "other reasons", None
        number, first = self._counts.get((kind, becomes, outcome, reason), (0, None if reason is None else example))
        self._counts[kind, becomes, outcome, reason] = number + 1, first
        self.done += 1

    def warn(self, text: str) -> None:
        if text not in self.warnings and len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(text)

    def total(self, outcome: str) -> int:
        return sum(number for (_, _, what, _), (number, _) in self._counts.items() if what == outcome)

    def counts(self) -> tuple[ImportCount, ...]:
        return tuple(
            ImportCount(kind, becomes, outcome, number, reason, example)
            for (kind, becomes, outcome, reason), (number, example) in self._counts.items()
        )


def import_from(
    imports: ImportsApi, form: Form, material: Material, choices: Choices, *, progress: Progress | None = None
) -> ForeignReport:
    """A second time, or after it was stopped, it goes on: what is here already is passed over."""
    with _few_collections(), tempfile.TemporaryFile() as later, ThreadPoolExecutor(1, "mycel-import") as thread:
        sending = _Sending(imports, form.system_of(choices.origin), choices, Tally(), progress, thread)
        for found in _guarded(form, material):
            if isinstance(found, Related):
                # What they link may come after them.
                later.write(json.dumps([found.kind, found.from_id, found.to_id, found.relation]).encode() + b"\n")
            else:
                sending.add(found)
        sending.flush()
        for link in _links(later):
            sending.add(link)
        sending.flush()
    tally = sending.tally
    return ForeignReport(
        form=form.name,
        origin=choices.origin,
        read=tally.done,
        taken=tally.total(TAKEN),
        skipped=tally.total(SKIPPED),
        refused=tally.total(REFUSED),
        counts=tally.counts(),
        warnings=tuple(tally.warnings),
        trust=choices.trust,
        dry_run=choices.dry_run,
    )


@contextmanager
def _few_collections() -> Generator[None]:
    """Records refer to nothing that refers to them: looking for cycles among them takes a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _guarded(form: Form, material: Material) -> Iterator[Found]:
    try:
        yield from form.read(material)
    except (ValueError, OSError) as error:
        yield Left("file", material.name, str(error) or "cannot be read further", refused=True)
        yield Warned(f"{material.name} could not be read to its end: what came before is taken")


def _links(file: IO[bytes]) -> Iterator[Related]:
    file.seek(0)
    for line in file:
        yield Related(*json.loads(line))


@dataclass(slots=True)
class _Sending:
    imports: ImportsApi
    system: str
    choices: Choices
    tally: Tally
    progress: Progress | None
    # Takes one batch in, in their order, while the next is read.
    thread: ThreadPoolExecutor
    _under_way: Future[None] | None = None
    _batch: list[Remembered | Talk | Related] = field(default_factory=list[Remembered | Talk | Related])
    _letters: int = 0

    def add(self, found: Found) -> None:
        if isinstance(found, Warned):
            self.tally.warn(found.text)
        elif isinstance(found, Left):
            self.tally.add(found.kind, "", REFUSED if found.refused else SKIPPED, found.reason, found.where[:_EXAMPLE])
        else:
            self._batch.append(found)
            self._letters += _letters(found)
            if len(self._batch) >= BATCH_RECORDS or self._letters >= BATCH_LETTERS:
                self._send()

    def flush(self) -> None:
        """All that was found so far is taken in when it returns."""
        self._send()
        self._wait()

    def _send(self) -> None:
        self._wait()
        if self._batch:
            batch, self._batch, self._letters = self._batch, [], 0
            self._under_way = self.thread.submit(self._take_and_count, batch)

    def _wait(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _take_and_count(self, batch: Sequence[Remembered | Talk | Related]) -> None:
        outcomes = self._take(batch)
        for record, outcome in zip(batch, outcomes, strict=True):
            self._count(record, outcome)
        if self.progress is not None:
            self.progress(self.tally.done)

    def _take(self, batch: Sequence[Remembered | Talk | Related]) -> Sequence[ImportedRecord]:
        """One that the service cannot even read would have it refuse the whole batch: it is looked for by halves."""
        try:
            return self._taken(batch)
        except (InvalidInput, TooLarge) as error:
            field = getattr(error, "field", "")
            if field in _OF_ALL:
                raise
            if len(batch) == 1:
                return [ImportedRecord(ImportOutcome.REFUSED, reason=str(error).removeprefix("items[0]."))]
        half = len(batch) // 2
        return [*self._take(batch[:half]), *self._take(batch[half:])]

    def _taken(self, batch: Sequence[Remembered | Talk | Related]) -> Sequence[ImportedRecord]:
        return self.imports.take(
            [self._item(record) for record in batch],
            system=self.system,
            trust=self.choices.trust,
            capture_mode="extract" if self.choices.extract else "store",
            dry_run=self.choices.dry_run,
        )

    def _item(self, record: Remembered | Talk | Related) -> dict[str, Any]:
        if isinstance(record, Related):
            return {"from_id": record.from_id, "to_id": record.to_id, "relation": record.relation}
        place = {} if self.choices.project is None else {"project": self.choices.project}
        said = {"content": record.content} if isinstance(record, Remembered) else {"messages": record.material}
        ours = {"memory": record.memory} if isinstance(record, Remembered) and record.memory else {}
        return {"id": record.id, **said, **record.fields, **place, **ours}

    def _count(self, record: Remembered | Talk | Related, found: ImportedRecord) -> None:
        becomes = _becomes(record)
        outcome = found.outcome
        if outcome.is_taken:
            self.tally.add(record.kind, becomes, TAKEN)
        elif outcome is ImportOutcome.REFUSED:
            self.tally.add(record.kind, becomes, REFUSED, found.reason, _id_of(record)[:_EXAMPLE])
        else:
            self.tally.add(record.kind, becomes, SKIPPED, outcome.value, _id_of(record)[:_EXAMPLE])


def _becomes(record: Remembered | Talk | Related) -> str:
    if isinstance(record, Remembered):
        return str(record.fields.get("type", "fact"))
    return "source" if isinstance(record, Talk) else f"link {record.relation}"


def _id_of(record: Remembered | Talk | Related) -> str:
    return f"{record.from_id} \u2192 {record.to_id}" if isinstance(record, Related) else record.id


def _letters(record: Remembered | Talk | Related) -> int:
    if isinstance(record, Remembered):
        return len(record.content)
    if isinstance(record, Related):
        return 0
    if isinstance(record.material, str):
        return len(record.material)
    return sum(len(str(message.get("content", ""))) for message in record.material)
