"""The order of a search, top to bottom: filters, words, meaning, neighbours, fusion, relevance, ranking, choice.

Filters and access come first, inside both arms: what a caller may not see takes no part in anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from mycel.domain.author_share import Shared, share_out
from mycel.domain.memory import Memory
from mycel.domain.query import Filters
from mycel.domain.search_request import Ranking, RankingOptions, SearchRequest, Signals
from mycel.retrieval import ranking
from mycel.retrieval.candidate import Candidate, Key, Ranked, author_of, standing
from mycel.retrieval.candidate_rows import CandidateRows
from mycel.retrieval.fusion import Scale, Weights, scale_of, support, weights_of, words_score
from mycel.retrieval.lookup import Found, Meaning, Place, look_again, look_up
from mycel.retrieval.past import add_past
from mycel.retrieval.relevance import NOTHING, holds_what_is_asked, judge, judge_words, told_by_words

# How many rows are looked at closely, at least and for each hit wanted, and the neighbours of how many are asked:
# 20 and 25 answer the questions of all three sets as well as more do.
NEIGHBOURS_OF = 25
CLOSE_ROWS = 20
CLOSE_ROWS_PER_HIT = 2
WORDS_ROWS = 10
# Where copies of one note fill the first look, both arms are asked for as much as for so many hits, and so many rows
# are looked at.
DEEP_LIMIT = 200
DEEP_ROWS = 400
# So many copies move what is usual for a question: beside them only the hopeless are left out.
CROWD = 8
HOPELESS = 0.0001


def find(search: SearchRequest, places: Sequence[Place], meaning: Meaning | None, options: RankingOptions) -> Ranked:
    found = look_up(search.text, places, meaning, search.filters, limit=search.limit)
    running = _Search(search, places, meaning, found, options)
    running.gather()
    running.look_closer()
    running.weigh()
    chosen = running.choose()
    if running.look_further(chosen):
        running.weigh()
        chosen = running.choose()
    return replace(running.ranked(), chosen=chosen.items)


class _Search:
    """One search under way: what every place brought in, and the rows `close` enough to be looked at one by one."""

    def __init__(
        self,
        search: SearchRequest,
        places: Sequence[Place],
        meaning: Meaning | None,
        found: Found,
        options: RankingOptions,
    ) -> None:
        self.request = search
        self.places = places
        self.meaning = meaning
        self.found = found
        self.options = options
        frequencies, documents, _ = found.statistics
        self.weights: Weights = weights_of(found.question, frequencies=frequencies, documents=documents)
        self.close: list[Candidate] = []
        self.least = 0.0
        self._scale: Scale | None = None if meaning is None else scale_of(found.pool, meaning.background)
        self._rows = CandidateRows(self.weights)
        self._candidates: dict[Key, Candidate] = {}
        self._past: dict[Key, Memory] = {}
        self._beside: dict[Key, Sequence[int]] = {}
        # How many came by looking further; they are not crowded out again.
        self._added = 0
        self._is_crowd = False

    def gather(self) -> None:
        """Every place brings in its best; what stood differently at the moment asked about stands so here."""
        self._take(self.found)
        self._past = add_past(self._rows, self.request, self.found, self.places, self.meaning)

    def look_closer(self) -> None:
        """Takes the best of what words and meaning say, before any text is read."""
        rows = self._rows
        best = rows.best(self._first_scores(), most=self._wanted)
        if self.request.ranking is not Ranking.SWARM:
            # A word that only one memory has must not be outvoted by many that are a little near.
            best += rows.best(rows.bm25, most=WORDS_ROWS, among=rows.worded())
        self.close = self._chosen(dict.fromkeys(best))

    def weigh(self) -> None:
        self.add_neighbours()
        self.fuse()
        self.judge()
        self.rank()

    def ranked(self) -> Ranked:
        return Ranked(self.close, self.found.question, self.least)

    def choose(self) -> Shared[Candidate]:
        """What to answer with."""
        shown = filter(self.ranked().shows, self.close)
        if self.request.every or self.request.everything:
            return Shared(list(islice(shown, self.request.limit)), frozenset())
        return share_out(
            standing(list(shown)),
            limit=self.request.limit,
            share=self.options.author_share,
            author=author_of,
            relevance=self._worth,
        )

    def look_further(self, chosen: Shared[Candidate]) -> bool:
        """Where one author fills the answer, looks for others; where copies do, for what lies behind them."""
        others = self._of_others(chosen.crowding)
        is_repeated = len(chosen.items) < self.request.limit and any(one.copies for one in chosen.items)
        if not (others or is_repeated):
            return False
        copies = {key for one in self.close for key in one.copies}
        self._is_crowd = len(copies) >= CROWD
        self.close = [one for one in self.close if one.key not in copies]
        if others:
            self._add_more(others, rows=self._wanted)
        if is_repeated:
            if self.found.pool.size > len(self._rows.at):
                self._ask_again(self.request.filters, max(DEEP_LIMIT, self.request.limit))
            self._add_more(self._rows.at.keys() - copies, rows=DEEP_ROWS)
        return True

    def add_neighbours(self) -> None:
        """Turns of one conversation and chunks of one document lend each other words and rank."""
        if self.request.ranking is Ranking.SWARM:
            return
        rows, close = self._rows, {one.key for one in self.close}
        first = self.close[:NEIGHBOURS_OF]
        self._find_neighbours(first)
        # What neither arm brought in has too little of its own to be lifted.
        pairs = [
            (one, key)
            for one in first
            for number in self._beside.get(one.key, ())
            if (key := (one.key[0], number)) in rows.at
        ]
        for (one, _), other in zip(pairs, self._chosen(key for _, key in pairs), strict=True):
            one.evidence.neighbours[other.key] = other.evidence
            other.evidence.neighbours[one.key] = one.evidence
            if other.key not in close:
                close.add(other.key)
                self.close.append(other)

    def fuse(self) -> None:
        alone = self.meaning is None
        evidence = [one.evidence for one in self.close]
        for one in self.close:
            one.parts = {"words": words_score(one.evidence, self.weights, alone=alone)}
            if self._scale is not None:
                one.parts["meaning"] = self._meaning(one.evidence.cosine)
        own = [sum(one.parts.values()) for one in self.close]
        lent = support(own, evidence, self.weights, alone=alone)
        for one, share in zip(self.close, lent, strict=True):
            if share:
                one.parts["neighbours"] = share
            one.found = sum(one.parts.values())
            if not alone:
                # For the order alone: how relevant a hit is was fitted without it.
                one.parts["words"] *= self.weights.emphasis

    def judge(self) -> None:
        """Relevance of the best by what was found, whatever the ranking will make of it."""
        self.close.sort(key=lambda one: (-sum(one.parts.values()), -one.key[1]))
        most = self._wanted + self._added
        best, rest = self.close[:most], self.close[most:]
        told = [one for one in rest if one.evidence.bm25 > 0 and told_by_words(one.evidence, self.weights)]
        self.close = best + told
        evidence, found = [one.evidence for one in self.close], [one.found for one in self.close]
        judged = (
            judge(evidence, found, self.found.pool, self._scale, self.weights)
            if self._scale is not None
            else judge_words(evidence, self.weights, texts=self.found.pool.size, scores=found)
        )
        for one, relevance in zip(self.close, judged.relevances, strict=True):
            one.relevance = relevance
        # What holds the words that were quoted is what was asked for.
        least = 0.0 if self.found.is_quoted else judged.least
        if self._is_crowd and least < NOTHING:
            least = min(least, HOPELESS)
        self.least = least if self.request.least is None else self.request.least

    def rank(self) -> None:
        """Reads what may be shown; age, use, place and confidence decide between what was found alike."""
        shows = self.ranked().shows
        shown: list[Candidate] = []
        weak: list[Candidate] = []
        for one in self.close:
            (shown if shows(one) else weak).append(one)
        self._read(shown)
        shown = [one for one in shown if one.memory is not None]
        self._weigh_past(shown)
        for one in shown:
            self._score(one, one.signals or Signals())
        shown.sort(key=lambda one: (-one.score, -one.key[1]))
        self.close = shown + weak

    def _worth(self, one: Candidate) -> float:
        """Of a place in the answer. Many notes of one author make themselves usual and others look far from it: what
        holds the words that were asked for is worth as much as theirs."""
        return 1.0 if holds_what_is_asked(one.evidence, self.weights) else one.relevance

    def _of_others(self, authors: frozenset[str]) -> list[Key]:
        """What the question finds of anybody else. Asked even where every row is known: the answer says which of them
        are theirs. That there are others of whom it finds nothing must change nothing: all of it may be hidden."""
        if not authors or self.request.filters.agent_id is not None:
            return []
        if not any(place.store.index.has_other_authors(author) for place in self.places for author in authors):
            return []
        return self._ask_again(replace(self.request.filters, not_by=tuple(sorted(authors))), self.request.limit)

    def _ask_again(self, filters: Filters, limit: int) -> list[Key]:
        """What the question finds by other filters or to another depth, known before or not."""
        return self._take(look_again(self.found, self.places, filters, limit=limit))

    def _add_more(self, among: Iterable[Key], *, rows: int) -> None:
        """The best of them that are not looked at yet, without copies of what is there."""
        fresh = set(among) - {one.key for one in self.close}
        new = self._rows.best(self._first_scores(), most=rows, among=self._rows.rows_of(fresh))
        every = [*self.close, *self._chosen(new)]
        self._read(every)
        heads = list(islice((one for one in standing(every, most=len(every)) if one.key in fresh), self._wanted))
        self.close += heads
        self._added += len(heads)

    def _take(self, found: Found) -> list[Key]:
        """Where something holds the quoted words, all must."""
        taken: list[Key] = []
        for place, candidates in enumerate(found.candidates):
            if not self.found.is_quoted or candidates.quoted:
                taken += self._rows.add(place, candidates)
        return taken

    def _chosen(self, keys: Iterable[Key]) -> list[Candidate]:
        """For as long as a search is under way, a memory is one candidate."""
        wanted = list(keys)
        new = list(dict.fromkeys(key for key in wanted if key not in self._candidates))
        for one in self._rows.candidates(new) if new else ():
            one.memory = self._past.get(one.key)
            self._candidates[one.key] = one
        return [self._candidates[key] for key in wanted]

    def _by_place(self, candidates: Iterable[Candidate]) -> Iterator[tuple[Place, dict[int, Candidate]]]:
        chosen = list(candidates)
        for index, place in enumerate(self.places):
            here = {one.key[1]: one for one in chosen if one.key[0] == index}
            if here:
                yield place, here

    @property
    def _wanted(self) -> int:
        if self.request.ranking is Ranking.SWARM:
            return self.options.candidate_multiplier * self.request.limit
        return max(CLOSE_ROWS, CLOSE_ROWS_PER_HIT * self.request.limit)

    def _first_scores(self) -> NDArray[np.float64]:
        """What words and meaning say of each row."""
        if self._scale is None:
            return self._rows.by_words()
        if self.request.ranking is Ranking.SWARM:
            return self._rows.cosines()
        return self._rows.by_words() + self._rows.by_meaning(self._scale)

    def _meaning(self, cosine: float | None) -> float:
        """How far a cosine stands out; a memory without vectors is as near as most."""
        return 0.0 if cosine is None or self._scale is None else self._scale.of(cosine)

    def _read(self, candidates: Sequence[Candidate]) -> None:
        """Loads those that pass the filters."""
        wide = self.request.filters.beyond_reach()
        for place, here in self._by_place(one for one in candidates if one.memory is None):
            found = place.store.index.load_with_signals(place.scope, list(here), filters=wide)
            for number, (memory, signals) in found.items():
                here[number].memory, here[number].signals = memory, signals

    def _weigh_past(self, candidates: Iterable[Candidate]) -> None:
        """Who speaks for what was not read here."""
        for place, here in self._by_place(one for one in candidates if one.signals is None):
            for number, signals in place.store.index.signals(place.scope, list(here)).items():
                here[number].signals = signals

    def _find_neighbours(self, candidates: Sequence[Candidate]) -> None:
        """What stood at a past moment has none."""
        unknown = (one for one in candidates if one.key not in self._beside and one.key not in self._past)
        for place, here in self._by_place(unknown):
            at = self.places.index(place)
            found = self.found.candidates[at].neighbours(list(here))
            self._beside |= {(at, number): found.get(number, ()) for number in here}

    def _score(self, one: Candidate, signals: Signals) -> None:
        memory = one.memory
        if memory is None:
            return
        factors = ranking.factors_of(
            self.request.ranking,
            memory,
            signals,
            now=self.request.now,
            filters=self.request.filters,
            options=self.options,
        )
        if self.request.ranking is Ranking.SWARM:
            similarity = one.evidence.coverage if one.evidence.cosine is None else one.evidence.cosine
            one.parts = {"similarity": similarity, **factors}
            one.score = prod(one.parts.values())
            return
        one.parts |= {name: log(factor) for name, factor in factors.items()}
        one.score = sum(one.parts.values())
