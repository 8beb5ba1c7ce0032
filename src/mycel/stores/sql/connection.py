"""What the parts of a store need of a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

Values = Sequence[Any] | Mapping[str, Any]


class Cursor(Protocol):
    """The rows of one statement."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A database that is asked in SQL; a value's mark is `?`, or `:name` for a mapping of values."""

    def execute(self, sql: str, values: Values = ..., /) -> Cursor: ...
    def executemany(self, sql: str, rows: Sequence[Values], /) -> object: ...
