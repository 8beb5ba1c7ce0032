"""Near-copies: memories that say so nearly the same that one of them can stand for the others in an answer.

Two say the same when one has all that the other says and no value differs: a number, a date, a name, a negation. What
one author writes again and again with another number or word each time is a crowd, and that is told once as well; a
few such memories are honest values of one thing, and each of them stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache

from mycel.domain.memory import Memory, MemoryType
from mycel.retrieval.analysis import index_text
from mycel.retrieval.duplicates import HEAD_CHARS, LEAST_OVERLAP, Wording, decisive_terms, overlap
from mycel.retrieval.lexical import FUNCTION_WORDS

# Of the words as they are written: what has less in common is not looked at more closely.
LEAST_ROUGH_OVERLAP = 0.4
# The same, of the words of both texts counted one by one.
_LEAST_SHARED = LEAST_ROUGH_OVERLAP / (1 + LEAST_ROUGH_OVERLAP)
# Scripts without spaces have no words as they are written; where there are some, none is longer on average.
LONGEST_WORDS = 16
# Of what one author wrote, so many that differ in a number or a word are a crowd.
CROWD = 4
# Without numbers, and of texts that say enough beside them: of "run 7 took 3 s" the numbers are the message.
LEAST_CROWD_OVERLAP = 0.65
LEAST_CROWD_TERMS = 6
# More numbers that differ are measurements, not a counter.
MOST_COUNTERS = 1
# Beyond so many, each stands for itself: whoever asks for hundreds wants them all, and every pair costs its time.
MOST_COMPARED = 200
# Of so many texts, less their digits, it is remembered which words they have.
SKELETONS = 512
# Each of these is an event or a file of its own, however alike they are.
_EACH_ITS_OWN = frozenset({MemoryType.EPISODE, MemoryType.ARTIFACT})

# Where one of these stands in the place of another, two things are spoken of.
_CONTRASTS = (
    "staging production prod development dev testing sandbox local remote primary secondary replica leader follower "
    "source target client server read write input output upload download request response minimum maximum min max "
    "before after start stop open close first last left right north south east west morning evening internal "
    "external public private old new up down ios android windows linux macos frontend backend"
)
_JOINING_WORDS = "of on in at to for by with from and or but as so if then also just please note remember again every"
_DIGIT = re.compile(r"\d")
_WITH_DIGITS = re.compile(r"[^\s\d]{0,256}\d\S*")
_ZEROS = str.maketrans("123456789", "000000000")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?:t[0-9:.]{1,20}z?)?|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?z?"
    r"|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}"
)
# A capital that no sentence begins with, or a sign inside the word that only names have.
_NAME = re.compile(
    r"(?<![.!?:\n] )(?<![\n(\"'])(?<!^)\b[A-Z]\w{1,60}|\b\w{1,60}[_/]\w[\w/.-]{0,60}|\b[a-z]{1,40}[A-Z]\w{0,60}"
)
_OUTER_SIGNS = ".,;:!?()[]{}\"'`*"


class Likeness:
    """What is compared of one memory: the words as written first, the rest only of those that pass this."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        text = memory.content[:HEAD_CHARS]
        written = text.casefold().split()
        self.rough = frozenset(written if len(written) * LONGEST_WORDS >= len(text) else index_text(text).split())

    def is_near(self, other: Likeness) -> bool:
        """Whether it is worth comparing them."""
        return len(self.rough & other.rough) >= _LEAST_SHARED * (len(self.rough) + len(other.rough))

    def near(self, others: Sequence[Likeness], places: Iterable[int]) -> list[int]:
        """Those of the places where one stands that `is_near`; of an answer every pair is looked at."""
        rough, size = self.rough, len(self.rough)
        return [
            place
            for place in places
            if len(rough & others[place].rough) >= _LEAST_SHARED * (size + len(others[place].rough))
        ]

    def is_copy(self, other: Likeness) -> bool:
        """Whether either can stand for both, whoever wrote them."""
        if self.memory.key != other.memory.key:
            return False
        if self.memory.content == other.memory.content:
            return True
        # The numbers first: they are read in a tenth of the time that words take, and part most that are near.
        return (
            self._numbers == other._numbers
            and not _swapped(self._dates, other._dates)
            and overlap(self._words, other._words, least=LEAST_OVERLAP)
            and not _swapped(self._telling, other._telling)
            and not self._says_otherwise(other)
        )

    def is_kin(self, other: Likeness) -> bool:
        """Whether they can belong to one crowd: another number or another word, but not both."""
        mine, theirs = self.memory, other.memory
        if mine.key != theirs.key or mine.agent_id != theirs.agent_id:
            return False
        if mine.type in _EACH_ITS_OWN or theirs.type in _EACH_ITS_OWN:
            return False
        counters = max(len(self._numbers - other._numbers), len(other._numbers - self._numbers))
        return (
            counters <= MOST_COUNTERS
            and min(len(self._telling), len(other._telling)) >= LEAST_CROWD_TERMS
            and overlap(self._telling, other._telling, least=LEAST_CROWD_OVERLAP)
            and not (_swapped(self._numbers, other._numbers) and _swapped(self._telling, other._telling))
            and not self._says_otherwise(other)
        )

    def _says_otherwise(self, other: Likeness) -> bool:
        """By a negation or a weekday that one of them lacks, or a name in the place of another."""
        if self._telling is other._telling and not any(map(_DIGIT.search, self._names)):
            # The same text but for its numbers.
            return False
        mine, theirs = self._wording.terms, other._wording.terms
        if mine & decisive_terms() != theirs & decisive_terms():
            return True
        return bool(self._values - theirs and other._values - mine)

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.memory.content)

    @cached_property
    def _figures(self) -> frozenset[str]:
        written = _WITH_DIGITS.findall(self.memory.content.casefold())
        return frozenset(word.strip(_OUTER_SIGNS) for word in written)

    @cached_property
    def _dates(self) -> frozenset[str]:
        return frozenset(figure for figure in self._figures if _DATE.fullmatch(figure))

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return self._figures - self._dates

    @property
    def _words(self) -> frozenset[str]:
        """Without numbers and dates, which are compared by themselves."""
        return self._wordings[0]

    @property
    def _telling(self) -> frozenset[str]:
        """Without those that every text has."""
        return self._wordings[1]

    @cached_property
    def _wordings(self) -> tuple[frozenset[str], frozenset[str]]:
        return _wordings(self.memory.content.translate(_ZEROS))

    @cached_property
    def _names(self) -> list[str]:
        return _NAME.findall(self.memory.content[:HEAD_CHARS])

    @cached_property
    def _values(self) -> frozenset[str]:
        """Names and opposites."""
        names = index_text(" ".join(self._names)).split()
        return frozenset(names) | (self._wording.terms & _contrasts())


