"""Which memories hold which terms: arrays of rows for each term, in segments of which only the smallest are rewritten.

A segment never changes. What is written makes a new one, `home` says which of them speaks for a memory, and segments
of about one size are merged. A search works on one `_State` from its beginning to its end, whatever is written
meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.index.best import bar_of
from mycel.index.coded_column import Flags, resized
from mycel.index.word_scores import Scores, most_of, term_scores
from mycel.retrieval.terms import HEAD, NUMBER_BYTES

Terms = NDArray[np.uint64]
Numbers = NDArray[np.int64]

LEAST_LENGTH = 1_024
GROWTH = 1.125
# Segments are merged where the smaller is more than this share of the larger: each row is rewritten a few times, and
# there are no more segments than the logarithm of the rows.
MERGED_SHARE = 0.25
# Rarest first, terms find rows for as long as the reader sees so few of their postings together; the others only score
# what was found.
FINDING_POSTINGS = 20_000
# So many of those are added before what has fallen behind for good is left out.
SCORED_TOGETHER = 4
# What one search in a list costs, in steps through it.
SEARCH_STEPS = 8
# Of so many terms it is remembered where their postings are, until something is written.
KNOWN_TERMS = 4_096
# And of so many flags whether they leave anything out.
REMEMBERED_FLAGS = 4
_NOWHERE = 0
_MOST_SEGMENTS = 30_000


class Segment(NamedTuple):
    """The rows and counts of `terms[i]` are those from `starts[i]` to `starts[i + 1]`, in order of rows."""

    terms: Terms
    starts: Numbers
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @property
    def size(self) -> int:
        return len(self.rows)

    def spans(self, wanted: Terms) -> tuple[Numbers, Numbers]:
        """Where the postings of each begin and end; the same place for a term that is not here."""
        if not len(self.terms):
            none = np.zeros(len(wanted), np.int64)
            return none, none
        places = np.searchsorted(self.terms, wanted)
        places[places == len(self.terms)] = 0
        there = self.terms[places] == wanted
        begin = self.starts[places]
        return begin, np.where(there, self.starts[places + 1], begin)


class _List(NamedTuple):
    """The postings of one term in one segment, by what `home` calls it; `is_whole` where every row still counts."""

    id: int
    is_whole: bool
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]


class _State(NamedTuple):
    """`ids[i]` is what `home` calls `segments[i]`; `whole` are those of which every row still counts."""

    segments: tuple[Segment, ...]
    ids: tuple[int, ...]
    home: NDArray[np.int16]
    lengths: NDArray[np.float32]
    whole: frozenset[int]
    # Of terms asked for: one search asks for each several times, and many searches for the same.
    known: dict[int, tuple[_List, ...]]

    def lists(self, terms: Terms) -> list[tuple[_List, ...]]:
        """For each term its postings, in the segments that have it."""
        wanted = terms.tolist()
        found = {term: self.known.get(term) for term in wanted}
        unknown = [term for term, lists in found.items() if lists is None]
        if unknown:
            if len(self.known) > KNOWN_TERMS:
                self.known.clear()
            made = self._look_up(unknown)
            self.known.update(made)
            found |= made
        return [found[term] or () for term in wanted]

    def _look_up(self, terms: Sequence[int]) -> dict[int, tuple[_List, ...]]:
        found: dict[int, list[_List]] = {term: [] for term in terms}
        numbers = np.array(terms, np.uint64)
        for segment, id in zip(self.segments, self.ids, strict=True):
            is_whole = id in self.whole
            for term, begin, end in zip(terms, *map(np.ndarray.tolist, segment.spans(numbers)), strict=True):
                if begin < end:
                    found[term].append(_List(id, is_whole, segment.rows[begin:end], segment.counts[begin:end]))
        return {term: tuple(lists) for term, lists in found.items()}


class Postings:
    """One thread writes at a time; any number read meanwhile."""

    def __init__(self) -> None:
        home, lengths = np.full(LEAST_LENGTH, _NOWHERE, np.int16), np.zeros(LEAST_LENGTH, np.float32)
        self._state = _State((), (), home, lengths, frozenset(), {})
        self._last_id = _NOWHERE
        self._looked_over: tuple[tuple[Flags, NDArray[np.int16], bool], ...] = ()

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> Postings:
        """From what `arrays` gave."""
        postings = cls()
        segment = Segment(*(arrays[f"posting_{name}"] for name in Segment._fields))
        home = (arrays["term_lengths"] > 0).astype(np.int16)
        postings._last_id = 1
        postings._state = _State((segment,), (1,), home, arrays["term_lengths"], frozenset({1}), {})
        return postings

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it in one segment."""
        state = self._state
        whole = _merged(state, range(len(state.segments)))
        lengths = np.where(state.home == _NOWHERE, np.float32(0), state.lengths)
        return {f"posting_{name}": array for name, array in whole._asdict().items()} | {"term_lengths": lengths}

    def replace(self, packed: Iterable[tuple[int, bytes]]) -> None:
        """The terms of these memories, by `packed_terms`, instead of any they had."""
        latest = dict(packed)
        if not latest:
            return
        numbers = np.fromiter(latest, np.int64, len(latest))
        segment, lengths = _segment_of(numbers, list(latest.values()))
        self._last_id += 1
        home, old_lengths = self._with_room(int(numbers.max()))
        # Of a memory that is being replaced, a search under way reads the new length with the old counts: near enough.
        old_lengths[numbers] = lengths
        state = self._state
        touched = frozenset(np.unique(home[numbers]).tolist())
        home[numbers] = self._last_id
        whole = state.whole - touched | {self._last_id}
        self._state = _State((*state.segments, segment), (*state.ids, self._last_id), home, old_lengths, whole, {})
        self._merge()

    def remove(self, number: int) -> None:
        state = self._state
        if 0 <= number < len(state.home) and state.home[number] != _NOWHERE:
            home = state.home.copy()
            whole = state.whole - {int(home[number])}
            home[number] = _NOWHERE
            self._state = state._replace(home=home, whole=whole, known={})

    def extent(self, seen: Flags) -> tuple[int, float]:
        """How many of the memories there are, and their usual length in tokens."""
        state = self._state
        lengths = state.lengths[_alike(seen, state.home) & (state.home != _NOWHERE)]
        return len(lengths), float(lengths.mean()) if len(lengths) else 1.0

    def containing(self, terms: Terms, seen: Flags) -> list[int]:
        """In how many of the memories each term stands."""
        state = self._state
        sees_all = self._allows_all(state, seen)
        seen = _alike(seen, state.home)
        return [
            sum(
                len(one.rows) if sees_all and one.is_whole else int(np.count_nonzero(_kept(state, one, seen)))
                for one in lists
            )
            for lists in state.lists(terms)
        ]

    def search(
        self,
        terms: Terms,
        rarities: Scores,
        *,
        containing: Sequence[int],
        allowed: Flags,
        usual_length: float,
        limit: int,
    ) -> tuple[Numbers, Scores]:
        """The best rows by BM25, best first, of equals the one with the higher number. Terms come rarest first.

        `containing` says in how many of the memories that the reader sees each term stands: which of them find rows
        follows from that, so that what is hidden has no part in it.
        """
        state = self._state
        only = None if self._allows_all(state, allowed) else _alike(allowed, state.home)
        finding = _finders(containing)
        sums = _sums(state, terms[:finding], rarities[:finding], only, usual_length)
        rows = np.flatnonzero(sums > 0)
        if len(rows) < limit and finding < len(terms):
            # Common words find rows too where narrow filters leave a page unfilled.
            finding = len(terms)
            sums = _sums(state, terms, rarities, only, usual_length)
            rows = np.flatnonzero(sums > 0)
        scores = sums[rows]
        for first in range(finding, len(terms), SCORED_TOGETHER):
            block = slice(first, first + SCORED_TOGETHER)
            rows, scores = _at_best(rows, scores, limit=limit, slack=most_of(rarities[first:]))
            scores = self._added(scores, state, terms[block], rarities[block], rows, usual_length)
        rows, scores = _at_best(rows, scores, limit=limit, slack=0.0)
        order = np.lexsort((rows, scores))[::-1][:limit]
        return rows[order], scores[order]

    def holding(self, terms: Terms, numbers: Numbers) -> NDArray[np.bool_]:
        """A row for each memory with a flag for each term."""
        return self._counts(self._state, terms, numbers) > 0

    def with_all(self, terms: Terms, allowed: Flags) -> Numbers:
        """The memories that hold every one of the terms, the newest first."""
        state = self._state
        found = [rows for rows, _ in _postings(state, terms, _alike(allowed, state.home))]
        if not found:
            return np.empty(0, np.int64)
        rarest, *others = sorted(found, key=len)
        for rows in others:
            rarest = rarest[np.isin(rarest, rows, assume_unique=True)]
        return np.sort(rarest)[::-1].astype(np.int64)

    def _allows_all(self, state: _State, flags: Flags) -> bool:
        """Whether they leave nothing out; of the last few flags, which are asked about again and again, remembered."""
        for known, home, answer in self._looked_over:
            if known is flags and home is state.home:
                return answer
        found = not np.count_nonzero((state.home != _NOWHERE) & ~_alike(flags, state.home))
        self._looked_over = ((flags, state.home, found), *self._looked_over[: REMEMBERED_FLAGS - 1])
        return found

    def _added(
        self, scores: Scores, state: _State, terms: Terms, rarities: Scores, numbers: Numbers, usual_length: float
    ) -> Scores:
        """One term after the other, as when they find: a memory has one score, to the last bit."""
        if len(terms) and len(numbers):
            lengths = state.lengths[numbers]
            for counts, rarity in zip(self._counts(state, terms, numbers).T, rarities, strict=True):
                scores += term_scores(rarity, counts, lengths, usual_length)
        return scores

    def _counts(self, state: _State, terms: Terms, numbers: Numbers) -> NDArray[np.uint8]:
        counts = np.zeros((len(numbers), len(terms)), np.uint8)
        if not len(numbers):
            return counts
        # Of a damaged store the last memories may have no terms: clipped to the end of the others, they hold none.
        homes, highest = state.home.take(numbers, mode="clip"), int(numbers.max())
        for place, lists in enumerate(state.lists(terms)):
            for one in lists:
                found = _looked_up(one.rows, one.counts, numbers, highest)
                counts[:, place] += found if one.is_whole else found * (homes == one.id)
        return counts

    def _with_room(self, highest: int) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        home, lengths = self._state.home, self._state.lengths
        if highest < len(home):
            return home.copy(), lengths
        length = max(LEAST_LENGTH, int((highest + 1) * GROWTH))
        return resized(home, length=length), resized(lengths, length=length)

    def _merge(self) -> None:
        state = self._state
        first = len(state.segments) - 1
        total = state.segments[first].size
        while first > 0 and total >= MERGED_SHARE * state.segments[first - 1].size:
            first -= 1
            total += state.segments[first].size
        if self._last_id >= _MOST_SEGMENTS:
            first = 0
        if first == len(state.segments) - 1 and self._last_id < _MOST_SEGMENTS:
            return
        merged = _merged(state, range(first, len(state.segments)))
        id = 1 if first == 0 else state.ids[first]
        home = state.home.copy()
        home[np.isin(home, state.ids[first:])] = id
        whole = state.whole & frozenset(state.ids[:first]) | {id}
        segments, ids = (*state.segments[:first], merged), (*state.ids[:first], id)
        self._state = _State(segments, ids, home, state.lengths, whole, {})
        self._last_id = id


