"""JSON read element by element: the same as reading it whole, within bounds, whatever it holds."""

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.engine.imports import json_stream
from mycel.engine.imports.json_stream import Cut, elements, json_lines

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


class Slow(io.BytesIO):
    """Gives a few bytes at a time, so that everything is cut somewhere."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(7)


@given(st.lists(VALUES, max_size=6))
def test_the_elements_of_a_list_are_those_of_the_whole(values: list[Any]) -> None:
    for text in (json.dumps(values), json.dumps(values, ensure_ascii=False, indent=2)):
        raw = text.encode("utf-8", "surrogatepass")
        assert [one.value for one in elements(Slow(raw))] == [json_stream.storable(one) for one in values]


@given(st.dictionaries(st.text("abc", min_size=1), st.lists(VALUES, max_size=3) | PLAIN, max_size=4))
def test_lists_in_an_object_are_taken_apart_and_other_members_are_whole(whole: dict[str, Any]) -> None:
    wanted = [
        (name, json_stream.storable(inner))
        for name, one in whole.items()
        for inner in (one if isinstance(one, list) else [one])
    ]
    assert [(one.name, one.value) for one in elements(Slow(json.dumps(whole).encode()))] == wanted


def test_a_bad_element_costs_only_itself() -> None:
    found = list(elements(io.BytesIO(b'[{"a": 1}, {"b": tru}, {"c": 3}]')))
    assert [one.problem for one in found] == [None, "is not valid JSON", None]
    assert found[2].value == {"c": 3}


def test_an_element_nested_too_deep_costs_only_itself() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    found = list(elements(io.BytesIO(b"[1, " + deep + b", 2]")))
    assert [one.value for one in found if one.problem is None] == [1, 2]
    assert "nested" in str(found[1].problem)


def test_an_element_that_is_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_BYTES", 1000)
    monkeypatch.setattr(json_stream, "_CHUNK", 64)
    large = [json.dumps("x" * 5000 + '\\" [{'), json.dumps([1] * 3000), json.dumps({"a": "y" * 5000})]
    found = list(elements(io.BytesIO(f"[1, {', '.join(large)}, 2]".encode())))
    assert [one.value for one in found] == [1, None, None, None, 2]


@pytest.mark.parametrize("many", [b"1,", b'"a",', b"[],", b"{},", b",", b":", b"[", b"[]", b'"a":[1]', b'"a":[1],'])
@pytest.mark.parametrize("before", [b'["%s",', b'{"a":["%s"],', b'{"a":"%s"', b'{"%s":x', b'{"a":[1]"%s"'])
def test_many_small_parts_after_a_large_one_are_copied_a_few_times(
    before: bytes, many: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied for each element of a file takes the square of its length."""
    copied = 0
    drop, part = json_stream._Buffer.drop, json_stream._Splitter._text

    def counted_drop(self: json_stream._Buffer, upto: int) -> None:
        nonlocal copied
        copied += len(self.text) - upto
        drop(self, upto)

    def counted_part(self: json_stream._Splitter, end: int) -> bytes:
        nonlocal copied
        found = part(self, end)
        copied += len(found)
        return found

    monkeypatch.setattr(json_stream._Buffer, "drop", counted_drop)
    monkeypatch.setattr(json_stream._Splitter, "_text", counted_part)
    whole = before.replace(b"%s", b"a" * 100_000) + many * 25_000
    with suppress(Cut):
        for _ in elements(io.BytesIO(whole)):
            pass
    assert copied < 8 * len(whole)


def test_a_text_that_is_cut_gives_what_was_whole_and_says_so() -> None:
    read = elements(io.BytesIO(b'[{"a": 1}, {"b": "unfin'))
    assert next(read).value == {"a": 1}
    with pytest.raises(Cut):
        next(read)


def test_a_line_that_is_too_long_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_BYTES", 100)
    found = list(json_lines(io.BytesIO(b'{"a": 1}\n"' + b"x" * 500 + b'"\n{"b": 2}')))
    assert [one.value for one in found] == [{"a": 1}, None, {"b": 2}]


def test_halves_of_characters_and_nul_are_replaced() -> None:
    (one,) = elements(io.BytesIO(b'["a\\u0000b\\ud800c"]'))
    assert one.value == "a\ufffdb\ufffdc"


def test_records_that_are_no_shallow_objects_come_in_their_order_among_those_that_are() -> None:
    texts = ['{"a": "x}]\\"{,", "b": [1, {}]}', '{"a": {"b": {"c": 1}}}', '{"a": [1, "]"]}', '"}"', "[{}]", "{}", "3"]
    for start in range(len(texts)):
        turned = texts[start:] + texts[:start]
        found = list(elements(io.BytesIO(f"[{' ,'.join(turned)}]".encode())))
        assert [one.value for one in found] == [json.loads(text) for text in turned]
        assert [one.number for one in found] == list(range(1, len(texts) + 1))
