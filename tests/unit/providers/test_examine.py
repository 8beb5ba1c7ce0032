"""Whether the examination of a model sees what is wrong with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mycel.contracts.embedder import Background
from mycel.errors import Misconfigured, Unavailable
from mycel.providers.embeddings import examine as examining
from mycel.providers.embeddings import shipped
from mycel.providers.embeddings.examine import ANSWERED, QUESTIONS, STATEMENTS, Examination, Outcome, examine
from mycel.providers.embeddings.registry import EmbeddingOptions, Kind, describe
from mycel.testing.embedder import WordEmbedder
from tests.unit.providers.tiny_model import TABLE, write_model

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

CHECKS = ["files", "load", "vectors", "meaning", "repeatability", "background"]


class Informed(WordEmbedder):
    """Knows which sentence answers which question, of the first so many, and is wrong about the others."""

    def __init__(self, *, known: int = len(ANSWERED), background: Background | None = None) -> None:
        super().__init__(dimensions=512)
        topics = [f"topic{place if place < known else (place + 1) % 6}" for place in range(len(ANSWERED))]
        self._topics = {question: topic for (question, _), topic in zip(ANSWERED, topics, strict=True)}
        self._topics |= {answer: f"topic{place}" for place, (_, answer) in enumerate(ANSWERED)}
        self._stated = background

    @property
    def background(self) -> Background:
        return self._stated or super().background

    def embed_query(self, text: str) -> Vectors:
        return super().embed_query(self._topics.get(text, text))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents([self._topics.get(text, text) for text in texts])


class Moody(Informed):
    """The vector of a text depends on its company."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        rows = super().embed_documents(texts)
        return np.roll(rows, 1, axis=1) if len(texts) == 1 else rows


class Longer(Informed):
    def embed_query(self, text: str) -> Vectors:
        return np.pad(super().embed_query(text), ((0, 0), (0, 1)))


class Endless(Informed):
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents(texts) * np.inf


@pytest.fixture
def look_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[WordEmbedder], Examination]:
    def look(embedder: WordEmbedder) -> Examination:
        monkeypatch.setattr(examining, "make_embedder", lambda _: embedder)
        found = examine(EmbeddingOptions(embedder="openai"))
        assert embedder.is_closed
        return found

    return look


def outcomes(found: Examination) -> dict[str, Outcome]:
    return {finding.check: finding.outcome for finding in found.findings}


def test_the_built_in_model_is_good_in_every_respect(builtin_in_memory: None) -> None:
    found = examine(EmbeddingOptions())
    assert found.usable
    assert outcomes(found) == dict.fromkeys(CHECKS, Outcome.GOOD), found.findings
    assert found.load_ms
    assert found.text_ms


def test_there_is_nothing_to_find_about_none() -> None:
    assert examine(EmbeddingOptions(embedder="none")) == Examination(embedder="none")


def test_what_has_no_files_is_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"card\.json is not there"):
        examine(EmbeddingOptions(embedder=str(tmp_path)))


def test_damage_to_the_built_in_model_is_seen_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(shipped.FOLDER, tmp_path / "copy"))
    (copy / "tokenizer.json").write_bytes((copy / "tokenizer.json").read_bytes() + b"\n")
    monkeypatch.setattr(shipped, "FOLDER", copy)
    monkeypatch.setattr(shipped.damaged_files, "__defaults__", (copy,))
    found = examine(EmbeddingOptions())
    assert not found.usable
    assert [(finding.check, finding.outcome) for finding in found.findings] == [("files", Outcome.BAD)]
    assert "tokenizer.json is not what was shipped" in found.findings[0].text