def _segment_of(numbers: Numbers, packed: Sequence[bytes]) -> tuple[Segment, Scores]:
    sizes = np.array([(len(one) - HEAD.size) // (NUMBER_BYTES + 1) for one in packed], np.int64)
    ends = (HEAD.size + NUMBER_BYTES * sizes).tolist()
    lengths = np.frombuffer(b"".join(one[: HEAD.size] for one in packed), "<u4").astype(np.float32)
    terms = np.frombuffer(b"".join(one[HEAD.size : end] for one, end in zip(packed, ends, strict=True)), "<u8")
    counts = np.frombuffer(b"".join(one[end:] for one, end in zip(packed, ends, strict=True)), np.uint8)
    return _ordered(terms, np.repeat(numbers, sizes).astype(np.int32), counts), np.maximum(lengths, 1)


def _ordered(terms: Terms, rows: NDArray[np.int32], counts: NDArray[np.uint8]) -> Segment:
    order = np.lexsort((rows, terms))
    terms, rows, counts = terms[order], rows[order], counts[order]
    firsts = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if len(terms) else np.empty(0, np.int64)
    return Segment(terms[firsts], np.append(firsts, len(terms)), rows, counts)


def _merged(state: _State, places: Iterable[int]) -> Segment:
    """Of these segments, what they still speak for."""
    terms: list[Terms] = [np.empty(0, np.uint64)]
    rows: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
    counts: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)]
    for place in places:
        segment = state.segments[place]
        alive = state.home[segment.rows] == state.ids[place]
        terms.append(np.repeat(segment.terms, np.diff(segment.starts))[alive])
        rows.append(segment.rows[alive])
        counts.append(segment.counts[alive])
    return _ordered(np.concatenate(terms), np.concatenate(rows), np.concatenate(counts))


