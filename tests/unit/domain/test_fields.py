"""Every check returns the clean value, or names the field that is wrong."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.domain import fields
from mycel.domain.memory import MemoryType, Visibility
from mycel.errors import InvalidInput

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**300)
    | st.floats()
    | st.text()
    | st.characters(categories=["Cs"])
    | st.binary()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=10,
)
CHECKS: dict[str, Callable[[object], object]] = {
    "text": lambda value: fields.text(value, field="f", max_bytes=100),
    "filled_text": lambda value: fields.filled_text(value, field="f", max_bytes=100),
    "label": lambda value: fields.label(value, field="f"),
    "place": lambda value: fields.place(value, field="f"),
    "choice": lambda value: fields.choice(value, MemoryType, field="f"),
    "choices": lambda value: fields.choices(value, Visibility, field="f"),
    "tags": lambda value: fields.tags(value, field="f"),
    "path": lambda value: fields.path(value, field="f"),
    "fraction": lambda value: fields.fraction(value, field="f"),
    "whole": lambda value: fields.whole(value, field="f", least=0, most=9),
    "flag": lambda value: fields.flag(value, field="f"),
    "moment": lambda value: fields.moment(value, field="f"),
    "lifetime": lambda value: fields.lifetime(value, field="f"),
    "metadata": lambda value: fields.metadata(value, field="f"),
}


@pytest.mark.parametrize("check", CHECKS)
@given(value=ANYTHING)
def test_a_check_answers_anything_with_a_value_or_invalid_input(check: str, value: object) -> None:
    try:
        CHECKS[check](value)
    except InvalidInput as refused:
        field, message = refused.field, str(refused)
    else:
        return
    assert field == "f"
    assert message.encode()


@pytest.mark.parametrize("check", ["text", "label", "place", "path", "tags", "moment", "lifetime", "metadata"])
@given(value=ANYTHING)
def test_a_clean_value_stays_as_it_is_when_checked_again(check: str, value: object) -> None:
    try:
        clean = CHECKS[check](value)
    except InvalidInput:
        return
    assert CHECKS[check](clean) == clean


@given(name=st.text())
def test_a_place_makes_a_folder_that_is_a_valid_path(name: str) -> None:
    try:
        place = fields.place(name, field="f")
    except InvalidInput:
        return
    assert fields.path(f"/projects/{place}/facts") == f"/projects/{place}/facts"


@pytest.mark.parametrize(
    ("value", "clean"),
    [("/", "/"), ("//", "/"), ("/a", "/a"), ("/a/b///", "/a/b"), ("/日本/ü", "/日本/ü"), ("/a.b/..c", "/a.b/..c")],
)
def test_a_path_is_trimmed(value: str, clean: str) -> None:
    assert fields.path(value) == clean


@pytest.mark.parametrize(
    "value", ["", "a", "/a//b", "/a/./b", "/..", "/ a", "/a\n", "/a\\b", "/" + "x" * 513, "/a" * 17, "/a\x7f", None]
)
def test_a_path_that_could_mean_something_else_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        fields.path(value)


def test_tags_are_lower_case_and_unique_in_the_order_given() -> None:
    assert fields.tags(" B, a ,b,, A") == ("b", "a")
    assert fields.tags(["B", " a ", "b"]) == ("b", "a")
    assert fields.tags([]) == ()


@pytest.mark.parametrize(
    ("value", "span"),
    [
        ("7d", timedelta(days=7)),
        ("12h", timedelta(hours=12)),
        (" 2w ", timedelta(weeks=2)),
        ("90 s", timedelta(seconds=90)),
        (1.5, timedelta(seconds=1.5)),
        (timedelta(days=36_525), timedelta(days=36_525)),
    ],
)
def test_a_lifetime_is_read_from_text_number_and_timedelta(value: object, span: timedelta) -> None:
    assert fields.lifetime(value) == span


@pytest.mark.parametrize(
    "value", ["", "d", "-1d", "1y", "1.5d", 0, -1, math.nan, math.inf, True, timedelta(0), "9" * 9 + "w"]
)
def test_a_lifetime_out_of_bounds_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        fields.lifetime(value)


def test_a_moment_is_kept_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    expected = datetime(2026, 11, 15, 9, tzinfo=UTC)
    assert fields.moment(datetime(2026, 11, 15, 10, tzinfo=berlin), field="f") == expected
    for text in ("2026-11-15T09:00:00Z", "2026-11-15T10:00+01:00", "20261115T090000Z"):
        assert fields.moment(text, field="f") == expected


@pytest.mark.parametrize("value", ["2026-11-15", "noon", "0001-01-01T00:00:00+23:59", datetime(2026, 1, 1), 5, None])  # noqa: DTZ001
def test_a_moment_without_a_zone_or_a_date_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        fields.moment(value, field="f")


def test_text_is_measured_in_bytes() -> None:
    assert fields.text("ü" * 50, field="f", max_bytes=100) == "ü" * 50
    with pytest.raises(InvalidInput, match="101 bytes"):
        fields.text("ü" * 50 + "x", field="f", max_bytes=100)


def test_messages_hold_no_more_than_a_beginning_of_the_value() -> None:
    with pytest.raises(InvalidInput) as refused:
        fields.choice("secret" * 50, MemoryType, field="type")
    assert "secret" * 7 not in str(refused.value)


def test_a_choice_accepts_a_hyphen() -> None:
    assert fields.choice("thread-summary", MemoryType, field="f") is MemoryType.THREAD_SUMMARY
    assert fields.choices(["fact", "task-hint", "fact"], MemoryType, field="f") == ("fact", "task_hint")


def test_metadata_is_a_copy_nobody_can_change() -> None:
    given: dict[str, Any] = {"a": [1, {"b": 2}]}
    kept = fields.metadata(given)
    given["a"][1]["b"] = 3
    assert kept == {"a": [1, {"b": 2}]}
    with pytest.raises(TypeError):
        kept["a"] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    "value", [[], "x", {"a": {1, 2}}, {"a": math.nan}, {"a": 2**63}, {"a": -(2**63) - 1}, {"a": "\0"}, {"\ud800": 1}]
)
def test_metadata_that_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        fields.metadata(value)


def test_metadata_deeper_than_the_limit_is_refused_without_recursing() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(100_000):
        inner["x"] = {}
        inner = inner["x"]
    with pytest.raises(InvalidInput, match="nested"):
        fields.metadata(deep)


@pytest.mark.parametrize("name", ["naïve", "日本", "a b", "\U0001f469", "\ue000", "͸"])
def test_a_name_may_hold_whatever_can_be_seen(name: str) -> None:
    assert fields.label(name, field="title") == name


@pytest.mark.parametrize(
    "sign", ["\t", "\n", "\x1b", "\x85", "\xa0", "\u200b", "\u202e", "\u2028", "\u3000", "\ufeff", "\U000e0041"]
)
def test_a_name_holds_nothing_that_cannot_be_seen(sign: str) -> None:
    for check in (fields.label, fields.place):
        with pytest.raises(InvalidInput):
            check(f"a{sign}b", field="title")
    with pytest.raises(InvalidInput):
        fields.path(f"/a{sign}b")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_made_one_line(text: str) -> None:
    line = fields.one_line(text)
    assert fields.is_one_line(line)
    assert fields.one_line(line) == line


def test_more_tags_than_are_kept_are_refused_however_alike() -> None:
    assert fields.tags(["a"] * fields.MAX_TAGS) == ("a",)
    for many in (["a"] * (fields.MAX_TAGS + 1), ",".join(["a"] * (fields.MAX_TAGS + 1))):
        with pytest.raises(InvalidInput):
            fields.tags(many)


def test_the_shortest_lifetime_is_one() -> None:
    assert fields.lifetime(5e-324) == timedelta.resolution
