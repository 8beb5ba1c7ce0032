"""What a clause says: its words with weight, the place of each, and how they are said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mycel.engine.judging.values import Value


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


class Sequence(NamedTuple):
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
    sequence: Sequence | None
    akins: frozenset[str]
