"""Which memories are candidates for which section of a context bundle, the best of each first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from mycel.domain.author_share import most_of_one, share_out
from mycel.domain.context import Section
from mycel.domain.ids import MemoryId
from mycel.domain.marks import ABOUT
from mycel.domain.memory import Category, MadeBy, Memory, MemoryType
from mycel.domain.recall import Hit
from mycel.domain.session_summary import Part, points_of
from mycel.retrieval.copies import Likeness, stand_ins
from mycel.retrieval.packing import Candidate

# Below this, what a search shows for want of anything better only takes room.
LEAST_RELEVANCE = 0.1
# What tells how a project is built comes before its other facts.
_CATEGORY_ORDER = (Category.ARCHITECTURE, Category.BEST_PRACTICE, Category.CODEBASE_KNOWLEDGE)
_FAILED = frozenset({"failure", "failed"})
_NAMES = re.compile(r"[^\W_][\w.-]*")
# What was weighed for the task comes before what was not, however that stands otherwise.
_UNWEIGHED = -1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What there is without a search, each list newest first; `of_task` when the task was named by its id."""

    profile: Sequence[Memory]
    conventions: Sequence[Memory]
    facts: Sequence[Memory]
    decisions: Sequence[Memory]
    own: Sequence[Memory]
    taught: Sequence[Memory]
    lessons: Sequence[Memory]
    hints: Sequence[Memory]
    episodes: Sequence[Memory]
    nearest_lessons: Sequence[Memory] = ()
    nearest_conventions: Sequence[Memory] = ()
    of_task: Sequence[Memory] = ()

    def all(self) -> Iterable[Memory]:
        lists = (getattr(self, name) for name in self.__slots__)
        return chain.from_iterable(lists)


@dataclass(frozen=True, slots=True)
class Weight:
    """What a memory came to when all of its sort were compared with the task."""

    memory: Memory
    score: float
    relevance: float
    # Whether a search would show it.
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is known of the task: whose wishes count, what matches it, and how each sort was weighed for it."""

    people: Collection[str] = ()
    hits: Sequence[Hit] = ()
    weights: Mapping[MemoryId, Weight]
    # What speaks for a memory whatever the task: how near it is, how useful others found it, how new it is.
    standing: Mapping[MemoryId, float]
    repo: str | None = None

    def is_elsewhere(self, memory: Memory) -> bool:
        """Whether it is said of another repo, also where that is one of the same project."""
        return self.repo is not None and memory.repo_id not in {None, self.repo}


def is_failure(memory: Memory) -> bool:
    """What went wrong once: a pattern of mistakes, or an episode that says it failed."""
    if memory.category == Category.MISTAKE_PATTERN:
        return True
    outcome = memory.metadata.get("outcome")
    failed = isinstance(outcome, str) and outcome.casefold() in _FAILED
    return memory.type is MemoryType.EPISODE and (failed or not _FAILED.isdisjoint(memory.tags))


def named_in(text: str, names: Iterable[str]) -> set[str]:
    """Those of the names that stand in a text as words of their own."""
    said = {word.rstrip(".-").casefold() for word in _NAMES.findall(text)}
    return {name for name in names if name.casefold() in said}


def person_of(memory: Memory) -> str:
    """Whose wish or trait it is."""
    about = memory.metadata.get(ABOUT)
    return about if isinstance(about, str) else memory.agent_id


def choose_candidates(listed: Listed, task: Task) -> Mapping[Section, Sequence[Candidate]]:
    """A memory may be a candidate of several sections: one that finds no room as a decision may as a match."""
    order = _Order(task)
    weighed = [weight.memory for weight in task.weights.values()]

    def of(*types: MemoryType) -> list[Memory]:
        return [memory for memory in weighed if memory.type in types]

    conventions = [memory for memory in weighed if memory.category == Category.CONVENTION]
    tried = [memory for memory in listed.of_task if is_failure(memory)]
    done = [memory for memory in listed.of_task if not is_failure(memory)]
    failed = [one.memory for one in task.weights.values() if one.shown and is_failure(one.memory)]
    own = {memory.id for memory in listed.own}
    lessons = (*of(MemoryType.LESSON), *listed.nearest_lessons, *listed.lessons, *listed.taught)
    learned = [memory for memory in lessons if memory.id not in own]
    # Where no task says which of them matters, what a lead thought worth teaching does.
    taught = (
        order.best((one for one in listed.taught if one.id not in own), "Taught by a lead.") if not task.weights else []
    )
    return {
        Section.FAILURES: [
            *order.as_given(tried, "Failed before on this task."),
            *order.best(failed, "Went wrong before."),
        ],
        Section.OPEN: [
            *_open_points(listed, order),
            *order.best((*of(MemoryType.TASK_HINT), *listed.hints), "Left to be done, or how to."),
        ],
        Section.CONVENTIONS: order.best(
            (*conventions, *listed.nearest_conventions, *listed.conventions), "Holds where the task is."
        ),
        Section.PROFILE: _wishes((*of(MemoryType.PROFILE), *listed.profile), order),
        Section.DECISIONS: order.best((*of(MemoryType.DECISION), *listed.decisions), "Was decided."),
        Section.LESSONS: [*taught, *order.best(learned, "Was learned.")],
        Section.RELEVANT: [*map(_found, task.hits), *order.as_given(done, "Of this very task.")],
        Section.OWN: order.as_given(listed.own, "Your own note."),
        Section.PROJECT: order.as_given(sorted(listed.facts, key=_bindingness), "Holds where the task is."),
        Section.EPISODES: order.as_given(listed.episodes, "Among the newest episodes."),
    }


class _Order:
    """The order within a section: by the task where there is one, then by what speaks for a memory anyway."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._hits = {hit.memory.id: hit for hit in task.hits}

    def best(self, memories: Iterable[Memory], why: str) -> list[Candidate]:
        once = {memory.id: memory for memory in memories}
        return self.as_given(sorted(once.values(), key=self._value, reverse=True), why)

    def as_given(self, memories: Iterable[Memory], why: str) -> list[Candidate]:
        return [self._candidate(memory, why) for memory in memories]

    def _value(self, memory: Memory) -> tuple[float, float, str]:
        standing = self.task.standing.get(memory.id, 0.0)
        weight = self.task.weights.get(memory.id)
        return _UNWEIGHED if weight is None else weight.score, standing, memory.id

    def _candidate(self, memory: Memory, why: str) -> Candidate:
        hit, weight = self._hits.get(memory.id), self.task.weights.get(memory.id)
        late = self.task.is_elsewhere(memory)
        if hit is not None:
            return replace(_found(hit), late=late)
        return Candidate(memory, why, weight.relevance if weight is not None and weight.shown else None, late=late)


