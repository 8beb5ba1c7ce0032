"""The records of an archive: checked whole before the first of them is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from mycel.domain import archive_lines
from mycel.domain.archive import Header, Kind, MemoryRecord, Record, SourcePassage
from mycel.domain.archive_lines import Line
from mycel.domain.ids import TeamName
from mycel.domain.link import Link
from mycel.domain.memory import Version
from mycel.domain.source import IngestionEvent, Source
from mycel.errors import InvalidInput
from mycel.services.archive_files import ArchiveLines, parse

_OF_A_MEMORY = {Kind.VERSION, Kind.EPISODE, Kind.ARTIFACT}
# As objects they take some four times as much.
MOST_KEPT_BYTES = 32 * 1024 * 1024
_ORDER = {kind: place for place, kind in enumerate(kind for kind in Kind if kind not in _OF_A_MEMORY)}


def checked_archive(lines: ArchiveLines, *, team: TeamName) -> tuple[Header, Iterable[Record]]:
    """Every line, what refers to what, and that nothing is missing; raises `InvalidInput` naming line and field.

    With the records, as of that team, whichever they came from: kept from the check where they take little room,
    otherwise read and checked line by line once more.
    """
    archive = _Archive(lines, team=team)
    known = _Known()
    kept: list[Record] | None = []
    for record in archive.records():
        with archive.at_line():
            known.add(record)
        if kept is not None:
            kept.append(record)
            if archive.read_bytes > MOST_KEPT_BYTES:
                kept = None
    return archive.header, _Archive(lines, team=team).records() if kept is None else kept


class _AtLine:
    """Puts the number of the line before the field of an error."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InvalidInput) and not error.field.startswith("line "):
            field = "" if error.field == "line" else f", {error.field}"
            raise InvalidInput(error.problem, field=f"line {self._number}{field}") from None


class _Archive:
    """Goes through the lines once."""

    def __init__(self, lines: ArchiveLines, *, team: TeamName) -> None:
        self._lines = lines
        self._team = team
        self.read_bytes = 0
        self._number = 0
        self._place = 0
        self._hash = sha256()
        self._counts: Counter[str] = Counter()
        self._open: MemoryRecord | None = None
        self._header: Header | None = None
        self._ended = False

    @property
    def header(self) -> Header:
        if self._header is None:
            raise InvalidInput("the file is empty", field="line 1")
        return self._header

    def at_line(self) -> _AtLine:
        return _AtLine(self._number)

    def records(self) -> Iterator[Record]:
        for number, packed in self._lines.read():
            self._number = number
            self.read_bytes += len(packed)
            with self.at_line():
                finished = self._read(parse(packed))
            yield from finished
            self._hash.update(packed)
        if not self._ended:
            raise InvalidInput("the file is cut short: it has no last line", field=f"line {self._number + 1}")

    def _read(self, line: Line) -> list[Record]:
        """The records that this line completes."""
        if self._ended:
            raise InvalidInput("stands after the end of the archive", field="line")
        if self._header is None:
            self._header = archive_lines.read_header(line)
            return []
        kind = _kind(line)
        if kind in _OF_A_MEMORY:
            self._counts[kind] += 1
            self._open = _joined(self._open, kind, line, self._team)
            return []
        finished = [] if self._open is None else [self._open]
        self._open = None
        self._check_order(kind)
        if kind is Kind.FOOTER:
            self._end(line)
            return [*finished]
        self._counts[kind] += 1
        if kind is Kind.MEMORY:
            self._open = MemoryRecord(archive_lines.read_state(line, self._team))
            return [*finished]
        return [*finished, archive_lines.read_plain(kind, line)]

    def _check_order(self, kind: Kind) -> None:
        if _ORDER[kind] < self._place or kind is Kind.HEADER:
            raise InvalidInput("stands after entries that it must come before", field="kind")
        self._place = _ORDER[kind]

    def _end(self, line: Line) -> None:
        counts, digest = archive_lines.read_footer(line)
        if digest != self._hash.hexdigest() or counts != dict(self._counts):
            raise InvalidInput("does not fit the lines before it: the file was altered or damaged", field="sha256")
        self._ended = True


