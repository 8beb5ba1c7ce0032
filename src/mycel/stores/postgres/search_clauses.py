"""A question in SQL: what the reader sees, what the filters let through, and that without their reach."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.domain.query import Filters
from mycel.stores.sql.clauses import matching, visible

_ALIVE, _NEAR, _ALLOWED = 1, 2, 4


class SearchClauses(NamedTuple):
    """Conditions on rows `m` of memories or passages."""

    seen: str
    near: str
    allowed: str
    values: dict[str, Any]

    @property
    def has_reach(self) -> bool:
        return self.near != self.allowed

    @property
    def flags(self) -> str:
        """Whether a row is not deleted, within reach, and allowed, for `flags_in`."""
        return f"""int2send((
            CASE WHEN m.deleted_at IS NULL THEN {_ALIVE} ELSE 0 END
            + CASE WHEN {self.near} THEN {_NEAR} ELSE 0 END
            + CASE WHEN {self.allowed} THEN {_ALLOWED} ELSE 0 END)::int2)"""


def search_clauses(scope: ReadScope, filters: Filters) -> SearchClauses:
    seen, values = visible(scope)
    near, filter_values = matching(filters)
    allowed, _ = matching(filters.beyond_reach())
    return SearchClauses(seen, near, allowed, {**values, **filter_values})


def flags_in(column: bytes) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Not deleted, within reach, allowed: a flag for each row."""
    bits = np.frombuffer(column, ">i2")
    return (bits & _ALIVE) > 0, (bits & _NEAR) > 0, (bits & _ALLOWED) > 0
