"""One memory: its text, where it comes from, who was given it, its versions, its links and its use."""

from __future__ import annotations

import math
from dataclasses import fields as fields_of
from datetime import datetime
from typing import Any, NamedTuple

from mycel.access import rules
from mycel.domain.activity import Given
from mycel.domain.link import Link, Relation
from mycel.domain.marks import MASKED
from mycel.domain.memory import FIELDS, STANDING, Memory, MemoryType, Status, Version, Visibility
from mycel.domain.team import Caller
from mycel.domain.validity import contested_words
from mycel.errors import NotFound
from mycel.surfaces.web.evidence import evidence_of
from mycel.surfaces.web.filters import moment_of
from mycel.surfaces.web.headlines import begins_with_title
from mycel.surfaces.web.page import Page, PageRequest, Shown
from mycel.surfaces.web.text_diff import Effort, Line, diff_lines

LINKS_SHOWN = 24
VERSIONS_SHOWN = 50
GIVEN_SHOWN = 8
GIVEN_LOOKED_AT = 50
# Shown elsewhere on the page, or not for people; the rest stands in the table of provenance.
_TEXTS = frozenset(
    {"content", "title", "metadata", "freshness", "updated_at", "version", "deleted_at"}
    | {"similar", "notices", "standing", "decided_by", "confirmations"}
)
_IN_HEADER = frozenset({"id", "type", "tags", "status", "rationale", "alternatives"})
_DRAWN = 12
# Of fewer a drawing says no more than the list below it.
LEAST_DRAWN = 3


class Neighbour(NamedTuple):
    """The other end of a link: a memory, or a project or repo where there is no `memory`."""

    link: Link
    outward: bool
    other_id: str
    memory: Memory | None


class Change(NamedTuple):
    """One version beside the one before: what differs in its text, and in its other fields."""

    version: Version
    lines: list[Line]
    fields: list[tuple[str, Any, Any]]


class GivenOften(NamedTuple):
    """The last time of several alike, and how often."""

    given: Given
    times: int


class Point(NamedTuple):
    x: float
    y: float
    neighbour: Neighbour


def show(asked: PageRequest) -> Shown:
    id, as_of = asked.in_path["id"], moment_of(asked, "as_of")
    if as_of is not None:
        return _past(asked, asked.memory.get(id, as_of=as_of), as_of)
    # Its use until now: reading it here is the next.
    usage, explained = asked.memory.usage(id), asked.memory.explain(memory_id=id)
    memory = asked.memory.get(id, for_use=False)
    versions = asked.memory.history(id)
    links = asked.memory.links(id)
    neighbours = neighbours_of(asked, memory, links)
    given = asked.memory.activity.given(id, limit=GIVEN_LOOKED_AT)
    facts: dict[str, object] = {
        "memory": memory,
        "versions": versions,
        "links": links,
        "usage": usage,
        "evidence": evidence_of(asked.memory, memory),
        "explanation": explained.text,
        "recalls": explained.recalls,
        "given": given,
        "may": permissions(asked.caller, memory),
    }
    beside = {
        "as_of": None,
        "contests": contested_words(contests_among(memory, neighbours)),
        "changed_by": versions[-1].changed_by if versions[-1].memory.version > 1 else "",
        "masked": masked_in(memory),
        "neighbours": neighbours,
        # Where it comes from and which searches found it stand apart on the page.
        "use": explained.text.splitlines()[1],
        "given_often": given_often(given)[:GIVEN_SHOWN],
        "links_left": max(0, len(links) - LINKS_SHOWN),
        "searches": {recall.query: recall.recalled_at for recall in reversed(explained.recalls)},
        "points": points_of(neighbours) if len(neighbours) >= LEAST_DRAWN else [],
        # One more, which the oldest that is shown is compared with.
        "changes": changes_of(versions[-VERSIONS_SHOWN - 1 :])[:VERSIONS_SHOWN],
        "details": details_of(memory),
        "raw": asked.one("view") == "raw",
    }
    return Shown(facts, beside, title=memory.title)


