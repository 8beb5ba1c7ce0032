"""Finished and failed tasks: an entry of the ledger at once, and the report, from which lessons are drawn later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Stores, Transaction
from mycel.domain.artifact import Artifact, ArtifactDetail
from mycel.domain.draft import MAX_CONTENT_BYTES, first_sentence
from mycel.domain.episode import Action, Episode, EpisodeDetail, episode_text
from mycel.domain.ids import SourceId, TeamName
from mycel.domain.marks import TOLD, with_marks
from mycel.domain.memory import NO_METADATA, EvidenceRef, MadeBy, MemoryType, SourceKind, Status
from mycel.domain.policy import Policy
from mycel.domain.source import Source, Step, Transcript, Trigger, Turn
from mycel.domain.task import LESSON_CONFIDENCE, WENT_WRONG, TaskRecord, TaskResult, read_task_result, report_text
from mycel.domain.team import Caller
from mycel.errors import InvalidInput
from mycel.services.artifacts import ArtifactRegistry, store_artifact
from mycel.services.capture import new_event, new_source
from mycel.services.episodes import read_detail
from mycel.services.extracted_memories import Drawing
from mycel.services.idempotency import Retry
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.screening import masked, without_secrets

# The same words later than this are another run of the task, not the same one told again.
RETRY_WINDOW = timedelta(minutes=10)
_REST = "\n\n(The rest of the output is in the source.)"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Everything a report becomes, checked and worked out before the transaction."""

    source: Source
    episode: PreparedMemory
    detail: EpisodeDetail
    artifacts: tuple[tuple[PreparedMemory, ArtifactDetail], ...]
    lessons: tuple[PreparedMemory, ...]


class Tasks:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        policies: Policies,
        artifacts: ArtifactRegistry,
        *,
        wake: Callable[[TeamName], None],
        max_content: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._artifacts = artifacts
        self._wake = wake
        self._max_content = max_content

    def record(self, caller: Caller, given: Mapping[str, object]) -> TaskRecord:
        """One report, in one transaction; told again within ten minutes, or with its key, it is the same one."""
        result = read_task_result(given)
        prepared = self._prepare(caller, result)
        title = prepared.episode.values["title"]
        request = (prepared.source.sha256, title, str(prepared.detail), result.task_id, dict(result.about))
        retry = Retry.read(caller, "after_task", given.get("idempotency_key"), *request)

        def work(transaction: Transaction) -> TaskRecord:
            known = _known(transaction, caller, prepared, retry)
            if known is not None:
                return known
            record = _store(transaction, caller, prepared)
            retry.remember(transaction, record.episode.memory)
            return record

        with self._stores.lease(caller.team) as store:
            record = store.transact(work)
        self._wake(caller.team)
        return record

    def _prepare(self, caller: Caller, result: TaskResult) -> _Prepared:
        policy = self._policies.of(caller.team)
        approach = None if result.approach is None else masked(result.approach, policy, field="approach")
        outcome = masked(result.outcome, policy, field="output")
        lessons = [masked(lesson, policy, field="lessons") for lesson in result.lessons]
        text, told, starts = report_text(approach, outcome, lessons)
        # Lessons are candidates already: what the system says is not drawn from a second time.
        turns = (Turn("assistant", 0, told), *([Turn("system", told, len(text))] if lessons else []))
        surroundings = without_secrets({**result.about, "task_id": result.task_id}, policy)
        source = new_source(
            caller, Transcript(text, turns), kind=SourceKind.RUN, surroundings=surroundings, now=self._clock.now()
        )
        drawing = Drawing(source, policy, team=caller.team, trust=caller.trust)
        episode, detail = self._episode(
            caller, result, drawing, policy, approach=approach, outcome=outcome, called=source.title
        )
        drawn = tuple(_lesson(drawing, policy, source, lesson, at) for lesson, at in zip(lessons, starts, strict=True))
        return _Prepared(source, episode, detail, self._prepare_artifacts(caller, result), drawn)

    def _prepare_artifacts(
        self, caller: Caller, result: TaskResult
    ) -> tuple[tuple[PreparedMemory, ArtifactDetail], ...]:
        found: list[tuple[PreparedMemory, ArtifactDetail]] = []
        for place, given in enumerate(result.artifacts):
            try:
                found.append(self._artifacts.prepare(caller, given))
            except InvalidInput as error:
                raise type(error)(error.problem, field=f"artifacts[{place}].{error.field}") from None
        return tuple(found)

    def _episode(
        self,
        caller: Caller,
        result: TaskResult,
        drawing: Drawing,
        policy: Policy,
        *,
        approach: str | None,
        outcome: str,
        called: str | None,
    ) -> tuple[PreparedMemory, EpisodeDetail]:
        """Who does not say how it was done has an entry that goes by its title."""
        action = result.action
        if approach is None:
            name = called or outcome.removeprefix(WENT_WRONG)
            title = first_sentence(f"{action.value.capitalize()}: {name}")
            content, approach_end, outcome_start = self._shortened(outcome), 0, 0
        else:
            # The ledger says already that it failed.
            told = outcome.removeprefix(WENT_WRONG) if action is Action.FAILED else outcome
            text = episode_text(approach, action, told)
            title, content = text.title, self._shortened(text.content)
            approach_end, outcome_start = text.approach_end, text.outcome_start
        detail = read_detail(caller, action, approach_end, outcome_start, result.counts, approach=approach)
        values = {
            "type": MemoryType.EPISODE,
            "title": title,
            "content": content,
            "tags": (action.value,),
            "metadata": {"outcome": action.value},
            "confidence": 1.0,
            "made_by": MadeBy.TASK_COMPLETION,
        }
        return drawing.memory(values, ttl=policy.life_of(MadeBy.TASK_COMPLETION, MemoryType.EPISODE)), detail

    def _shortened(self, text: str) -> str:
        """What a memory can hold, and a word about where the rest is."""
        if len(text.encode()) <= self._max_content:
            return text
        room = self._max_content - len(_REST)
        return text.encode()[:room].decode(errors="ignore") + _REST


