"""The order of a search, top to bottom: filters and access, words, meaning, neighbours, fusion, ranking, relevance.

Filters and access come first, inside both arms: what a caller may not see takes no part in anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import log, prod

from mycel.domain.ask import Ask
from mycel.domain.memory import Memory
from mycel.domain.ranking import Ranking, RankingOptions, Signals
from mycel.domain.recall import Pool
from mycel.retrieval import ranking
from mycel.retrieval.arms import Meaning, Place, WordsFound, search_by_meaning, search_by_words
from mycel.retrieval.fusion import Evidence, Weights, meaning_score, support, weights_of, words_score
from mycel.retrieval.lexical import Question
from mycel.retrieval.pooling import score_together
from mycel.retrieval.relevance import STRONG, STRONG_WORDS, judge, judge_words
from mycel.retrieval.snippet import matched_terms

# How many rows are looked at closely, at least and for each hit wanted: loaded, their words counted, their
# neighbours asked. More than 25 made no difference to the first ten.
CLOSE_ROWS = 30
CLOSE_ROWS_PER_HIT = 3
# Versions that stood at a past moment and no longer do; more than this many are not looked through.
PAST_ROWS = 5_000


@dataclass(slots=True)
class Candidate:
    """A memory on its way through the search. `parts` are what its score is made of, by name."""

    place: Place
    number: int
    evidence: Evidence = field(default_factory=Evidence)
    memory: Memory | None = None
    matched: frozenset[str] = frozenset()
    parts: dict[str, float] = field(default_factory=dict[str, float])
    found: float = 0.0
    score: float = 0.0
    relevance: float = 0.0
    # Not in reach of where the caller works.
    far: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate looked at closely, best first; those below `least` are too weak to show."""

    candidates: Sequence[Candidate]
    question: Question
    least: float

    def shows(self, candidate: Candidate) -> bool:
        """What is far must be strongly relevant, to a question that says enough to tell."""
        if candidate.far and (candidate.relevance < STRONG or len(self.question.words) < STRONG_WORDS):
            return False
        return candidate.relevance >= self.least


def find(ask: Ask, places: Sequence[Place], meaning: Meaning | None, options: RankingOptions) -> Ranked:
    words = search_by_words(ask.text, places, ask.filters, limit=ask.limit)
    search = _Search(ask, places, words, meaning, options)
    search.gather()
    search.look_closer()
    search.add_neighbours()
    search.fuse()
    search.rank()
    search.judge()
    search.mark_far()
    return Ranked(search.close, words.question, search.least)


