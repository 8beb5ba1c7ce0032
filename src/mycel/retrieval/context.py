"""Which memories are candidates for which section of a context bundle, the best of each first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mycel.domain.author_share import most_of_one, share_out
from mycel.domain.context import Section
from mycel.domain.memory import Category, Memory, MemoryType
from mycel.domain.recall import Hit
from mycel.retrieval.copies import Likeness, stand_ins
from mycel.retrieval.packing import Candidate

# What an agent must not break comes before what it may want to know; all other categories follow.
_CATEGORY_ORDER = (
    Category.CONVENTION,
    Category.ARCHITECTURE,
    Category.BEST_PRACTICE,
    Category.PREFERENCE,
    Category.CODEBASE_KNOWLEDGE,
)
_FAILED = frozenset({"failure", "failed"})


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
    episodes: Sequence[Memory]
    of_task: Sequence[Memory] = ()


def is_failure(memory: Memory) -> bool:
    """What went wrong once: a pattern of mistakes, or an episode that says it failed."""
    if memory.category == Category.MISTAKE_PATTERN:
        return True
    outcome = memory.metadata.get("outcome")
    failed = isinstance(outcome, str) and outcome.casefold() in _FAILED
    return memory.type is MemoryType.EPISODE and (failed or not _FAILED.isdisjoint(memory.tags))


def choose_candidates(
    listed: Listed, *, hits: Sequence[Hit], failure_hits: Sequence[Hit]
) -> Mapping[Section, Sequence[Candidate]]:
    """A memory may be a candidate of several sections: one that finds no room as a decision may as a match."""
    failed = [hit for hit in (*failure_hits, *hits) if is_failure(hit.memory)]
    known = {hit.memory.id: hit for hit in (*failure_hits, *hits)}

    def because(memories: Iterable[Memory], why: str) -> list[Candidate]:
        return [_candidate(memory, known.get(memory.id), why) for memory in memories]

    tried = because((memory for memory in listed.of_task if is_failure(memory)), "Failed before on this task.")
    done = because((memory for memory in listed.of_task if not is_failure(memory)), "Of this very task.")
    return {
        Section.PROFILE: because(listed.profile, "About the people here."),
        Section.PROJECT: because(_most_binding(listed), "Holds where the task is."),
        Section.DECISIONS: because(listed.decisions, "Among the newest decisions."),
        Section.OWN: because(listed.own, "Your own note."),
        Section.RELEVANT: [*map(_found, (hit for hit in hits if not is_failure(hit.memory))), *done],
        Section.FAILURES: [*tried, *map(_found, failed)],
        Section.LESSONS: [
            *because(listed.taught, "Taught by a lead."),
            *because(listed.lessons, "Among the newest lessons."),
        ],
        Section.EPISODES: because(listed.episodes, "Among the newest episodes."),
    }


def diverse(memories: Sequence[Memory], *, limit: int, author_share: float) -> tuple[Memory, ...]:
    """The first of them, each saying something new, and of one author no more than a share while there are others."""
    heads = (memories[place] for place, _ in stand_ins([Likeness(memory) for memory in memories]))
    return tuple(share_out(heads, limit=limit, share=author_share, author=lambda memory: memory.agent_id).items)


def crowding(memories: Sequence[Memory], *, limit: int, author_share: float) -> tuple[str, ...]:
    """Those who fill a list of the newest so far that others may wait behind them."""
    counts = Counter(memory.agent_id for memory in memories)
    most = most_of_one(limit, author_share)
    return tuple(author for author, count in counts.items() if count > most) if len(memories) >= limit else ()


def _most_binding(listed: Listed) -> list[Memory]:
    """Both lists by category, what describes the project before its other facts, and the newest first."""
    return sorted((*listed.conventions, *listed.facts), key=_bindingness)


def _bindingness(memory: Memory) -> tuple[int, bool]:
    rank = next((rank for rank, one in enumerate(_CATEGORY_ORDER) if one == memory.category), len(_CATEGORY_ORDER))
    return rank, memory.type is not MemoryType.PROJECT


def _found(hit: Hit) -> Candidate:
    return Candidate(hit.memory, hit.why, hit.relevance, len(hit.copies))


def _candidate(memory: Memory, hit: Hit | None, why: str) -> Candidate:
    return Candidate(memory, why) if hit is None else _found(hit)
