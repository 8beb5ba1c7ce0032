"""The inbox: one candidate at a time with its evidence and what stands near it, or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from mycel.access.rules import may_decide, may_review
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.ids import parse_id
from mycel.domain.inbox import Claim, InboxItem
from mycel.domain.link import Relation
from mycel.domain.marks import REJECTED
from mycel.domain.memory import Memory, Status, Visibility
from mycel.domain.source import Turn
from mycel.domain.team import Role
from mycel.errors import Conflict, InvalidInput, MycelError, NotFound
from mycel.surfaces.web.filters import Chip
from mycel.surfaces.web.page import Page, PageRequest, Shown, address_of, in_path
from mycel.surfaces.web.text_diff import Effort, Line, diff_lines

ROWS = 50
# In one turn; the rest of a large source follows by the same button.
MOST_AT_ONCE = 500
MOST_NEAR = 4
# How many pages of what was archived are looked through for what was rejected.
REJECTED_PAGES = 5
# So many are taken back by one key; an address has no room for more.
MOST_UNDONE = 40
FILTERS = {"project": "project", "type": "type", "agent": "by", "source": "source"}
SNOOZES = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7)}
_STANDING = (Status.ACTIVE, Status.INBOX)


@dataclass(frozen=True, slots=True)
class Near:
    """A memory beside the candidate: why it is shown, what differs, and what may be done about the two."""

    memory: Memory
    relation: str
    why: str
    lines: Sequence[Line]
    may_merge: bool
    may_settle: bool


class Said(NamedTuple):
    """Who said it, and when, where the source knows."""

    turn: Turn | None
    title: str | None


def filters_in(asked: PageRequest) -> dict[str, Any]:
    return {name: value for name in FILTERS if (value := asked.one(name))}


def where_in(asked: PageRequest) -> dict[str, Any]:
    """The filters and the page of the list, which every address of a candidate keeps."""
    return {**filters_in(asked), "cursor": asked.one("cursor")}


def chips_in(asked: PageRequest) -> list[Chip]:
    found = filters_in(asked)
    others = {name: address_of("/inbox", {n: v for n, v in found.items() if n != name}) for name in found}
    return [Chip(FILTERS[name], value, others[name]) for name, value in found.items()]


def show(asked: PageRequest) -> Shown:
    rows = asked.memory.inbox(limit=ROWS, cursor=asked.one("cursor"), **filters_in(asked))
    groups = grouped(rows)
    facts = {"rows": [group[0] for group in groups], "next_cursor": rows.next_cursor}
    beside = {"view": "waiting", "item": None, "times": times_of(groups), **around(asked), "query": where_in(asked)}
    return Shown(facts, beside)


def show_snoozed(asked: PageRequest) -> Shown:
    rows = asked.memory.inbox(limit=ROWS, cursor=asked.one("cursor"), snoozed=True, **filters_in(asked))
    groups = grouped(rows)
    facts = {"rows": [group[0] for group in groups], "next_cursor": rows.next_cursor}
    return Shown(facts, {"view": "snoozed", "item": None, "times": times_of(groups), **around(asked)})


def show_rejected(asked: PageRequest) -> Shown:
    """What somebody said no to, with who and why; its text stays."""
    found: list[Memory] = []
    cursor = asked.one("cursor")
    for _ in range(REJECTED_PAGES):
        page = asked.memory.list(status="archived", order_by="-updated_at", limit=ROWS, cursor=cursor)
        found += [memory for memory in page if REJECTED in memory.metadata]
        cursor = page.next_cursor
        if cursor is None or len(found) >= ROWS:
            break
    decided = [{"memory": memory, "version": asked.memory.history(memory.id)[-1]} for memory in found]
    return Shown({"rejected": decided, "next_cursor": cursor}, {"view": "rejected", **around(asked)})


def show_item(asked: PageRequest) -> Shown:
    return item_page(asked, asked.in_path["id"])


def item_page(asked: PageRequest, id: str, *, error: str | None = None, status: int = 200) -> Shown:
    """Show the candidate beside the list that it is in; the page's script tells others who looks at it (`claim`)."""
    rows = asked.memory.inbox(limit=ROWS, cursor=asked.one("cursor"), **filters_in(asked))
    groups = grouped(rows)
    shown = [group[0] for group in groups]
    facts: dict[str, object] = {"rows": shown, "next_cursor": rows.next_cursor}
    beside: dict[str, object] = {"view": "waiting", "error": error, **around(asked), **steps(shown, id)}
    beside |= {"times": times_of(groups), "query": where_in(asked)}
    try:
        item = asked.memory.reviews.get(id)
    except Conflict:
        return decided_page(asked, id, facts, beside, status=status)
    near = near_of(asked, item)
    facts |= {"item": item, "near": [one.memory for one in near]}
    beside |= {
        "neighbours": near,
        "claim": claim_of(asked, item),
        "said": said_of(asked.memory, item),
        "editing": asked.one("edit") is not None,
        "is_second_step": item.warning is not None and asked.one("despite") is not None,
        "into": next((one for one in near if one.memory.id == asked.one("into")), None),
        "changed": changed_since(asked, item.memory),
        "snoozes": SNOOZES,
        "values": {"content": asked.form.get("content", item.memory.content)},
        "may_decide": may_decide(asked.caller, item.memory),
    }
    return Shown(facts, beside, title=f"Review {item.memory.title}", status=status)


