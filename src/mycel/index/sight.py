"""Which readers of a team see the same: mostly all of them, and what is remembered of one then serves everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mycel.access.scope import ReadScope

MOST_READERS = 4_096


class Narrow(NamedTuple):
    """Who wrote what not the whole team sees, and whether roles see some of it."""

    authors: frozenset[str]
    has_roles: bool


class Sights:
    """Until something is written; then another one begins."""

    def __init__(self, narrow: Callable[[], Narrow]) -> None:
        self._find = narrow
        self._narrow: Narrow | None = None
        self._known: dict[ReadScope, ReadScope] = {}

    def of(self, scope: ReadScope) -> ReadScope:
        """Without what makes no difference to what this reader sees: never more than it sees."""
        known = self._known.get(scope)
        if known is None:
            if len(self._known) >= MOST_READERS:
                self._known.clear()
            known = self._known[scope] = self._reduced(scope)
        return known

    def _reduced(self, scope: ReadScope) -> ReadScope:
        if scope.everything:
            return scope
        if self._narrow is None:
            self._narrow = self._find()
        authors, has_roles = self._narrow
        return ReadScope(
            team=scope.team,
            member_id=scope.member_id if scope.member_id in authors else None,
            role=scope.role if has_roles else None,
            every_role=scope.every_role and has_roles,
        )