def test_a_model_that_cannot_be_loaded_is_bad(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    (folder / "model.onnx").write_bytes(b"not a model")
    found = examine(EmbeddingOptions(embedder=str(folder)))
    assert (found.usable, found.findings[-1].check, found.load_ms) == (False, "load", None)


def test_a_model_that_knows_no_meaning_is_bad(tmp_path: Path) -> None:
    found = examine(EmbeddingOptions(embedder=str(write_model(tmp_path))))
    assert (found.usable, found.findings[-1].check) == (False, "meaning")
    nothing = examine(EmbeddingOptions(embedder=str(write_model(tmp_path, table=np.full_like(TABLE, np.nan)))))
    assert (nothing.usable, nothing.findings[-1].check) == (False, "load")


@pytest.mark.parametrize(
    ("known", "outcome"), [(6, Outcome.GOOD), (5, Outcome.DOUBTFUL), (4, Outcome.DOUBTFUL), (2, Outcome.BAD)]
)
def test_some_answers_may_be_missed(
    look_at: Callable[[WordEmbedder], Examination], known: int, outcome: Outcome
) -> None:
    found = look_at(Informed(known=known))
    assert outcomes(found)["meaning"] is outcome
    assert found.usable is (outcome is not Outcome.BAD)


@pytest.mark.parametrize(
    ("embedder", "check", "text"),
    [
        (Moody(), "repeatability", "alone and among 46"),
        (Longer(), "vectors", "shape"),
        (Endless(), "vectors", "not finite"),
    ],
)
def test_vectors_nobody_can_rely_on_are_bad(
    look_at: Callable[[WordEmbedder], Examination], embedder: WordEmbedder, check: str, text: str
) -> None:
    found = look_at(embedder)
    assert not found.usable
    assert found.findings[-1].check == check
    assert text in found.findings[-1].text


def test_an_endpoint_that_is_down_is_bad_now(look_at: Callable[[WordEmbedder], Examination]) -> None:
    embedder = Informed()
    embedder.failing = Unavailable("the endpoint cannot be reached")
    found = look_at(embedder)
    assert (found.usable, found.findings[-1].text) == (False, "the endpoint cannot be reached")


@pytest.mark.parametrize(
    "stated",
    [
        Background(mean=0.5, deviation=0.05, spread=0.05),
        Background(mean=0.0, deviation=0.2, spread=0.05),
        Background(mean=0.0, deviation=0.05, spread=0.2),
    ],
)
def test_a_background_that_is_far_off_is_doubted(
    look_at: Callable[[WordEmbedder], Examination], stated: Background
) -> None:
    assert outcomes(look_at(Informed()))["background"] is Outcome.GOOD
    found = look_at(Informed(background=stated))
    assert found.usable
    assert outcomes(found)["background"] is Outcome.DOUBTFUL
    assert f"says mean {stated.mean:.2f}" in found.findings[-1].text


def test_a_card_without_a_background_is_told_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path)
    monkeypatch.setattr(examining, "make_embedder", lambda _: Informed())
    found = examine(EmbeddingOptions(embedder=str(folder)))
    assert found.usable
    assert found.findings[-1].outcome is Outcome.DOUBTFUL
    assert '"background": {"mean": ' in found.findings[-1].text


def test_the_sample_texts_are_many_and_all_different() -> None:
    answered = [text for pair in ANSWERED for text in pair]
    assert (len(QUESTIONS), len(STATEMENTS)) == (20, 40)
    assert len({*answered, *QUESTIONS, *STATEMENTS}) == len(answered) + 60


def test_an_embedder_is_described_without_loading_it(tmp_path: Path) -> None:
    builtin = describe(EmbeddingOptions())
    assert (builtin.kind, builtin.problem) == (Kind.BUILTIN, None)
    assert builtin.size_bytes is not None
    assert builtin.size_bytes > 1_000_000
    local = describe(EmbeddingOptions(embedder=str(write_model(tmp_path / "tiny"))))
    assert (local.kind, local.model, local.dimensions) == (Kind.LOCAL, "tiny/4", 4)
    endpoint = describe(EmbeddingOptions(embedder="openai", key="sk-secret"))
    assert (endpoint.kind, endpoint.dimensions, endpoint.size_bytes) == (Kind.ENDPOINT, 512, None)
    assert describe(EmbeddingOptions(embedder="none")).kind is Kind.WORDS
    assert "is not there" in (describe(EmbeddingOptions(embedder=str(tmp_path / "gone"))).problem or "")
    assert "sk-secret" not in repr(endpoint)
