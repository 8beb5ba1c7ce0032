"""The shipped test double: near is what shares words or meanings."""

from __future__ import annotations

import numpy as np
import pytest

from mycel.contracts.embedder import Embedder
from mycel.errors import Unavailable
from mycel.testing.embedder import WordEmbedder

TEXTS = ["the car is red", "the automobile is red", "invoices are due on Monday", ""]


def similarity(embedder: Embedder, question: str) -> list[float]:
    return [float(value) for value in (embedder.embed_documents(TEXTS) @ embedder.embed_query(question)[0])]


def test_shared_words_are_near_and_others_are_not() -> None:
    car, automobile, invoices, empty = similarity(WordEmbedder(), "a red car")
    assert car == pytest.approx(1)
    assert 0.2 < automobile < 0.8
    assert abs(invoices) < 0.35
    assert abs(empty) < 0.35


def test_synonyms_are_the_same_word() -> None:
    plain = similarity(WordEmbedder(), "car")[1]
    told = similarity(WordEmbedder(synonyms=[("car", "Automobile")]), "car")[1]
    assert told > plain + 0.3


def test_the_background_is_what_unrelated_words_have() -> None:
    embedder = WordEmbedder()
    rows = embedder.embed_documents([f"word{number}" for number in range(300)])
    cosines = (rows @ rows.T)[~np.eye(300, dtype=bool)]
    assert abs(cosines.mean() - embedder.background.mean) < 0.02
    assert abs(cosines.std() - embedder.background.deviation) < 0.02


def test_counts_its_calls_and_fails_when_told() -> None:
    embedder = WordEmbedder(dimensions=10)
    assert embedder.embed_documents([]).shape == (0, 10)
    assert embedder.embed_query("x").shape == (1, 10)
    embedder.failing = Unavailable("down")
    with pytest.raises(Unavailable):
        embedder.embed_query("x")
    assert (embedder.query_calls, embedder.document_calls, embedder.calls) == (2, 1, 3)