def _kind(line: Line) -> Kind:
    try:
        return Kind(line["kind"])
    except (KeyError, ValueError, TypeError):
        raise InvalidInput("is not a kind of entry", field="kind") from None


def _joined(record: MemoryRecord | None, kind: Kind, line: Line, team: TeamName) -> MemoryRecord:
    if record is None:
        raise InvalidInput("must stand right after its memory", field="kind")
    memory = record.present.memory
    if kind is Kind.VERSION:
        version = archive_lines.read_state(line, team)
        _check_id(version.memory.id, memory.id, field="id")
        _check_version(record, version)
        return MemoryRecord(record.present, (*record.past, version), record.episode, record.artifact)
    if kind is Kind.EPISODE:
        id, episode = archive_lines.read_episode(line)
        _check_id(id, memory.id, field="memory_id")
        _check_within(memory.content, approach_end=episode.approach_end, outcome_start=episode.outcome_start)
        return MemoryRecord(record.present, record.past, episode, record.artifact)
    id, artifact = archive_lines.read_artifact(line)
    _check_id(id, memory.id, field="memory_id")
    _check_within(memory.content, description_end=artifact.description_end, text_start=artifact.text_start)
    return MemoryRecord(record.present, record.past, record.episode, artifact)


def _check_id(found: str, wanted: str, *, field: str) -> None:
    if found != wanted:
        raise InvalidInput("is not that of the memory before it", field=field)


def _check_version(record: MemoryRecord, version: Version) -> None:
    last = record.past[-1].memory.version if record.past else 0
    if not last < version.memory.version < record.present.memory.version:
        raise InvalidInput("is not between those before it and that of the memory", field="version")


def _check_within(content: str, **places: int | None) -> None:
    for field, place in places.items():
        if place is not None and place > len(content):
            raise InvalidInput("lies outside the content of its memory", field=field)


class _Known:
    """What an archive has named so far: ids as 16 bytes each, and how long each source is."""

    def __init__(self) -> None:
        self._memories: set[bytes] = set()
        self._sources: dict[bytes, int] = {}
        self._events: set[bytes] = set()

    def add(self, record: Record) -> None:
        if isinstance(record, Source):
            _once(record.id, self._sources)
            self._sources[_packed(record.id)] = len(record.text)
        elif isinstance(record, IngestionEvent):
            _once(record.id, self._events)
            self._events.add(_packed(record.id))
            self._check_source(record.source_id)
        elif isinstance(record, SourcePassage):
            self._check_source(record.source_id)
        elif isinstance(record, MemoryRecord):
            _once(record.present.memory.id, self._memories)
            self._memories.add(_packed(record.present.memory.id))
            self._check_evidence(record)
        elif isinstance(record, Link):
            self._check_link(record)

    def _check_source(self, id: str | None) -> None:
        if id is not None and _packed(id) not in self._sources:
            raise InvalidInput("is not a source of this archive", field="source_id")

    def _check_evidence(self, record: MemoryRecord) -> None:
        evidence = record.present.memory.evidence_ref
        if evidence is None:
            return
        try:
            most = self._sources.get(_packed(evidence.source_id))
        except ValueError:
            most = None
        # A source may be out of sight of whoever made the archive; what is there must hold the evidence.
        if most is not None and not evidence.start <= evidence.end <= most:
            raise InvalidInput("lies outside its source", field="evidence_ref")

    def _check_link(self, link: Link) -> None:
        ends = {"from_id": link.from_id} if link.to_place else {"from_id": link.from_id, "to_id": link.to_id}
        for field, id in ends.items():
            try:
                found = _packed(id) in self._memories
            except ValueError:
                found = False
            if not found:
                raise InvalidInput("is not a memory of this archive", field=field)


def _packed(id: str) -> bytes:
    return bytes.fromhex(id.replace("-", ""))


def _once(id: str, known: set[bytes] | dict[bytes, int]) -> None:
    if _packed(id) in known:
        raise InvalidInput("stands in the archive twice", field="id")
