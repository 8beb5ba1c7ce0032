"""Changing what belongs to the caller's own team, and a true word about what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mycel.access.scope import parent_scope
from mycel.contracts.store import Stores, Transaction
from mycel.domain.ids import MemoryId
from mycel.domain.team import Caller
from mycel.errors import AccessDenied, NotFound

ResultT = TypeVar("ResultT")


def change_own(stores: Stores, caller: Caller, id: MemoryId, work: Callable[[Transaction], ResultT]) -> ResultT:
    """Runs the work in the caller's team. A lead sees memories of the parent team too, but may not change them."""
    try:
        with stores.lease(caller.team) as store:
            return store.transact(work)
    except NotFound:
        above = parent_scope(caller)
        if above is not None:
            with stores.lease(above.team) as store:
                if store.find(above, id) is not None:
                    raise AccessDenied(f"this memory is for team {above.team} to change") from None
        raise
