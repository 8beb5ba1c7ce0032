"""What stood differently at a past moment, or is deleted since: no index has it, so that it is read and scored here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mycel.domain.memory import Memory, Scope
from mycel.domain.query import Filters
from mycel.domain.search_request import SearchRequest
from mycel.retrieval.bm25 import COLUMN_WEIGHTS, damping_of, rarity_of, term_score
from mycel.retrieval.candidate import Key
from mycel.retrieval.candidate_rows import CandidateRows
from mycel.retrieval.lexical import holds_phrase
from mycel.retrieval.lookup import Found, Meaning, Place
from mycel.retrieval.terms import column_tokens

# More than these are not looked through.
PAST_ROWS = 5_000


def add_past(
    rows: CandidateRows, search: SearchRequest, found: Found, places: Sequence[Place], meaning: Meaning | None
) -> dict[Key, Memory]:
    """Puts what stood at the moment asked about in the place of what it is today, and returns it."""
    if search.as_of is None:
        return {}
    past: dict[Key, Memory] = {}
    then = replace(search.filters.beyond_reach(), believed_at=None)
    frequencies, documents, usual_length = found.statistics
    # Also of terms that no present text has: a past one may.
    rarities = {term: rarity_of(frequencies.get(term, 0), documents) for term in found.question.terms}
    for index, place in enumerate(places):
        versions = place.store.index.past_versions(place.scope, at=search.as_of, filters=then, limit=PAST_ROWS)
        cosines = _cosines_of(place, [one.number for one in versions if one.embedded], meaning)
        for number, memory, _ in versions:
            counts, length = _counts_of(memory)
            past[index, number] = memory
            rows.put(
                (index, number),
                bm25=_score(counts, rarities, damping=damping_of(length, usual_length)),
                cosine=cosines.get(number),
                held=[term in counts for term in rarities],
                far=not _belongs_here(memory, place, search.filters),
            )
    _keep_quoting(rows, found, past)
    return past


def _cosines_of(place: Place, numbers: Sequence[int], meaning: Meaning | None) -> Mapping[int, float]:
    if meaning is None or not numbers:
        return {}
    return place.store.index.similarities(place.scope, meaning.vector, numbers, model=meaning.model)


def _counts_of(memory: Memory) -> tuple[Mapping[str, float], int]:
    """How often each term stands in it, by the weights of the columns, and how many terms there are in all."""
    counts: dict[str, float] = defaultdict(float)
    columns = column_tokens(vars(memory))
    for tokens, weight in zip(columns, COLUMN_WEIGHTS, strict=True):
        for token in tokens:
            counts[token] += weight
    return counts, sum(map(len, columns))


def _score(counts: Mapping[str, float], rarities: Mapping[str, float], *, damping: float) -> float:
    return sum(term_score(rarity, counts[term], damping=damping) for term, rarity in rarities.items() if term in counts)


def _belongs_here(memory: Memory, place: Place, filters: Filters) -> bool:
    """A past version may have belonged elsewhere than it does today."""
    if not filters.is_within_reach:
        return True
    if memory.scope in {Scope.AGENT, Scope.SESSION} and memory.agent_id == place.scope.member_id:
        return True
    in_project = filters.reach_project is not None and memory.project_id == filters.reach_project
    in_repo = filters.reach_repo is not None and memory.repo_id == filters.reach_repo
    return in_project or in_repo or memory.scope is Scope.GLOBAL


def _keep_quoting(rows: CandidateRows, found: Found, past: Mapping[Key, Memory]) -> None:
    """Where any text quotes, also a past one, all must; of the present ones the store has seen to it."""
    phrases = found.question.phrases
    quoting = {key for key, memory in past.items() if all(holds_phrase(memory, one) for one in phrases)}
    if phrases and (quoting or found.is_quoted):
        present = rows.at.keys() - past.keys() if found.is_quoted else set[Key]()
        rows.keep(present | quoting, for_good=not found.is_quoted)
