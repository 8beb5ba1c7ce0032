"""What a reading tells of a text: its words, its values, and its clauses with the place of each word in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

# Numbers without a unit; versions are among them, since "Node 18" and "version 18" are written alike.
PLAIN = "plain"
TIME, SIZE, SHARE, MONEY = "time", "size", "share", "money"
CLOCK, DATE, WEEKDAY, ORDINAL, PERIOD = "clock", "date", "weekday", "ordinal", "period"


class Value(NamedTuple):
    """An amount and what it measures; equal amounts are written alike."""

    dimension: str
    amount: str

    def agrees_with(self, other: Value) -> bool:
        """Whether both can be meant: the same, or one says it more exactly, as 3.11 does for 3."""
        if self.dimension != other.dimension:
            return False
        if self.dimension == DATE:
            return all(
                mine in {theirs, "?"} or theirs == "?" for mine, theirs in zip(self.amount, other.amount, strict=True)
            )
        if self.dimension == PLAIN:
            mine, theirs = self.amount.split("."), other.amount.split(".")
            return all(one == two or "x" in (one, two) for one, two in zip(mine, theirs, strict=False))
        return self.amount == other.amount


class Lexeme(NamedTuple):
    """One word, value or mark as it is written; `word` is in small letters, and a phrase is one word with hyphens."""

    word: str
    text: str
    is_name: bool = False
    value: Value | None = None
    is_copula: bool = False


Part = tuple[Lexeme, ...]
Sentence = tuple[Part, ...]


class Role(Enum):
    """The place of a word in its clause."""

    SUBJECT = "subject"
    VERB = "verb"
    OBJECT = "object"
    SCOPE = "scope"  # where, when or for what it holds
    CONDITION = "condition"
    EXTRA = "extra"  # reasons, and whatever follows the clause
    DENIED = "denied"  # what is named only to say that it is not so


class Tense(Enum):
    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


class Token(NamedTuple):
    """A word with weight, `text` as it is written.

    `akin` stands for all words near it in meaning, `denies` for the word it is the opposite of. `near` is what a
    plain number counts or belongs to, `is_count` tells the two apart, and `bound` says whether it
    is the least or the most.
    """

    term: str
    akin: str
    role: Role
    text: str
    marker: str = ""
    denies: str = ""
    value: Value | None = None
    near: tuple[str, ...] = ()
    bound: str = ""
    is_count: bool = False
    is_name: bool = False
    is_light: bool = False
    is_environment: bool = False


class Order(NamedTuple):
    """What comes first, and what then."""

    earlier: frozenset[str]
    later: frozenset[str]


@dataclass(frozen=True, slots=True)
class Clause:
    """`verb` is empty where something only is something, and plain where it says little; `act` stands for all verbs
    near it. `condition` is "if" or "unless" where there is one."""

    tokens: tuple[Token, ...]
    verb: str
    act: str
    is_negated: bool
    is_scene: bool
    is_definite: bool
    is_plain: bool
    is_passive: bool
    has_agent: bool
    tense: Tense
    is_told: bool
    condition: str
    sequence: Order | None
    akins: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text once read: its words with weight in order, how often each, and the small words that decide.

    `deciding` has those with the words they stand before: from here, to there. `is_standing`: it lays down a rule or
    a decision in so many words.
    """

    words: tuple[str, ...]
    counts: Counter[str]
    values: Counter[str]
    deciding: Counter[tuple[str, str]]
    sentences: tuple[Sentence, ...]
    clauses: tuple[Clause, ...]
    is_whole: bool
    is_standing: bool = False
