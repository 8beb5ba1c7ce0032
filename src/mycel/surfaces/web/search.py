"""Search: by words and by meaning, each hit with its reasons, and an answer to "why not this one?"."""

from __future__ import annotations

from typing import Any

from mycel.domain.ids import parse_id
from mycel.domain.recall import Explanation, Hit, Recall
from mycel.domain.request_filters import ANY_STATUS
from mycel.domain.search_request import Ranking
from mycel.errors import InvalidInput, MycelError, NotFound
from mycel.surfaces.web.evidence import evidence_of
from mycel.surfaces.web.filters import STATUSES, TYPES, chips_of, filters_of, moment_of
from mycel.surfaces.web.page import Page, PageRequest, Shown, address_of

LIMITS = (10, 25, 50)
# What adds to a score stands first, in this order; whatever else there is follows.
_SIGNIFICANT = 0.005


def show(asked: PageRequest) -> Shown:
    query = asked.one("q")
    filters = filters_of(asked)
    beside: dict[str, Any] = {
        "chips": chips_of(asked),
        "types": TYPES,
        "statuses": STATUSES,
        # While somebody types, what can be chosen stands there already.
        "projects": [] if asked.part else [project.name for project in asked.memory.projects()],
        "rankings": list(Ranking),
        "more": None,
        "at": address_of("", {"as_of": asked.one("as_of")}),
    }
    if query is None and not filters:
        return Shown({"recall": None, "hits": [], "missing": None}, beside)
    recall = asked.memory.search(
        query, limit=_limit(asked), as_of=moment_of(asked, "as_of"), ranking=asked.one("ranking"), **filters
    )
    missing = _missing(asked, recall)
    hits = [{"hit": hit, "evidence": evidence_of(asked.memory, hit.memory)} for hit in recall.hits]
    if len(recall.hits) == _limit(asked):
        beside["more"] = next((limit for limit in LIMITS if limit > len(recall.hits)), None)
    beside["bars"] = {hit.memory.id: bars_of(hit) for hit in recall.hits}
    return Shown({"recall": recall, "hits": hits, "missing": missing}, beside, title=query)


def _limit(asked: PageRequest) -> int:
    given = asked.one("limit")
    return int(given) if given in {str(one) for one in LIMITS} else LIMITS[0]


def _missing(asked: PageRequest, recall: Recall) -> Explanation | str | None:
    """Why a memory that somebody expected is not among the hits; it is named by its address or its words."""
    given = asked.one("missing")
    if given is None:
        return None
    try:
        id = _expected(asked, given)
        return asked.memory.explain(recall.id, missing=id) if id else "No memory has these words."
    except NotFound:
        return "There is no such memory."
    except MycelError as error:
        return str(error)


def _expected(asked: PageRequest, given: str) -> str | None:
    """The memory that somebody names by its id, its address, or some of its words."""
    try:
        return str(parse_id(given.partition("?")[0].rstrip("/").rpartition("/")[2]))
    except InvalidInput:
        found = asked.memory.search(given, limit=1, status=ANY_STATUS)
        return next((str(hit.memory.id) for hit in found.hits), None)


def bars_of(hit: Hit) -> list[tuple[str, float, float]]:
    """Name, value and share of the largest, of every part of a score that weighs something."""
    parts = [(name, value) for name, value in hit.breakdown.items() if abs(value) >= _SIGNIFICANT]
    largest = max((abs(value) for _, value in parts), default=1.0)
    return [(name, value, abs(value) / largest) for name, value in sorted(parts, key=lambda part: -abs(part[1]))]


PAGES = (Page(address="/search", template="search.html", show=show, title="Search", label="Search", key="s"),)
