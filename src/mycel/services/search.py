"""Finding memories: by words and by meaning, over every team the caller reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from mycel.access.scope import readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.search_store import Standing
from mycel.contracts.store import Stores
from mycel.domain.fields import MAX_PAGE
from mycel.domain.ids import MemoryId, RecallId, new_id
from mycel.domain.memory import STANDING, Memory
from mycel.domain.query import Order
from mycel.domain.recall import Hit, Recall
from mycel.domain.search_request import Ranking, RankingOptions, SearchRequest, read_search_request
from mycel.domain.team import Caller
from mycel.errors import Misconfigured, Unavailable
from mycel.retrieval.candidate import Ranked
from mycel.retrieval.explain import Fresh, contested_hit, listed, shown_hits
from mycel.retrieval.lookup import Meaning, Place
from mycel.retrieval.ranking import holding_at
from mycel.services.answer_cache import AnswerCache, question_of
from mycel.services.embeddings import Embedding
from mycel.services.read import Freshness
from mycel.services.words import Words

# What a recall says when meaning took no part, or only for the memories embedded so far.
WITHOUT_MEANING = "meaning"
UNFINISHED = "embedding_backlog"
# A store that should have taken part is damaged or gone.
DAMAGED, DAMAGED_ROWS = "damaged_store", "damaged_rows"


class Searching:
    def __init__(
        self, stores: Stores, clock: Clock, embedding: Embedding, words: Words, *, options: RankingOptions | None = None
    ) -> None:
        self._stores = stores
        self._answers = AnswerCache()
        stores.listen(self._answers.forget)
        self._clock = clock
        self._embedding = embedding
        self._words = words
        self.options = options or RankingOptions()
        self.freshness = Freshness(clock, half_life_days=self.options.half_life_days)

    def search(
        self,
        caller: Caller,
        query: object,
        given: Mapping[str, object],
        *,
        limit: object = None,
        min_relevance: object = None,
        ranking: object = None,
        as_of: object = None,
        order_by: object = None,
        expired: bool = False,
        every: bool = False,
    ) -> Recall:
        """The best matches in every team the caller reads; an empty question lists the newest instead.

        With `every`, also what others stand for, and of one author as much as there is.
        """
        now = self._clock.now()
        search = read_search_request(
            query,
            given,
            now=now,
            limit=limit,
            min_relevance=min_relevance,
            ranking=self.options.ranking if ranking is None else ranking,
            as_of=as_of,
            order_by=order_by,
        )
        if expired:
            search = replace(search, filters=replace(search.filters, alive_at=None))
        if every:
            search = replace(search, every=True)
        with ExitStack() as leases:
            places = self.places(leases, caller)
            # Of all that the question finds, the first by another order may be the last by relevance.
            wanted = search if search.order is None else replace(search, limit=MAX_PAGE)
            hits, degraded = self._answer(caller, wanted, places, now=now)
            if search.order is not None:
                hits = tuple(search.order.sort(hits, lambda hit: hit.memory))[: search.limit]
            if _have_damaged_rows(places):
                degraded = (*degraded, DAMAGED_ROWS)
            recall = Recall(id=RecallId(new_id()), query=search.text, hits=hits, degraded=degraded)
            logged, request = _without_secrets(recall, search.request)
            # A lead's own team may have no store yet: then that of a team above keeps the log.
            any(place.store.recalls.log(logged, request=request, by=caller.member_id, at=now) for place in places)
        return recall

    def _answer(
        self, caller: Caller, search: SearchRequest, places: Sequence[Place], *, now: datetime
    ) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
        """The hits, and what could not take part. What the caller asked a moment ago is not looked for again."""
        if len(places) < len(readable_scopes(caller)) or _are_damaged(places):
            hits, degraded = self._look(search, places)
            return hits, (*degraded, DAMAGED)
        if search.ranking is Ranking.SWARM:
            return self._look(search, places)
        question = question_of(caller, search)
        # Before anything is looked for: what changes meanwhile must not pass for what was found.
        standings = _standings(places, now)
        for place, one in zip(places, standings, strict=True):
            if one.is_outdated:
                self._words.wake(place.scope.team)
        revisions = {place.scope.team: one.revision for place, one in zip(places, standings, strict=True)}
        known = self._answers.find(question, revisions, minute=search.now)
        if known is not None:
            return known, ()
        hits, degraded = self._look(search, places, standings)
        if _are_damaged(places):
            return hits, (*degraded, DAMAGED)
        if not degraded:
            self._answers.keep(question, revisions, hits, minute=search.now)
        return hits, degraded

    def _look(
        self, search: SearchRequest, places: Sequence[Place], standings: Sequence[Standing] | None = None
    ) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
        ranked, degraded = self.rank(search, places, standings)
        fresh = partial(self.freshness.of, at=search.now)
        hits = answered(search, ranked, places, fresh)
        # What contradicted it at a past moment is not told: links have no history.
        return tuple(hits if search.as_of is not None else with_contests(hits, places)), degraded

    def places(self, leases: ExitStack, caller: Caller) -> list[Place]:
        """Own team first, each open for as long as the leases are held; without another team's store that is gone."""
        scopes = readable_scopes(caller)
        places = [Place(leases.enter_context(self._stores.lease(scope.team)), scope) for scope in scopes]
        return [place for place in places if place.scope.team == caller.team or place.store.files.is_readable()]

    def rank(
        self, search: SearchRequest, places: Sequence[Place], standings: Sequence[Standing] | None = None
    ) -> tuple[Ranked | None, tuple[str, ...]]:
        """All candidates in order, and what could not take part. Whoever knows how the places stand may say so."""
        if not search.text.strip():
            return None, ()
        # Loads NumPy, which nothing but searching needs.
        from mycel.retrieval.pipeline import find

        meaning, degraded = self._meaning(search, places, standings)
        return find(search, places, meaning, self.options), degraded

    def _meaning(
        self, search: SearchRequest, places: Sequence[Place], standings: Sequence[Standing] | None
    ) -> tuple[Meaning | None, tuple[str, ...]]:
        embedder = self._embedding.embedder
        if embedder is None:
            return None, ()
        standings = standings or _standings(places, self._clock.now())
        # Where nobody has saved anything yet, not even a model is loaded for the question.
        if not any(one.documents for one in standings):
            return None, ()
        try:
            vector = self._embedding.question(search.text)
        except (Unavailable, Misconfigured):
            return None, (WITHOUT_MEANING,)
        # How much waits of what the caller may not see is none of its business.
        finished = [
            self._embedding.catch_up(place.store, sequence=one.sequence)
            or not place.store.embeddings.has_backlog(place.scope, embedder.model)
            for place, one in zip(places, standings, strict=True)
        ]
        meaning = Meaning(vector, embedder.model, embedder.background)
        return meaning, () if all(finished) else (UNFINISHED,)


