"""Finished and failed tasks: an episode that is found at once, and its output for lessons to be drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from mycel.contracts.clock import Clock
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.capturing import read_surroundings
from mycel.domain.draft import MAX_CONTENT_BYTES, first_sentence
from mycel.domain.ids import TeamName
from mycel.domain.memory import MadeBy, MemoryType, SourceKind
from mycel.domain.policy import Policy
from mycel.domain.source import IngestionEvent, Source, Step, Trigger
from mycel.domain.team import Caller
from mycel.domain.transcript import Transcript, Turn
from mycel.engine.transcripts.limit import MAX_TRANSCRIPT_BYTES
from mycel.services.capture import new_event, new_source
from mycel.services.drawing import Drawing
from mycel.services.policies import Policies
from mycel.services.screening import screen_surroundings, screen_transcript
from mycel.services.unwritten import Unwritten

# The same words later than this are another run of the task, not the same one told again.
RETRY_WINDOW = timedelta(minutes=10)
COMPLETED = "completed"
FAILED = "failed"
_REST = "\n\n(The rest of the output is in the source.)"
_WENT_WRONG = "What went wrong: "


class Tasks:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        policies: Policies,
        *,
        wake: Callable[[TeamName], None],
        max_content: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._wake = wake
        self._max_content = max_content

    def complete(
        self, caller: Caller, *, task_id: object, output: object, given: Mapping[str, object]
    ) -> IngestionEvent:
        text = fields.filled_text(output, field="output", max_bytes=MAX_TRANSCRIPT_BYTES)
        return self._record(caller, task_id, text, given, outcome=COMPLETED)

    def fail(
        self,
        caller: Caller,
        *,
        task_id: object,
        output: object,
        what_went_wrong: object,
        given: Mapping[str, object],
    ) -> IngestionEvent:
        said = fields.text(output, field="output", max_bytes=MAX_TRANSCRIPT_BYTES) if output is not None else ""
        wrong = fields.filled_text(what_went_wrong, field="what_went_wrong", max_bytes=MAX_CONTENT_BYTES // 2)
        text = f"{_WENT_WRONG}{wrong}" + (f"\n\n{said}" if said.strip() else "")
        return self._record(caller, task_id, text, given, outcome=FAILED)

    def _record(
        self, caller: Caller, task_id: object, text: str, given: Mapping[str, object], *, outcome: str
    ) -> IngestionEvent:
        policy = self._policies.of(caller.team)
        whole = Transcript(text, (Turn("assistant", 0, len(text)),))
        said = screen_transcript(whole, policy, field="output")
        known = {**read_surroundings(given), "task_id": fields.label(task_id, field="task_id")}
        surroundings = screen_surroundings(known, policy)
        source = new_source(caller, said, kind=SourceKind.RUN, surroundings=surroundings, now=self._clock.now())
        episode = self._episode(source, policy, caller, outcome=outcome)

        def work(transaction: Transaction) -> IngestionEvent:
            twin = transaction.find_twin(source)
            is_retry = twin is not None and source.created_at - twin.created_at < RETRY_WINDOW
            known = transaction.latest_event(twin.id) if twin is not None and is_retry else None
            if known is not None:
                return known
            event = new_event(transaction, source, Trigger.SESSION_CLOSE, (Step.EXTRACT,))
            transaction.add_source(source)
            transaction.insert([(episode.at(transaction.now), episode.words)], by=caller.member_id)
            transaction.add_event(event)
            return event

        with self._stores.lease(caller.team) as store:
            event = store.transact(work)
        self._wake(caller.team)
        return event

    def _episode(self, source: Source, policy: Policy, caller: Caller, *, outcome: str) -> Unwritten:
        values = {
            "type": MemoryType.EPISODE,
            "title": first_sentence(f"{outcome.capitalize()}: {source.title or source.text}"),
            "content": self._shortened(source.text),
            "tags": (outcome,),
            "metadata": {"outcome": outcome},
            "confidence": 1.0,
            "made_by": MadeBy.TASK_COMPLETION,
        }
        drawing = Drawing(source, policy, team=caller.team, trust=caller.trust)
        return drawing.memory(values, ttl=policy.life_of(MadeBy.TASK_COMPLETION))

    def _shortened(self, text: str) -> str:
        """What a memory can hold, and a word about where the rest is."""
        if len(text.encode()) <= self._max_content:
            return text
        room = self._max_content - len(_REST)
        return text.encode()[:room].decode(errors="ignore") + _REST
