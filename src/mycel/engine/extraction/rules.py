"""What a language tells of a sentence: its topic, the kind that a heading gives it, and the rules that it follows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mycel.domain.memory import Category, MemoryType

Kind = tuple[MemoryType, Category]

# What stands above an item whose box is not ticked.
OPEN_BOX = "to do"


class Topic(NamedTuple):
    """How many words of each sort a sentence has."""

    technical: int
    work: int
    personal: int

    @property
    def weight(self) -> float:
        """How much it speaks for work; a word that also turns up elsewhere counts half."""
        return self.technical + self.work / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A cue that by itself says what a sentence is.

    The pattern is tried only where one of `keys` is among the words. `leads` says that the cue stands before the
    statement and is no part of it. A rule is void where what stands before the cue takes it back, if it is `settled`;
    in the mouth of anyone but a person, if it is `personal`; where the sentence reports or offers, unless it is `firm`.
    """

    type: MemoryType
    category: Category
    confidence: float
    keys: frozenset[str]
    pattern: re.Pattern[str]
    leads: bool = False
    settled: bool = False
    personal: bool = False
    firm: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A rule, and where in the sentence its cue stands."""

    rule: Rule
    start: int
    end: int


class RuleBook:
    """Rules by their key words, the surest first."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = sorted(rules, key=lambda rule: -rule.confidence)
        places: dict[str, list[int]] = {}
        for place, rule in enumerate(self._rules):
            for key in rule.keys:
                places.setdefault(key, []).append(place)
        self._places: Mapping[str, list[int]] = places
        self._keys = frozenset(places)

    def matches(self, text: str, words: Collection[str]) -> Iterator[Match]:
        """Each rule whose cue the sentence has, the surest first."""
        keys = self._keys.intersection(words)
        for place in sorted({place for key in keys for place in self._places[key]}):
            found = self._rules[place].pattern.search(text)
            if found:
                yield Match(self._rules[place], found.start(), found.end())
