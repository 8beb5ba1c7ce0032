import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mycel.errors import Unavailable
from mycel.index import scan, vectors
from mycel.index.passage_rows import PassageRows
from mycel.index.sign_bits import HISTOGRAM_SAMPLE, smallest
from mycel.index.vectors import VectorRows, checked, quantised

DIMENSIONS = 24


def random_vectors(count: int, *, dimensions: int = DIMENSIONS, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


def leaning_clusters(count: int, *, dimensions: int = 384, seed: int = 1) -> NDArray[np.float32]:
    """As real embeddings: all lean one way (cosines around 0.8), in clusters around topics."""
    chance = np.random.default_rng(seed)
    topics = chance.normal(size=(200, dimensions))
    scattered = topics[chance.integers(0, 200, count)] + chance.normal(size=(count, dimensions))
    return (scattered / np.sqrt(2) + 2 * chance.normal(size=dimensions)).astype(np.float32)


def everything(numbers: int = 5_000) -> NDArray[np.bool_]:
    return np.ones(numbers, np.bool_)


def filled(matrix: NDArray[np.float32]) -> VectorRows:
    rows = VectorRows(matrix.shape[1])
    rows.replace((number, [vector]) for number, vector in enumerate(quantised(matrix)))
    return rows


def expected_nearest(
    stored: dict[int, Sequence[bytes]], query: NDArray[np.float32], *, allowed: NDArray[np.bool_], limit: int
) -> list[tuple[int, float]]:
    """Every passage of every memory, one after the other."""
    scores: dict[int, float] = {}
    for number, passages in stored.items():
        for passage in passages:
            vector = np.frombuffer(passage, np.int8).astype(np.float64)
            cosine = float(vector @ query / np.linalg.norm(vector) / np.linalg.norm(query))
            scores[number] = max(scores.get(number, -2.0), cosine)
    found = [(number, score) for number, score in scores.items() if number < len(allowed) and allowed[number]]
    # Cosines within rounding of each other count as equal.
    return sorted(found, key=lambda pair: (round(pair[1], 5), pair[0]), reverse=True)[:limit]


def assert_finds(
    rows: VectorRows, stored: dict[int, Sequence[bytes]], *, query: NDArray[np.float32], allowed: NDArray[np.bool_]
) -> None:
    for limit in (1, 3, 100):
        wanted = expected_nearest(stored, query, allowed=allowed, limit=limit)
        numbers, cosines = rows.nearest(query, allowed=allowed, limit=limit)
        assert cosines.tolist() == pytest.approx([score for _, score in wanted], abs=1e-5)
        assert len(set(numbers.tolist())) == len(numbers)
        assert all(allowed[number] for number in numbers.tolist())


def test_a_vector_becomes_bytes_that_keep_its_direction() -> None:
    matrix = random_vectors(20)
    for vector, stored in zip(matrix, quantised(matrix), strict=True):
        restored = np.frombuffer(stored, np.int8).astype(np.float32)
        assert abs(restored).max() == 127
        assert vector @ restored / np.linalg.norm(vector) / np.linalg.norm(restored) > 0.9995


def test_no_vectors_become_no_bytes() -> None:
    assert quantised(np.zeros((0, DIMENSIONS), np.float32)) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda rows: rows[:1], r"shape \(1, 24\), expected \(2, 24\)"),
        (lambda rows: rows[:, :5], r"shape \(2, 5\)"),
        (lambda rows: rows[0], r"shape \(24,\)"),
        (lambda rows: np.where(np.arange(24) == 3, np.nan, rows), "not finite"),
        (lambda rows: np.where(np.arange(24) == 3, np.inf, rows), "not finite"),
        (lambda rows: rows * [[1.0], [0.0]], "zeros"),
    ],
)
def test_says_what_is_wrong_with_vectors(change: object, complaint: str) -> None:
    with pytest.raises(Unavailable, match=complaint):
        checked(change(random_vectors(2)), count=2, dimensions=DIMENSIONS)  # type: ignore[operator]


def test_sound_vectors_pass_the_check_as_short_floats() -> None:
    assert checked(random_vectors(2).astype(np.float64), count=2, dimensions=DIMENSIONS).dtype == np.float32


passages_of_a_memory = st.lists(st.integers(0, 30), max_size=4)
steps = st.lists(st.tuples(st.integers(0, 12), passages_of_a_memory), max_size=40)


