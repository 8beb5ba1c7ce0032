"""The memories that a search has found, on their way to its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mycel.domain.memory import Memory
from mycel.domain.search_request import Signals
from mycel.retrieval.copies import MOST_COMPARED, Likeness, stand_ins
from mycel.retrieval.fusion import Evidence
from mycel.retrieval.lexical import Question
from mycel.retrieval.relevance import STRONG, STRONG_WORDS

# The place and the number a memory has there.
Key = tuple[int, int]


@dataclass(slots=True)
class Candidate:
    """A memory on its way through the search. `parts` are what its score is made of, by name."""

    key: Key
    evidence: Evidence
    memory: Memory | None = None
    signals: Signals | None = None
    # A flag for each term of the question: whether it holds it.
    held: bytes = b""
    # Made by a plain function: a generic type as a factory costs six times as much, and there are many candidates.
    parts: dict[str, float] = field(default_factory=lambda: {})
    found: float = 0.0
    score: float = 0.0
    relevance: float = 0.0
    # Not in reach of where the caller works.
    far: bool = False
    # What it stands for in the answer, best first.
    copies: dict[Key, Candidate] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate looked at closely: those to show, best first, then those too weak for it, which are not read.

    `chosen` are those to answer with: one for all that say the same, and of one author no more than a share.
    """

    candidates: Sequence[Candidate]
    question: Question
    least: float
    chosen: Sequence[Candidate] = ()

    def shows(self, candidate: Candidate) -> bool:
        """What is far must be strongly relevant, to a question that says enough to tell."""
        if candidate.far and (candidate.relevance < STRONG or len(self.question.words) < STRONG_WORDS):
            return False
        return candidate.relevance >= self.least


def standing(ranked: Sequence[Candidate], *, most: int = MOST_COMPARED) -> Iterator[Candidate]:
    """Those that stand for themselves, from the first on; each learns what else it stands for."""
    found = [(one, Likeness(one.memory)) for one in ranked if one.memory is not None]
    for place, copies in stand_ins([likeness for _, likeness in found], most=most):
        one = found[place][0]
        for copy in (found[at][0] for at in copies):
            one.copies |= {copy.key: copy, **copy.copies}
        yield one


def author_of(one: Candidate) -> str:
    return one.memory.agent_id if one.memory else ""