def _open_points(listed: Listed, order: _Order) -> list[Candidate]:
    """What the last session here left to be done."""
    sessions = (memory for memory in listed.episodes if memory.made_by is MadeBy.SESSION_SUMMARY)
    last = next((memory for memory in sessions if not order.task.is_elsewhere(memory)), None)
    points = [] if last is None else points_of(last.content, Part.OPEN)
    if last is None or not points:
        return []
    part = f"Left open by the last session ({last.title}): {' · '.join(points)}"
    return [replace(one, part=part) for one in order.as_given([last], "The last session here left it open.")]


def _wishes(memories: Iterable[Memory], order: _Order) -> list[Candidate]:
    """Of those who asked or are named before all others, who wait where it is known who asked."""
    people = order.task.people
    found = order.best(memories, "About the people here.")
    first = [one for one in found if _is_of(one.memory, people)]
    rest = [replace(one, late=bool(people)) for one in found if not _is_of(one.memory, people)]
    return [*first, *rest]


def _is_of(memory: Memory, people: Collection[str]) -> bool:
    return person_of(memory) in people or bool(named_in(memory.content, people))


def diverse(memories: Sequence[Memory], *, limit: int, author_share: float) -> tuple[Memory, ...]:
    """The first of them, each saying something new, and of one author no more than a share while there are others."""
    heads = (memories[place] for place, _ in stand_ins([Likeness(memory) for memory in memories]))
    return tuple(share_out(heads, limit=limit, share=author_share, author=lambda memory: memory.agent_id).items)


def crowding(memories: Sequence[Memory], *, limit: int, author_share: float) -> tuple[str, ...]:
    """Those who fill a list of the newest so far that others may wait behind them."""
    counts = Counter(memory.agent_id for memory in memories)
    most = most_of_one(limit, author_share)
    return tuple(author for author, count in counts.items() if count > most) if len(memories) >= limit else ()


def _bindingness(memory: Memory) -> tuple[int, bool]:
    rank = next((rank for rank, one in enumerate(_CATEGORY_ORDER) if one == memory.category), len(_CATEGORY_ORDER))
    return rank, memory.type is not MemoryType.PROJECT


def _found(hit: Hit) -> Candidate:
    return Candidate(hit.memory, hit.why, hit.relevance, len(hit.copies), late=hit.relevance < LEAST_RELEVANCE)
