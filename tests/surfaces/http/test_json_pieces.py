"""Decoding piece by piece gives what the decoder of the standard library gives at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mycel.surfaces.http.bodies import PieceDecoder

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=20,
)

# A machine with other work draws values slowly.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def decode(text: str, *, depth: int = 100) -> Any:
    return PieceDecoder(parse_float=float, parse_constant=float, depth=depth).decode(text)


@patient
@given(VALUES, some.sampled_from([None, 0, 2, "\t"]), some.booleans())
def test_reads_what_was_written(value: object, indent: Any, is_ascii: bool) -> None:
    assert decode(json.dumps(value, indent=indent, ensure_ascii=is_ascii)) == value


@patient
@given(VALUES, some.data())
def test_refuses_what_the_standard_library_refuses(value: object, data: some.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(some.integers(0, len(text)))
    broken = text[:at] + data.draw(some.sampled_from(["", ",", "]", "}", '"', "x", ":", " "])) + text[at + 1 :]
    assert _outcome(decode, broken) == _outcome(json.loads, broken)


@pytest.mark.parametrize(
    "text", ["", " ", "[", "{", '{"a"', '{"a":', '{"a":1,', "[1,", "[1,]", '{"a":1,}', "{1:2}", "[1 2]"]
)
def test_says_where_it_ends_too_early(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        decode(text)


def test_what_is_nested_too_deep_is_not_read() -> None:
    assert decode('{"a": [1]}', depth=2) == {"a": [1]}
    with pytest.raises(RecursionError):
        decode('{"a": [[]]}', depth=2)


def test_the_last_of_two_equal_names_counts() -> None:
    assert decode('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


def _outcome(read: Any, text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return "refused"
