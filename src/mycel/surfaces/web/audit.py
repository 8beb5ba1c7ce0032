"""Audit: who changed what, newest first, with what stood before and after, and a button that takes it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mycel.access.rules import may_review
from mycel.domain.change import Change, Operation
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Status, Version
from mycel.errors import Conflict, InvalidInput, NotFound
from mycel.surfaces.web.filters import Chip, moment_of
from mycel.surfaces.web.memory_page import changes_of, permissions
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown, in_path
from mycel.surfaces.web.text_diff import Effort, Line

ROWS = 25
NAMES: Mapping[str, str] = {
    "agent": "by",
    "operation": "what",
    "memory_id": "memory",
    "since": "since",
    "until": "until",
}
# What can be done as an entry of the log; a removal is how a reader is told that something left its sight.
OPERATIONS = tuple(Operation)
# A moment before a change, what stood then can still be read.
BEFORE = timedelta(microseconds=1)
# What an older version gives back. Who may read it stays as it is: an undone edit must not open what was closed since.
REVERTED: Mapping[str, str] = {
    "content": "content",
    "title": "title",
    "summary": "summary",
    "type": "type",
    "path": "path",
    "tags": "tags",
    "status": "status",
    "category": "category",
    "confidence": "confidence",
    "rationale": "rationale",
    "alternatives": "alternatives",
    "valid_from": "valid_from",
    "valid_until": "valid_until",
    "project_id": "project",
    "repo_id": "repo",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One change. `memory` is None where the reader can no longer read it, as it was then or as it is."""

    change: Change
    memory: Memory | None
    before: Memory | None
    reason: str | None
    other: Memory | None
    # What a change linked, if it still does.
    link: Link | None
    # The name of the form that takes it back; None where nothing does, or the reader may not.
    revert: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    lines: list[Line]
    fields: list[tuple[str, Any, Any]]


def show(asked: PageRequest) -> Shown:
    given = {name: asked.one(name) for name in NAMES}
    found = asked.memory.audit(
        **{name: asked.one(name) for name in ("agent", "operation", "memory_id", "cursor")},
        since=moment_of(asked, "since"),
        until=moment_of(asked, "until"),
        limit=ROWS,
    )
    histories = Histories(asked)
    rows = [histories.row(change) for change in found]
    effort = Effort()
    beside = {
        "chips": [
            Chip(words, given[name] or "", asked.with_query(**{name: None}))
            for name, words in NAMES.items()
            if given[name]
        ],
        "given": given,
        "operations": OPERATIONS,
        "before": BEFORE,
        "standing": histories.standing(),
        "differences": {row.change.sequence: difference_of(row, effort) for row in rows},
    }
    return Shown({"changes": rows, "next_cursor": found.next_cursor}, beside)