@settings(max_examples=60, deadline=None)
@given(steps, st.integers(0, 2**16), st.booleans())
def test_after_any_writes_finds_what_reading_everything_would(
    written: list[tuple[int, list[int]]], seed: int, two_passes: bool
) -> None:
    pool = quantised(random_vectors(31))
    rows = VectorRows(DIMENSIONS, passages=PassageRows.empty(DIMENSIONS, capacity=1))
    stored: dict[int, Sequence[bytes]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "LEAST_CAPACITY", 2)
        if two_passes:
            patch.setattr(scan, "EXACT_ROWS", 4)
        for number, chosen in written:
            stored[number * 400] = [pool[place] for place in chosen]
            rows.put(number * 400, passages=stored[number * 400])
        allowed = np.random.default_rng(seed).random(4_500) < 0.7
        assert_finds(rows, stored, query=random_vectors(1, seed=seed)[0], allowed=allowed)
    kept = {number: passages for number, passages in stored.items() if passages}
    assert rows.memories == len(kept)
    assert rows.count == sum(map(len, kept.values()))
    assert rows.passages.dead <= max(2, rows.passages.count / 3)


def test_bulk_loading_equals_putting_one_by_one() -> None:
    matrix = quantised(random_vectors(50))
    numbers = np.array([7, 3, 7, 9, 3] * 10)
    bulk, single = VectorRows(DIMENSIONS), VectorRows(DIMENSIONS)
    bulk.put(3, passages=matrix[:1])
    bulk.extend(numbers, matrix=np.frombuffer(b"".join(matrix), np.int8).reshape(50, DIMENSIONS))
    for number in (3, 7, 9):
        single.put(number, passages=[row for row, owner in zip(matrix, numbers, strict=True) if owner == number])
    query = random_vectors(1, seed=5)[0]
    for made in (bulk.nearest, single.nearest):
        assert made(query, allowed=everything(), limit=5)[0].tolist() == [
            number for number, _ in expected_nearest(
                {n: [r for r, o in zip(matrix, numbers, strict=True) if o == n] for n in (3, 7, 9)},
                query, allowed=everything(), limit=5,
            )
        ]  # fmt: skip


def test_of_equally_near_memories_the_newest_comes_first() -> None:
    vector = quantised(random_vectors(1))
    rows = VectorRows(DIMENSIONS)
    for number in (5, 900, 3, 44):
        rows.put(number, passages=vector)
    assert rows.nearest(random_vectors(1, seed=3)[0], allowed=everything(), limit=3)[0].tolist() == [900, 44, 5]


def test_finds_nothing_in_nothing() -> None:
    rows = VectorRows(DIMENSIONS)
    query = random_vectors(1)[0]
    assert rows.nearest(query, allowed=everything(0), limit=5)[0].tolist() == []
    rows.put(1, passages=quantised(random_vectors(1)))
    assert rows.nearest(query, allowed=np.zeros(5, np.bool_), limit=5)[0].tolist() == []
    assert rows.nearest(query, allowed=everything(), limit=0)[0].tolist() == []


def test_memories_newer_than_the_mask_are_not_found() -> None:
    rows = filled(random_vectors(10))
    assert set(rows.nearest(random_vectors(1)[0], allowed=everything(4), limit=100)[0].tolist()) == {0, 1, 2, 3}


def test_similarities_are_those_of_the_best_passages() -> None:
    matrix = random_vectors(6)
    stored = quantised(matrix)
    rows = VectorRows(DIMENSIONS)
    rows.put(2, passages=stored[:3])
    rows.put(4, passages=stored[3:])
    similar = rows.similarities(matrix[1], numbers=[4, 77, 2, -1, 9_999])
    assert np.isnan(similar).tolist() == [False, True, False, True, True]
    assert similar[2] == pytest.approx(1, abs=1e-3)
    assert similar[0] < 0.9
    assert rows.similarities(matrix[1], numbers=[]).tolist() == []


def test_a_search_and_similarities_agree_to_the_last_bit() -> None:
    rows = filled(leaning_clusters(3_000))
    query = leaning_clusters(1, seed=9)[0]
    numbers, cosines = rows.nearest(query, allowed=everything(), limit=50)
    assert rows.similarities(query, numbers=numbers).tolist() == cosines.tolist()


@pytest.mark.parametrize("share", [1.0, 0.6, 0.2])
def test_two_passes_find_nearly_what_one_finds(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = leaning_clusters(12_000)
    monkeypatch.setattr(scan, "EXACT_ROWS", 1_000)
    monkeypatch.setattr(scan, "LEAST_FINALISTS", 200)
    rows = filled(matrix)
    assert rows.passages.signs is not None
    allowed = np.random.default_rng(2).random(12_000) < share
    hits = 0
    for question in matrix[:50] + 0.7 * random_vectors(50, dimensions=384):
        numbers, _ = rows.nearest(question, allowed=allowed, limit=10)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scan, "EXACT_ROWS", 12_000)
            best, _ = rows.nearest(question, allowed=allowed, limit=10)
        assert allowed[numbers].all()
        hits += len(set(best.tolist()) & set(numbers.tolist()))
    assert hits >= 0.98 * 10 * 50


