"""Filters, orders and page sizes come from the outside."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mycel.domain.memory import MemoryType, Status
from mycel.domain.query import Filters, Order, OrderField
from mycel.domain.request_filters import read_filters, read_limit, read_order
from mycel.errors import InvalidInput

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


def test_by_default_what_is_active_and_alive() -> None:
    assert read_filters({}, now=NOW) == Filters(statuses=(Status.ACTIVE,), alive_at=NOW)


def test_any_status_includes_the_expired() -> None:
    assert read_filters({"status": "any"}, now=NOW) == Filters(statuses=(), alive_at=None)


def test_what_no_longer_stands_is_asked_for_whether_its_time_is_up_or_not() -> None:
    for status in (Status.ARCHIVED, Status.SUPERSEDED, Status.CONTRADICTED):
        assert read_filters({"status": status.value}, now=NOW) == Filters(statuses=(status,))
    assert read_filters({"status": "inbox"}, now=NOW) == Filters(statuses=(Status.INBOX,), alive_at=NOW)
    assert read_filters({"status": "expired"}, now=NOW) == Filters(statuses=(), expired_at=NOW)


def test_reads_one_or_several() -> None:
    found = read_filters({"type": "fact", "status": ["inbox", "active"], "tags": "A,b", "project": None}, now=NOW)
    assert found.types == (MemoryType.FACT,)
    assert found.statuses == (Status.INBOX, Status.ACTIVE)
    assert found.tags == ("a", "b")


@pytest.mark.parametrize(
    ("text", "order"),
    [
        (None, Order(OrderField.CREATED_AT, descending=True)),
        ("title", Order(OrderField.TITLE, descending=False)),
        ("-updated_at", Order(OrderField.UPDATED_AT, descending=True)),
        ("path DESC", Order(OrderField.PATH, descending=True)),
        ("created_at asc", Order(OrderField.CREATED_AT, descending=False)),
    ],
)
def test_reads_an_order(text: str | None, order: Order) -> None:
    assert read_order(text) == order


@pytest.mark.parametrize("text", ["", "-", "content", "title up", "--title", "title desc, path", 5, ["title"]])
def test_refuses_an_order_it_does_not_know(text: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_order(text)
    assert refused.value.field == "order_by"


def test_a_page_has_a_size() -> None:
    assert read_limit(None) == 50
    assert read_limit(1000) == 1000
    for wrong in (0, 1001, "5", True, 1.0):
        with pytest.raises(InvalidInput):
            read_limit(wrong)
