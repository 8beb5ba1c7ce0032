"""What people decide in the inbox: one candidate, several, or all of one source; and how they take it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycel.domain.memory import Status
from mycel.errors import Conflict, InvalidInput
from mycel.surfaces.web.inbox import (
    MOST_AT_ONCE,
    MOST_UNDONE,
    ROWS,
    SNOOZES,
    address_of_item,
    item_page,
    repeats_of,
    where_in,
)
from mycel.surfaces.web.page import Form, PageRequest, SeeOther, Shown


def approve(asked: PageRequest) -> SeeOther | Shown:
    """Approve one; a candidate with a warning takes the second step that its page offers, and is shown it otherwise."""
    id, edits = asked.in_path["id"], _edits(asked)
    acknowledged = asked.form.get("acknowledge_warning") == "yes"
    if not acknowledged and edits is None and _warning_of(asked, id) is not None:
        error = "it has a warning: read it, and approve it by the button below the warning"
        return item_page(asked, id, error=error, status=409)
    return _decide(
        asked,
        lambda id, version: asked.memory.approve(
            id, edits=edits, expected_version=version, acknowledge_warning=acknowledged
        ),
        "approved",
    )


def reject(asked: PageRequest) -> SeeOther | Shown:
    reason = asked.filled("reason")
    return _decide(asked, lambda id, version: asked.memory.reject(id, reason, expected_version=version), "rejected")


def merge(asked: PageRequest) -> SeeOther | Shown:
    into, content = asked.form.get("into", ""), asked.form.get("content")
    return _decide(
        asked,
        lambda id, version: asked.memory.reviews.merge(id, into=into, content=content, expected_version=version),
        "merged",
    )


def keep(asked: PageRequest) -> SeeOther | Shown:
    """Of two that contradict each other, this one holds."""
    winner, loser = asked.form.get("winner", ""), asked.form.get("loser", "")
    return _decide(asked, lambda _id, _version: asked.memory.settle(winner, over=loser), "settled", taken_back=loser)


def snooze(asked: PageRequest) -> SeeOther | Shown:
    span = SNOOZES.get(asked.form.get("for", ""), SNOOZES["1d"])
    id = asked.in_path["id"]
    asked.memory.reviews.snooze(id, until=asked.now + span)
    return SeeOther(address_of_item(asked.filled("next"), {**where_in(asked), "slept": id}), did="snoozed")


def claim(asked: PageRequest) -> SeeOther:
    """Tell others who opened it. Opening a page changes nothing, so the page's script asks for this."""
    asked.memory.reviews.claim(asked.in_path["id"])
    return SeeOther(address_of_item(asked.in_path["id"], where_in(asked)))


def wake(asked: PageRequest) -> SeeOther:
    asked.memory.reviews.snooze(asked.in_path["id"], until=None)
    return SeeOther(address_of_item(asked.in_path["id"], where_in(asked)), did="woken")


def decide_several(asked: PageRequest) -> SeeOther:
    """Decide those that were ticked, or all of one source: all, or none on an error. What has a warning is skipped."""
    if asked.form.get("all"):
        found = asked.memory.inbox(limit=MOST_AT_ONCE, source=asked.form.get("source", ""))
        named = {str(item.memory.id): item.warning for item in found}
    else:
        named = {id: _warning_of(asked, id) for id in asked.form.get("id", "").split()}
    if not named:
        raise InvalidInput("tick at least one", field="id")
    is_rejected = asked.form.get("decision") == "reject"
    ids = [id for id, warning in named.items() if is_rejected or warning is None]
    if not ids:
        return SeeOther(address_of_item(None, where_in(asked)), did="all_warned")
    for id in ids[:ROWS]:
        for repeat in repeats_of(asked, asked.memory.reviews.get(id).memory) if not asked.form.get("all") else ():
            asked.memory.reviews.merge(repeat, into=id)
    if is_rejected:
        asked.memory.reject_many(ids, asked.filled("reason"))
        return _decided(asked, ids, "rejected")
    asked.memory.approve_many(ids)
    return _decided(asked, ids, "approved" if len(ids) == len(named) else "approved_but_warned")


def reopen(asked: PageRequest) -> SeeOther:
    """Takes back what was decided last, and leads to it."""
    ids = asked.form.get("id", "").split()[:MOST_UNDONE]
    for id in ids:
        asked.memory.reviews.reopen(id)
    only = ids[0] if len(ids) == 1 and asked.memory.get(ids[0], as_of=None, for_use=False).status == "inbox" else None
    return SeeOther(address_of_item(only, where_in(asked)), did="reopened")


def _decide(
    asked: PageRequest, decide: Callable[[str, int], object], did: str, *, taken_back: str | None = None
) -> SeeOther | Shown:
    """On to the next one; where the text is another by now, or it is decided, that is shown instead."""
    id = asked.in_path["id"]
    try:
        version = int(asked.form.get("expected_version", ""))
    except ValueError:
        raise InvalidInput("must be a whole number", field="expected_version") from None
    try:
        decide(id, _gathered(asked, id, version))
    except Conflict as conflict:
        return item_page(asked, id, error=str(conflict), status=409)
    except InvalidInput as error:
        return item_page(asked, id, error=str(error), status=422)
    return _decided(asked, [taken_back or id], did)


def _gathered(asked: PageRequest, id: str, version: int) -> int:
    """The same text is decided once: what repeats it gives way to it first. Answers the version that stands then."""
    memory = asked.memory.reviews.get(id).memory
    if memory.version != version or memory.status is not Status.INBOX:
        return version
    for repeat in repeats_of(asked, memory):
        version = asked.memory.reviews.merge(repeat, into=id).version
    return version


def _decided(asked: PageRequest, ids: Sequence[str], did: str) -> SeeOther:
    last = list(ids) if len(ids) <= MOST_UNDONE else None
    return SeeOther(address_of_item(asked.filled("next"), {**where_in(asked), "last": last}), did=did)


def _edits(asked: PageRequest) -> dict[str, str] | None:
    content = asked.form.get("content")
    return None if content is None else {"content": content}


def _warning_of(asked: PageRequest, id: str) -> str | None:
    """Return what its text asks of its reader; None for what waits no longer, which is told when it is decided."""
    try:
        return asked.memory.reviews.get(id).warning
    except Conflict:
        return None


FORMS = (
    Form(address="/inbox/decide", act=decide_several),
    Form(address="/inbox/reopen", act=reopen),
    Form(address="/inbox/{id}/approve", act=approve, template="inbox.html"),
    Form(address="/inbox/{id}/reject", act=reject, template="inbox.html"),
    Form(address="/inbox/{id}/merge", act=merge, template="inbox.html"),
    Form(address="/inbox/{id}/keep", act=keep, template="inbox.html"),
    Form(address="/inbox/{id}/snooze", act=snooze, template="inbox.html"),
    Form(address="/inbox/{id}/wake", act=wake),
    Form(address="/inbox/{id}/claim", act=claim),
)
