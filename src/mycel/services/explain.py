"""Explaining recalls: replayed from the log, and for what was missing, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from mycel.contracts.store import Stores
from mycel.domain.envelope import one_line
from mycel.domain.fields import MAX_PAGE
from mycel.domain.ids import MemoryId, RecallId, parse_id
from mycel.domain.memory import Memory
from mycel.domain.query import Filters
from mycel.domain.recall import Explanation, Hit, LoggedRecall, Step
from mycel.domain.search_request import Ranking, SearchRequest, Signals, read_search_request
from mycel.domain.team import Caller
from mycel.domain.validity import shown_beginning, shown_end, validity_at, validity_words
from mycel.errors import InvalidInput, NotFound
from mycel.retrieval.candidate import Candidate, Key, Ranked
from mycel.retrieval.lookup import Place
from mycel.retrieval.ranking import holding_at
from mycel.retrieval.relevance import STRONG
from mycel.services.search import Searching, answered
from mycel.services.short_ids import find_id

RECALLS_SHOWN = 5
# Asks for nothing: each filter is tried on top of it, alone.
_ANYTHING = Filters(statuses=())
_STEPS = {
    "statuses": Step.STATUS,
    "alive_at": Step.EXPIRY,
    "expired_at": Step.EXPIRY,
    "believed_at": Step.LATER,
}
# These bring in more than they leave out; they are judged with the ranking.
_REACHES = frozenset({"reach_project", "reach_repo"})
_CHANGED = "It was not found then, but would be now: something has changed since."
_SHARED = "Its author had a share of the answer already, and gave this place to others who know of the matter."
_ASKED_AS = {"types": "type", "agent_id": "agent"}


class Explaining:
    """A recall is its caller's own; what a caller may not see looks as absent here as anywhere."""

    def __init__(self, searching: Searching, stores: Stores) -> None:
        self._searching = searching
        self._stores = stores

    def explain(
        self, caller: Caller, *, recall_id: object = None, memory_id: object = None, missing: object = None
    ) -> Explanation:
        if (recall_id is None) == (memory_id is None):
            raise InvalidInput("give either a recall_id or a memory_id", field="recall_id")
        if recall_id is None:
            if missing is not None:
                raise InvalidInput("needs a recall_id", field="missing")
            return self._explain_memory(caller, find_id(self._stores, caller, memory_id, field="memory_id"))
        id = parse_id(recall_id, field="recall_id")
        try:
            recall = self._recall(caller, RecallId(id))
        except NotFound as error:
            if missing is not None:
                raise
            try:
                return self._explain_memory(caller, id)
            except NotFound:
                raise error from None
        if missing is None:
            return Explanation(text=_told(recall), recall=recall)
        return self._explain_missing(caller, recall, find_id(self._stores, caller, missing, field="missing"))

    def _recall(self, caller: Caller, id: RecallId) -> LoggedRecall:
        with ExitStack() as leases:
            places = self._searching.places(leases, caller)
            for place in places:
                recall = place.store.recalls.find(caller.member_id, id)
                if recall is not None:
                    return _in_sight(recall, places)
        raise NotFound(f"no recall {id}")

    def _explain_memory(self, caller: Caller, id: MemoryId) -> Explanation:
        with ExitStack() as leases:
            places = self._searching.places(leases, caller)
            place, number, memory = _found(places, id)
            signals = place.store.index.signals(place.scope, [number]).get(number, Signals())
            recalls = places[0].store.recalls.that_found(caller.member_id, id, limit=RECALLS_SHOWN)
            seen = tuple(_in_sight(recall, places) for recall in recalls)
        shown = self._searching.freshness.of(memory)
        return Explanation(text=_origin(memory, signals, seen), memory=shown, recalls=seen)

    def _explain_missing(self, caller: Caller, recall: LoggedRecall, id: MemoryId) -> Explanation:
        with ExitStack() as leases:
            places = self._searching.places(leases, caller)
            place, number, memory = _found(places, id)
            key = (places.index(place), number)
            search = _asked_again(recall)
            told = _returned(recall, id) or _later(recall, memory) or _filtered(search, place, number, memory)
            if told is None and not search.everything:
                told = _unchosen(search, self._searching.rank(search, places)[0], key)
            if told is None:
                # How many a swarm ranking looks at depends on how many were asked for.
                wide = search if search.ranking is Ranking.SWARM else replace(search, limit=MAX_PAGE)
                ranked, _ = self._searching.rank(wide, places)
                hits = answered(wide, ranked, places) if search.everything or search.order else []
                if search.order is not None:
                    hits = search.order.sort(hits, lambda hit: hit.memory)
                is_listed = search.everything or any(hit.memory.id == id for hit in hits)
                told = _listed(search, hits, id) if is_listed else _ranked(search, ranked, key)
        return replace(told, recall=recall, memory=self._searching.freshness.of(memory))