def decided_page(
    asked: PageRequest, id: str, facts: dict[str, object], beside: dict[str, object], *, status: int
) -> Shown:
    """Somebody was faster: what was decided, by whom and why."""
    last = asked.memory.history(id)[-1]
    facts |= {"item": None, "decided": last.memory}
    beside |= {"version": last}
    return Shown(facts, beside, title=f"Review {last.memory.title}", status=status)


def around(asked: PageRequest) -> dict[str, object]:
    last = undoable(asked)
    return {
        "chips": chips_in(asked),
        "query": filters_in(asked),
        "last": last,
        "may_review": may_review(asked.caller) or asked.caller.role is Role.ORCHESTRATOR,
        "undo_form": {"address": "/inbox/reopen", "ids": last} if last else _waking(asked),
        "source": asked.one("source"),
    }


def _waking(asked: PageRequest) -> dict[str, object] | None:
    """Takes back what was put off just before."""
    try:
        slept = parse_id(asked.one("slept"))
    except InvalidInput:
        return None
    return {"address": f"/inbox/{in_path(slept)}/wake", "ids": []}


def undoable(asked: PageRequest) -> list[str]:
    """What the form before has decided, named in the address."""
    try:
        return [str(parse_id(one)) for one in asked.every("last")[:MOST_UNDONE]]
    except InvalidInput:
        return []


def grouped(rows: Iterable[InboxItem]) -> list[list[InboxItem]]:
    """The same text for the same readers in the same place waits once, however often it was said; the oldest stands for
    all."""
    found: dict[object, list[InboxItem]] = {}
    for item in rows:
        found.setdefault(_same(item.memory), []).insert(0, item)
    return list(found.values())


def times_of(groups: Iterable[Sequence[InboxItem]]) -> dict[str, int]:
    return {str(group[0].memory.id): len(group) for group in groups}


def repeats_of(asked: PageRequest, memory: Memory) -> list[str]:
    """What else waits with the same words, among the newest and what stands near it."""
    rows = [item.memory for item in asked.memory.inbox(limit=ROWS, project=memory.project_id)]
    near = [_read(asked, one.id) for one in memory.similar]
    known = [one for one in (*rows, *near) if one is not None and one.status is Status.INBOX]
    return list(dict.fromkeys(str(one.id) for one in known if one.id != memory.id and _same(one) == _same(memory)))


