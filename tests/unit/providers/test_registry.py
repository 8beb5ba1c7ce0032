"""Settings and the embedder they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from mycel.errors import Misconfigured
from mycel.providers.embeddings import shipped
from mycel.providers.embeddings.onnx import OnnxEmbedder
from mycel.providers.embeddings.openai import OpenAIEmbedder
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from mycel.settings import Settings, load_settings, variable_of
from tests.unit.providers.tiny_model import write_model

NAMES = list(Settings.__dataclass_fields__)


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", *map(variable_of, NAMES)):
        monkeypatch.delenv(name, raising=False)


def test_the_built_in_model_is_the_default(tmp_path: Path) -> None:
    assert load_settings(tmp_path).embedder == "builtin"
    made = make_embedder(EmbeddingOptions())
    assert isinstance(made, OnnxEmbedder)
    assert made.model == OnnxEmbedder(shipped.FOLDER).model


def test_none_is_no_embedder_at_all() -> None:
    assert make_embedder(EmbeddingOptions(embedder="none")) is None


def test_a_folder_is_a_local_model(tmp_path: Path) -> None:
    made = make_embedder(EmbeddingOptions(embedder=str(write_model(tmp_path))))
    assert isinstance(made, OnnxEmbedder)


def test_a_word_that_is_neither_explains_the_choice() -> None:
    with pytest.raises(Misconfigured, match="`builtin`, `none`, `openai`, or a folder"):
        make_embedder(EmbeddingOptions(embedder="opnai"))


def test_openai_has_a_model_and_dimensions_of_its_own() -> None:
    made = make_embedder(EmbeddingOptions(embedder="openai", key="sk-secret"))
    assert isinstance(made, OpenAIEmbedder)
    assert (made.model, made.dimensions) == ("text-embedding-3-small/512", 512)


def test_another_endpoint_needs_its_dimensions() -> None:
    options = {"embedder": "openai", "url": "http://localhost:11434/v1", "model": "nomic-embed-text"}
    made = make_embedder(EmbeddingOptions(**options, dimensions=768))
    assert made is not None
    assert made.model == "nomic-embed-text/768"
    with pytest.raises(Misconfigured, match="MYCEL_EMBEDDING_DIMENSIONS"):
        make_embedder(EmbeddingOptions(**options))


def test_the_key_of_openai_is_used_for_openai_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert load_settings(tmp_path).embedding_key is None
    monkeypatch.setenv("MYCEL_EMBEDDER", "openai")
    assert load_settings(tmp_path).embedding_key == "sk-secret"
    monkeypatch.setenv("MYCEL_EMBEDDING_URL", "http://localhost:11434/v1")
    assert load_settings(tmp_path).embedding_key is None
    monkeypatch.setenv("MYCEL_EMBEDDING_KEY", "another")
    assert load_settings(tmp_path).embedding_key == "another"
    monkeypatch.delenv("MYCEL_EMBEDDING_URL")
    assert load_settings(tmp_path).embedding_key == "another"


def test_no_repr_shows_the_key() -> None:
    assert "sk-secret" not in repr(Settings(embedding_key="sk-secret"))
    assert "sk-secret" not in repr(EmbeddingOptions(key="sk-secret"))


def test_ranking_is_tuned_by_variables_and_by_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = load_settings(tmp_path)
    assert (defaults.recency_half_life_days, defaults.access_boost_max) == (14, 1.5)
    assert (defaults.access_recency_hours, defaults.candidate_multiplier) == (48, 3)
    (tmp_path / "mycel.toml").write_text("recency_half_life_days = 30\naccess_boost_max = 2.5\n", "utf-8")
    monkeypatch.setenv("MEMORY_RECENCY_HALF_LIFE_DAYS", "0.5")
    monkeypatch.setenv("MEMORY_CANDIDATE_MULTIPLIER", "100")
    found = load_settings(tmp_path)
    assert (found.recency_half_life_days, found.access_boost_max, found.candidate_multiplier) == (0.5, 2.5, 100)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", "0"),
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", "nan"),
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", "soon"),
        ("MEMORY_ACCESS_BOOST_MAX", "0.9"),
        ("MEMORY_ACCESS_BOOST_MAX", "inf"),
        ("MEMORY_ACCESS_RECENCY_HOURS", "-1"),
        ("MEMORY_CANDIDATE_MULTIPLIER", "0"),
        ("MEMORY_CANDIDATE_MULTIPLIER", "2.5"),
        ("MYCEL_EMBEDDING_DIMENSIONS", "0"),
    ],
)
def test_a_wrong_value_is_named_with_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(Misconfigured, match=f"{variable}: must be"):
        load_settings(tmp_path)


@pytest.mark.parametrize("line", ["access_boost_max = true", f"access_boost_max = 1{'0' * 400}", "embedding_key = 5"])
def test_a_wrong_value_in_the_file_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "mycel.toml").write_text(line, "utf-8")
    with pytest.raises(Misconfigured, match="must be"):
        load_settings(tmp_path)
