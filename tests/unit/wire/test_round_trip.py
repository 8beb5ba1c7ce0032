"""Whatever the API answers comes back from the wire as it was."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.artifact import Artifact, ArtifactDetail, compose
from mycel.domain.change import Change
from mycel.domain.episode import Action, Episode, EpisodeDetail, episode_text
from mycel.domain.memory import Memory
from mycel.domain.policy import Policy, changed_policy
from mycel.domain.query import Folder, Page, Tree
from mycel.errors import Unavailable
from mycel.wire.operations import OPERATIONS
from mycel.wire.reading import read
from mycel.wire.shapes import RENAMED, plain, to_json

ANSWERS = sorted(
    {operation.answers for operation in OPERATIONS if operation.shows is None} | {Change, ExportReport, MoveReport},
    key=str,
)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
wholes = st.integers(-(2**63), 2**63 - 1)
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), wholes, numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: wholes,
    float: numbers,
    bool: st.booleans(),
    datetime: moments,
    Any: json_values,
    object: json_values,
    type(None): st.none(),
}


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Anything of a type that an answer can hold."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in MADE:
        return MADE[kind]()
    if isinstance(kind, NewType):
        return values(kind.__supertype__)
    if get_origin(kind) is not None:
        return _of_generic(get_origin(kind), get_args(kind))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{one.name: values(hints[one.name]) for one in fields(kind) if one.init})
    assert issubclass(kind, Enum), kind
    return st.sampled_from(kind)


def _of_generic(origin: Any, parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin in {Union, types.UnionType}:
        return st.one_of(*(values(part) for part in parts))
    if origin is Page:
        return st.lists(values(parts[0]), max_size=2).map(Page)
    if issubclass(origin, Mapping):
        return st.dictionaries(values(parts[0]), values(parts[1]), max_size=3)
    assert issubclass(origin, Sequence), origin
    found = st.lists(values(parts[0]), max_size=2)
    return found if origin is list else found.map(tuple)


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    """Its texts stand in the content of its memory."""
    action, approach = draw(st.sampled_from(Action)), draw(texts.filter(bool))
    text = episode_text(approach, action, draw(st.none() | texts))
    memory = Memory(**{**vars(draw(values(Memory))), "title": text.title, "content": text.content})
    counts = {name: draw(st.none() | wholes) for name in ("duration_ms", "tokens_in", "tokens_out")}
    places = {"approach_end": text.approach_end, "outcome_start": text.outcome_start}
    return Episode(memory, EpisodeDetail(agent_id=draw(texts), action=action, **places, **counts))


@st.composite
def artifacts(draw: st.DrawFn) -> Artifact:
    path = draw(texts)
    parts = compose(path, description=draw(st.none() | texts), text=draw(st.none() | texts))
    memory = Memory(**{**vars(draw(values(Memory))), "content": parts.content})
    detail = draw(values(ArtifactDetail))
    given = {one.name: getattr(detail, one.name) for one in fields(ArtifactDetail)}
    given |= {"path": path, "description_end": parts.description_end, "text_start": parts.text_start}
    return Artifact(memory, ArtifactDetail(**given))


def policies() -> st.SearchStrategy[Policy]:
    spans = st.sampled_from(["7d", "never", "3h", 86_400])
    parts = st.fixed_dictionaries(
        {},
        optional={
            "least_trust": st.sampled_from(["low", "normal", "high"]),
            "promote_from": st.floats(0, 1),
            "inbox_kept": spans,
            "episodes_kept": spans,
            "purge_after": spans,
            "review": st.sampled_from(["all", "none", ["fact", "lesson"]]),
            "secrets": st.sampled_from(["mask", "refuse"]),
            "lives": st.dictionaries(st.sampled_from(["session_summary", "file_index"]), spans),
        },
    )
    return parts.map(lambda given: changed_policy(Policy(), given))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    items = Page(draw(st.lists(values(Memory), max_size=2)), draw(st.none() | texts))
    return Tree(draw(texts), items, tuple(draw(st.lists(values(Folder), max_size=2))))


MADE: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    Episode: episodes,
    Artifact: artifacts,
    Policy: policies,
    Tree: trees,
}


@pytest.mark.parametrize("kind", ANSWERS, ids=str)
def test_what_is_sent_is_read_as_it_was(kind: Any) -> None:
    @settings(max_examples=25, deadline=None)
    @given(value=values(kind))
    def holds(value: object) -> None:
        sent = to_json(value)
        back = read(kind, json.loads(sent))
        assert to_json(back) == sent
        if not isinstance(value, Page | Tree):
            assert back == value
            assert type(back) is type(value)

    holds()


@pytest.mark.parametrize("kind", [kind for kind in ANSWERS if is_dataclass(kind) and kind is not Policy], ids=str)
def test_what_a_newer_service_adds_is_skipped_and_what_it_lacks_is_said(kind: Any) -> None:
    @settings(max_examples=3, deadline=None)
    @given(value=values(kind))
    def holds(value: object) -> None:
        sent = json.loads(to_json(value))
        assert to_json(read(kind, {**sent, "of_a_newer_version": [1]})) == to_json(value)
        for other in (None, [], "x", 1):
            with pytest.raises(Unavailable):
                read(kind, other)

    holds()


@given(value=values(Memory), asked=st.sampled_from(["content", "id", "created_at", "version", "status"]))
@settings(max_examples=25, deadline=None)
def test_a_value_of_another_type_is_not_taken(value: Memory, asked: str) -> None:
    sent = json.loads(to_json(value))
    for wrong in ([], {"a": 1}):
        with pytest.raises(Unavailable):
            read(Memory, {**sent, asked: wrong})


def test_every_renamed_field_is_one() -> None:
    for kind, names in RENAMED.items():
        assert names.keys() <= {one.name for one in fields(kind)}  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j])
def test_what_has_no_shape_is_an_error_of_ours(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)