class Histories:
    """The versions of the memories of one page, each asked for once."""

    def __init__(self, asked: PageRequest) -> None:
        self._asked = asked
        self._known: dict[str, list[Version]] = {}
        self._linked: dict[str, list[Link]] = {}

    def row(self, change: Change) -> Row:
        versions = self._versions(change.memory_id)
        at = next((number for number, one in enumerate(versions) if one.memory.version == change.version), None)
        if at is None:
            memory, before, reason = self._past(change), None, None
        else:
            memory, reason = versions[at].memory, versions[at].reason
            before = versions[at - 1].memory if at and change.operation is Operation.UPDATE else None
        other = self._other(change) if change.names_another else None
        revert = None if memory is None else self._revert(change, memory, versions)
        return Row(change, memory, before, reason, other, self.link_of(change), revert)

    def standing(self) -> dict[str, int]:
        """The version that each memory is at as this page is shown."""
        return {id: versions[-1].memory.version for id, versions in self._known.items() if versions}

    def _versions(self, id: str) -> list[Version]:
        if id not in self._known:
            try:
                self._known[id] = self._asked.memory.history(id)
            except NotFound:
                self._known[id] = []
        return self._known[id]

    def _past(self, change: Change) -> Memory | None:
        """Of what was deleted since: as it stood before; nothing of what was purged or hidden."""
        moment = change.committed_at
        if change.operation is Operation.DELETE:
            moment -= BEFORE
        try:
            return self._asked.memory.get(change.memory_id, as_of=moment)
        except NotFound:
            return None

    def _other(self, change: Change) -> Memory | None:
        try:
            return self._asked.memory.get(change.other_id or "", as_of=self._asked.now)
        except NotFound:
            return None

    def _revert(self, change: Change, memory: Memory, versions: list[Version]) -> str | None:
        may = permissions(self._asked.caller, memory)
        match change.operation:
            case Operation.UPDATE if may_review(self._asked.caller) and was_decided(change, versions):
                return "reopen"
            case Operation.UPDATE if versions and may["edit"]:
                return "revert"
            case Operation.LINK if may["edit"] and self.link_of(change) is not None:
                return "unlink"
            case Operation.DELETE if not versions and may["delete"]:
                return "restore"
            case Operation.CREATE | Operation.RESTORE if versions and may["delete"]:
                return "delete"
            case _:
                return None

    def link_of(self, change: Change) -> Link | None:
        """What a change linked, as long as it stands; the log does not say of which relation it was."""
        if change.operation is not Operation.LINK:
            return None
        pair = [one for one in self._links(change.memory_id) if one.to_id == change.other_id]
        of_then = [one for one in pair if one.created_at == change.committed_at]
        return of_then[0] if of_then else pair[0] if len(pair) == 1 else None

    def _links(self, id: str) -> list[Link]:
        if id not in self._linked:
            try:
                self._linked[id] = [one for one in self._asked.memory.links(id) if one.from_id == id]
            except NotFound:
                self._linked[id] = []
        return self._linked[id]


def was_decided(change: Change, versions: list[Version]) -> bool:
    """Whether it took the memory out of the inbox, and nothing has happened to the memory since."""
    if len(versions) < 2 or versions[-1].memory.version != change.version:
        return False
    return versions[-2].memory.status is Status.INBOX and versions[-1].memory.status is not Status.INBOX


def difference_of(row: Row, effort: Effort) -> Difference | None:
    if row.before is None or row.memory is None:
        return None
    at, by = row.change.committed_at, row.change.changed_by
    pair = [Version(row.before, at, at, by), Version(row.memory, at, None, by)]
    newest = changes_of(pair, effort=effort)[0]
    return Difference(newest.lines, newest.fields)


def revert(asked: PageRequest) -> SeeOther:
    """As it stood before one version, written as a new one; refused where it was changed since it was shown."""
    id, version = asked.in_path["id"], _whole(asked.in_path["version"], "version")
    versions = asked.memory.history(id)
    at = next((number for number, one in enumerate(versions) if one.memory.version == version), None)
    if not at:
        raise NotFound(f"no version before {version} of this memory")
    standing, undone, before = versions[-1].memory, versions[at].memory, versions[at - 1].memory
    if str(standing.version) != asked.form.get("expected_version"):
        raise Conflict("it was changed since this page was shown: read it again")
    fields: dict[str, Any] = {
        written: _given(getattr(before, name))
        for name, written in REVERTED.items()
        if getattr(before, name) != getattr(undone, name)
    }
    if fields.get("status") == Status.INBOX:
        raise InvalidInput(
            "a decision about a candidate is not taken back here: archive it, or edit it", field="status"
        )
    changed = asked.memory.update(
        id, expected_version=standing.version, reason=f"version {version} taken back", **fields
    )
    if changed.id != standing.id:
        return SeeOther(f"/memory/{in_path(changed.id)}", did="change_waits")
    did = "reverted" if changed.version != standing.version else "unchanged"
    return SeeOther(f"/memory/{in_path(id)}", did=did)


def unlink(asked: PageRequest) -> SeeOther:
    id = asked.in_path["id"]
    asked.memory.unlink(id, asked.form.get("to", ""), asked.form.get("relation", ""))
    return SeeOther(f"/memory/{in_path(id)}", did="unlinked")


def _given(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def _whole(text: str, field: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    raise InvalidInput("must be a whole number", field=field)


PAGES = (Page(address="/audit", template="audit.html", show=show, title="Audit of memories", label="Audit", key="a"),)
FORMS = (
    Form(address="/memory/{id}/versions/{version}/revert", act=revert),
    Form(address="/memory/{id}/unlink", act=unlink),
)
