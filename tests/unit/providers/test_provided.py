"""An embedder that a program brings: what is refused, what stands in for what it lacks, what its faults say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycel
from mycel.contracts.embedder import Background
from mycel.errors import InvalidInput, Misconfigured, Unavailable
from mycel.providers.embeddings.card import USUAL_BACKGROUND
from mycel.providers.embeddings.provided import ProvidedEmbedder
from mycel.testing.embedder import WordEmbedder


class Small:
    model = "small"
    dimensions = 2

    def embed_documents(self, texts: Sequence[str]) -> Any:
        return [[len(text), 1] for text in texts]


def changed(**members: object) -> object:
    """An object like `Small` with other members; one that is None is not there."""
    kept = {name: value for name, value in vars(Small).items() if not name.startswith("__")} | members
    return type("Changed", (), {name: value for name, value in kept.items() if value is not None})()


def answers(vectors: object) -> object:
    return changed(embed_documents=lambda _self, _texts: vectors)


async def later(_self: object, _texts: object) -> None: ...


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Small, "must be an object, not the class Small"),
        (object(), "must have `model`"),
        (3, "must have `model`"),
        (changed(model=""), "must have `model`"),
        (changed(model="two\nlines"), "must have `model`"),
        (changed(model=b"small"), "must have `model`"),
        (changed(dimensions=None), "must have `dimensions`"),
        (changed(dimensions="2"), "must have `dimensions`"),
        (changed(dimensions=True), "must have `dimensions`"),
        (changed(dimensions=0), "must have `dimensions`"),
        (changed(dimensions=8193), "must have `dimensions`"),
        (changed(embed_documents=None), "must have `embed_documents"),
        (changed(embed_documents="no method"), "has `embed_documents`, which must be a plain method"),
        (changed(embed_documents=later), "has `embed_documents`, which must be a plain method, not an async one"),
        (changed(embed_query=later), "has `embed_query`"),
        (changed(token_ends=3), "has `token_ends`"),
        (changed(max_tokens=0), "has `max_tokens`"),
        (changed(batch_size=1.5), "has `batch_size`"),
        (changed(background={"mean": 0.1}), "has `background`"),
    ],
)
def test_what_is_no_embedder_is_refused_with_what_is_missing(given: object, problem: str) -> None:
    with pytest.raises(InvalidInput) as told:
        ProvidedEmbedder(given)
    assert told.value.field == "embedder"
    assert problem in str(told.value)


def test_what_is_left_out_is_filled_in() -> None:
    embedder = ProvidedEmbedder(Small())
    assert (embedder.model, embedder.dimensions) == ("small/2", 2)
    assert embedder.embed_query("abc") == pytest.approx(embedder.embed_documents(["abc"]))
    assert np.linalg.norm(embedder.embed_documents(["a", "bcd"]), axis=1) == pytest.approx([1.0, 1.0])
    assert embedder.token_ends("two words")[-1] == len("two words")
    assert embedder.max_tokens >= 1
    assert embedder.batch_size >= 1
    measured = embedder.background
    assert measured.mean > 0.9
    assert embedder.background is measured
    assert ProvidedEmbedder(changed(background=USUAL_BACKGROUND)).background is USUAL_BACKGROUND


def test_what_it_says_itself_is_taken() -> None:
    whole = WordEmbedder(name="whole", dimensions=8)
    embedder = ProvidedEmbedder(whole)
    assert isinstance(embedder.background, Background)
    assert embedder.token_ends("two words") == whole.token_ends("two words")
    assert embedder.embed_query("heron") == pytest.approx(whole.embed_query("heron"), abs=1e-6)
    assert whole.query_calls == 2
    embedder.close()
    assert not whole.is_closed


@pytest.mark.parametrize(
    "vectors",
    [
        None,
        [],
        [[1.0]],
        [[1.0, 2.0, 3.0]],
        [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]],
        "text",
        [[1.0, 2.0], [1.0]],
        [["a", "b"]],
    ],
)
def test_an_answer_of_another_shape_says_what_is_needed(vectors: object) -> None:
    with pytest.raises(Misconfigured, match=r"the embedder small/2 returned .*: each needs a vector of 2 numbers"):
        ProvidedEmbedder(answers(vectors)).embed_documents(["a", "b"])


@pytest.mark.parametrize("row", [[0.0, 0.0], [float("nan"), 1.0]])
def test_a_text_for_which_it_has_no_vector_is_found_by_its_words_and_holds_up_nothing(
    tmp_path: Path, row: list[float]
) -> None:
    class OfLetters(Small):
        def embed_documents(self, texts: Sequence[str]) -> Any:
            return [[len(text), 1.0] if text.isalpha() else row for text in texts]

    with pytest.raises(Misconfigured, match="the embedder small/2 gave a vector"):
        ProvidedEmbedder(OfLetters()).embed_documents(["a", "12345"])
    with mycel.open(tmp_path, embedder=OfLetters()) as workspace:
        memory = workspace.as_operator()
        for text in ("12345", "heron"):
            memory.save(text)
        workspace.embed_pending()
        assert (workspace.embedding_progress().embedded, workspace.embedding_progress().pending) == (1, 0)
        assert [hit.memory.content for hit in memory.search("12345").hits] == ["12345"]
        assert memory.search("heron").degraded == ()


def test_its_own_errors_are_named_and_logged_once_without_the_text(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_self: object, texts: Sequence[str]) -> None:
        raise RuntimeError(texts[0])

    embedder = ProvidedEmbedder(changed(embed_documents=fail))
    with pytest.raises(Unavailable, match=r"^the embedder small/2 failed with RuntimeError in \w+.py, line \d+$"):
        embedder.embed_documents(["a secret text"])
    assert embedder.background == USUAL_BACKGROUND
    [told] = caplog.messages
    assert "secret" not in told
    assert "RuntimeError in test_provided.py" in told


@pytest.mark.parametrize(("known", "is_measured"), [("the", True), ("xylophone", False)])
def test_the_background_of_an_embedder_of_few_words_is_measured_once_on_those_it_knows(
    known: str, is_measured: bool
) -> None:
    calls: list[int] = []

    def embed(_self: object, texts: Sequence[str]) -> Any:
        calls.append(len(texts))
        return [[float(known in text.lower()), float("how" in text.lower())] for text in texts]

    embedder = ProvidedEmbedder(changed(embed_documents=embed))
    measured = embedder.background
    assert (measured != USUAL_BACKGROUND) == is_measured
    made = len(calls)
    assert embedder.background == measured
    assert len(calls) == made
