"""Where a page of memories ended, as a text that names its order: it is no place in another one."""

from __future__ import annotations

import base64
import re

from mycel.domain.query import Order, OrderField
from mycel.errors import InvalidInput, InvalidState

_LETTERS = {
    OrderField.CREATED_AT: "c",
    OrderField.UPDATED_AT: "u",
    OrderField.TITLE: "t",
    OrderField.PATH: "p",
}
_TIMES = frozenset({OrderField.CREATED_AT, OrderField.UPDATED_AT})
# The order, the row, and the last value: a number, or text in base64.
CURSOR = (
    r"[cu][ad]\.[0-9]{1,18}\.-?[0-9]{1,18}"
    r"|[tp][ad]\.[0-9]{1,18}\.(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?"
)
_CURSOR = re.compile(CURSOR)


def write_cursor(order: Order, last: int | str, number: int) -> str:
    place = last if isinstance(last, int) else base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")
    return f"{_of(order)}.{number}.{place}"


def read_cursor(cursor: str, order: Order) -> tuple[int | str, int]:
    """The last value and its row."""
    if not _CURSOR.fullmatch(cursor):
        raise InvalidInput("is not from a page of this list", field="cursor")
    of, number, last = cursor.split(".")
    if of != _of(order):
        raise InvalidState("is from a page in another order", field="cursor")
    if order.field in _TIMES:
        return int(last), int(number)
    padded = last + "=" * (-len(last) % 4)
    return base64.urlsafe_b64decode(padded).decode(errors="replace"), int(number)


def _of(order: Order) -> str:
    return _LETTERS[order.field] + ("d" if order.descending else "a")
