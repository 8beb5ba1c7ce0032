"""A JSON text is changed in one place and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.surfaces.agents.json_settings import JsonText, NotEditable

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(OBJECTS, INDENTS, VALUES, st.booleans())
def test_what_is_put_in_and_taken_out_leaves_every_byte_as_it_was(
    value: dict[str, Any], indent: Any, new: Any, crlf: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if crlf else text
    found = JsonText(text)
    found.set(["a new one", "inside"], new)
    assert json.loads(found.text) == {**value, "a new one": {"inside": new}}
    found.remove(["a new one", "inside"])
    found.remove(["a new one"])
    assert found.text == text


@given(OBJECTS, INDENTS, st.data())
def test_any_member_can_be_removed_or_replaced(value: dict[str, Any], indent: Any, data: st.DataObject) -> None:
    text = json.dumps({**value, "one": 1}, indent=indent)
    name = data.draw(st.sampled_from([*value, "one"]))
    found = JsonText(text)
    found.set([name], {"b": []})
    assert json.loads(found.text) == {**value, "one": 1, name: {"b": []}}
    found.remove([name])
    assert json.loads(found.text) == {key: one for key, one in {**value, "one": 1}.items() if key != name}


def test_forms_that_a_library_would_change_stay() -> None:
    text = '{\n   "price": 1.50,  "big": 1E5,\n   "list": [1,2,\n 3],\n   "\\u00e9": "\\u00e9"\n}'
    found = JsonText(text)
    found.append(["hooks", "Stop"], {"command": "x"})
    assert found.text.startswith(text[: text.rindex("\n}")])
    assert '\n   "hooks": {\n      "Stop": [' in found.text


def test_comments_and_trailing_commas_stay_where_an_agent_allows_them() -> None:
    text = '{\n  // "a": 0,\n  "a": "// no comment", // one\n  "b": [1, 2,], /* {x */\n}\n'
    found = JsonText(text, comments=True)
    found.set(["mcp", "mycel"], {"x": 1})
    assert all(line in found.text for line in text.splitlines()[:4])
    found.remove(["mcp", "mycel"])
    found.remove(["mcp"])
    assert found.text == text
    with pytest.raises(NotEditable, match="line 2"):
        JsonText(text)


@pytest.mark.parametrize("text", ["[]", "1", '{"a": }', '{"a": 1} x', '{"a": 1', "{'a': 1}"])
def test_what_is_no_object_of_json_is_refused(text: str) -> None:
    with pytest.raises(NotEditable):
        JsonText(text)


def test_an_object_is_not_put_where_something_else_stands() -> None:
    with pytest.raises(NotEditable, match="mcpServers"):
        JsonText('{"mcpServers": []}').set(["mcpServers", "mycel"], {})
    with pytest.raises(NotEditable, match=r"hooks\.Stop"):
        JsonText('{"hooks": {"Stop": {}}}').append(["hooks", "Stop"], {})


def test_the_last_of_two_members_with_one_name_is_the_one() -> None:
    found = JsonText('{"a": {"x": 1}, "a": {"y": 2}}')
    found.set(["a", "z"], 3)
    assert found.value == {"a": {"y": 2, "z": 3}}


def test_a_mark_of_byte_order_stays() -> None:
    found = JsonText("\ufeff{}")
    found.set(["a"], 1)
    assert found.text == '\ufeff{\n  "a": 1\n}'
