"""Where a page of memories ended, as a text that names its order: it is no place in another one."""

from __future__ import annotations

import base64
import math
import re
import struct

from mycel.domain.query import Order, OrderField
from mycel.errors import InvalidInput, InvalidState

_LETTERS = {
    OrderField.CREATED_AT: "c",
    OrderField.UPDATED_AT: "u",
    OrderField.TITLE: "t",
    OrderField.PATH: "p",
    OrderField.CONFIDENCE: "s",
}
_TIMES = frozenset({OrderField.CREATED_AT, OrderField.UPDATED_AT})
# The order, the row, and the last value: a whole number, a fraction in its hexadecimal digits, or text in base64.
CURSOR = (
    r"[cu][ad]\.[0-9]{1,18}\.-?[0-9]{1,18}"
    r"|s[ad]\.[0-9]{1,18}\.[0-9a-f]{16}"
    r"|[tp][ad]\.[0-9]{1,18}\.(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?"
)
_CURSOR = re.compile(CURSOR)


def write_cursor(order: Order, last: float | str, number: int) -> str:
    return f"{_of(order)}.{number}.{_written(last, order.field)}"


def _written(last: float | str, field: OrderField) -> str:
    if isinstance(last, float) or field is OrderField.CONFIDENCE:
        return struct.pack(">d", float(last)).hex()
    return str(last) if isinstance(last, int) else base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")


def read_cursor(cursor: str, order: Order) -> tuple[float | str, int]:
    """The last value and its row."""
    if not _CURSOR.fullmatch(cursor):
        raise InvalidInput("is not from a page of this list", field="cursor")
    of, number, last = cursor.split(".")
    if of != _of(order):
        raise InvalidState("is from a page in another order", field="cursor")
    if order.field in _TIMES:
        return int(last), int(number)
    if order.field is OrderField.CONFIDENCE:
        return _fraction(last), int(number)
    padded = last + "=" * (-len(last) % 4)
    return base64.urlsafe_b64decode(padded).decode(errors="replace"), int(number)


def _fraction(last: str) -> float:
    """Whatever the digits say, it is a place between none and all."""
    (found,) = struct.unpack(">d", bytes.fromhex(last))
    return 0.0 if math.isnan(found) else min(max(found, 0.0), 1.0)


def _of(order: Order) -> str:
    return _LETTERS[order.field] + ("d" if order.descending else "a")