def _in_sight(recall: LoggedRecall, places: Sequence[Place]) -> LoggedRecall:
    """With the titles of today, and without hits that have since been hidden or deleted."""
    found = ((hit, place.store.memories.find(place.scope, hit.memory_id)) for hit in recall.hits for place in places)
    return replace(recall, hits=tuple(replace(hit, title=memory.title) for hit, memory in found if memory is not None))


def _found(places: Sequence[Place], id: MemoryId) -> tuple[Place, int, Memory]:
    for place in places:
        number = place.store.index.find_number(place.scope, id)
        memory = None if number is None else place.store.memories.find(place.scope, id)
        if number is not None and memory is not None:
            return place, number, memory
    raise NotFound(f"no memory {id}")


def _asked_again(recall: LoggedRecall) -> SearchRequest:
    """The same question at the same moment: what had expired then has expired here."""
    request: Mapping[str, Any] = recall.request
    return read_search_request(
        recall.query,
        request.get("filters", {}),
        now=recall.recalled_at,
        limit=request.get("limit"),
        min_relevance=request.get("min_relevance"),
        ranking=request.get("ranking"),
        as_of=request.get("as_of"),
        order_by=request.get("order_by"),
    )


def _returned(recall: LoggedRecall, id: MemoryId) -> Explanation | None:
    for rank, hit in enumerate(recall.hits, start=1):
        if hit.memory_id == id:
            text = f"It was returned, as number {rank}: {hit.why}"
            return Explanation(text=text, step=Step.RETURNED, rank=rank, relevance=hit.relevance)
    return None


def _later(recall: LoggedRecall, memory: Memory) -> Explanation | None:
    if memory.created_at <= recall.recalled_at:
        return None
    return Explanation(text="It was saved after this search.", step=Step.LATER)


def _filtered(search: SearchRequest, place: Place, number: int, memory: Memory) -> Explanation | None:
    """Tries each filter alone, the store being the judge."""
    for name in (field.name for field in fields_of(Filters)):
        wanted = getattr(search.filters, name)
        if name in _REACHES or wanted == getattr(_ANYTHING, name):
            continue
        alone = replace(_ANYTHING, **{name: wanted})
        if number not in place.store.index.load(place.scope, [number], filters=alone):
            return _not_holding(memory, search) if name == "valid_at" else _dropped_by(name, wanted)
    return None


def _not_holding(memory: Memory, search: SearchRequest) -> Explanation:
    at = holding_at(search.filters, search.now)
    held = validity_at(at, since=memory.valid_from, until=memory.valid_until)
    words = validity_words(held, since=memory.valid_from, until=memory.valid_until)
    return Explanation(text=f"At {at:%Y-%m-%d %H:%M}Z it was {words}.", step=Step.FILTER, filter="valid_at")


def _dropped_by(name: str, wanted: object) -> Explanation:
    step = _STEPS.get(name, Step.FILTER)
    if step is Step.EXPIRY:
        return Explanation(text="It had expired." if name == "alive_at" else "It had not expired.", step=step)
    if step is Step.LATER:
        return Explanation(text="It did not stand as it is at the moment asked about.", step=step)
    asked = ", ".join(map(str, wanted)) if isinstance(wanted, tuple) else str(wanted)  # pyright: ignore[reportUnknownArgumentType]
    if step is Step.STATUS:
        return Explanation(text=f"Its status is not {asked}.", step=step)
    filter = _ASKED_AS.get(name, name)
    return Explanation(text=f"It does not pass the filter {filter}: {asked}.", step=step, filter=filter)


def _unchosen(search: SearchRequest, ranked: Ranked | None, key: Key) -> Explanation | None:
    """What was good enough, but stood back for another."""
    if ranked is None:
        return None
    for one in (*ranked.chosen, *ranked.candidates):
        if key in one.copies and one.memory:
            return Explanation(text=f"{one.memory.id} says nearly the same, and stood for it.", step=Step.COPY)
    copies = {copy for one in ranked.candidates for copy in one.copies}
    heads = (one for one in ranked.candidates if ranked.shows(one) and one.key not in copies)
    for rank, one in enumerate(heads, start=1):
        if rank <= search.limit and one.key == key and one not in ranked.chosen:
            return Explanation(text=_SHARED, step=Step.SHARE, rank=rank, relevance=one.relevance)
    return None


