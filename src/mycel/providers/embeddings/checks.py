"""What comes out of a model is checked before anybody relies on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from mycel.errors import Unavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mycel.contracts.embedder import Vectors


def unit_rows(rows: NDArray[Any], *, source: str) -> Vectors:
    """The rows with length one; `Unavailable` for rows that have no direction."""
    import numpy as np

    numbers = rows.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Unavailable(f"{source} gave a vector with numbers that are not finite")
    # Scaled first: the square of a number near the limits would be zero or infinite.
    largest = np.abs(numbers).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise Unavailable(f"{source} gave a vector of zeros")
    scaled = numbers / largest
    return (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)


def rows_of_answer(body: bytes, *, count: int, dimensions: int, source: str) -> Vectors:
    """The vectors of an answer to `POST /embeddings`, in the order of the texts; `Unavailable` says what is wrong."""
    import numpy as np

    try:
        rows = _rows_by_index(_entries(body), count=count, dimensions=dimensions)
        numbers = np.array(rows, dtype=np.float64).reshape(count, dimensions)
    except (ValueError, OverflowError, RecursionError) as error:
        raise Unavailable(f"{source} gave a wrong answer: {_problem(error)}") from None
    return unit_rows(numbers, source=source)


def _problem(error: Exception) -> str:
    """Of the parser's own errors only the family: their text can quote the answer."""
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)):
        return "it is not JSON"
    return "a number is too large" if isinstance(error, OverflowError) else str(error)


def _entries(body: bytes) -> list[object]:
    answer: object = json.loads(body)
    entries = cast(dict[str, object], answer).get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it has no list `data`")
    return cast(list[object], entries)


def _rows_by_index(entries: Sequence[object], *, count: int, dimensions: int) -> list[list[float]]:
    if len(entries) != count:
        raise ValueError(f"{len(entries)} vectors for {count} texts")
    rows: dict[int, list[float]] = {}
    for entry in entries:
        fields = cast(dict[str, object], entry) if isinstance(entry, dict) else {}
        index = fields.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            raise ValueError("a vector has no index")
        rows[index] = _numbers(fields.get("embedding"), dimensions=dimensions)
    if sorted(rows) != list(range(count)):
        raise ValueError("the indices are not those of the texts")
    return [rows[index] for index in range(count)]


def _numbers(value: object, *, dimensions: int) -> list[float]:
    row = cast(list[object], value) if isinstance(value, list) else []
    if len(row) != dimensions:
        raise ValueError(f"a vector has {len(row)} numbers instead of {dimensions}")
    if not set(map(type, row)) <= {int, float}:
        raise ValueError("a vector holds something that is not a number")
    return cast(list[float], row)