def _alike(flags: Flags, home: NDArray[np.int16]) -> Flags:
    """As long as the other: what came after the flags were made is not among them."""
    return flags[: len(home)] if len(flags) >= len(home) else resized(flags, length=len(home))


def _kept(state: _State, one: _List, allowed: Flags) -> Flags:
    """Of the rows of one segment, those for which it speaks and that are allowed."""
    return allowed[one.rows] if one.is_whole else allowed[one.rows] & (state.home[one.rows] == one.id)


def _postings(
    state: _State, terms: Terms, allowed: Flags | None
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
    """For each term the rows and counts of what is allowed, which is everything where nothing is said."""
    for lists in state.lists(terms):
        found = [_allowed(state, one, allowed) for one in lists]
        if len(found) == 1:
            yield found[0]
        else:
            none = np.empty(0, np.int32), np.empty(0, np.uint8)
            yield (
                np.concatenate([none[0], *(rows for rows, _ in found)]),
                np.concatenate([none[1], *(counts for _, counts in found)]),
            )


def _allowed(state: _State, one: _List, allowed: Flags | None) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    if allowed is not None:
        kept = _kept(state, one, allowed)
    elif one.is_whole:
        return one.rows, one.counts
    else:
        kept = state.home[one.rows] == one.id
    return one.rows[kept], one.counts[kept]


def _sums(state: _State, terms: Terms, rarities: Scores, allowed: Flags | None, usual_length: float) -> Scores:
    sums = np.zeros(len(state.home), np.float32)
    for (rows, counts), rarity in zip(_postings(state, terms, allowed), rarities, strict=True):
        sums[rows] += term_scores(rarity, counts, state.lengths[rows], usual_length)
    return sums


def _finders(containing: Sequence[int]) -> int:
    """How many of the terms, from the first on, find rows; the rarest always does."""
    known = next((place for place, count in enumerate(containing) if count), None)
    if known is None:
        return len(containing)
    within = sum(total <= FINDING_POSTINGS for total in accumulate(containing))
    return max(within, known + 1)


def _looked_up(listed: NDArray[np.int32], counts: NDArray[np.uint8], rows: Numbers, highest: int) -> NDArray[np.uint8]:
    """The counts of these rows, of which that is the highest; nothing for those that are not listed."""
    if len(rows) * SEARCH_STEPS > len(listed):
        # All of them laid out: a step for each that is listed, where searching takes many for each that is wanted.
        laid_out = np.zeros(max(int(listed[-1]), highest) + 1, np.uint8)
        laid_out[listed] = counts
        return laid_out[rows]
    at = np.searchsorted(listed, rows)
    at[at == len(listed)] = 0
    return np.where(listed[at] == rows, counts[at], 0)


def _at_best(rows: Numbers, scores: Scores, *, limit: int, slack: float) -> tuple[Numbers, Scores]:
    """What may be among the best when at most `slack` is added to each; of equals the last ones."""
    if len(rows) <= limit:
        return rows, scores
    bar = bar_of(scores, limit=limit) - np.float32(slack)
    chosen = scores > bar
    chosen[np.flatnonzero(scores == bar)[-limit:]] = True
    return rows[chosen], scores[chosen]
