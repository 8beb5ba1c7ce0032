"""Fills the sections of a context bundle within its token budget, and says each thing once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mycel.domain import envelope, rendering
from mycel.domain.author_share import AUTHOR_SHARE, LEAST_WORTH
from mycel.domain.context import HEADINGS, ContextItem, Section, item_start
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.rendering import estimate_tokens, line_tokens
from mycel.retrieval.copies import Likeness, is_crowd

# Per cent of the budget that a section has for itself. What it does not need goes to all, a note at a time.
SHARES: Mapping[Section, int] = {
    Section.FAILURES: 12,
    Section.OPEN: 8,
    Section.CONVENTIONS: 16,
    Section.PROFILE: 8,
    Section.DECISIONS: 14,
    Section.LESSONS: 14,
    Section.RELEVANT: 12,
    Section.OWN: 6,
    Section.PROJECT: 6,
    Section.EPISODES: 4,
}
# What an agent must not break, or would be sorry to have missed, goes before what it may want to know.
BINDING = (
    Section.FAILURES,
    Section.OPEN,
    Section.CONVENTIONS,
    Section.PROFILE,
    Section.DECISIONS,
    Section.LESSONS,
)
# So many are ever looked at, with what the other sections add; the count of those left out has no more digits.
MOST_CANDIDATES = 9999
# While others wait, a note may take so many tokens, or this part of the room; half a sentence helps nobody.
_USUAL_NOTE = 90
_LARGEST_PART = 6
# No line is shorter: its citation alone is most of that.
_SHORTEST_LINE = 18
# From this relevance the first lesson may take more than a share. Where any lesson or the first of every section did
# so, less of what was needed found room (`make bench ARGS=context`).
_FITS_THE_TASK = 0.3
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
    # As much of its id as tells it apart, and how long ago it was written.
    cited: str = ""
    age: str = ""
    # The part of it that matters here, where that is not all.
    part: str | None = None
    # Only for room that nothing else needs.
    late: bool = False

    @cached_property
    def content(self) -> str:
        return rendering.note_with_reason(self.memory) if self.part is None else envelope.one_line(self.part)

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
            citation=envelope.cite(self.candidate.cited or self.candidate.memory.id),
            text=self.text,
            age=self.candidate.age,
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
    available = packing.room
    for section, share in SHARES.items():
        packing.fill(section, available * share // 100)
    packing.deal(BINDING, shared=available)
    packing.deal(SHARES, shared=available)
    packing.deal(SHARES, shared=available, late=True)
    packing.deal(SHARES, shared=None, late=True)
    packing.deal(SHARES, shared=None, late=True, cut=True)
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
        self._most = max(_USUAL_NOTE, self.room // _LARGEST_PART)
        self._candidates = candidates
        self._home = home
        self._share = author_share
        self._places: dict[Section, list[_Place]] = {section: [] for section in Section}
        # Tokens by author, in each section and in all.
        self._taken: Counter[tuple[Section | None, str]] = Counter()

    def fill(self, section: Section, allowance: int) -> None:
        """Gives places for at most so many tokens, of which one author takes no more than a share while others wait."""
        least_room = self.room - allowance
        for candidate in self._waiting(section, late=False, shared=allowance):
            left = self.room if self._may_overdraw(section, candidate) else self.room - least_room
            if left < _SHORTEST_LINE:
                break
            self._place(section, candidate, allowance=left)

    def _may_overdraw(self, section: Section, candidate: Candidate) -> bool:
        """The lesson that fits the task best is not passed over for a shorter one that has less to do with it."""
        fits = candidate.relevance is not None and candidate.relevance >= _FITS_THE_TASK
        return section is Section.LESSONS and fits and not self._places[section]

    def deal(
        self,
        sections: Iterable[Section],
        *,
        shared: int | None,
        late: bool = False,
        cut: bool = False,
    ) -> None:
        """Goes round the sections, a note to each, as long as any has one that finds room."""
        waiting = {section: self._waiting(section, late=late, shared=shared) for section in sections}
        while waiting and self.room >= _SHORTEST_LINE:
            for section in list(waiting):
                if not self._place_next(section, waiting[section], cut=cut):
                    del waiting[section]

    def _place_next(self, section: Section, waiting: Iterator[Candidate], *, cut: bool) -> bool:
        return any(self._place(section, candidate, allowance=self.room, cut=cut) for candidate in waiting)

    def _waiting(self, section: Section, *, late: bool, shared: int | None) -> Iterator[Candidate]:
        """Those of a section that are not told yet. Of `shared` tokens one author takes no more than a share while
        others wait; of None, what there is."""
        for candidate in self._candidates.get(section, ()):
            if candidate.late and not late:
                continue
            if candidate.memory.id in self.told or self._is_told_by_another(candidate):
                continue
            if shared is None or not self._has_its_share(section, candidate, shared):
                yield candidate

    def lengthen(self) -> None:
        """Gives the room that nobody took to the notes that had been cut."""
        for section, place in ((section, one) for section, places in self._places.items() for one in places):
            if not place.is_cut:
                continue
            text = _excerpt(place.candidate, estimate_tokens(place.text) + self.room)
            if text is None:
                continue
            taken = self._cost(section, place.candidate, text) - self._cost(section, place.candidate, place.text)
            if 0 < taken <= self.room:
                self.room -= taken
                place.text = text

    def sections(self) -> Mapping[str, Sequence[ContextItem]]:
        """Each in the order of its candidates, whoever found room first."""
        found: dict[str, Sequence[ContextItem]] = {}
        for section, places in self._places.items():
            order = {one.memory.id: -rank for rank, one in enumerate(reversed(self._candidates.get(section, ())))}
            found[section] = tuple(
                place.item() for place in sorted(places, key=lambda place: order[place.candidate.memory.id])
            )
        return found

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

    def _place(self, section: Section, candidate: Candidate, *, allowance: int, cut: bool = False) -> bool:
        """Whether it was given one. A note is cut to what is usual; to the room there is only if it is to be `cut`."""
        heading = 0 if self._places[section] else line_tokens(HEADINGS[section])
        left = allowance - heading - self._cost(section, candidate, "")
        text = _excerpt(candidate, min(left, self._most)) if cut else _excerpt(candidate, self._most)
        if text is None:
            return False
        cost = heading + self._cost(section, candidate, text)
        if cost > allowance:
            return False
        self.room -= cost
        self._taken[section, candidate.memory.agent_id] += cost
        self._taken[None, candidate.memory.agent_id] += cost
        self.told.add(candidate.memory.id)
        self._places[section].append(_Place(candidate, text, candidate.copies))
        return True

    def _cost(self, section: Section, candidate: Candidate, text: str) -> int:
        """Of the line as a whole: less than its parts, since an id counts by pieces and prose by characters."""
        item = _Place(candidate, text, candidate.copies).item()
        return line_tokens(item_start(item, section, home=self._home) + text)


def _excerpt(candidate: Candidate, tokens: int) -> str | None:
    if candidate.part is not None:
        return rendering.shorten(candidate.content, tokens)
    return rendering.excerpt(candidate.content, candidate.memory, tokens=tokens)
