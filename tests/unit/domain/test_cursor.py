"""Cursors: a place in one order, which is no place in another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.cursor import CURSOR, read_cursor, write_cursor
from mycel.domain.query import Order, OrderField
from mycel.errors import InvalidInput, InvalidState

ORDERS = [Order(field, descending) for field in OrderField for descending in (True, False)]
TIMES = {OrderField.CREATED_AT, OrderField.UPDATED_AT}
micros = st.integers(-(10**17), 10**17)
shares = st.floats(0, 1)
titles = st.text(st.characters(exclude_categories=["Cs"]))


@given(order=st.sampled_from(ORDERS), number=st.integers(0, 10**17), when=micros, title=titles, share=shares)
def test_a_cursor_is_read_as_it_was_written(order: Order, number: int, when: int, title: str, share: float) -> None:
    last = when if order.field in TIMES else share if order.field is OrderField.CONFIDENCE else title
    cursor = write_cursor(order, last, number)
    assert read_cursor(cursor, order) == (last, number)
    assert re.fullmatch(CURSOR, cursor)


def test_a_cursor_of_another_order_does_not_fit() -> None:
    cursor = write_cursor(Order(), 5, 1)
    for order in ORDERS[1:]:
        with pytest.raises(InvalidState) as refused:
            read_cursor(cursor, order)
        assert refused.value.field == "cursor"


@given(st.from_regex(CURSOR, fullmatch=True), st.sampled_from(ORDERS))
def test_whatever_has_its_form_is_a_place_or_does_not_fit(cursor: str, order: Order) -> None:
    try:
        last, number = read_cursor(cursor, order)
    except InvalidState:
        return
    assert isinstance(last, int) is (order.field in TIMES)
    assert number >= 0


@pytest.mark.parametrize("cursor", ["", "cd.1", "cd.1.x", "td.1.a", "cd.1.1\n", "cd.1.1.1", "xd.1.1", "cd.-1.1"])
def test_anything_else_is_wrong(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_cursor(cursor, Order())
    assert not isinstance(refused.value, InvalidState)
