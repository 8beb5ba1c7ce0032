"""Fills the sections of a context bundle within its token budget, and says each thing once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mycel.domain import envelope, rendering
from mycel.domain.author_share import AUTHOR_SHARE, LEAST_WORTH
from mycel.domain.context import HEADINGS, ContextItem, Section
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.rendering import LEAST_EXCERPT_TOKENS, estimate_tokens, line_tokens
from mycel.retrieval.copies import Likeness, is_crowd

# Per cent of the budget. What a section does not use goes to the next, and what is left in the end to all in order.
SHARES: Mapping[Section, int] = {
    Section.PROFILE: 10,
    Section.PROJECT: 18,
    Section.DECISIONS: 18,
    Section.OWN: 6,
    Section.RELEVANT: 26,
    Section.FAILURES: 10,
    # Without a task the two before it are empty, and their share is its own.
    Section.LESSONS: 6,
    Section.EPISODES: 6,
}
# So many are ever looked at, with what the other sections add; the count of those left out has no more digits.
MOST_CANDIDATES = 9999
# While others wait for a place in its section, a long note is cut to this part of it.
_LARGEST_PART = 3
# No line is shorter: its citation alone is most of that.
_SHORTEST_LINE = 40
# The words that count the near-duplicates.
_ALIKE_TOKENS = 5


@dataclass(frozen=True)
class Candidate:
    """A memory that could stand in a section, and why. Without slots, for what is worked out once."""

    memory: Memory
    why: str
    relevance: float | None = None
    # How many more say nearly the same and were left behind for it.
    copies: int = 0

    @cached_property
    def content(self) -> str:
        return rendering.note_text(self.memory)

    @cached_property
    def likeness(self) -> Likeness:
        return Likeness(self.memory)


@dataclass(frozen=True, slots=True)
class Packed:
    sections: Mapping[str, Sequence[ContextItem]]
    left_out: int


@dataclass(slots=True)
class _Place:
    candidate: Candidate
    text: str
    alike: int = 0
    # Whether its author wrote so many like it that they are told once; worked out when one of them turns up.
    is_crowd: bool | None = None

    @property
    def is_cut(self) -> bool:
        return self.text != self.candidate.content

    def item(self) -> ContextItem:
        return ContextItem(
            memory=self.candidate.memory,
            why=self.candidate.why,
            relevance=self.candidate.relevance,
            citation=envelope.cite(self.candidate.memory.id),
            text=self.text,
            shortened=self.is_cut,
            alike=self.alike,
        )


def pack(
    candidates: Mapping[Section, Sequence[Candidate]],
    *,
    token_budget: int,
    home: TeamName,
    author_share: float = AUTHOR_SHARE,
) -> Packed:
    """The first candidates of each section that fit, in their order; a near-copy only raises a count.

    One author has a share of each section and of the whole, until nobody else has anything for the rest.
    """
    packing = _Packing(candidates, token_budget, home=home, author_share=author_share)
    unused = 0
    available = packing.room
    for section, share in SHARES.items():
        allowance = unused + available * share // 100
        unused = allowance - packing.fill(section, allowance, shared=allowance)
    for shared in (available, None):
        for section in SHARES:
            packing.fill(section, packing.room, shared=shared)
    packing.lengthen()
    considered = {candidate.memory.id for each in candidates.values() for candidate in each}
    return Packed(packing.sections(), len(considered - packing.told))


class _Packing:
    """The places given so far, and the room that is left."""

    def __init__(
        self,
        candidates: Mapping[Section, Sequence[Candidate]],
        token_budget: int,
        *,
        home: TeamName,
        author_share: float,
    ) -> None:
        around = envelope.envelope([rendering.left_out_line(MOST_CANDIDATES)]).splitlines()
        self.room = token_budget - sum(map(line_tokens, around))
        self.told: set[MemoryId] = set()
        self._whole = self.room
        self._candidates = candidates
        self._home = home
        self._share = author_share
        self._places: dict[Section, list[_Place]] = {section: [] for section in Section}
        # Tokens by author, in each section and in all.
        self._taken: Counter[tuple[Section | None, str]] = Counter()

    def fill(self, section: Section, allowance: int, *, shared: int | None) -> int:
        """Gives places for at most so many tokens; returns how many were taken.

        Of `shared` tokens one author takes no more than a share while others wait; of None, what there is.
        """
        before, least_room = self.room, self.room - allowance
        most = allowance // _LARGEST_PART
        for candidate in self._candidates.get(section, ()):
            if self.room - least_room < _SHORTEST_LINE:
                break
            if candidate.memory.id in self.told or self._is_told_by_another(candidate):
                continue
            if shared is None or not self._has_its_share(section, candidate, shared):
                self._place(section, candidate, allowance=self.room - least_room, most=most)
        return before - self.room

    def lengthen(self) -> None:
        """Gives the room that nobody took to the notes that had been cut."""
        for place in (place for places in self._places.values() for place in places if place.is_cut):
            text = _excerpt(place.candidate, estimate_tokens(place.text) + self.room)
            taken = 0 if text is None else self._cost(place.candidate, text) - self._cost(place.candidate, place.text)
            if text is not None and 0 < taken <= self.room:
                self.room -= taken
                place.text = text

    def sections(self) -> Mapping[str, Sequence[ContextItem]]:
        return {section: tuple(place.item() for place in places) for section, places in self._places.items()}

    def _has_its_share(self, section: Section, candidate: Candidate, shared: int) -> bool:
        """An agent's own notes are its own; what others have must be worth the place."""
        author = candidate.memory.agent_id
        here, in_all = self._taken[section, author], self._taken[None, author]
        if section is Section.OWN or (here < self._share * shared and in_all < self._share * self._whole):
            return False
        worth = LEAST_WORTH * (candidate.relevance or 0.0)
        return any(
            other.memory.agent_id != author
            and other.memory.id not in self.told
            and (other.relevance is None or other.relevance >= worth)
            for other in self._candidates.get(section, ())
        )

    def _is_told_by_another(self, candidate: Candidate) -> bool:
        for place in (place for places in self._places.values() for place in places):
            if self._stands_for(place, candidate.likeness):
                mention = 0 if place.alike else _ALIKE_TOKENS
                if mention <= self.room:
                    self.room -= mention
                    place.alike += 1 + candidate.copies
                    self.told.add(candidate.memory.id)
                return True
        return False

    def _stands_for(self, place: _Place, other: Likeness) -> bool:
        head = place.candidate.likeness
        if not head.is_near(other):
            return False
        return head.is_copy(other) or (head.is_kin(other) and self._is_crowd(place))

    def _is_crowd(self, place: _Place) -> bool:
        if place.is_crowd is None:
            every = {one.memory.id: one.likeness for each in self._candidates.values() for one in each}
            place.is_crowd = is_crowd(place.candidate.likeness, every.values())
        return place.is_crowd

    def _place(self, section: Section, candidate: Candidate, *, allowance: int, most: int) -> None:
        heading = 0 if self._places[section] else line_tokens(HEADINGS[section]) + line_tokens("")
        left = allowance - heading - self._cost(candidate, "")
        text = _excerpt(candidate, min(left, max(most, LEAST_EXCERPT_TOKENS)))
        if text is not None:
            cost = heading + self._cost(candidate, text)
            self.room -= cost
            self._taken[section, candidate.memory.agent_id] += cost
            self._taken[None, candidate.memory.agent_id] += cost
            self.told.add(candidate.memory.id)
            self._places[section].append(_Place(candidate, text, candidate.copies))

    def _cost(self, candidate: Candidate, text: str) -> int:
        """Of the line as a whole: less than its parts, since an id counts by pieces and prose by characters."""
        return line_tokens(rendering.bullet(candidate.memory, home=self._home, alike=candidate.copies) + text)


def _excerpt(candidate: Candidate, tokens: int) -> str | None:
    return rendering.excerpt(candidate.content, candidate.memory, tokens=tokens)
