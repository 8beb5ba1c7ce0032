"""What a member takes out of an archive: it becomes that member's own, and waits where somebody else wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from mycel.access.scope import read_scope
from mycel.contracts.store import Transaction
from mycel.domain.archive import Header, MemoryRecord, Record, Taken
from mycel.domain.ids import MemoryId
from mycel.domain.link import PLACE_RELATIONS, Link
from mycel.domain.marks import without_marks
from mycel.domain.memory import FIELDS, MadeBy, Memory, SourceKind, SourceRef, Status
from mycel.domain.team import Caller, Trust
from mycel.errors import InvalidInput
from mycel.services.prepared import PreparedMemory
from mycel.services.write import Writing

_STANDING = {Status.ACTIVE, Status.INBOX}


@dataclass(frozen=True, slots=True)
class Adopting:
    """Reads records as new memories of the caller. Their ids follow from what they were: a second time finds them."""

    caller: Caller
    origin: Header
    writing: Writing
    now: datetime

    def prepare(self, record: Record) -> PreparedMemory | Link | Taken:
        """Outside the transaction: checks and analyses the text, or says why it is left out."""
        if isinstance(record, Link):
            return self._link(record)
        if not isinstance(record, MemoryRecord) or record.episode is not None or record.artifact is not None:
            return Taken.OPERATORS
        memory = record.present.memory
        if memory.status not in _STANDING or memory.deleted_at is not None or self._is_over(memory):
            return Taken.PAST
        try:
            return self._own(memory)
        except InvalidInput:
            return Taken.REFUSED

    def store(self, transaction: Transaction, prepared: PreparedMemory | Link, *, dry_run: bool) -> Taken:
        if isinstance(prepared, Link):
            return self._store_link(transaction, prepared, dry_run=dry_run)
        if transaction.memories.find_receipt(prepared.id) is not None:
            return Taken.PURGED
        scope = read_scope(self.caller)
        if transaction.memories.find(scope, prepared.id, deleted=True) is not None:
            return Taken.UNCHANGED
        memory = prepared.at(transaction)
        if memory.key is not None and transaction.memories.find_by_key(scope, memory) is not None:
            return Taken.KEY
        if not dry_run:
            transaction.memories.insert([(memory, prepared.words)], by=self.caller.member_id)
        return Taken.NEW

    def _own(self, memory: Memory) -> PreparedMemory:
        own = memory.agent_id == self.caller.member_id
        writer = self.caller if own else replace(self.caller, trust=Trust.LOW)
        new = self.writing.read_new(writer, memory.content, _said(memory))
        came_from = SourceRef(uri=f"mycel:{self.origin.team}/{memory.id}")
        made = {"source_kind": SourceKind.IMPORT, "made_by": MadeBy.IMPORT, "source_ref": came_from}
        return replace(new, id=self._id(memory.id), values={**new.values, **made})

    def _link(self, link: Link) -> Link | Taken:
        if link.to_place and link.relation not in PLACE_RELATIONS:
            return Taken.REFUSED
        to_id = link.to_id if link.to_place else self._id(link.to_id)
        return replace(link, from_id=self._id(link.from_id), to_id=to_id, created_by=self.caller.member_id)

    def _store_link(self, transaction: Transaction, link: Link, *, dry_run: bool) -> Taken:
        scope = read_scope(self.caller)
        origin = transaction.memories.find(scope, link.from_id)
        other = link.to_place or transaction.memories.find(scope, MemoryId(link.to_id)) is not None
        if origin is None or not other:
            return Taken.NEW if dry_run else Taken.END
        if any(known.to_id == link.to_id for known in transaction.links.of(scope, origin.id) if _same(known, link)):
            return Taken.UNCHANGED
        if not dry_run:
            transaction.links.add(replace(link, created_at=transaction.committed_at), origin=origin)
        return Taken.NEW

    def _id(self, id: str) -> MemoryId:
        """A UUID of version 8: the same for the same member, team and memory."""
        digits = sha256(f"{self.caller.team}\n{self.caller.member_id}\n{id}".encode()).hexdigest()
        return MemoryId(f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}")

    def _is_over(self, memory: Memory) -> bool:
        return memory.expires_at is not None and memory.expires_at <= self.now


def _same(known: Link, link: Link) -> bool:
    return known.from_id == link.from_id and known.relation == link.relation


def _said(memory: Memory) -> Mapping[str, Any]:
    """As if the caller had said it; what Mycel itself has marked is its own."""
    said = {
        row.request: getattr(memory, row.name)
        for row in FIELDS.values()
        if row.written and row.at_first and not row.as_argument
    }
    said = {name: None if value == () else value for name, value in said.items()}
    return {
        **said,
        "observed_at": memory.observed_at or memory.created_at,
        "metadata": without_marks(memory.metadata) or None,
    }
