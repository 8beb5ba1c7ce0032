"""The other half of the audit: changes of what is no memory, each taken back by the operation that undoes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mycel.domain.activity import AuditEntry
from mycel.errors import NotFound
from mycel.surfaces.web.filters import Chip
from mycel.surfaces.web.memory_page import title_of
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown

HERE = "/audit/actions"
ROWS = 50
# A row is looked for again when somebody takes it back; further back it is done by hand.
LOOKED_AT = 200
WORDS: Mapping[str, str] = {
    "rate": "rated",
    "set_policy": "changed the policy of",
    "projects.register": "registered project",
    "repos.register": "registered repo",
    "views.save": "saved view",
    "views.delete": "deleted view",
    "reviews.snooze": "put off",
    "unlink": "took a link away from",
    "add_team": "added team",
    "arrange": "arranged",
    "add_member": "added member",
    "update_member": "changed member",
    "remove_member": "removed member",
    "new_token": "issued a token to",
    "revoke_token": "revoked a token of",
    "reset_store": "reset the store of",
    "maintain": "ran the maintenance of",
    "scrub": "scrubbed the files of",
}


def _unrate(asked: PageRequest, action: AuditEntry) -> None:
    asked.memory.rate(action.subject, useful=bool(action.before["useful"]))


def _unset(asked: PageRequest, action: AuditEntry) -> None:
    asked.memory.set_policy(**action.before)


def _readmit(asked: PageRequest, action: AuditEntry) -> None:
    asked.workspace.add_member(action.subject, **action.before)


def _change_back(asked: PageRequest, action: AuditEntry) -> None:
    kept = {name: value for name, value in action.before.items() if name != "kind"}
    asked.workspace.update_member(action.subject, **kept)


def _dismiss(asked: PageRequest, action: AuditEntry) -> None:
    asked.workspace.remove_member(action.subject)


def _revoke(asked: PageRequest, action: AuditEntry) -> None:
    asked.workspace.revoke_token(str(action.after["token_id"]))


def _view_back(asked: PageRequest, action: AuditEntry) -> None:
    """As it was before, or gone where it was not there."""
    if not action.before:
        asked.memory.views.delete(action.subject)
        return
    filters: dict[str, Any] = dict(action.before.get("filters") or {})
    asked.memory.views.save(action.subject, query=action.before.get("query"), **filters)


def _wake(asked: PageRequest, action: AuditEntry) -> None:
    asked.memory.reviews.snooze(action.subject, until=None)


_BACK: Mapping[str, Callable[[PageRequest, AuditEntry], None]] = {
    "rate": _unrate,
    "set_policy": _unset,
    "add_member": _dismiss,
    "update_member": _change_back,
    "remove_member": _readmit,
    "new_token": _revoke,
    "views.save": _view_back,
    "views.delete": _view_back,
    "reviews.snooze": _wake,
}
# These need to know how it was before.
_BY_BEFORE = frozenset({"rate", "set_policy", "update_member", "remove_member", "views.delete"})
# Their subject is a memory.
_OF_MEMORIES = frozenset({"rate", "reviews.snooze", "unlink"})
# Of these each has its own alone.
_OWN = frozenset({"rate", "views.save", "views.delete", "reviews.snooze"})


def can_revert(asked: PageRequest, action: AuditEntry) -> bool:
    if action.operation in _OWN and action.by != asked.caller.member_id:
        return False
    if action.before and not differing(action):
        return False
    return action.operation in _BACK and (bool(action.before) or action.operation not in _BY_BEFORE)


def show(asked: PageRequest) -> Shown:
    by = asked.one("agent")
    found = asked.memory.activity.actions(agent=by, limit=ROWS, cursor=asked.one("cursor"))
    rows: list[dict[str, Any]] = [
        {"action": one, "revert": can_revert(asked, one), "fields": fields_of(one)} for one in found
    ]
    chips = [Chip("by", by, asked.with_query(agent=None))] if by else []
    beside = {"chips": chips, "words": WORDS, "by": by, "titles": _titles(asked, found)}
    return Shown({"actions": rows, "next_cursor": found.next_cursor}, beside)


def _titles(asked: PageRequest, actions: Iterable[AuditEntry]) -> dict[str, str | None]:
    """Of the memories among what was acted on; None of one that the reader does not see."""
    return {id: title_of(asked, id) for id in {one.subject for one in actions if one.operation in _OF_MEMORIES}}


def differing(action: AuditEntry) -> list[str]:
    """The names of what is not as it was."""
    names = dict.fromkeys([*action.before, *action.after])
    return [name for name in names if name not in action.before or action.before[name] != action.after.get(name)]


def fields_of(action: AuditEntry) -> list[str]:
    """What a row tells: what differs. The id of a token says nothing to people; `.json` has it."""
    return [name for name in differing(action) or action.after if name != "token_id"]


def revert(asked: PageRequest) -> SeeOther:
    id = asked.form.get("action", "")
    for action in asked.memory.activity.actions(limit=LOOKED_AT):
        if action.id == id and can_revert(asked, action):
            _BACK[action.operation](asked, action)
            return SeeOther(HERE, did="action_reverted")
    raise NotFound("no such change, or none that can be taken back from here")


PAGES = (Page(address=HERE, template="actions.html", show=show, title="Audit of people, tokens and policy"),)
FORMS = (Form(address=f"{HERE}/revert", act=revert),)
