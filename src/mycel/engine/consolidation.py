"""The plan of a consolidation: what may be compared, merged, linked and promoted. It stores nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from mycel.domain.change import audience_of
from mycel.domain.fields import MAX_TAGS
from mycel.domain.ids import MemoryId
from mycel.domain.link import Relation
from mycel.domain.marks import (
    ABOUT,
    CONTESTED,
    EXPLICIT,
    GROUNDS,
    ORIGIN,
    REJECTED,
    REVIEW,
    SAID_BY,
    TWO_SOURCES,
    with_marks,
)
from mycel.domain.memory import MadeBy, Memory, MemoryType, Scope, Status, Visibility
from mycel.domain.policy import Policy, Promote
from mycel.domain.report import Action, ActionKind
from mycel.domain.team import Trust
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME

if TYPE_CHECKING:
    from mycel.engine.judging.judgement import Judgement


CLAIMS = frozenset(
    {
        MemoryType.FACT,
        MemoryType.LESSON,
        MemoryType.DECISION,
        MemoryType.PROFILE,
        MemoryType.PROJECT,
        MemoryType.CONTEXT,
        MemoryType.NOTE,
    }
)
# What says nothing that could be wrong, and is only ever a repetition of its like.
POINTERS = frozenset({MemoryType.TASK_HINT, MemoryType.REFERENCE})
COMPARED = CLAIMS | POINTERS
# A page of text makes many statements; comparing it as one finds nothing but noise.
MAX_STATEMENT = 1200


def is_compared(memory: Memory) -> bool:
    """What waits for a person because of its text or author is nobody's opponent before it was looked at."""
    return memory.type in COMPARED and len(memory.content) <= MAX_STATEMENT and REVIEW not in memory.metadata


def may_merge(first: Memory, second: Memory) -> bool:
    same_sort = first.type is second.type or {first.type, second.type} <= CLAIMS - {
        MemoryType.DECISION,
        MemoryType.PROFILE,
    }
    same_person = first.type is not MemoryType.PROFILE or _person(first) == _person(second)
    same_category = first.category == second.category or first.category is None or second.category is None
    return same_sort and same_person and same_category and _together(first, second)


def may_contradict(first: Memory, second: Memory) -> bool:
    profile = MemoryType.PROFILE in (first.type, second.type)
    same_person = not profile or (first.type is second.type and _person(first) == _person(second))
    return {first.type, second.type} <= CLAIMS and same_person and _together(first, second)


def _person(memory: Memory) -> object:
    """Whom a profile memory is about: whoever said it, where it was drawn from a talk."""
    return memory.metadata.get(ABOUT, memory.metadata.get(SAID_BY, memory.agent_id))


def _together(first: Memory, second: Memory) -> bool:
    if _person(first) != _person(second) and (_is_personal(first) or _is_personal(second)):
        return False
    if ORIGIN in first.metadata or ORIGIN in second.metadata or not same_readers(first, second):
        return False
    same_key = first.key == second.key or first.key is None or second.key is None
    return same_key and _place(first) == _place(second)


def _is_personal(memory: Memory) -> bool:
    """What somebody says of themselves holds for nobody else: two people may like the same, or the opposite."""
    from mycel.engine.language import speaks_of_oneself

    return memory.type is MemoryType.PROFILE or speaks_of_oneself(memory.content)


def _place(memory: Memory) -> tuple[object, ...]:
    """Where it applies: what holds for one agent or session is not what holds for all."""
    narrow = {Scope.AGENT: memory.agent_id, Scope.SESSION: memory.session_id}.get(memory.scope)
    return memory.project_id, memory.repo_id, memory.scope, narrow


def same_readers(first: Memory, second: Memory) -> bool:
    """A report about both must tell nobody of one that only sees the other."""
    ours, theirs = audience_of(first), audience_of(second)
    alike = (ours.visibility, set(ours.allowed_roles)) == (theirs.visibility, set(theirs.allowed_roles))
    return alike and (ours.visibility is Visibility.TEAM or ours.agent_id == theirs.agent_id)


# Two sources that agree are worth more than one, but never as much as a person's word.
MOST_CORROBORATED = 0.95
_TRUST_ORDER = list(Trust)
_STANDING = frozenset({Status.ACTIVE, Status.INBOX})

