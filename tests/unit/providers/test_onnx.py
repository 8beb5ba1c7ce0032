"""Local models, on one that is written by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Encoding

from mycel.contracts.embedder import Background, Embedder
from mycel.errors import Misconfigured, Unavailable
from mycel.providers.embeddings import parallel
from mycel.providers.embeddings.onnx import OnnxEmbedder
from mycel.providers.embeddings.onnx_graph import OnnxGraph
from tests.unit.providers.tiny_model import TABLE, WORDS, write_model

ROOT = Path(__file__).resolve().parents[3]


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def tokens(*words: str) -> NDArray[np.float32]:
    return TABLE[[WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]]


def test_describes_itself_from_the_card(tmp_path: Path) -> None:
    folder = write_model(tmp_path, max_tokens=64, background={"mean": 0.7, "deviation": 0.06, "spread": 0.05})
    embedder: Embedder = OnnxEmbedder(folder)
    assert embedder.model == "tiny/4"
    assert embedder.dimensions == 4
    assert embedder.max_tokens == 64
    assert embedder.background == Background(mean=0.7, deviation=0.06, spread=0.05)
    assert OnnxEmbedder(write_model(tmp_path)).max_tokens == 256


def test_mean_pooling_leaves_the_padding_out(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean"))
    found = embedder.embed_documents(["cat dog fish bird", "cat"])
    expected = [tokens("cat", "dog", "fish", "bird").mean(axis=0), tokens("cat").mean(axis=0)]
    assert found.dtype == np.float32
    assert np.allclose(found, unit(np.array(expected)), atol=1e-6)


def test_cls_pooling_takes_the_first_token(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path))
    assert np.allclose(embedder.embed_documents(["cat", "dog"]), unit(tokens()[[0, 0]]), atol=1e-6)


def test_a_model_that_pools_by_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, per_token=False))
    assert np.allclose(embedder.embed_documents(["cat"])[0], unit(tokens("cat").max(axis=0)), atol=1e-6)


def test_questions_and_documents_have_prefixes_of_their_own(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean", query_prefix="query ", document_prefix="bird "))
    assert np.allclose(embedder.embed_query("cat")[0], unit(tokens("query", "cat").mean(axis=0)), atol=1e-6)
    assert np.allclose(embedder.embed_documents(["cat"])[0], unit(tokens("bird", "cat").mean(axis=0)), atol=1e-6)


def test_texts_come_back_in_the_order_given(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean"))
    lengths = [200, 1, 90, 3, 250, 1, 30] * 5
    texts = [" ".join([WORDS[5 + place % 4]] * length) for place, length in enumerate(lengths)]
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    assert np.allclose(embedder.embed_documents(texts), alone, atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, 4)


def test_a_text_is_cut_at_max_tokens_with_the_special_ones(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean", max_tokens=8))
    found = embedder.embed_documents(["cat " * 6 + "dog " * 500])
    assert np.allclose(found[0], unit(tokens(*["cat"] * 6).mean(axis=0)), atol=1e-6)


def test_token_ends_are_those_of_the_whole_text_in_characters(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, max_tokens=8))
    assert list(embedder.token_ends("cat 日本 🐈 dog")) == [3, 6, 8, 12]
    assert list(embedder.token_ends("cat " * 100)) == list(range(3, 400, 4))
    assert list(embedder.token_ends("")) == []


def test_gives_the_inputs_that_the_model_names(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, inputs=("input_ids", "attention_mask", "token_type_ids")))
    assert embedder.embed_query("cat").shape == (1, 4)


def test_many_threads_load_once_and_get_the_same(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean"), threads=2)
    texts = ["cat dog", "fish " * 200, "bird"]
    expected = OnnxEmbedder(tmp_path).embed_documents(texts)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            if not np.allclose(embedder.embed_documents(texts), expected, atol=1e-6):
                wrong.append(1)
            if len(embedder.token_ends("fish " * 300)) != 300:
                wrong.append(2)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_two_texts_are_embedded_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # However busy the machine is, the helper stays to meet the caller.
    monkeypatch.setattr(parallel, "LEAST_SHARE", 0.0)
    embedder = OnnxEmbedder(write_model(tmp_path, pooling="mean"), threads=2)
    expected = embedder.embed_documents(["cat", "dog"])
    run, both = OnnxGraph.run, threading.Barrier(2, timeout=10)

    def meet(self: OnnxGraph, encoding: Encoding) -> NDArray[np.float32]:
        both.wait()
        return run(self, encoding)

    monkeypatch.setattr(OnnxGraph, "run", meet)
    assert np.array_equal(embedder.embed_documents(["cat", "dog"]), expected)


def test_works_again_after_closing(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path))
    first = embedder.embed_query("cat")
    embedder.close()
    embedder.close()
    assert np.array_equal(embedder.embed_query("cat"), first)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ({"name": None}, "name is missing"),
        ({"pooling": None}, "pooling is missing"),
        ({"name": " "}, "name must be"),
        ({"name": "two\nlines"}, "name must be"),
        ({"dimensions": 0}, "dimensions must be"),
        ({"dimensions": True}, "dimensions must be"),
        ({"dimensions": "4"}, "dimensions must be"),
        ({"pooling": "max"}, "pooling must be"),
        ({"query_prefix": 1}, "query_prefix must be"),
        ({"max_tokens": 4}, "max_tokens must be"),
        ({"background": 0.7}, "background must be"),
        ({"background": {"mean": 0.7, "spread": 0.1}}, "background must be"),
        ({"background": {"mean": "x", "deviation": 0.1, "spread": 0.1}}, "background must have"),
        ({"background": {"mean": 0.7, "deviation": 0, "spread": 0.1}}, "background must have"),
        ({"background": {"mean": 0.7, "deviation": 0.1, "spread": 2}}, "background must have"),
        ({"background": {"mean": float("nan"), "deviation": 0.1, "spread": 0.1}}, "background must have"),
        ({"query_prefx": "query"}, "query_prefx is not a field"),
    ],
)
def test_a_wrong_card_is_named_with_its_field(tmp_path: Path, card: dict[str, Any], problem: str) -> None:
    folder = write_model(tmp_path, **card)
    with pytest.raises(Misconfigured, match=problem) as caught:
        OnnxEmbedder(folder)
    assert str(folder / "card.json") in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[]", b"[" * 50_000])
def test_a_card_that_is_no_object_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = write_model(tmp_path)
    (folder / "card.json").write_bytes(content)
    with pytest.raises(Misconfigured, match=r"card\.json"):
        OnnxEmbedder(folder)


@pytest.mark.parametrize("name", ["card.json", "model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named_at_once(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path)
    (folder / name).unlink()
    with pytest.raises(Misconfigured, match=f"{name} is not there"):
        OnnxEmbedder(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_named_at_the_first_use(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path)
    (folder / name).write_bytes(b"not a model")
    embedder = OnnxEmbedder(folder)
    with pytest.raises(Misconfigured, match=name):
        embedder.embed_query("cat")


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ({"dimensions": 5}, "vectors of 4 numbers; its card says dimensions 5"),
        ({"inputs": ("input_ids", "position_ids")}, "position_ids"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(tmp_path: Path, model: dict[str, Any], problem: str) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, **model))
    with pytest.raises(Misconfigured, match=problem):
        embedder.embed_query("cat")


def test_a_run_that_fails_is_unavailable(tmp_path: Path) -> None:
    """The table lacks the last words, so looking one up is out of its bounds."""
    embedder = OnnxEmbedder(write_model(tmp_path, table=TABLE[:6]), threads=2)
    assert embedder.embed_query("cat").shape == (1, 4)
    with pytest.raises(Unavailable, match="could not be run"):
        embedder.embed_query("bird")
    with pytest.raises(Unavailable, match="could not be run"):
        embedder.embed_documents(["cat"] * 20 + ["bird"] + ["cat"] * 20)


@pytest.mark.parametrize(("value", "problem"), [(np.nan, "not finite"), (0.0, "zeros")])
def test_vectors_without_direction_are_unavailable(tmp_path: Path, value: float, problem: str) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, table=np.full_like(TABLE, value)))
    with pytest.raises(Unavailable, match=problem):
        embedder.embed_query("cat")


def test_loads_nothing_until_used_and_says_nothing_when_forked(tmp_path: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
embedder = make_embedder(EmbeddingOptions(embedder={str(write_model(tmp_path))!r}))
heavy = {{"numpy", "onnxruntime", "tokenizers", "openai", "asyncio"}} & set(sys.modules)
assert not heavy, heavy
embedder.embed_documents(["cat", "dog"] * 20)
child = os.fork()
if child == 0:
    embedder.embed_documents(["cat", "dog"] * 20)
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""
    quiet = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=quiet, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
