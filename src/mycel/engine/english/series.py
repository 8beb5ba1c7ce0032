"""Which member of a series a text is about: incident 112, ticket 4411, day 2."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mycel.engine.english import word_set

# What is counted through: two of them with other numbers are two things, and not two values of one.
_KINDS = word_set(
    """
    incident outage postmortem post-mortem ticket issue bug defect alert error case finding request order invoice
    receipt delivery shipment parcel batch lot pallet sample specimen customer client patient participant tenant user
    applicant pr mr cr adr rfc commit build job run trial experiment sprint iteration milestone phase step stage task
    item story epic release migration meeting session interview call workshop lesson exercise question answer chapter
    section article paragraph clause page slide figure table appendix rule note entry record day week month quarter
    season episode volume edition room hall floor gate door dock lane line track platform shelf rack zone sector area
    field plot site store shop branch warehouse station stop team group squad class course unit machine robot truck
    van bus car boat turbine pump valve tank sensor meter host server shard worker
    """
)
_NUMBER = r"(?:no\.? ?|nr\.? ?|number )?#?(?P<number>[a-z]{0,4}-?\d[\w.-]{0,24}?)"
_LABEL = re.compile(
    rf"[\W_]*(?P<kind>[a-z][a-z'-]*(?: [a-z'-]+){{0,3}}?)? ?{_NUMBER}(?:\s*\([^)]*\))?"
    r"(?:\s*[:\u2013\u2014\n]|\s+-\s)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"\W*(?:(?:in|on|for|at|of|during|after|since|before|with|from|the|our|this) ){{0,2}}(?:[a-z][a-z'-]* ){{0,2}}?"
    rf"(?P<kind>[a-z][a-z-]*) {_NUMBER}(?![\w.]*\w|%)",
    re.IGNORECASE,
)


class Member(NamedTuple):
    """One of a series: what sort of thing, and its number."""

    kind: str
    number: str


@lru_cache(maxsize=4096)
def member_of_series(text: str) -> Member | None:
    """Read the number that a text begins with, as a label before a colon or as its subject."""
    label = _LABEL.match(text)
    if label is not None:
        return Member(_plain(label["kind"] or ""), label["number"].casefold())
    found = _LEADING.match(text)
    if found is None or _plain(found["kind"]) not in _KINDS:
        return None
    return Member(_plain(found["kind"]), found["number"].casefold())


def _plain(kind: str) -> str:
    words = kind.casefold().split()
    return words[-1].removesuffix("s") if words else ""
