"""Finding memories by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from mycel.access.scope import ReadScope, readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores
from mycel.domain import fields
from mycel.domain.asking import read_filters, read_limit
from mycel.domain.ids import RecallId, new_id
from mycel.domain.memory import Memory
from mycel.domain.query import Filters, Order
from mycel.domain.recall import Hit, Recall
from mycel.domain.team import Caller
from mycel.domain.words import Plan
from mycel.retrieval.lexical import Question, choose_terms, coverage, parse_question
from mycel.retrieval.pooling import score_together
from mycel.retrieval.snippet import make_snippet, matched_terms

MAX_QUERY_BYTES = 256 * 1024
# A hit with a smaller share of the question's words than this is a chance match.
DEFAULT_MIN_RELEVANCE = 0.15
# Candidates are fetched beyond the page, since the weak ones among them are left out.
CANDIDATES_PER_HIT = 3
# Common words find no rows at first; when that leaves a page unfilled, as narrow filters do, more are let in.
EFFORTS = (1.0, 2.0, 16.0)


class Searching:
    def __init__(self, stores: Stores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def search(
        self,
        caller: Caller,
        query: object,
        given: Mapping[str, object],
        *,
        limit: object = None,
        min_relevance: object = None,
    ) -> Recall:
        """The best matches in every team the caller reads; an empty question lists the newest instead."""
        text = "" if query is None else fields.text(query, field="query", max_bytes=MAX_QUERY_BYTES)
        wanted = read_limit(limit, default=10)
        least = (
            DEFAULT_MIN_RELEVANCE if min_relevance is None else fields.fraction(min_relevance, field="min_relevance")
        )
        now = self._clock.now()
        filters = _in_reach(read_filters(given, now=now))
        scopes = readable_scopes(caller)
        question = parse_question(text)
        hits = self._find(question, scopes, filters, wanted, least) if question.terms else []
        if least == 0 or not text.strip():
            hits = self._fill(hits, scopes, filters, wanted)
        recall = Recall(id=RecallId(new_id()), query=text, hits=tuple(hits))
        with self._stores.lease(caller.team) as store:
            store.log_recall(recall, by=caller.member_id, at=now)
        return recall

    def _find(
        self, question: Question, scopes: tuple[ReadScope, ...], filters: Filters, limit: int, least: float
    ) -> list[Hit]:
        frequencies, documents = self._count_words(question, scopes)
        plans = [
            choose_terms(question, frequencies=frequencies, documents=documents, effort=effort) for effort in EFFORTS
        ]
        hits: list[Hit] = []
        for plan in dict.fromkeys(plans):
            found = self._match(plan, scopes, filters, limit * CANDIDATES_PER_HIT)
            if len(scopes) > 1:
                found = score_together(question, found, frequencies=frequencies, documents=documents)
            scored = (_hit(question, memory, score) for memory, score in found)
            hits = list(islice((hit for hit in scored if hit.relevance >= least), limit))
            if len(hits) == limit:
                break
        return hits

    def _count_words(self, question: Question, scopes: tuple[ReadScope, ...]) -> tuple[Mapping[str, int], int]:
        """Frequencies of several stores are added up, so that one plan and one ranking serve them all."""
        counted: Counter[str] = Counter()
        documents = 0
        for scope in scopes:
            with self._stores.lease(scope.team) as store:
                frequencies, size = store.word_frequencies(question.vocabulary)
            documents += size
            counted.update(frequencies)
        return counted, documents

    def _match(
        self, plan: Plan, scopes: tuple[ReadScope, ...], filters: Filters, limit: int
    ) -> list[tuple[Memory, float]]:
        found: list[tuple[Memory, float]] = []
        for scope in scopes:
            with self._stores.lease(scope.team) as store:
                matches = store.search_words(scope, plan, filters=filters, limit=limit)
            found += [(match.memory, match.score) for match in matches]
        return found

    def _fill(self, hits: list[Hit], scopes: tuple[ReadScope, ...], filters: Filters, limit: int) -> list[Hit]:
        """Whoever asks without a threshold gets everything the filters leave, the unmatched by age."""
        known = {hit.memory.id for hit in hits}
        rest: list[Memory] = []
        for scope in scopes:
            with self._stores.lease(scope.team) as store:
                rest += _newest(store, scope, filters, limit + len(known))
        rest = sorted((memory for memory in rest if memory.id not in known), key=_age)
        return hits + [_listed(memory) for memory in rest[: limit - len(hits)]]


def _newest(store: Store, scope: ReadScope, filters: Filters, limit: int) -> list[Memory]:
    return list(store.list_memories(scope, filters, order=Order(), limit=limit))


def _age(memory: Memory) -> float:
    return -memory.created_at.timestamp()


def _in_reach(filters: Filters) -> Filters:
    """In a search, a project or repo says where the caller works: global and own memories are near as well."""
    return replace(filters, project_id=None, repo_id=None, reach_project=filters.project_id, reach_repo=filters.repo_id)


def _hit(question: Question, memory: Memory, score: float) -> Hit:
    texts = "\n".join(filter(None, [memory.title, memory.summary, memory.content, " ".join(memory.tags)]))
    matched = matched_terms(texts, question.terms)
    relevance = coverage(question, matched)
    return Hit(
        memory=memory,
        score=score,
        relevance=relevance,
        breakdown={"words": score},
        matched_scope=memory.scope,
        snippet=make_snippet(memory.content, question.terms),
        evidence=memory.evidence_ref,
        why=_why(question, matched),
        team=memory.team,
    )


def _why(question: Question, matched: frozenset[str]) -> str:
    words = [word for word in question.terms if word in matched]
    return f"Matches {len(words)} of {len(question.terms)} search terms: {', '.join(words)}."


def _listed(memory: Memory) -> Hit:
    return Hit(
        memory=memory,
        score=0.0,
        relevance=0.0,
        breakdown={},
        matched_scope=memory.scope,
        snippet=make_snippet(memory.content, ()),
        evidence=memory.evidence_ref,
        why="Listed because no relevance was asked for.",
        team=memory.team,
    )