def _same(memory: Memory) -> object:
    owner = memory.agent_id if memory.visibility is Visibility.PRIVATE else None
    place = (memory.project_id, memory.repo_id, memory.scope, memory.visibility, memory.allowed_roles, owner)
    # What waits for a value of a key is decided value by value.
    return memory.id if memory.key is not None else (memory.content, memory.type, *place)


def steps(rows: Iterable[InboxItem], id: str) -> dict[str, object]:
    """The ones before and after in the list; after the last one comes the first."""
    ids = [str(item.memory.id) for item in rows]
    if id not in ids:
        return {"before": None, "after": ids[0] if ids else None, "place": None}
    at = ids.index(id)
    others = [*ids[at + 1 :], *ids[:at]]
    return {"before": ids[at - 1] if at else None, "after": others[0] if others else None, "place": at + 1}


def claim_of(asked: PageRequest, item: InboxItem) -> Claim | None:
    """Return who else looks at it; None where it is the reader's own claim, or nobody's."""
    return None if item.claim is None or item.claim.member_id == asked.caller.member_id else item.claim


def said_of(memory: MemoryApi, item: InboxItem) -> Said | None:
    at = item.memory.evidence_ref
    if at is None:
        return None
    try:
        source = memory.sources.get(at.source_id)
    except NotFound:
        return None
    return Said(next((turn for turn in source.turns if turn.start <= at.start < turn.end), None), source.title)


def changed_since(asked: PageRequest, memory: Memory) -> Sequence[Line]:
    """From the version that the reader had before it, to the one that stands."""
    try:
        read = int(asked.form.get("expected_version", ""))
    except ValueError:
        return []
    if read == memory.version:
        return []
    versions = {version.memory.version: version.memory for version in asked.memory.history(memory.id)}
    return diff_lines(versions[read].content, memory.content) if read in versions else []


def near_of(asked: PageRequest, item: InboxItem) -> list[Near]:
    """What it is linked with first, then what says nearly the same or the contrary."""
    found: dict[str, tuple[str, str]] = {}
    for link in item.links:
        if not link.to_place:
            other = link.to_id if link.from_id == item.memory.id else link.from_id
            words = link.relation.replace("_", " ")
            found.setdefault(str(other), (words if link.from_id == item.memory.id else f"{words} this", ""))
    for one in item.memory.similar:
        found.setdefault(str(one.id), ("says nearly the same", one.why))
    shown: list[Near] = []
    effort = Effort()
    for id, (relation, why) in found.items():
        if len(shown) < MOST_NEAR and (other := _read(asked, id)) is not None:
            shown.append(_near(item, other, relation, why, effort))
    return shown


def _near(item: InboxItem, other: Memory, relation: str, why: str, effort: Effort) -> Near:
    memory = item.memory
    against = any(
        link.relation is Relation.CONTRADICTS and other.id in (link.from_id, link.to_id) for link in item.links
    )
    return Near(
        other,
        relation,
        why,
        diff_lines(other.content, memory.content, effort),
        may_merge=memory.status is Status.INBOX and other.status in _STANDING and other.visibility == memory.visibility,
        may_settle=against and other.status in _STANDING,
    )


def _read(asked: PageRequest, id: str) -> Memory | None:
    """As of this moment, which counts as no use of it."""
    try:
        return asked.memory.get(id, as_of=asked.now)
    except MycelError:
        return None


def address_of_item(id: str | None, query: dict[str, Any]) -> str:
    """Where nothing follows on its page of the list, the first one says what still waits."""
    return address_of(f"/inbox/{in_path(id)}", query) if id else address_of("/inbox", {**query, "cursor": None})


PAGES = (
    Page(address="/inbox", template="inbox.html", show=show, title="Inbox", label="Inbox", key="i"),
    Page(address="/inbox/snoozed", template="inbox.html", show=show_snoozed, title="Inbox: put off"),
    Page(
        address="/inbox/rejected",
        template="inbox_rejected.html",
        show=show_rejected,
        title="Inbox: rejected",
    ),
    Page(address="/inbox/{id}", template="inbox.html", show=show_item, title="Review"),
)
