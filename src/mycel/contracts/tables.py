"""All rows as they stand: what a workspace is moved to another database by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

Row = tuple[Any, ...]


class Table(NamedTuple):
    """Named and put in order as every database has it, whatever else one keeps beside."""

    name: str
    columns: tuple[str, ...]


Take = Callable[[Table, Sequence[Row]], None]


class Tables(Protocol):
    """Those of one team, or of the organisation, without what a database makes of them by itself."""

    def count(self) -> int:
        """How many rows there are in all."""
        ...

    def read(self, take: Take) -> None:
        """Gives every row to `take`, part by part and as of one moment; writers go on meanwhile.

        A row comes after those that it refers to. Whole numbers, floats, texts, bytes and None are all there is in it.
        """
        ...

    def replace(self, read: Callable[[Take], None]) -> None:
        """Stores what `read` gives in the place of what is there, all or nothing. It may ask for it again."""
        ...
