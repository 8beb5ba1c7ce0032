"""No text can freeze whoever reads it: every pattern and every reader takes time linear in the length of the text."""

from __future__ import annotations

import re

import pytest

from tests.hostile_text import COMMON_RUNS, WRONG_END, Hostile, anatomy_of, grows_too_fast, hostile_texts
from tests.patterns import MADE_BY_FUNCTIONS, Used, all_patterns, package_modules, uses_within_functions
from tests.text_readers import READERS, Reader, reading

LARGE = {"size": 32_768, "doublings": 2}
# Of the texts made for one reader, so many are tried each time, and all of them in the proof.
FEW = 24


def test_every_pattern_stands_where_it_is_found() -> None:
    places = {place for module in package_modules() for place in uses_within_functions(module)}
    assert places == set(MADE_BY_FUNCTIONS), "make patterns at module level, where the next test finds them"
    assert len(all_patterns()) > 200


@pytest.mark.timeout(600)
def test_every_pattern_takes_linear_time() -> None:
    slow = [found for used in all_patterns() for found in _slow(used, every=False)]
    assert slow == []


@pytest.mark.proof
@pytest.mark.timeout(1200)
def test_every_pattern_takes_linear_time_on_every_text() -> None:
    slow = [found for used in all_patterns() for found in _slow(used, every=True)]
    assert slow == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_linear_time(name: str) -> None:
    texts = _texts_for(READERS[name])
    some = [*(Hostile("", run, WRONG_END) for run in COMMON_RUNS), *texts[:: len(texts) // FEW + 1]]
    read = reading(READERS[name])
    assert [found for text in some if (found := grows_too_fast(read, text))] == []


@pytest.mark.proof
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_linear_time_on_every_text(name: str) -> None:
    read = reading(READERS[name])
    assert [found for text in _texts_for(READERS[name]) if (found := grows_too_fast(read, text, **LARGE))] == []


@pytest.mark.parametrize(
    ("name", "hostile"),
    [
        ("secrets", Hostile("Authorization: ", " ", "x")),
        ("messages", Hostile("<", " ", "x")),
        ("stored text in an envelope", Hostile("<", "\n", "x")),
        ("sentences", Hostile("", ".", "x")),
        ("claude code", Hostile("<command-name>", "<command-args>", "")),
    ],
)
def test_texts_that_once_took_minutes(name: str, hostile: Hostile) -> None:
    assert grows_too_fast(reading(READERS[name]), hostile) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"authorization:[ \t]*[a-z]{0,12}[ \t]*x",
        r"<(?=\s*/?\s*stored)",
        r"[.!?]++(?=\s)",
        r"<args>([^<]*(?:<(?!/args>)[^<]*)*)</args>",
        r"[^\s(]*$",
        r"(?:a|a)*b",
    ],
)
def test_a_slow_pattern_is_found(pattern: str) -> None:
    used = Used(re.compile(pattern), "example", at_one_place=False)
    texts = hostile_texts([anatomy_of(used.pattern)], every=False)
    # A busy machine can hide it once, not thrice.
    assert any(grows_too_fast(used.read, text, size=4_096) for _ in range(3) for text in texts)


def _texts_for(reader: Reader) -> list[Hostile]:
    patterns = [used.pattern for used in all_patterns() if used.place.startswith(reader.through or ("-",))]
    return hostile_texts(map(anatomy_of, patterns), every=False)


def _slow(used: Used, *, every: bool) -> list[str]:
    """At most one text, which says enough. A pattern without an endless repetition is linear by its build."""
    anatomy = anatomy_of(used.pattern)
    if not anatomy.repeats:
        return []
    for hostile in hostile_texts([anatomy], every=every):
        if found := grows_too_fast(used.read, hostile):
            return [f"{used}: {found}"]
    return []