LinkKey = tuple[MemoryId, MemoryId, Relation]
Done = tuple[ActionKind, MemoryId, MemoryId | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """Two memories that were compared, the one said first before the other."""

    earlier: Memory
    later: Memory
    judgement: Judgement


@dataclass(slots=True)
class Plan:
    """What is to be done: the actions in words, the memories before and after, and the new links."""

    actions: list[Action] = field(default_factory=list[Action])
    before: dict[MemoryId, Memory] = field(default_factory=dict[MemoryId, Memory])
    after: dict[MemoryId, Memory] = field(default_factory=dict[MemoryId, Memory])
    links: dict[LinkKey, None] = field(default_factory=dict[LinkKey, None])
    unlinked: dict[LinkKey, None] = field(default_factory=dict[LinkKey, None])


def plan_consolidation(
    memories: Iterable[Memory],
    judged: Sequence[Judged],
    *,
    policy: Policy,
    links: Iterable[LinkKey] = (),
    settled: Iterable[Memory] = (),
    undone: Collection[Done] = (),
    made_before: Collection[LinkKey] = (),
) -> Plan:
    """`memories` are looked at for promotion; `links` are those there are; `settled` are contested no longer.

    `made_before` are links that earlier rules made; those that are no longer found are taken away.

    What somebody has undone before is not done again.
    """
    planner = _Planner(policy, links, undone)
    for pair in judged:
        planner.merge(pair)
    for pair in judged:
        planner.suggest_merge(pair)
    for pair in judged:
        planner.oppose(pair)
    for pair in judged:
        planner.hold_back(pair)
    for memory in memories:
        planner.promote(memory)
    for pair in judged:
        planner.supersede(pair)
    for pair in judged:
        planner.withdraw(pair, made_before)
    for memory in settled:
        planner.clear(memory)
    return planner.plan


class _Planner:
    def __init__(self, policy: Policy, links: Iterable[LinkKey], undone: Collection[Done]) -> None:
        self.plan = Plan()
        self._undone = undone
        self._policy = policy
        self._links = set(links)
        self._rejected_before: set[MemoryId] = set()
        self._held_back: set[MemoryId] = set()

    def merge(self, pair: Judged) -> None:
        first, second = self._now(pair.earlier), self._now(pair.later)
        if pair.judgement.likeness < SURELY_SAME or not may_merge(first, second):
            return
        if REJECTED in first.metadata or REJECTED in second.metadata:
            self._rejected_before |= {first.id, second.id}
        if not self._both_stand(first, second):
            return
        keeper, other = sorted((first, second), key=_preference)
        # A value that stands under a key gives way to an arbiter alone.
        if other.key is not None or self._was_undone(ActionKind.MERGE, keeper, other):
            return
        self._act(ActionKind.MERGE, keeper, other, why=pair.judgement.reason or "the same statement")
        self._change(keeper, merged(keeper, other))
        self._change(other, replace(other, status=Status.SUPERSEDED))
        self._link(keeper, other, Relation.SUPERSEDES)

    def suggest_merge(self, pair: Judged) -> None:
        """Probably the same: a person says, by the same inbox and the same link as where one replaces the other."""
        first, second = self._now(pair.earlier), self._now(pair.later)
        likely = LIKELY_SAME <= pair.judgement.likeness < SURELY_SAME
        if not likely or not self._both_stand(first, second) or not may_merge(first, second):
            return
        keeper, other = sorted((first, second), key=_preference)
        stand = keeper.status is other.status is Status.ACTIVE
        # What waits is shown beside what stands, and who approves it has seen both.
        kind, relation = (ActionKind.SUGGEST, Relation.SUPERSEDES) if stand else (ActionKind.LINK, Relation.RELATED_TO)
        known = any(self._linked(first, second, there) for there in Relation)
        if known or other.key is not None or self._was_undone(kind, keeper, other):
            return
        self._act(kind, keeper, other, why=pair.judgement.reason)
        self._link(keeper, other, relation)

    def oppose(self, pair: Judged) -> None:
        first, second = self._now(pair.earlier), self._now(pair.later)
        if not self._opposed(pair, first, second) or self._replaces(pair, first, second):
            return
        if self._linked(first, second, Relation.CONTRADICTS) or self._was_undone(ActionKind.CONTRADICT, second, first):
            return
        self._act(ActionKind.CONTRADICT, second, first, why=pair.judgement.reason or "they say opposite things")
        for memory in (first, second):
            self._change(memory, replace(memory, metadata=with_marks(memory.metadata, contested=True)))
        self._link(second, first, Relation.CONTRADICTS)

    def hold_back(self, pair: Judged) -> None:
        """What replaces somebody else's memory waits until a person says so: two rules would hold otherwise."""
        first, second = self._now(pair.earlier), self._now(pair.later)
        if self._opposed(pair, first, second) and self._replaces(pair, first, second):
            stands = replace(second, status=Status.ACTIVE)
            if _replacement(replace(first, status=Status.ACTIVE), stands) is ActionKind.SUGGEST:
                self._held_back.add(second.id)

    def promote(self, memory: Memory) -> None:
        candidate = self._now(memory)
        if candidate.id in self._held_back:
            return
        if self._is_grounded(candidate) and not self._was_undone(ActionKind.PROMOTE, candidate, None):
            why = f"{_grounds_in_words(candidate)}, and nothing contradicts it"
            self._act(ActionKind.PROMOTE, candidate, None, why=why)
            self._change(candidate, replace(candidate, status=Status.ACTIVE, expires_at=None))

    def supersede(self, pair: Judged) -> None:
        """What waits in the inbox, or goes against another author, replaces nothing yet; the link says that it may."""
        first, second = self._now(pair.earlier), self._now(pair.later)
        if not self._opposed(pair, first, second) or not self._replaces(pair, first, second):
            return
        kind = _replacement(first, second)
        is_new = not self._linked(first, second, Relation.SUPERSEDES)
        if self._was_undone(kind, second, first) or not (kind is ActionKind.SUPERSEDE or is_new):
            return
        # That is what a rejected suggestion leaves.
        if kind is ActionKind.SUGGEST and self._linked(first, second, Relation.RELATED_TO):
            return
        if is_new:
            self._link(second, first, Relation.SUPERSEDES)
        self._act(kind, second, first, why=pair.judgement.reason or "it says that it replaces it")
        if kind is ActionKind.SUPERSEDE:
            self._change(first, replace(first, status=Status.SUPERSEDED))

    def clear(self, memory: Memory) -> None:
        contested = self._now(memory)
        if CONTESTED in contested.metadata and not any(
            contested.id in key[:2] and key[2] is Relation.CONTRADICTS for key in self.plan.links
        ):
            self._act(ActionKind.CLEAR, contested, None, why="nothing that stands contradicts it any more")
            self._change(contested, replace(contested, metadata=with_marks(contested.metadata, contested=None)))

    def withdraw(self, pair: Judged, made_before: Collection[LinkKey]) -> None:
        """Take away what earlier rules found between two and these do not; of what is doubtful it stays."""
        first, second = self._now(pair.earlier), self._now(pair.later)
        if not self._both_stand(first, second):
            return
        replaces = pair.judgement.supersedes and self._replaces(pair, first, second)
        against = pair.judgement.supersedes or pair.judgement.contradiction >= CONTRADICTS
        found = {
            Relation.CONTRADICTS: against and not replaces,
            Relation.SUPERSEDES: against or pair.judgement.likeness >= LIKELY_SAME,
        }
        for start, end in ((first, second), (second, first)):
            for relation, is_found in found.items():
                key = (start.id, end.id, relation)
                is_open = pair.judgement.doubtful and not replaces
                if key not in made_before or is_found or is_open:
                    continue
                if self._was_undone(ActionKind.UNLINK, start, end):
                    continue
                # The reason of such an action is the relation: undoing it puts the link back.
                self._act(ActionKind.UNLINK, start, end, why=relation)
                self.plan.unlinked[key] = None
                self._links.discard(key)
                if relation is Relation.CONTRADICTS:
                    self._clear_without_opponents(first)
                    self._clear_without_opponents(second)

    def _clear_without_opponents(self, memory: Memory) -> None:
        links = self._links | self.plan.links.keys()
        if not any(memory.id in key[:2] and key[2] is Relation.CONTRADICTS for key in links):
            self.clear(self._now(memory))

    def _is_grounded(self, memory: Memory) -> bool:
        return (
            memory.status is Status.INBOX
            and memory.made_by is MadeBy.EXTRACTION
            and memory.evidence_ref is not None
            and _has_grounds(memory, self._policy)
            # Which value of a key holds, an arbiter says.
            and memory.key is None
            and memory.confidence >= self._policy.promote_from
            and memory.type is not MemoryType.PROFILE
            and self._policy.review_reason(memory.type, memory.rationale) is None
            and REVIEW not in memory.metadata
            and CONTESTED not in memory.metadata
            and memory.id not in self._rejected_before
        )

    def _opposed(self, pair: Judged, first: Memory, second: Memory) -> bool:
        opposed = pair.judgement.contradiction >= CONTRADICTS or pair.judgement.supersedes
        return opposed and self._both_stand(first, second) and may_contradict(first, second)

    def _replaces(self, pair: Judged, first: Memory, second: Memory) -> bool:
        """A later word that is trusted less, or less sure, does not replace an earlier one: it contradicts it."""
        if not pair.judgement.supersedes or first.key is not None or REVIEW in second.metadata:
            return False
        surer = second.agent_id == first.agent_id or second.confidence >= first.confidence
        return surer and _trust(second) >= _trust(first)

    def _was_undone(self, kind: ActionKind, memory: Memory, other: Memory | None) -> bool:
        return (kind, memory.id, None if other is None else other.id) in self._undone

    def _both_stand(self, first: Memory, second: Memory) -> bool:
        return first.status in _STANDING and second.status in _STANDING

    def _now(self, memory: Memory) -> Memory:
        return self.plan.after.get(memory.id, memory)

    def _change(self, before: Memory, after: Memory) -> None:
        if after != before:
            self.plan.before.setdefault(before.id, before)
            self.plan.after[before.id] = after

    def _linked(self, first: Memory, second: Memory, relation: Relation) -> bool:
        both_ways = ((first.id, second.id, relation), (second.id, first.id, relation))
        return any(link in self._links or link in self.plan.links for link in both_ways)

    def _link(self, start: Memory, end: Memory, relation: Relation) -> None:
        if (start.id, end.id, relation) not in self._links:
            self.plan.links[start.id, end.id, relation] = None

    def _act(self, kind: ActionKind, memory: Memory, other: Memory | None, *, why: str) -> None:
        self.plan.actions.append(
            Action(kind=kind, memory_id=memory.id, other_id=None if other is None else other.id, why=why)
        )


# Grounds that rules alone have seen.
_SEEN_BY_RULES = frozenset((EXPLICIT, TWO_SOURCES))


def _has_grounds(memory: Memory, policy: Policy) -> bool:
    grounds = memory.metadata.get(GROUNDS)
    return grounds is not None and (policy.promote is Promote.GROUNDED or grounds not in _SEEN_BY_RULES)


def _grounds_in_words(memory: Memory) -> str:
    grounds = memory.metadata.get(GROUNDS)
    speaker = memory.metadata.get(SAID_BY)
    if grounds == EXPLICIT:
        return f"{speaker} said it outright" if speaker else "it was said outright"
    if grounds == TWO_SOURCES:
        return "two independent sources say it"
    return f"it has evidence and a confidence of {memory.confidence:.2f}"


def _replacement(first: Memory, second: Memory) -> ActionKind:
    if second.status is not Status.ACTIVE or first.status is not Status.ACTIVE:
        return ActionKind.LINK
    outranks = _trust(second) > _trust(first)
    return ActionKind.SUPERSEDE if second.agent_id == first.agent_id or outranks else ActionKind.SUGGEST


def _trust(memory: Memory) -> int:
    return _TRUST_ORDER.index(memory.trust)


def _preference(memory: Memory) -> tuple[object, ...]:
    """The best comes first: what stands, under a key, for good, by whom is trusted most, the surest, the oldest."""
    return (
        memory.status is not Status.ACTIVE,
        memory.key is None,
        memory.expires_at is not None,
        -_trust(memory),
        -memory.confidence,
        memory.created_at,
        memory.id,
    )


def merged(keeper: Memory, other: Memory) -> Memory:
    """Two sources that agree make a candidate surer. Who else said it, and where, the other tells by the link to it."""
    confidence = max(keeper.confidence, other.confidence)
    grounds = keeper.metadata.get(GROUNDS, other.metadata.get(GROUNDS))
    if keeper.made_by is MadeBy.EXTRACTION and _are_independent(keeper, other):
        together = 1 - (1 - keeper.confidence) * (1 - other.confidence)
        confidence = max(confidence, min(together, MOST_CORROBORATED))
        grounds = grounds or TWO_SOURCES
    lives = (keeper.expires_at, other.expires_at)
    return replace(
        keeper,
        metadata=with_marks(keeper.metadata, grounds=grounds) if keeper.status is Status.INBOX else keeper.metadata,
        tags=tuple(dict.fromkeys((*keeper.tags, *other.tags)))[:MAX_TAGS],
        confidence=confidence,
        expires_at=None if None in lives and keeper.status is Status.ACTIVE else _later(*lives),
    )


def _later(first: datetime | None, second: datetime | None) -> datetime | None:
    return max(first, second) if first is not None and second is not None else first


def _are_independent(first: Memory, second: Memory) -> bool:
    """Two sources, and two who say it: one talk that two agents have captured has the same speakers in both."""
    if not _source_of(second) or _source_of(first) == _source_of(second):
        return False
    same_session = first.session_id is not None and first.session_id == second.session_id
    return not same_session and _speaker(first) != _speaker(second)


def _speaker(memory: Memory) -> object:
    return memory.metadata.get(SAID_BY, memory.agent_id)


def _source_of(memory: Memory) -> list[str]:
    origin = memory.evidence_ref or memory.source_ref
    return [origin.source_id] if origin is not None and origin.source_id is not None else []
