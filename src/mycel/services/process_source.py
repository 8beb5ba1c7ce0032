"""SourceProcessor a source: its candidates go to the inbox and its summary becomes active, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from mycel.access.scope import engine_scope
from mycel.contracts.directory import Directory
from mycel.contracts.language_model import LanguageModel
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.source import Candidate, IngestionEvent, Source, Transcript
from mycel.domain.team import ENGINE, Member, Trust
from mycel.engine.executor import Executor
from mycel.errors import Conflict, NotFound
from mycel.retrieval.duplicates import Wording
from mycel.services.extracted_memories import Drawing
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.proposals import must_wait, propose

# What a session was given may have been asked for before its first report.
ECHO_WINDOW = timedelta(days=1)
MOST_RECALLED = 500
# Stores what was worked out and says in a few words what that was.
Applying = Callable[[Transaction], str]


class SourceProcessor:
    def __init__(
        self, directory: Directory, policies: Policies, *, executor: Executor, model: LanguageModel | None
    ) -> None:
        self._directory = directory
        self._policies = policies
        self._executor = executor
        self._model = model

    def prepare(self, store: Store, event: IngestionEvent) -> Applying:
        from mycel.engine.extract_and_summarize import extract_and_summarize

        source = get_source(store, event)
        found = extract_and_summarize(
            _dated(source, event),
            steps=event.steps,
            start=source.extracted_to,
            executor=self._executor,
            model=self._model,
        )
        drawing = Drawing(
            source,
            self._policies.of(store.team),
            team=store.team,
            trust=trust_of(self._directory, source),
            scope=event.scope,
            find_member=partial(_find_member, self._directory, store.team),
        )
        echoes = _Echoes(store, source)
        fresh = [candidate for candidate in found.candidates if not echoes.hold(candidate)]
        candidates = [drawing.candidate(candidate) for candidate in fresh]
        summary = drawing.summary(found.summary) if found.summary else None
        outcome = _outcome(len(fresh), echoed=len(found.candidates) - len(fresh), summary=summary, by=found.by)

        def apply(transaction: Transaction) -> str:
            _move_on(transaction, source)
            transaction.memories.insert([(one.at(transaction), one.words) for one in candidates], by=ENGINE)
            if summary is not None:
                _put_summary(transaction, store.team, source, summary)
            return outcome

        return apply


def get_source(store: Store, event: IngestionEvent) -> Source:
    found = None if event.source_id is None else store.sources.find(engine_scope(store.team), event.source_id)
    if found is None:
        raise NotFound("the source of this event is gone")
    return found


def _dated(source: Source, event: IngestionEvent) -> Transcript:
    """A turn without a time was said when it was captured."""
    turns = (turn if turn.said_at else replace(turn, said_at=event.created_at) for turn in source.turns)
    return Transcript(source.text, tuple(turns))


def _find_member(directory: Directory, team: TeamName, name: str) -> Member | None:
    found = (directory.find_member(MemberId(id)) for id in dict.fromkeys((name, name.lower())))
    return next((one for one in found if one and one.team == team and one.removed_at is None), None)


def trust_of(directory: Directory, source: Source) -> Trust:
    """The lower of what its author had then and has now."""
    member = directory.find_member(source.agent_id)
    now = Trust.NORMAL if member is None else member.trust
    return min(source.trust, now, key=list(Trust).index)


class _Echoes:
    """What the session was told by Mycel itself is no news when it says it again."""

    def __init__(self, store: Store, source: Source) -> None:
        since = source.created_at - ECHO_WINDOW
        texts = store.recalls.texts(source.agent_id, since=since, limit=MOST_RECALLED)
        self._known = [Wording(text) for text in texts]

    def hold(self, candidate: Candidate) -> bool:
        said = Wording(candidate.content)
        return any(said.repeats(known) for known in self._known)


def _move_on(transaction: Transaction, source: Source) -> None:
    """The next extraction begins where this one ended, whoever else was at it."""
    if not transaction.sources.is_still_so(source):
        raise Conflict("the source was extracted, or something purged from it, meanwhile")
    transaction.sources.set_extracted(source.id, len(source.text))


def _put_summary(transaction: Transaction, team: TeamName, source: Source, summary: PreparedMemory) -> None:
    """A session that went on has one summary, of all of it."""
    memory = summary.at(transaction)
    before = transaction.memories.find_made(engine_scope(team), source.id, memory.made_by)
    if before is None:
        made = transaction.memories.made_from(engine_scope(team), source.id, deleted=True)
        # Somebody has deleted what was told of it.
        if not any(one.made_by is memory.made_by for one in made):
            transaction.memories.insert([(memory, summary.words)], by=ENGINE)
        return
    if transaction.memories.changed_last_by(before.id) != ENGINE:
        # Somebody has made it their own.
        return
    renewed = _renewed(before, memory)
    if must_wait(before, renewed, ()):
        propose(transaction, before, renewed, by=before.agent_id)
        return
    transaction.memories.replace(before, renewed, by=ENGINE, reason="the session went on", words=summary.words)


def _renewed(before: Memory, memory: Memory) -> Memory:
    return replace(memory, id=before.id, created_at=before.created_at, version=before.version + 1)


def _outcome(count: int, *, echoed: int, summary: PreparedMemory | None, by: str) -> str:
    said: Sequence[str] = (
        f"{count} candidate{'' if count == 1 else 's'}",
        *(("a summary",) if summary else ()),
        *((f"{echoed} already known to the session",) if echoed else ()),
    )
    return f"{', '.join(said)}, by {by}"
