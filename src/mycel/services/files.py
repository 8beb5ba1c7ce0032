"""Files of a memory folder and other documents: split on headings, found at once, renewed when they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mycel.access.scope import ReadScope, engine_scope
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.fields import MAX_URI_BYTES
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.link import Link, Relation
from mycel.domain.memory import EvidenceRef, MadeBy, MemoryType, SourceKind, Status, Visibility
from mycel.domain.source import EventState, IngestionEvent, Source, Step, Transcript, Trigger, Turn, read_surroundings
from mycel.domain.team import Caller, Trust
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES
from mycel.services.capture import ask_for, captured, new_event, new_source
from mycel.services.extracted_memories import Drawing
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.process_source import Applying, get_source, trust_of
from mycel.services.screening import screen_transcript, without_secrets

# A section is read whole; a chapter says too many things to be one memory.
CHUNK_BYTES = 8 * 1024
# What is larger is split beside, so that the writer need not wait for it.
AT_ONCE_BYTES = 256 * 1024
MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class MemoryFolders:
    """Files below `personal` are for their author alone, those below `shared` for the team."""

    personal: str | None = None
    shared: str | None = None


class Files:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        directory: Directory,
        policies: Policies,
        *,
        wake: Callable[[TeamName], None],
        folders: MemoryFolders,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._directory = directory
        self._policies = policies
        self._wake = wake
        self._folders = folders

    def index(
        self, caller: Caller, path: object, content: object, given: Mapping[str, object], *, extract: object = False
    ) -> IngestionEvent:
        """The same content again changes nothing; another one makes new versions of what was indexed."""
        uri = fields.filled_text(path, field="path", max_bytes=MAX_URI_BYTES).strip()
        text = fields.filled_text(content, field="content", max_bytes=MAX_TRANSCRIPT_BYTES)
        wants_extraction = fields.flag(extract, field="extract")
        policy = self._policies.of(caller.team)
        said = screen_transcript(Transcript(text, (Turn("", 0, len(text)),)), policy, field="content")
        known = {"visibility": self._visibility(uri), **read_surroundings(given), "uri": uri}
        surroundings = without_secrets(known, policy)
        source = new_source(caller, said, kind=SourceKind.DOCUMENT, surroundings=surroundings, now=self._clock.now())
        shared = self._is_shared(source)
        parts = self._parts(caller.team, source, caller.trust) if len(said.text) <= AT_ONCE_BYTES else None

        def work(transaction: Transaction) -> IngestionEvent:
            known = _known(transaction, caller.team, source, extract=wants_extraction, shared=shared)
            if known is not None:
                return known
            first, *others = _events(transaction, source, at_once=parts is not None, extract=wants_extraction)
            if parts is not None:
                said_of = _put_parts(transaction, caller.team, source, parts, by=caller.member_id, shared=shared)
                first = first if first.steps else replace(first, outcome=said_of)
            transaction.sources.add(source)
            for event in (first, *others):
                transaction.queue.add(event)
            return first

        return captured(self._stores, caller, work, wake=self._wake)

    def prepare(self, store: Store, event: IngestionEvent) -> Applying:
        """A large document, split beside."""
        source = get_source(store, event)
        parts = self._parts(store.team, source, trust_of(self._directory, source))
        shared = self._is_shared(source)
        return lambda transaction: _put_parts(transaction, store.team, source, parts, by=source.agent_id, shared=shared)

    def _is_shared(self, source: Source) -> bool:
        """Only in the shared folder does a writer renew what another wrote."""
        return source.visibility is Visibility.TEAM and _lies_below(source.uri or "", self._folders.shared)

    def _visibility(self, uri: str) -> Visibility:
        is_personal = _lies_below(uri, self._folders.personal) and not _lies_below(uri, self._folders.shared)
        return Visibility.PRIVATE if is_personal else Visibility.TEAM

    def _parts(self, team: TeamName, source: Source, trust: Trust) -> list[PreparedMemory]:
        from mycel.engine.chunks import split_document, title_of

        policy = self._policies.of(team)
        drawing = Drawing(source, policy, team=team, trust=trust)
        name = source.title or _name_of(source.uri or "")
        found: list[PreparedMemory] = []
        chunks = split_document(source.text, most_bytes=CHUNK_BYTES)
        for chunk in chunks:
            content = source.text[chunk.start : chunk.end]
            if not content.strip():
                continue
            title = name if len(chunks) == 1 else f"{name} \u203a {title_of(chunk, text=source.text)}"
            values = {
                "type": MemoryType.DOCUMENT,
                "title": title[:MAX_TITLE],
                "content": content,
                "confidence": 1.0,
                "made_by": MadeBy.FILE_INDEX,
                "evidence_ref": EvidenceRef(source.id, chunk.start, chunk.end),
            }
            found.append(drawing.memory(values, ttl=policy.life_of(MadeBy.FILE_INDEX)))
        return found


def _known(
    transaction: Transaction, team: TeamName, source: Source, *, extract: bool, shared: bool
) -> IngestionEvent | None:
    """The event of this very content, if it is what the file held last and is still to be found."""
    latest = transaction.sources.find_document(source, shared=shared)
    if latest is None or latest.sha256 != source.sha256:
        return None
    indexed = transaction.memories.indexed_from(engine_scope(team), source, shared=shared)
    now = transaction.now
    if indexed and not any(memory.expires_at is None or memory.expires_at > now for memory in indexed):
        return None
    known = transaction.queue.find_latest(latest.id)
    if not indexed and (known is None or known.state is EventState.DONE):
        return None
    if not extract:
        return known
    return ask_for(transaction, latest, new_event(transaction, latest, Trigger.MANUAL_WRITE, (Step.EXTRACT,)))


def _events(transaction: Transaction, source: Source, *, at_once: bool, extract: bool) -> list[IngestionEvent]:
    """One for each thing to do; without any, one that says it was done."""
    steps = [*([] if at_once else [Step.INDEX]), *([Step.EXTRACT] if extract else [])]
    each = [(step,) for step in steps] or [()]
    return [new_event(transaction, source, Trigger.MANUAL_WRITE, one) for one in each]


def _put_parts(
    transaction: Transaction,
    team: TeamName,
    source: Source,
    parts: Sequence[PreparedMemory],
    *,
    by: MemberId,
    shared: bool,
) -> str:
    """New versions of what was indexed of this file before; parts that are gone are archived."""
    scope = engine_scope(team)
    latest = transaction.sources.find_document(source, shared=shared)
    if latest is not None and latest.id > source.id:
        return "a newer content of the file was indexed meanwhile"
    held = any(part.values["status"] is Status.INBOX for part in parts)
    # What waits for a person takes nothing away from what stands.
    earlier = [] if held else transaction.memories.indexed_from(scope, source, shared=shared)
    memories = [part.at(transaction) for part in parts]
    for before, memory, part in zip(earlier, memories, parts, strict=False):
        renewed = replace(
            memory,
            id=before.id,
            agent_id=before.agent_id,
            tags=before.tags,
            created_at=before.created_at,
            version=before.version + 1,
        )
        words = part.words if renewed.tags == memory.tags else None
        transaction.memories.replace(before, renewed, by=by, reason="the file changed", words=words)
    added = list(zip(memories, parts, strict=True))[len(earlier) :]
    transaction.memories.insert([(memory, part.words) for memory, part in added], by=by)
    for before in earlier[len(memories) :]:
        gone = replace(before, status=Status.ARCHIVED, version=before.version + 1, updated_at=transaction.committed_at)
        transaction.memories.replace(before, gone, by=by, reason="the file has no such part any more")
    ids = [before.id for before in earlier[: len(memories)]] + [memory.id for memory, _ in added]
    _link_in_order(transaction, scope, ids, by=by)
    return f"{len(ids)} document{'' if len(ids) == 1 else 's'}"


def _link_in_order(transaction: Transaction, scope: ReadScope, ids: Sequence[MemoryId], *, by: MemberId) -> None:
    for first, second in pairwise(ids):
        link = Link(second, first, Relation.RELATED_TO, by, transaction.committed_at)
        transaction.links.add(link, origin=transaction.memories.get(scope, second))


def _lies_below(path: str, folder: str | None) -> bool:
    """By whole names: `/memory-evil` does not lie below `/memory`."""
    if folder is None:
        return False
    parts, above = _parts_of(path), _parts_of(folder)
    return parts[: len(above)] == above


def _parts_of(path: str) -> tuple[str, ...]:
    """As a file system would read it: `..` goes back."""
    found: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            del found[-1:]
        elif part not in {"", "."}:
            found.append(part)
    return tuple(found)


def _name_of(path: str) -> str:
    parts = _parts_of(path)
    return parts[-1] if parts else path
