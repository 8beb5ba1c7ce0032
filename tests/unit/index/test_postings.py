"""Searching by terms in arrays is searching every memory one by one, however the rows came in."""

from __future__ import annotations

import random
from collections import Counter
from math import isclose

import numpy as np
import pytest

from mycel.index import postings as module
from mycel.index.postings import Postings
from mycel.retrieval.bm25 import damping_of, rarity_of, term_score
from mycel.retrieval.terms import PER_ONE, pack, packed_number, term_number

WORDS = [f"w{number}" for number in range(40)]
Texts = dict[int, list[str]]


def texts(seed: int, *, count: int = 300) -> Texts:
    """Some words stand nearly everywhere, some nearly nowhere."""
    chance = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return {
        number: chance.choices(WORDS, weights, k=chance.randint(1, 30))
        for number in chance.sample(range(5 * count), count)
    }


def filled(known: Texts, *, seed: int, block: int) -> Postings:
    """Written in blocks, with old versions of some and with some that are removed again."""
    chance = random.Random(seed)
    made = Postings()
    numbers = list(known)
    for at in chance.sample(numbers, len(numbers) // 3):
        made.replace([(at, packed(["old", "w0", "w1"]))])
    gone = [number for number in range(10, 2_000, 97) if number not in known]
    made.replace((number, packed(["w0", "gone"])) for number in gone)
    for first in range(0, len(numbers), block):
        made.replace((number, packed(known[number])) for number in numbers[first : first + block])
    for number in gone:
        made.remove(number)
    return made


def packed(words: list[str]) -> bytes:
    counts = Counter(map(packed_number, words))
    return pack({number: PER_ONE * count for number, count in counts.items()}, len(words))


def numbers_of(terms: list[str]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([term_number(term) for term in terms], np.uint64)


def allowed_of(known: Texts, seed: int, *, share: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    chance = np.random.default_rng(seed)
    return chance.random(max(known) + 50) < share


def expected(known: Texts, terms: list[str], allowed: np.ndarray, usual: float) -> dict[int, float]:
    seen = {number: words for number, words in known.items() if allowed[number]}
    rarities = {term: rarity_of(sum(term in words for words in seen.values()), len(seen)) for term in terms}
    return {
        number: score
        for number, words in seen.items()
        if (
            score := sum(
                term_score(rarities[term], words.count(term), damping=damping_of(len(words), usual))
                for term in terms
                if term in words
            )
        )
    }


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("finding", [0, 200, 10**9])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.02])
def test_finds_what_reading_every_memory_finds(
    monkeypatch: pytest.MonkeyPatch, block: int, finding: int, share: float
) -> None:
    monkeypatch.setattr(module, "FINDING_POSTINGS", finding)
    known = texts(block)
    index, chance = filled(known, seed=block, block=block), random.Random(block)
    for turn in range(12):
        allowed = allowed_of(known, turn, share=share)
        seen = [number for number in known if allowed[number]]
        documents, usual = index.extent(allowed)
        assert documents == len(seen)
        assert isclose(usual, sum(len(known[number]) for number in seen) / max(len(seen), 1), rel_tol=1e-5) or not seen
        terms = chance.sample([*WORDS, "old", "gone", "absent"], 5)
        counts = dict(zip(terms, index.containing(numbers_of(terms), allowed), strict=True))
        assert counts == {term: sum(term in known[number] for number in seen) for term in terms}
        terms.sort(key=lambda term: counts[term])
        rarities = np.array([rarity_of(counts[term], documents) for term in terms], np.float32)
        containing, usual = [counts[term] for term in terms], max(usual, 1.0)
        found, scores = index.search(
            numbers_of(terms), rarities, containing=containing, allowed=allowed, usual_length=usual, limit=10_000
        )
        wanted = expected(known, terms, allowed, usual)
        assert set(found.tolist()) == set(wanted)
        assert all(
            isclose(score, wanted[number], rel_tol=1e-4)
            for number, score in zip(found.tolist(), scores.tolist(), strict=True)
        )
        few, best = index.search(
            numbers_of(terms), rarities, containing=containing, allowed=allowed, usual_length=usual, limit=7
        )
        if finding:
            assert (few.tolist(), best.tolist()) == (found[:7].tolist(), scores[:7].tolist())
        holding = index.holding(numbers_of(terms), found)
        assert holding.tolist() == [[term in known[number] for term in terms] for number in found.tolist()]


@pytest.mark.parametrize("steps", [0, 8, 10**9])
def test_leaving_out_what_falls_behind_changes_neither_rows_nor_scores(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(module, "FINDING_POSTINGS", 200)
    monkeypatch.setattr(module, "SEARCH_STEPS", steps)
    known = texts(3, count=600)
    index, chance = filled(known, seed=3, block=50), random.Random(3)
    for turn in range(20):
        allowed = allowed_of(known, turn, share=0.8)
        documents, usual = index.extent(allowed)
        terms = chance.sample(WORDS, 25)
        counts = dict(zip(terms, index.containing(numbers_of(terms), allowed), strict=True))
        terms.sort(key=lambda term: counts[term])
        rarities = np.array([rarity_of(counts[term], documents) for term in terms], np.float32)
        found: list[tuple[list[int], list[float]]] = []
        for together in (1, 4, 10**9):
            monkeypatch.setattr(module, "SCORED_TOGETHER", together)
            rows, scores = index.search(
                numbers_of(terms),
                rarities,
                containing=[counts[term] for term in terms],
                allowed=allowed,
                usual_length=usual,
                limit=7,
            )
            found.append((rows.tolist(), scores.tolist()))
        assert len(found[0][0]) == 7
        assert found[0] == found[1] == found[2]


def test_of_equals_the_newer_comes_first() -> None:
    index = Postings()
    index.replace((number, packed(["heron", "lake"])) for number in range(1, 400))
    allowed = np.ones(1_000, np.bool_)
    found, scores = index.search(
        numbers_of(["heron"]), np.array([0.5], np.float32), containing=[399], allowed=allowed, usual_length=2.0, limit=5
    )
    assert found.tolist() == [399, 398, 397, 396, 395]
    assert len(set(scores.tolist())) == 1


def test_only_the_present_text_of_a_memory_counts() -> None:
    index = Postings()
    index.replace([(3, packed(["heron"])), (4, packed(["heron"]))])
    index.replace([(3, packed(["stork"]))])
    index.remove(4)
    allowed = np.ones(10, np.bool_)
    assert index.containing(numbers_of(["heron", "stork"]), allowed) == [0, 1]
    assert index.with_all(numbers_of(["stork"]), allowed).tolist() == [3]
    assert index.with_all(numbers_of(["stork", "heron"]), allowed).tolist() == []


@pytest.mark.parametrize("beyond", [4, 50_000])
def test_what_has_no_terms_holds_none(beyond: int) -> None:
    index = Postings()
    index.replace((number, packed(["heron"])) for number in (3, 1_023))
    numbers = np.array([3, 1_023, beyond])
    holding = index.holding(numbers_of(["heron", "stork"]), numbers)
    assert holding.tolist() == [[True, False], [True, False], [False, False]]


def test_what_was_kept_finds_the_same() -> None:
    known = texts(5)
    index = filled(known, seed=5, block=11)
    again = Postings.restored(index.arrays())
    allowed = allowed_of(known, 5, share=0.7)
    terms = numbers_of(WORDS[:6])
    rarities = np.linspace(3, 1, 6, dtype=np.float32)
    found = [
        one.search(terms, rarities, containing=[9] * 6, allowed=allowed, usual_length=9.0, limit=50)
        for one in (index, again)
    ]
    for kept, read in zip(*found, strict=True):
        assert kept.tolist() == read.tolist()
    again.replace([(7, packed(["heron"]))])
    assert again.containing(numbers_of(["heron"]), np.ones(2_000, np.bool_)) == [1]


def test_segments_stay_few_however_small_the_writes() -> None:
    index = Postings()
    for number in range(1, 3_000):
        index.replace([(number, packed([f"a{number % 7}", f"b{number % 501}", f"c{number}"]))])
    assert len(index._state.segments) < 12
    assert index.containing(numbers_of(["a1"]), np.ones(4_000, np.bool_)) == [sum(n % 7 == 1 for n in range(1, 3_000))]
