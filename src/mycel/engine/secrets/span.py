"""Where a secret stands in a text."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Where in a text a secret stands, and of what kind it is."""

    start: int
    end: int
    kind: str