def _ranked(search: SearchRequest, ranked: Ranked | None, key: Key) -> Explanation:
    for before, one in enumerate(ranked.candidates if ranked else ()):
        if one.key == key and ranked is not None:
            return _placed(search, ranked, one, before=before)
    return Explanation(
        text="Neither its words nor its meaning are near enough to the question to be looked at.", step=Step.NO_MATCH
    )


def _listed(search: SearchRequest, hits: Sequence[Hit], id: MemoryId) -> Explanation:
    """Of a search that leaves nothing out but by its limit, or by another project."""
    rank = next((rank for rank, hit in enumerate(hits, start=1) if hit.memory.id == id), None)
    if rank is not None and rank <= search.limit:
        return Explanation(text=_CHANGED, step=Step.CHANGED, rank=rank)
    if rank is None and len(hits) < MAX_PAGE:
        return Explanation(text="It belongs to another project.", step=Step.REACH)
    came = f"number {rank}" if rank is not None else f"number {MAX_PAGE + 1} or later"
    return Explanation(text=f"It came as {came}, and the search asked for {search.limit}.", step=Step.RANK, rank=rank)


def _placed(search: SearchRequest, ranked: Ranked, one: Candidate, *, before: int) -> Explanation:
    relevance = one.relevance
    if one.far and not ranked.shows(one):
        text = f"It belongs to another project; with a relevance of {relevance:.2f} it would need {STRONG:.2f}."
        return Explanation(text=text, step=Step.REACH, relevance=relevance, least=STRONG)
    if relevance < ranked.least:
        text = f"Its relevance of {relevance:.3f} is below what is shown."
        return Explanation(text=text, step=Step.THRESHOLD, relevance=relevance, least=min(ranked.least, 1.0))
    rank = before + 1
    if rank > search.limit:
        text = f"It came as number {rank}, and the search asked for {search.limit}."
        return Explanation(text=text, step=Step.RANK, rank=rank, relevance=relevance)
    return Explanation(text=_CHANGED, step=Step.CHANGED, rank=rank, relevance=relevance)


def _told(recall: LoggedRecall) -> str:
    head = f"{recall.query!r} at {recall.recalled_at:%Y-%m-%d %H:%M:%S}Z found {len(recall.hits)}."
    lines = [
        f"{rank}. {one_line(hit.title)} [{hit.memory_id}] (score {hit.score:.2f}, relevance {hit.relevance:.2f}): "
        f"{hit.why}"
        for rank, hit in enumerate(recall.hits, start=1)
    ]
    missing = [f"Without {', '.join(recall.degraded)}."] if recall.degraded else []
    return "\n".join([head, *lines, *missing])


def _span(memory: Memory) -> str:
    since, until = memory.valid_from, memory.valid_until
    begins = since and f"from {shown_beginning(since)}"
    ends = f"until {shown_end(until)}" if until else "on"
    return " ".join(filter(None, (begins, ends)))


def _origin(memory: Memory, signals: Signals, recalls: Sequence[LoggedRecall]) -> str:
    parts = [
        f"Saved by {memory.agent_id} on {memory.created_at:%Y-%m-%d} as {memory.type} ({memory.made_by}), "
        f"version {memory.version}, confidence {memory.confidence:g}, trust {memory.trust}.",
        f"{_read(signals.access_count)}; {_rated(signals)}.",
    ]
    if memory.valid_from is not None or memory.valid_until is not None:
        parts.append(f"In the world it holds {_span(memory)}.")
    if memory.evidence_ref is not None:
        evidence = memory.evidence_ref
        parts.append(f"Its evidence is characters {evidence.start} to {evidence.end} of source {evidence.source_id}.")
    if recalls:
        parts.append(f"Your latest search that found it: {recalls[0].query!r}.")
    return "\n".join(parts)


def _read(times: int) -> str:
    return {0: "Never read", 1: "Read once"}.get(times, f"Read {times} times")


def _rated(signals: Signals) -> str:
    if not (signals.useful or signals.useless):
        return "nobody has rated it"
    return f"rated useful {signals.useful}, not useful {signals.useless}"
