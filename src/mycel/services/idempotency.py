"""Harmless retries: the same caller, operation and key give the same answer once and for all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from mycel.access.scope import read_scope
from mycel.contracts.memory_store import Request
from mycel.contracts.store import Transaction
from mycel.domain import fields
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.memory import Memory
from mycel.domain.team import Caller
from mycel.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True)
class Retry:
    """One request that may have been made before; without a key it never was."""

    caller: Caller
    operation: str
    key: str | None
    request_hash: str

    @staticmethod
    def read(caller: Caller, operation: str, key: object, *request: object) -> Retry:
        """`request` is what was asked for, already checked: equal requests have equal texts."""
        if key is None:
            return Retry(caller, operation, None, "")
        # Hashed as well: a key made from what it stands for would outlive the memory it stored.
        name = _digest(fields.label(key, field="idempotency_key"))
        return Retry(caller, operation, name, _digest(json.dumps(request, sort_keys=True, default=_plain)))

    def earlier(self, transaction: Transaction, *, author: MemberId | None = None) -> Memory | None:
        """What the first such request stored, as it was then; `author` is whose it became, if not the caller's."""
        known = self._known(transaction)
        if known is None:
            return None
        if not known.request_hash:
            # It was purged, and its hash with it: a retry must not bring it back.
            raise NotFound(f"no memory {known.memory_id}")
        reader = self.caller if author is None else replace(self.caller, member_id=author)
        memory = transaction.memories.find_version(read_scope(reader), known.memory_id, known.version)
        if memory is None:
            raise NotFound(f"no memory {known.memory_id}")
        return memory

    def earlier_source(self, transaction: Transaction) -> SourceId | None:
        """Where the first such request put its material."""
        known = self._known(transaction)
        return None if known is None else SourceId(known.memory_id)

    def remember(self, transaction: Transaction, memory: Memory) -> None:
        self._remember(transaction, memory.id, memory.version)

    def remember_source(self, transaction: Transaction, id: SourceId) -> None:
        self._remember(transaction, MemoryId(id), 0)

    def _known(self, transaction: Transaction) -> Request | None:
        if self.key is None:
            return None
        known = transaction.requests.find(self.caller.member_id, self.operation, self.key)
        if known is not None and known.request_hash not in ("", self.request_hash):
            raise Conflict("this idempotency key was used for another request: choose a new one")
        return known

    def _remember(self, transaction: Transaction, id: MemoryId, version: int) -> None:
        if self.key is not None:
            transaction.requests.remember(
                Request(
                    member_id=self.caller.member_id,
                    operation=self.operation,
                    key=self.key,
                    request_hash=self.request_hash,
                    memory_id=id,
                    version=version,
                )
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    return dict(cast(Mapping[str, object], value)) if isinstance(value, Mapping) else str(value)