def _past(asked: PageRequest, memory: Memory, as_of: datetime) -> Shown:
    """As it was believed at a moment: the text and its fields; what stands around it is of today."""
    try:
        asked.memory.get(memory.id, for_use=False)
        is_gone = False
    except NotFound:
        is_gone = True
    facts = {"memory": memory, "as_of": as_of, "evidence": evidence_of(asked.memory, memory), "is_gone": is_gone}
    beside = {
        "details": details_of(memory),
        "contests": "",
        "changed_by": "",
        "masked": masked_in(memory),
        "raw": asked.one("view") == "raw",
        "may": permissions(asked.caller, memory),
    }
    return Shown(facts, beside, title=memory.title)


def contests_among(memory: Memory, neighbours: list[Neighbour]) -> int:
    """Count the memories that contradict this one, while it and they stand or wait."""
    contradicting = {
        one.other_id
        for one in neighbours
        if one.link.relation is Relation.CONTRADICTS and one.memory is not None and one.memory.status in STANDING
    }
    return len(contradicting) if memory.status in STANDING else 0


def masked_in(memory: Memory) -> int:
    """Count the secrets that were masked in what a memory says; at least one of each kind that it names."""
    texts = (memory.content, memory.rationale or "", *memory.alternatives)
    return max(len(memory.metadata.get(MASKED, ())), sum(text.count("[secret:") for text in texts))


def permissions(caller: Caller, memory: Memory) -> dict[str, bool]:
    """What the buttons offer; whoever does without them is asked again by the operation itself."""
    is_here = memory.team == caller.team
    return {
        "edit": is_here and rules.may_edit(caller, memory),
        "delete": is_here and rules.may_delete(caller, memory),
        "purge": is_here and rules.may_purge(caller, memory),
        "rate": is_here and memory.agent_id != caller.member_id,
        "send": is_here and rules.may_curate(caller) and may_be_sent(memory),
    }


def may_be_sent(memory: Memory) -> bool:
    """To other teams: what all of its own team may read, and stands, and came from no other."""
    return memory.visibility is Visibility.TEAM and memory.status is Status.ACTIVE and not rules.is_copy(memory)


def neighbours_of(asked: PageRequest, memory: Memory, links: list[Link]) -> list[Neighbour]:
    """The first so many, each with the memory at its other end where the reader sees it."""
    found: list[Neighbour] = []
    for link in links[:LINKS_SHOWN]:
        outward = link.from_id == memory.id
        other = link.to_id if outward else link.from_id
        known = None if outward and link.to_place else _found(asked, other)
        if known is not None or link.to_place:
            found.append(Neighbour(link, outward, other, known))
    return found


def _found(asked: PageRequest, id: str) -> Memory | None:
    """As of this moment, which counts as no reading of it."""
    try:
        return asked.memory.get(id, as_of=asked.now)
    except NotFound:
        return None


def title_of(asked: PageRequest, id: str) -> str | None:
    known = _found(asked, id)
    return None if known is None else known.title


def given_often(given: list[Given]) -> list[GivenOften]:
    """What the same member was given on the same occasion for the same task stands once, as of the last time."""
    found: dict[object, GivenOften] = {}
    for one in given:
        same = (one.member_id, one.occasion, one.task_id)
        last, times = found.get(same, GivenOften(one, 0))
        found[same] = GivenOften(last, times + 1)
    return list(found.values())


def points_of(neighbours: list[Neighbour]) -> list[Point]:
    """Where each neighbour stands in the small drawing: around the memory, which stands in the middle of 0..100."""
    drawn = neighbours[:_DRAWN]
    turn = 2 * math.pi / max(1, len(drawn))
    return [
        Point(round(50 + 38 * math.sin(turn * number), 1), round(50 - 38 * math.cos(turn * number), 1), neighbour)
        for number, neighbour in enumerate(drawn)
    ]


def changes_of(versions: list[Version], *, effort: Effort | None = None) -> list[Change]:
    """Newest first, each against the one before; of the first, nothing differs."""
    effort = effort or Effort()
    pairs = zip(versions[::-1], [None, *versions][-2::-1], strict=True)
    return [_change(version, before, effort) for version, before in pairs]


def _change(version: Version, before: Version | None, effort: Effort) -> Change:
    if before is None:
        return Change(version, [], [])
    lines = diff_lines(before.memory.content, version.memory.content, effort)
    return Change(version, lines, _differing(before, version))