def stand_ins(ranked: Sequence[Likeness], *, most: int = MOST_COMPARED) -> Iterator[tuple[int, list[int]]]:
    """From the first on, each that no earlier one stands for, with the later ones that it stands for, by place."""
    compared = ranked[:most]
    left = list(range(len(compared)))
    while left:
        first, rest = left[0], left[1:]
        near = compared[first].near(compared, rest)
        copies = _copies(compared, first, near) if near else []
        yield first, copies
        left = [place for place in rest if place not in copies] if copies else rest
    yield from ((place, []) for place in range(most, len(ranked)))


def is_crowd(head: Likeness, every: Iterable[Likeness]) -> bool:
    """Whether its author wrote enough of the kind, itself among them."""
    return sum(1 for one in every if head.is_near(one) and head.is_kin(one)) >= CROWD


def _copies(ranked: Sequence[Likeness], first: int, near: Sequence[int]) -> list[int]:
    head = ranked[first]
    copies = [place for place in near if head.is_copy(ranked[place])]
    kin = [place for place in near if place not in copies and head.is_kin(ranked[place])]
    if not kin:
        return copies
    # Itself and its kin are counted already; what is a copy may be of the kind as well.
    is_enough = len(kin) + 1 >= CROWD or is_crowd(head, [head, *(ranked[place] for place in near)])
    return sorted(copies + kin) if is_enough else copies


@lru_cache(maxsize=SKELETONS)
def _wordings(skeleton: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a text without numbers, and those of them that tell. What differs in its digits alone shares them:
    of what a program writes again and again there are few."""
    terms = Wording(skeleton).terms
    words = frozenset(term for term in terms if not _DIGIT.search(term))
    return words, words - FUNCTION_WORDS - _joining_words()


def _swapped(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether each has one that the other lacks; what only one of them has was added."""
    return bool(first - second and second - first)


@cache
def _joining_words() -> frozenset[str]:
    return frozenset(index_text(_JOINING_WORDS).split())


@cache
def _contrasts() -> frozenset[str]:
    return frozenset(index_text(_CONTRASTS).split())
