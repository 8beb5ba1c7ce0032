"""Only the key that changes is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.errors import InvalidInput
from mycel.surfaces.vault.front_matter import changed_note, normal_body, read_note, with_body

ODD = (
    "\ufeff---\r\n# a comment\r\ntags:  [a, 'b c']  # mine\r\nown: {x: [1, 2]}\r\nalternatives:\r\n  - one\r\n"
    "  - two # second\r\n\r\n# between\r\ntext: |\r\n  # no comment\r\n  abc\r\n\r\nempty:\r\n"
    "date: 2026-01-05\r\nid: x\r\n---\r\n\r\nbody \r\n"
)


def test_reads_values_as_they_are_written() -> None:
    note = read_note(ODD)
    assert note.values == {
        "tags": ["a", "b c"],
        "alternatives": ["one", "two"],
        "text": "# no comment\nabc\n",
        "empty": None,
        "date": "2026-01-05",
        "id": "x",
    }
    assert note.text == ODD
    with pytest.raises(InvalidInput, match="own: must be a text or a list of texts"):
        note.value("own")


@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        ("tags", ["q"], "[a, 'b c']", "[q]"),
        ("id", "z", "id: x", "id: z"),
        ("empty", "no", "empty:", 'empty: "no"'),
        ("alternatives", ["x", "y: z"], "- one\r\n  - two", '- x\r\n  - "y: z"'),
        ("date", None, "date: 2026-01-05\r\n", ""),
        ("tags", None, "tags:  [a, 'b c']  # mine\r\n", ""),
        ("new", "1", "id: x\r\n", "id: x\r\nnew: 1\r\n"),
    ],
)
def test_changes_one_key_and_no_other_byte(name: str, value: str | list[str] | None, old: str, new: str) -> None:
    assert ODD.count(old) == 1
    assert changed_note(read_note(ODD), {name: value}) == ODD.replace(old, new)


def test_another_body_keeps_line_ends_and_blank_lines() -> None:
    assert with_body(ODD, "one\ntwo") == ODD.replace("body \r\n", "one\r\ntwo\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "---\nid: [\n---\nx",
        "---\nid: x\n",
        "---\n- a\n- b\n---\n",
        "---\n{id: x}\n---\n",
        "---\na: 1\na: 2\n---\n",
        "---\na: &x [1]\nb: *x\n---\n",
        "---\na: " + "[" * 2000 + "\n---\n",
        "---\na: " + "x" * 20_000 + "\n---\n",
        "---\njust words\n---\n",
        "---\n\tid: x\n---\n",
    ],
)
def test_refuses_what_it_could_not_give_back(text: str) -> None:
    with pytest.raises(InvalidInput, match="front matter"):
        read_note(text)


def test_says_where_front_matter_is_no_yaml() -> None:
    with pytest.raises(InvalidInput, match="near line 4"):
        read_note("\n---\na: 1\nb: c: d\n---\nx")


@pytest.mark.parametrize("lead", ["", "\ufeff", "\n", "\r\n\r\n", "\ufeff\n"])
def test_front_matter_is_never_put_before_front_matter(lead: str) -> None:
    text = f"{lead}---\nmine: 1\n---\nx\n"
    assert changed_note(read_note(text), {"id": "z"}) == f"{lead}---\nmine: 1\nid: z\n---\nx\n"


_KEYS = st.sampled_from(["id", "tags", "title", "mine", "links"])
_VALUES = st.one_of(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=10), min_size=1, max_size=4))


@given(st.dictionaries(_KEYS, _VALUES, min_size=1), st.dictionaries(_KEYS, _VALUES, min_size=1), st.text(max_size=40))
def test_whatever_is_written_is_read_again(
    first: dict[str, str | list[str]], then: dict[str, str | list[str]], body: str
) -> None:
    made = changed_note(read_note("x"), first)
    assert read_note(made).values == first
    changed = read_note(changed_note(read_note(made), then))
    assert changed.values == {**first, **then}
    filled = with_body(changed.text, normal_body(body))
    assert normal_body(read_note(filled).body) == normal_body(normal_body(body))
