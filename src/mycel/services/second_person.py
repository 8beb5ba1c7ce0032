"""What holds for every way by which a memory becomes active: who may decide that, and about which text."""

from __future__ import annotations

from operator import attrgetter

from mycel.access.rules import may_review, require_second_person
from mycel.access.scope import read_scope
from mycel.contracts.directory import Directory
from mycel.contracts.store import Transaction
from mycel.domain.ids import MemberId
from mycel.domain.marks import without_marks
from mycel.domain.memory import FIELDS, Memory, Status
from mycel.domain.memory_field import TEXTS
from mycel.domain.team import Caller, Kind
from mycel.errors import AccessDenied, InvalidState
from mycel.services.policies import Policies
from mycel.services.reversals import Reversals
from mycel.services.screening import warning_of

ACKNOWLEDGE_WARNING = "acknowledge_warning"


class SecondPerson:
    def __init__(self, directory: Directory, policies: Policies, reversals: Reversals) -> None:
        self._directory = directory
        self._policies = policies
        self.reversals = reversals

    def require(
        self, transaction: Transaction, caller: Caller, before: Memory, after: Memory, *, acknowledged: bool = False
    ) -> None:
        """Check every way by which a memory becomes active.

        Raise `AccessDenied` for whoever may not decide, also where that would take back what somebody of a higher rank
        has decided, and `InvalidState` where the warning was not `acknowledged`.
        """
        if before.status is Status.ACTIVE or after.status is not Status.ACTIVE:
            return
        self.reversals.require_return(transaction, caller, before, after)
        left = None
        if not may_review(caller):
            left = self._policies.of(caller.team).review_reason(after.type, after.rationale)
        if left is not None:
            raise AccessDenied(f"{left}; a person, a lead or an admin approves it")
        warning = warning_of(after)
        if warning is None:
            return
        writers = _writers(transaction, caller, before)
        if _text(before) != _text(after):
            writers.add(caller.member_id)
        require_second_person(caller, writers, has_another=lambda: self._has_another(caller))
        if not acknowledged:
            # What it says is not repeated.
            meaning = warning.partition(":")[0]
            raise InvalidState(
                f"{after.id} {meaning}; read it, and approve it by itself with this", field=ACKNOWLEDGE_WARNING
            )

    def _has_another(self, caller: Caller) -> bool:
        members = self._directory.list_members(caller.team)
        return any(member.kind is Kind.HUMAN and member.id != caller.member_id for member in members)


def _writers(transaction: Transaction, caller: Caller, memory: Memory) -> set[MemberId]:
    """Its author, and whoever put other words into it."""
    versions = transaction.memories.versions(read_scope(caller), memory.id)
    texts = [None, *(_text(version.memory) for version in versions)]
    changed = (version for version, earlier in zip(versions, texts, strict=False) if _text(version.memory) != earlier)
    return {memory.agent_id, *(version.changed_by for version in changed)}


def _text(memory: Memory) -> tuple[object, ...]:
    """What somebody wrote to be read; a name by which it is found is no message."""
    return (*_WORDS(memory), without_marks(memory.metadata))


_WORDS = attrgetter(*(row.name for row in FIELDS.values() if row.holds in TEXTS and not row.found_by))