def _differing(before: Version, after: Version) -> list[tuple[str, Any, Any]]:
    names = [field.name for field in fields_of(Memory) if field.name not in (_TEXTS - {"title"})]
    pairs = ((name, getattr(before.memory, name), getattr(after.memory, name)) for name in names)
    found = [(FIELDS[name].label or name, old, new) for name, old, new in pairs if old != new]
    # A title that is the beginning of its text says what the text says beside it.
    if (before.memory.deleted_at is None) != (after.memory.deleted_at is None):
        found.append(("deleted", before.memory.deleted_at is not None, after.memory.deleted_at is not None))
    is_drawn = begins_with_title(before.memory) and begins_with_title(after.memory)
    return [one for one in found if not (is_drawn and one[0] == "title")]


def details_of(memory: Memory) -> list[tuple[str, str, Any]]:
    """Every other field that says something: its label, its name and its value."""
    found: list[tuple[str, str, Any]] = []
    for name, row in FIELDS.items():
        value = getattr(memory, name)
        says_more = name != "made_by" or value != memory.source_kind
        if name not in _TEXTS | _IN_HEADER and value not in (None, "", ()) and says_more:
            found.append(((row.label or name).replace("_", " "), name, value))
    return found


def show_edit(asked: PageRequest) -> Shown:
    memory = asked.memory.get(asked.in_path["id"], for_use=False)
    return editing(memory, asked)


def editing(
    memory: Memory, asked: PageRequest, *, error: str | None = None, status: int = 200, expected: int | None = None
) -> Shown:
    """The form with what stands, or with what was filled in before, to be sent against the `expected` version."""
    versions = {"expected_version": str(memory.version), "opened_version": str(memory.version)}
    values = {**values_of(memory), **versions}
    filled = {name: asked.form[name] for name in values if name in asked.form}
    if expected is not None:
        filled["expected_version"] = str(expected)
    beside = {
        "values": {**values, **filled},
        "error": error,
        "theirs": None,
        "theirs_lines": [],
        "types": tuple(MemoryType),
        "visibilities": [one for one in Visibility if one is not Visibility.ROLE or memory.visibility is one],
    }
    return Shown({"memory": memory}, beside, title=f"Edit {memory.title}", status=status)


def values_of(memory: Memory) -> dict[str, str]:
    """What stands in the fields of the form."""
    return {
        "content": memory.content,
        "title": memory.title,
        "tags": ", ".join(memory.tags),
        "type": memory.type,
        "path": memory.path,
        "project": memory.project_id or "",
        "category": memory.category or "",
        "visibility": memory.visibility,
        "confidence": str(memory.confidence),
    }


def show_purge(asked: PageRequest) -> Shown:
    """What a purge takes with it, named before anybody agrees."""
    memory = asked.memory.get(asked.in_path["id"], for_use=False)
    links = asked.memory.links(memory.id)
    facts = {
        "memory": memory,
        "versions": len(asked.memory.history(memory.id)),
        "links": len(links),
        "has_evidence": memory.evidence_ref is not None,
        "is_cascaded": any(one.memory_id == memory.id for one in asked.memory.cascades()),
    }
    return Shown(facts, {}, title=f"Purge {memory.title}")


def show_supersede(asked: PageRequest) -> Shown:
    memory = asked.memory.get(asked.in_path["id"], for_use=False)
    return Shown(
        {"memory": memory}, {"values": {"content": memory.content}, "error": None}, title=f"Replace {memory.title}"
    )


def show_receipt(asked: PageRequest) -> Shown:
    return Shown({"receipt": asked.memory.receipt(asked.in_path["id"])})


PAGES = (
    Page(address="/memory/{id}/edit", template="edit.html", show=show_edit, title="Edit"),
    Page(address="/memory/{id}/supersede", template="supersede.html", show=show_supersede, title="Replace"),
    Page(address="/memory/{id}/purge", template="purge.html", show=show_purge, title="Purge"),
    Page(address="/memory/{id}/receipt", template="receipt.html", show=show_receipt, title="Receipt of a purge"),
    Page(address="/memory/{id}", template="memory.html", show=show, title="Memory"),
)