def _lesson(drawing: Drawing, policy: Policy, source: Source, lesson: str, start: int) -> PreparedMemory:
    values = {
        "type": MemoryType.LESSON,
        "title": first_sentence(lesson),
        "content": lesson,
        "confidence": LESSON_CONFIDENCE,
        "evidence_ref": EvidenceRef(source.id, start, start + len(lesson)),
        "made_by": MadeBy.EXTRACTION,
        "status": Status.INBOX,
        # No rule found it: the report says that it is a lesson.
        "metadata": with_marks(NO_METADATA, grounds=TOLD),
    }
    return drawing.memory(values, ttl=policy.inbox_kept)


def _store(transaction: Transaction, caller: Caller, new: _Prepared) -> TaskRecord:
    event = new_event(transaction, new.source, Trigger.SESSION_CLOSE, (Step.EXTRACT,))
    transaction.sources.add(new.source)
    episode = new.episode.at(transaction)
    transaction.episodes.insert(episode, new.episode.words, new.detail, by=caller.member_id)
    lessons = [(one.at(transaction), one.words) for one in new.lessons]
    if lessons:
        transaction.memories.insert(lessons, by=caller.member_id)
    transaction.queue.add(event)
    artifacts = _store_artifacts(transaction, caller, new)
    return TaskRecord(event, Episode(episode, new.detail), artifacts, tuple(memory for memory, _ in lessons))


def _store_artifacts(transaction: Transaction, caller: Caller, new: _Prepared) -> tuple[Artifact, ...]:
    return tuple(store_artifact(transaction, caller, one, detail) for one, detail in new.artifacts)


def _known(transaction: Transaction, caller: Caller, new: _Prepared, retry: Retry) -> TaskRecord | None:
    """What an earlier telling of the same left, by its key or by its words."""
    episode = retry.earlier(transaction)
    if episode is not None and episode.source_ref is not None and episode.source_ref.source_id is not None:
        return _earlier(transaction, caller, episode.source_ref.source_id, new)
    if retry.key is not None:
        # Whoever gives a new key says that it is a new report.
        return None
    twin = transaction.sources.find_twin(new.source)
    # A clock that was set back makes no run of yesterday a telling of today.
    if twin is None or abs(new.source.created_at - twin.created_at) >= RETRY_WINDOW:
        return None
    told = _earlier(transaction, caller, twin.id, new)
    # The same words about another agent, or in another time, are another run.
    return told if told is not None and told.episode.detail == new.detail else None


def _earlier(transaction: Transaction, caller: Caller, source_id: SourceId, new: _Prepared) -> TaskRecord | None:
    """As it stands now; None when its episode was deleted meanwhile."""
    scope = read_scope(caller)
    event = transaction.queue.find_latest(source_id)
    made = transaction.memories.made_from(scope, source_id)
    episodes = (transaction.episodes.find(scope, one.id) for one in made if one.made_by is MadeBy.TASK_COMPLETION)
    episode = next((one for one in episodes if one is not None), None)
    if event is None or episode is None:
        return None
    lessons = tuple(one for one in made if one.type is MemoryType.LESSON)
    return TaskRecord(event, episode, _store_artifacts(transaction, caller, new), lessons)