class _Search:
    """One search under way: all candidates, and those `close` enough to be looked at one by one."""

    def __init__(
        self, ask: Ask, places: Sequence[Place], words: WordsFound, meaning: Meaning | None, options: RankingOptions
    ) -> None:
        self.ask = ask
        self.places = places
        self.words = words
        self.meaning = meaning
        self.options = options
        self.weights: Weights = weights_of(
            words.question,
            words.plan,
            frequencies=words.frequencies,
            documents=words.documents,
            pooled=self._scores_differ,
        )
        self.pool = Pool(words.documents)
        self.close: list[Candidate] = []
        self.least = 0.0
        self._all: dict[tuple[int, int], Candidate] = {}

    def gather(self) -> None:
        """Both arms bring in their best; a memory found by one is also measured by the other."""
        for place, matches in enumerate(self.words.matches):
            for number, score in matches:
                self._candidate(place, number).evidence.bm25 = score
        if self.meaning is not None:
            found, self.pool = search_by_meaning(self.meaning, self.places, self.ask.filters, limit=self.ask.limit)
            for place, cosines in enumerate(found):
                for number, cosine in cosines.items():
                    self._candidate(place, number).evidence.cosine = cosine
        self._add_past()
        if self.words.quoted is not None:
            quoted = self.words.quoted
            self._all = {key: one for key, one in self._all.items() if key[1] in quoted[key[0]]}
            for place, numbers in enumerate(quoted):
                for number in numbers:
                    self._candidate(place, number)
        self._measure(self._all.values())

    def look_closer(self) -> None:
        """Takes the best of what both arms say, before any text is read, and reads the texts of these."""
        if self._scores_differ:
            self._score_together()
        best = sorted(self._all.values(), key=lambda one: (-self._own(one.evidence), -one.number))
        self.close = best[: self._wanted]
        self._read(self.close)

    def add_neighbours(self) -> None:
        """Turns of one conversation and chunks of one document lend each other words and rank."""
        if self.ask.ranking is Ranking.SWARM:
            return
        added: dict[int, Candidate] = {}
        for index, place in enumerate(self.places):
            here = [one for one in self.close if one.place is place]
            near = place.store.neighbours(place.scope, [one.number for one in here], filters=self.ask.filters)
            for one in here:
                for other in (self._candidate(index, number) for number in near.get(one.number, ())):
                    added[id(other)] = other
                    one.evidence.neighbours[id(other)] = other.evidence
                    # What is only known as a neighbour has no others than those that led to it.
                    other.evidence.neighbours[id(one)] = one.evidence
        known = {id(one) for one in self.close}
        new = [other for key, other in added.items() if key not in known]
        self._measure(new)
        self._read([other for other in new if other.evidence.bm25 > 0])
        self.close += new

    def fuse(self) -> None:
        alone = self.meaning is None
        evidence = [one.evidence for one in self.close]
        for one in self.close:
            one.parts = {"words": words_score(one.evidence, self.weights, alone=alone)}
            if self.meaning is not None:
                one.parts["meaning"] = meaning_score(one.evidence, self.pool, self.meaning.background)
        lent = support([sum(one.parts.values()) for one in self.close], evidence, self.weights, alone=alone)
        for one, share in zip(self.close, lent, strict=True):
            if share:
                one.parts["neighbours"] = share
            one.found = sum(one.parts.values())

    def rank(self) -> None:
        """Age, use, place and confidence decide between what was found alike."""
        self.close.sort(key=lambda one: (-one.found, -one.number))
        del self.close[self._wanted :]
        self._read([one for one in self.close if one.memory is None])
        self.close = [one for one in self.close if one.memory is not None]
        for place in self.places:
            here = [one for one in self.close if one.place is place]
            signals = place.store.signals(place.scope, [one.number for one in here])
            for one in here:
                self._score(one, signals.get(one.number, Signals()))
        self.close.sort(key=lambda one: (-one.score, -one.number))

    def judge(self) -> None:
        """Relevance by what was found, whatever the ranking made of it."""
        evidence, found = [one.evidence for one in self.close], [one.found for one in self.close]
        judged = (
            judge(evidence, found, self.pool, self.meaning.background)
            if self.meaning is not None
            else judge_words(evidence, found, self.weights, texts=self.pool.size)
        )
        for one, relevance in zip(self.close, judged.relevances, strict=True):
            one.relevance = relevance
        self.least = judged.least if self.ask.least is None else self.ask.least

    def mark_far(self) -> None:
        if self.ask.filters.reach_project is None and self.ask.filters.reach_repo is None:
            return
        for place in self.places:
            here = [one for one in self.close if one.place is place]
            near = place.store.load(place.scope, [one.number for one in here], filters=self.ask.filters)
            for one in here:
                one.far = one.number not in near

    def _candidate(self, place: int, number: int) -> Candidate:
        key = (place, number)
        if key not in self._all:
            self._all[key] = Candidate(self.places[place], number)
        return self._all[key]

    def _own(self, evidence: Evidence) -> float:
        if self.meaning is None:
            return words_score(evidence, self.weights, alone=True)
        if self.ask.ranking is Ranking.SWARM:
            return evidence.cosine or 0.0
        by_words = words_score(evidence, self.weights, alone=False)
        return by_words + meaning_score(evidence, self.pool, self.meaning.background)

    @property
    def _wanted(self) -> int:
        if self.ask.ranking is Ranking.SWARM:
            return self.options.candidate_multiplier * self.ask.limit
        return max(CLOSE_ROWS, CLOSE_ROWS_PER_HIT * self.ask.limit)

    @property
    def _scores_differ(self) -> bool:
        """BM25 of several stores, or of past texts, cannot be compared."""
        return len(self.places) > 1 or self.ask.as_of is not None

    def _score_together(self) -> None:
        with_words = [one for one in self._all.values() if one.evidence.bm25 > 0 or one.memory is not None]
        self._read(with_words)
        readable = [one for one in with_words if one.memory is not None]
        texts = [one.memory for one in readable if one.memory is not None]
        scores = score_together(
            self.words.question, texts, frequencies=self.words.frequencies, documents=self.words.documents
        )
        for one, score in zip(readable, scores, strict=True):
            one.evidence.bm25 = score

    def _measure(self, candidates: Iterable[Candidate]) -> None:
        """The cosines of those that the other arm brought in."""
        if self.meaning is None:
            return
        unmeasured = [one for one in candidates if one.evidence.cosine is None]
        for place in self.places:
            here = {one.number: one for one in unmeasured if one.place is place}
            if here:
                cosines = place.store.similarities(
                    place.scope, self.meaning.vector, list(here), model=self.meaning.model
                )
                for number, cosine in cosines.items():
                    here[number].evidence.cosine = cosine

    def _read(self, candidates: Sequence[Candidate]) -> None:
        """Loads what passes the filters, and notes which of the question's words each has."""
        wide = replace(self.ask.filters, reach_project=None, reach_repo=None)
        for place in self.places:
            unread = [one for one in candidates if one.place is place and one.memory is None]
            if unread:
                loaded = place.store.load(place.scope, [one.number for one in unread], filters=wide)
                for one in unread:
                    one.memory = loaded.get(one.number)
        for one in candidates:
            if one.memory is not None and not one.matched:
                one.matched = matched_terms(searched_text(one.memory), self.words.question.terms)
                self.weights.weigh(one.evidence, one.matched)

    def _add_past(self) -> None:
        """What stood differently at the moment asked about takes the place of what it is today."""
        if self.ask.as_of is None:
            return
        then = replace(self.ask.filters, believed_at=None, reach_project=None, reach_repo=None)
        for index, place in enumerate(self.places):
            past = place.store.past_versions(place.scope, at=self.ask.as_of, filters=then, limit=PAST_ROWS)
            for number, version in past:
                self._candidate(index, number).memory = version.memory

    def _score(self, one: Candidate, signals: Signals) -> None:
        memory = one.memory
        if memory is None:
            return
        if self.ask.ranking is Ranking.SWARM:
            similarity = one.evidence.coverage if one.evidence.cosine is None else one.evidence.cosine
            factors = ranking.swarm(memory, signals, now=self.ask.now, options=self.options)
            one.parts = {"similarity": similarity, **factors}
            one.score = prod(one.parts.values())
            return
        factors = ranking.balanced(memory, signals, now=self.ask.now, filters=self.ask.filters, options=self.options)
        one.parts |= {name: log(factor) for name, factor in factors.items()}
        one.score = sum(one.parts.values())


def searched_text(memory: Memory) -> str:
    """Everything of a memory that words are looked for in."""
    return "\n".join(filter(None, [memory.title, memory.summary, memory.content, " ".join(memory.tags)]))
