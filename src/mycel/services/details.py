"""What an ordinary edit must leave alone in a memory that has a row of details."""

from __future__ import annotations

from mycel.contracts.store import Transaction
from mycel.domain.draft import Draft
from mycel.domain.memory import Memory, MemoryType
from mycel.errors import InvalidState

# The row points into the content; a key would let the next value take the memory's place.
_BOUND = ("content", "type", "key")


def require_free_of_details(transaction: Transaction, before: Memory, draft: Draft) -> None:
    values = draft.values
    changed = [name for name in _BOUND if name in values and values[name] != getattr(before, name)]
    if changed and transaction.has_detail(before.id):
        again = "log another one" if before.type is MemoryType.EPISODE else "register it again"
        raise InvalidState(f"of an {before.type} stays as it was written down: {again}", field=changed[0])
