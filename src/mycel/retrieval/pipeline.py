"""The order of a search, top to bottom: filters, words, meaning, neighbours, fusion, ranking, relevance, choice.

Filters and access come first, inside both arms: what a caller may not see takes no part in anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import log, prod

from mycel.domain.author_share import Shared, share_out
from mycel.domain.memory import Memory, Scope
from mycel.domain.memory_field import Index
from mycel.domain.neighbourhood import Neighbourhood
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.domain.search_request import Ranking, RankingOptions, SearchRequest, Signals
from mycel.retrieval import ranking
from mycel.retrieval.analysis import matching_terms
from mycel.retrieval.arms import (
    Meaning,
    MeaningFound,
    Place,
    WordsFound,
    search_again,
    search_by_meaning,
    search_by_words,
)
from mycel.retrieval.candidate import Candidate, Key, Ranked, author_of, standing
from mycel.retrieval.fusion import (
    BM25_WEIGHT,
    Evidence,
    Scale,
    Weights,
    scale_of,
    score_past,
    support,
    weights_of,
    words_score,
)
from mycel.retrieval.lexical import holds_phrase
from mycel.retrieval.passages import embedded_text
from mycel.retrieval.relevance import judge, judge_words, told_by_words
from mycel.retrieval.terms import text_in

# How many rows are looked at closely, at least and for each hit wanted, and the neighbours of how many are asked:
# more than 25 made no difference to the first ten.
NEIGHBOURS_OF = 25
CLOSE_ROWS = 30
CLOSE_ROWS_PER_HIT = 3
WORDS_ROWS = 10
# Where copies of one note fill the first look, both arms are asked for as much as for so many hits, and so many rows
# are looked at.
DEEP_LIMIT = 200
DEEP_ROWS = 400
# Versions that stood at a past moment and no longer do; more than this many are not looked through.
PAST_ROWS = 5_000


def find(search: SearchRequest, places: Sequence[Place], meaning: Meaning | None, options: RankingOptions) -> Ranked:
    near = None if meaning is None else search_by_meaning(meaning, places, search.filters, limit=search.limit)
    words = search_by_words(search.text, places, search.filters, limit=search.limit)
    running = _Search(search, places, words, meaning, near, options)
    running.gather()
    running.look_closer()
    running.weigh()
    chosen = running.choose()
    if running.look_further(chosen):
        running.weigh()
        chosen = running.choose()
    return replace(running.ranked(), chosen=chosen.items)


class _Search:
    """One search under way: what both arms brought in, and the rows `close` enough to be looked at one by one."""

    def __init__(
        self,
        search: SearchRequest,
        places: Sequence[Place],
        words: WordsFound,
        meaning: Meaning | None,
        near: MeaningFound | None,
        options: RankingOptions,
    ) -> None:
        self.request = search
        self.places = places
        self.words = words
        self.meaning = meaning
        self.near = near
        self.options = options
        frequencies, documents, _ = words.statistics
        self.weights: Weights = weights_of(words.question, frequencies=frequencies, documents=documents)
        self.pool = Pool(documents)
        self.close: list[Candidate] = []
        self.least = 0.0
        self._scale: Scale | None = None
        self._terms = frozenset(words.question.terms)
        # By place and number, as plain numbers: most rows are never looked at closely.
        self._bm25: dict[Key, float] = {}
        self._cosines: dict[Key, float] = {}
        self._candidates: dict[Key, Candidate] = {}
        # Past texts whose vectors are those of another text.
        self._unmeasured: set[Key] = set()
        # How many came by looking further; they are not crowded out again.
        self._added = 0

    def gather(self) -> None:
        """Both arms bring in their best; a row found by one is also measured by the other."""
        for place, matches in enumerate(self.words.matches):
            self._bm25.update({(place, number): score for number, score in matches})
        if self.meaning is not None and self.near is not None:
            self.pool = self.near.pool
            self._scale = scale_of(self.pool, self.meaning.background)
            for place, cosines in enumerate(self.near.cosines):
                self._cosines.update({(place, number): cosine for number, cosine in cosines.items()})
        self._add_past()
        # Only past versions are candidates with a text by now.
        if self.words.quoted is not None or any(map(self._quotes, self._candidates.values())):
            quoted = self.words.quoted or ()
            keys = {(place, number) for place, numbers in enumerate(quoted) for number in numbers}
            keys -= self._candidates.keys()
            keys |= {key for key, one in self._candidates.items() if self._quotes(one)}
            self._bm25 = {key: self._bm25.get(key, 0.0) for key in keys}
            self._cosines = {key: cosine for key, cosine in self._cosines.items() if key in keys}
        self._measure(self._bm25)

    def look_closer(self) -> None:
        """Takes the best of what both arms say, before any text is read, and reads the texts of these."""
        keys = self._bm25.keys() | self._cosines.keys()
        best = sorted(keys, key=lambda key: (-self._first_score(key), -key[1]))[: self._wanted]
        if self.request.ranking is not Ranking.SWARM:
            # A word that only one memory has must not be outvoted by many that are a little near.
            by_words = sorted(self._bm25, key=lambda key: (-self._bm25[key], -key[1]))
            best = list(dict.fromkeys((*best, *by_words[:WORDS_ROWS])))
        self.close = [self._candidate(key) for key in best]
        self._read(self.close)

    def weigh(self) -> None:
        self.add_neighbours()
        self.fuse()
        self.rank()
        self.judge()
        self.mark_far()

    def ranked(self) -> Ranked:
        return Ranked(self.close, self.words.question, self.least)

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
            relevance=lambda one: one.relevance,
        )

    def look_further(self, chosen: Shared[Candidate]) -> bool:
        """Where one author fills the answer, looks for others; where copies do, for what lies behind them."""
        is_crowded = bool(chosen.crowding) and self._has_others(chosen.crowding)
        is_repeated = len(chosen.items) < self.request.limit and any(one.copies for one in chosen.items)
        if not (is_crowded or is_repeated) or self.pool.size <= len(self._bm25.keys() | self._cosines.keys()):
            return False
        copies = {key for one in self.close for key in one.copies}
        self.close = [one for one in self.close if one.key not in copies]
        if is_crowded:
            others = replace(self.request.filters, not_by=tuple(sorted(chosen.crowding)))
            self._add_more(others, limit=self.request.limit, rows=self._wanted)
        if is_repeated:
            self._add_more(self.request.filters, limit=max(DEEP_LIMIT, self.request.limit), rows=DEEP_ROWS)
        return True

    def add_neighbours(self) -> None:
        """Turns of one conversation and chunks of one document lend each other words and rank."""
        if self.request.ranking is Ranking.SWARM:
            return
        known = self._bm25.keys() | self._cosines.keys()
        new: dict[Key, Candidate] = {}
        close = {one.key for one in self.close}
        for place in range(len(self.places)):
            for number, others in self._neighbours(place).items():
                one = self._candidate((place, number))
                # What neither arm brought in has too little of its own to be lifted.
                for other in (self._candidate((place, at)) for at in others if (place, at) in known):
                    one.evidence.neighbours[other.key] = other.evidence
                    other.evidence.neighbours[one.key] = one.evidence
                    if other.key not in close:
                        new[other.key] = other
        self._read([one for one in new.values() if one.evidence.bm25 > 0])
        self.close += new.values()

    def fuse(self) -> None:
        alone = self.meaning is None
        evidence = [one.evidence for one in self.close]
        for one in self.close:
            one.parts = {"words": words_score(one.evidence, self.weights, alone=alone)}
            if self._scale is not None:
                one.parts["meaning"] = self._meaning(one.evidence.cosine)
        lent = support([sum(one.parts.values()) for one in self.close], evidence, self.weights, alone=alone)
        for one, share in zip(self.close, lent, strict=True):
            if share:
                one.parts["neighbours"] = share
            one.found = sum(one.parts.values())
            if not alone:
                # For the order alone: how relevant a hit is was fitted without it.
                one.parts["words"] *= self.weights.emphasis

    def rank(self) -> None:
        """Age, use, place and confidence decide between what was found alike."""
        self.close.sort(key=lambda one: (-sum(one.parts.values()), -one.key[1]))
        most = self._wanted + self._added
        best, rest = self.close[:most], self.close[most:]
        self.close = best + [one for one in rest if told_by_words(one.evidence) and one.evidence.bm25 > 0]
        self._read([one for one in self.close if one.memory is None])
        self.close = [one for one in self.close if one.memory is not None]
        for place, here in self._by_place(self.close):
            signals = place.store.index.signals(place.scope, list(here))
            for number, one in here.items():
                self._score(one, signals.get(number, Signals()))
        self.close.sort(key=lambda one: (-one.score, -one.key[1]))

    def judge(self) -> None:
        """Relevance by what was found, whatever the ranking made of it."""
        evidence, found = [one.evidence for one in self.close], [one.found for one in self.close]
        judged = (
            judge(evidence, found, self.pool, self._scale, self.weights)
            if self._scale is not None
            else judge_words(evidence, self.weights, texts=self.pool.size, scores=found)
        )
        for one, relevance in zip(self.close, judged.relevances, strict=True):
            one.relevance = relevance
        self.least = judged.least if self.request.least is None else self.request.least

    def mark_far(self) -> None:
        if self.request.filters.reach_project is None and self.request.filters.reach_repo is None:
            return
        for place, here in self._by_place(self.close):
            near = place.store.index.load(place.scope, list(here), filters=self.request.filters)
            for number, one in here.items():
                one.far = number not in near and not (self.request.as_of and self._belongs_here(one))

    def _belongs_here(self, one: Candidate) -> bool:
        """A past version, which may have belonged elsewhere than it does today."""
        memory, filters = one.memory, self.request.filters
        if memory is None:
            return False
        if memory.scope in {Scope.AGENT, Scope.SESSION} and memory.agent_id == self.places[one.key[0]].scope.member_id:
            return True
        in_project = filters.reach_project is not None and memory.project_id == filters.reach_project
        in_repo = filters.reach_repo is not None and memory.repo_id == filters.reach_repo
        return in_project or in_repo or memory.scope is Scope.GLOBAL

    def _has_others(self, authors: frozenset[str]) -> bool:
        if self.request.filters.agent_id is not None:
            return False
        return any(place.store.index.has_other_authors(author) for place in self.places for author in authors)

    def _add_more(self, filters: Filters, *, limit: int, rows: int) -> None:
        """Rows that the first look did not reach, without copies of what is there."""
        known = self._bm25.keys() | self._cosines.keys()
        words, near = search_again(self.words, self.meaning, self.places, filters, limit=limit)
        for place, matches in enumerate(words):
            self._bm25 |= {(place, at): score for at, score in matches if self._is_new((place, at))}
        for place, cosines in enumerate(near):
            self._cosines |= {(place, at): cosine for at, cosine in cosines.items() if self._is_new((place, at))}
        self._measure(self._bm25)
        new = (self._bm25.keys() | self._cosines.keys()) - known
        best = sorted(new, key=lambda key: (-self._first_score(key), -key[1]))[:rows]
        found = [self._candidate(key) for key in best]
        self._read(found)
        every = [*self.close, *found]
        heads = list(islice((one for one in standing(every, most=len(every)) if one.key in new), self._wanted))
        self.close += heads
        self._added += len(heads)

    def _is_new(self, key: Key) -> bool:
        """What has been read by now may be a past text; and where something holds the quoted words, all must."""
        if key in self._candidates and self._candidates[key].memory is not None:
            return False
        quoted = self.words.quoted
        return quoted is None or key[1] in quoted[key[0]]

    def _candidate(self, key: Key) -> Candidate:
        known = self._candidates.get(key)
        if known is None:
            evidence = Evidence(bm25=self._bm25.get(key, 0.0), cosine=self._cosines.get(key))
            known = self._candidates[key] = Candidate(key, evidence)
        return known

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

    def _first_score(self, key: Key) -> float:
        if self.request.ranking is Ranking.SWARM and self._scale is not None:
            return self._cosines.get(key, 0.0)
        by_words = self.weights.emphasis * BM25_WEIGHT * self._bm25.get(key, 0.0) / self.weights.best_bm25
        return by_words if self._scale is None else by_words + self._meaning(self._cosines.get(key))

    def _quotes(self, one: Candidate) -> bool:
        phrases = self.words.question.phrases
        memory = one.memory
        return bool(phrases) and memory is not None and all(holds_phrase(memory, phrase) for phrase in phrases)

    def _meaning(self, cosine: float | None) -> float:
        """How far a cosine stands out; a memory without vectors is as near as most."""
        return 0.0 if cosine is None or self._scale is None else self._scale.of(cosine)

    def _neighbours(self, place: int) -> Mapping[int, tuple[int, ...]]:
        numbers = [one.key[1] for one in self.close[:NEIGHBOURS_OF] if one.key[0] == place]
        at = self.places[place]
        if not numbers:
            return {}
        return at.store.index.neighbours(at.scope, numbers, near=Neighbourhood(), filters=self.request.filters)

    def _measure(self, keys: Iterable[Key]) -> None:
        """The cosines of what the other arm brought in."""
        if self.meaning is None:
            return
        unmeasured = [key for key in keys if key not in self._cosines and key not in self._unmeasured]
        for index, place in enumerate(self.places):
            numbers = [number for at, number in unmeasured if at == index]
            if numbers:
                cosines = place.store.index.similarities(
                    place.scope, self.meaning.vector, numbers, model=self.meaning.model
                )
                for number, cosine in cosines.items():
                    self._cosines[index, number] = cosine
                    if (index, number) in self._candidates:
                        self._candidates[index, number].evidence.cosine = cosine

    def _read(self, candidates: Sequence[Candidate]) -> None:
        """Loads what passes the filters, and notes which of the question's words each has."""
        wide = replace(self.request.filters, reach_project=None, reach_repo=None)
        for place, here in self._by_place(one for one in candidates if one.memory is None):
            for number, memory in place.store.index.load(place.scope, list(here), filters=wide).items():
                here[number].memory = memory
        for one in candidates:
            if one.memory is not None and not one.read and one.evidence.bm25 > 0:
                one.matched = matching_terms(searched_text(one.memory), self._terms)
                one.read = True
                self.weights.weigh(one.evidence, one.matched)

    def _add_past(self) -> None:
        """What stood differently at the moment asked about takes the place of what it is today."""
        if self.request.as_of is None:
            return
        then = replace(self.request.filters, believed_at=None, reach_project=None, reach_repo=None)
        for index, place in enumerate(self.places):
            past = place.store.index.past_versions(place.scope, at=self.request.as_of, filters=then, limit=PAST_ROWS)
            for version, score in zip(past, self._score_past([one.memory for one in past]), strict=True):
                key = (index, version.number)
                self._bm25[key] = score
                self._candidate(key).memory = version.memory
                if not version.embedded:
                    self._unmeasured.add(key)

    def _score_past(self, memories: Sequence[Memory]) -> list[float]:
        frequencies, documents, usual = self.words.statistics
        return score_past(self.words.question, memories, frequencies=frequencies, documents=documents, usual=usual)

    def _score(self, one: Candidate, signals: Signals) -> None:
        memory = one.memory
        if memory is None:
            return
        if self.request.ranking is Ranking.SWARM:
            similarity = one.evidence.coverage if one.evidence.cosine is None else one.evidence.cosine
            factors = ranking.swarm(memory, signals, now=self.request.now, options=self.options)
            one.parts = {"similarity": similarity, **factors}
            one.score = prod(one.parts.values())
            return
        factors = ranking.balanced(
            memory, signals, now=self.request.now, filters=self.request.filters, options=self.options
        )
        one.parts |= {name: log(factor) for name, factor in factors.items()}
        one.score = sum(one.parts.values())


def searched_text(memory: Memory) -> str:
    """Everything of a memory that words are looked for in."""
    title, content, *others = (
        text_in(vars(memory), index) for index in (Index.TITLE, Index.CONTENT, Index.SUMMARY, Index.LABELS)
    )
    return "\n".join(filter(None, [embedded_text(title=title, content=content), *others]))