def test_asked_for_all_there_are_a_first_look_leaves_none_out() -> None:
    """One is as far away as can be, and stands where no sample of them looks."""
    matrix = random_vectors(2 * HISTOGRAM_SAMPLE + 100)
    matrix[1] = -matrix[0]
    rows = VectorRows(DIMENSIONS)
    rows.extend(np.arange(len(matrix)), matrix=np.rint(matrix * 25).astype(np.int8))
    assert rows.passages.signs is not None
    numbers, _ = rows.nearest(matrix[0], allowed=everything(len(matrix)), limit=len(matrix))
    assert sorted(numbers.tolist()) == list(range(len(matrix)))


def test_an_exact_scan_finds_what_unrounded_vectors_would() -> None:
    matrix = leaning_clusters(2_000)
    rows = filled(matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    hits = 0
    for question in matrix[:50] + 0.7 * random_vectors(50, dimensions=384):
        best = np.argsort(unit @ question)[-10:]
        hits += len(set(best.tolist()) & set(rows.nearest(question, allowed=everything(), limit=10)[0].tolist()))
    assert hits >= 0.96 * 10 * 50


def test_of_countless_copies_the_newest_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "EXACT_ROWS", 100)
    monkeypatch.setattr(scan, "LEAST_FINALISTS", 50)
    monkeypatch.setattr(scan, "LEAST_CONTENDERS", 20)
    rows = filled(np.repeat(random_vectors(1), 3_000, axis=0))
    assert rows.nearest(random_vectors(1, seed=8)[0], allowed=everything(3_000), limit=3)[0].tolist() == [
        2_999, 2_998, 2_997,
    ]  # fmt: skip


def test_a_sample_that_misses_all_that_is_allowed_is_not_trusted() -> None:
    distances = np.full(4 * HISTOGRAM_SAMPLE, 65, np.uint16)
    distances[1::4] = np.arange(HISTOGRAM_SAMPLE) % 60
    places = smallest(distances, wanted=3_000, bits=64)
    assert 1_500 <= len(places) <= 6_000
    assert (distances[places] <= 10).all()


def test_rows_take_little_more_memory_than_their_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "EXACT_ROWS", 1_000)
    rows = VectorRows(384)
    for first in range(0, 10_000, 500):
        rows.extend(np.arange(first, first + 500), matrix=np.ones((500, 384), np.int8))
    passages = rows.passages
    assert passages.signs is not None
    arrays = (passages.vectors, passages.inverse_norms, passages.owners, passages.alive, passages.spans)
    assert (sum(array.nbytes for array in arrays) + passages.signs.words.nbytes) / rows.count < 600


def test_searches_beside_a_writer_see_whole_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory n always points in direction n % 8, so any answer that mixes memories up shows."""
    monkeypatch.setattr(vectors, "LEAST_CAPACITY", 50)
    monkeypatch.setattr(scan, "EXACT_ROWS", 300)
    directions = np.eye(8, 64, dtype=np.float32) * 100 + 1
    stored = quantised(directions)
    rows = VectorRows(64, passages=PassageRows.empty(64, capacity=8))
    rows.replace((number, [stored[number % 8]]) for number in range(400))
    deadline = time.monotonic() + 1.5
    problems: list[str] = []

    def search(direction: int) -> None:
        while time.monotonic() < deadline and not problems:
            numbers, cosines = rows.nearest(directions[direction], allowed=everything(400), limit=50)
            if len(numbers) != 50 or (numbers % 8 != direction).any() or (cosines < 0.99).any():
                problems.append(f"{direction}: {numbers} {cosines}")
            similar = rows.similarities(directions[direction], numbers=range(direction, 400, 8))
            if not (similar > 0.99).all():
                problems.append(f"{direction}: {similar}")

    readers = [threading.Thread(target=search, args=(direction,)) for direction in (1, 6)]
    for reader in readers:
        reader.start()
    chance, swaps = np.random.default_rng(0), set[int]()
    while time.monotonic() < deadline:
        number = int(chance.integers(0, 400))
        rows.put(number, passages=[stored[number % 8]] * int(chance.integers(1, 4)))
        swaps.add(id(rows.passages))
    for reader in readers:
        reader.join()
    assert problems == []
    assert len(swaps) > 1