def _standings(places: Sequence[Place], now: datetime) -> list[Standing]:
    return [place.store.index.standing(place.scope, now) for place in places]


def _are_damaged(places: Sequence[Place]) -> bool:
    return any(place.store.files.is_damaged for place in places)


def _have_damaged_rows(places: Sequence[Place]) -> bool:
    return any(place.store.files.damaged_rows is not None for place in places)


def _without_secrets(recall: Recall, request: Mapping[str, Any]) -> tuple[Recall, Mapping[str, Any]]:
    """The question and its filters as the log may keep them; the rest are numbers and choices."""
    from mycel.engine.secrets.masking import mask_secrets, mask_within

    query = mask_secrets(recall.query)
    if request["filters"]:
        request = {**request, "filters": mask_within(request["filters"])[0]}
    return replace(recall, query=query.text) if query.kinds else recall, request


def _as_it_is(memory: Memory) -> Memory:
    return memory


def answered(
    search: SearchRequest, ranked: Ranked | None, places: Sequence[Place], fresh: Fresh = _as_it_is
) -> list[Hit]:
    """The hits to show, best first."""
    hits = shown_hits(ranked.chosen, ranked.question, fresh) if ranked else []
    return hits + _rest(hits, places, search, fresh) if search.everything else hits


def with_contests(hits: Sequence[Hit], places: Sequence[Place]) -> list[Hit]:
    """Say of what is shown how many memories in the reader's sight contradict it: one query for each team."""
    counts: dict[MemoryId, int] = {}
    for place in places:
        ids = [hit.memory.id for hit in hits if hit.team == place.scope.team and hit.memory.status in STANDING]
        if ids:
            counts |= place.store.links.contests(place.scope, ids)
    return [contested_hit(hit, counts[hit.memory.id]) if hit.memory.id in counts else hit for hit in hits]


def _rest(hits: Sequence[Hit], places: Sequence[Place], search: SearchRequest, fresh: Fresh) -> list[Hit]:
    """Whoever asks without a threshold gets everything the filters leave, the unmatched by age."""
    known = {hit.memory.id for hit in hits}
    at = holding_at(search.filters, search.now)
    rest = [memory for place in places for memory in _newest(place, search, search.limit + len(known))]
    unknown = [one for one in rest if one.id not in known]
    rest = (search.order or Order()).sort(unknown, lambda memory: memory)
    return [listed(memory, fresh, at=at) for memory in rest[: search.limit - len(hits)]]


def _newest(place: Place, search: SearchRequest, limit: int) -> list[Memory]:
    return list(place.store.memories.page(place.scope, search.filters, order=search.order or Order(), limit=limit))
