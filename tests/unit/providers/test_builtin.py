"""The model that comes with the package, and how embedders share a model in memory."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import string
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from mycel.app import open_workspace
from mycel.errors import Misconfigured
from mycel.providers.embeddings import onnx, shipped
from mycel.providers.embeddings.card import read_card
from mycel.providers.embeddings.onnx import LoadedModel, OnnxEmbedder
from mycel.settings import Settings
from tests.unit.providers.tiny_model import TABLE, write_model


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[LoadedModel]]:
    """Every model that is read from disk from now on, as if none had been before."""
    monkeypatch.setattr(onnx, "_shelves", {})
    seen: list[weakref.ref[LoadedModel]] = []
    load = onnx._load

    def watched(folder: Path, **options: object) -> LoadedModel:
        model = load(folder, **options)  # type: ignore[arg-type]
        seen.append(weakref.ref(model))
        return model

    monkeypatch.setattr(onnx, "_load", watched)
    return seen


def test_the_files_are_those_that_were_shipped() -> None:
    assert set(shipped.read_checksums()) == {"model.onnx", "tokenizer.json"}
    assert shipped.damaged_files() == []


def test_it_gives_the_vectors_of_the_trained_model() -> None:
    """`training.export` wrote these from the student in torch; a rounding graph cannot match them to the last bit."""
    trained: dict[str, list[float]] = json.loads(Path(__file__).with_name("trained_vectors.json").read_text("utf-8"))
    vectors = OnnxEmbedder(shipped.FOLDER).embed_documents(list(trained))
    wanted = np.asarray(list(trained.values()), dtype=np.float32)
    assert (vectors * wanted).sum(axis=1).min() >= 0.99


def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    embedder = OnnxEmbedder(shipped.FOLDER)
    texts = ["Deploys wait for the cache.", "The invoices of March are missing two customers. " * 8, "ok"]
    together = embedder.embed_documents(texts)
    for place, text in enumerate(texts):
        assert np.array_equal(embedder.embed_documents([text])[0], together[place])


@pytest.mark.parametrize("text", ["a" * 240, "!" * 240, "x1-" * 80, "\x00\t\n " * 60, string.printable * 2])
def test_no_token_of_plain_text_is_shorter_than_a_character(text: str) -> None:
    """Short notes are taken for one passage by their characters alone."""
    assert len(OnnxEmbedder(shipped.FOLDER).token_ends(text)) <= len(text)


def test_the_model_stays_small() -> None:
    assert (shipped.FOLDER / "model.onnx").stat().st_size <= 25_000_000


def test_the_card_has_a_measured_background() -> None:
    assert read_card(shipped.FOLDER / "card.json").background is not None


def test_papers_come_with_it() -> None:
    for name in ("README.md", "NOTICE"):
        assert (shipped.FOLDER / name).read_text("utf-8").strip()


def test_a_damaged_or_missing_file_is_named(tmp_path: Path) -> None:
    write_model(tmp_path)
    names = ("model.onnx", "tokenizer.json")
    sums = [f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (tmp_path / "SHA256SUMS").write_text("".join(sums))
    assert shipped.damaged_files(tmp_path) == []
    with (tmp_path / "model.onnx").open("ab") as file:
        file.write(b"\0")
    assert shipped.damaged_files(tmp_path) == ["model.onnx"]
    (tmp_path / "tokenizer.json").unlink()
    assert shipped.damaged_files(tmp_path) == ["model.onnx", "tokenizer.json"]


@pytest.mark.parametrize("content", [None, "", "f93ff2\n", "\xff"])
def test_checksums_that_say_nothing_are_no_proof(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "SHA256SUMS").write_bytes(content.encode("latin-1"))
    with pytest.raises(Misconfigured, match="install Mycel again"):
        shipped.damaged_files(tmp_path)


def test_an_incomplete_package_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    with pytest.raises(Misconfigured, match=r"card\.json is not there: install Mycel again, or set MYCEL_EMBEDDER"):
        shipped.builtin_embedder()


def test_embedders_of_one_folder_share_one_model(tmp_path: Path, models: list[weakref.ref[LoadedModel]]) -> None:
    first, second = OnnxEmbedder(write_model(tmp_path)), OnnxEmbedder(tmp_path)
    expected = first.embed_query("cat")
    assert np.array_equal(second.embed_query("cat"), expected)
    assert len(models) == 1
    first.close()
    assert np.array_equal(second.embed_query("cat"), expected)
    assert len(models) == 1


def test_a_model_goes_with_the_last_that_uses_it(tmp_path: Path, models: list[weakref.ref[LoadedModel]]) -> None:
    embedders = [OnnxEmbedder(write_model(tmp_path)), OnnxEmbedder(tmp_path)]
    for embedder in embedders:
        embedder.embed_query("cat")
    [model] = models
    embedders[0].close()
    gc.collect()
    assert model() is not None
    embedders[1].close()
    gc.collect()
    assert model() is None
    embedders[0].embed_query("cat")
    assert len(models) == 2


def test_many_threads_load_it_once(tmp_path: Path, models: list[weakref.ref[LoadedModel]]) -> None:
    embedders = [OnnxEmbedder(write_model(tmp_path)) for _ in range(8)]
    threads = [threading.Thread(target=embedder.embed_query, args=("cat",)) for embedder in embedders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 1


def test_files_that_were_replaced_are_another_model(tmp_path: Path, models: list[weakref.ref[LoadedModel]]) -> None:
    old = OnnxEmbedder(write_model(tmp_path))
    before = old.embed_query("cat")
    new = OnnxEmbedder(write_model(tmp_path, table=TABLE[:, ::-1].copy()))
    assert not np.array_equal(new.embed_query("cat"), before)
    assert np.array_equal(old.embed_query("cat"), before)
    assert len(models) == 2


def test_another_card_is_another_model(tmp_path: Path, models: list[weakref.ref[LoadedModel]]) -> None:
    first = OnnxEmbedder(write_model(tmp_path, pooling="cls"))
    second = OnnxEmbedder(write_model(tmp_path, pooling="mean"))
    assert not np.array_equal(first.embed_query("cat dog"), second.embed_query("cat dog"))
    assert len(models) == 2


def test_a_file_that_goes_between_making_and_loading_is_named(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path))
    (tmp_path / "model.onnx").unlink()
    with pytest.raises(Misconfigured, match=r"model\.onnx cannot be read: No such file"):
        embedder.embed_query("cat")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks there")
def test_a_forked_process_loads_a_model_of_its_own(tmp_path: Path) -> None:
    """The lock is held by another thread at the moment of the fork, as it may be while that one loads."""
    script = f"""
import os, sys, threading
from pathlib import Path
from mycel.providers.embeddings import onnx
from mycel.providers.embeddings.onnx import OnnxEmbedder
folder = Path({str(write_model(tmp_path))!r})
kept = OnnxEmbedder(folder)
kept.embed_query("cat")
onnx._shelves[os.getpid()].lock.acquire()
child = os.fork()
if child == 0:
    fresh = OnnxEmbedder(folder)
    fresh.embed_query("cat")
    os._exit(fresh._loaded is kept._loaded)
sys.exit(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_two_workspaces_share_the_model_and_outlive_each_other(
    tmp_path: Path, models: list[weakref.ref[LoadedModel]]
) -> None:
    first = open_workspace(settings=Settings(data=tmp_path / "first"))
    second = open_workspace(settings=Settings(data=tmp_path / "second"))
    for workspace in (first, second):
        workspace.as_operator().save("Invoices are paid within thirty days.")
        assert workspace.as_operator().search("when does the money arrive").degraded == ()
    assert len(models) == 1
    first.close()
    second.as_operator().save("The elevator is out of order.")
    recall = second.as_operator().search("the lift is broken")
    assert [hit.memory.content for hit in recall.hits] == ["The elevator is out of order."]
    assert recall.degraded == ()
    second.close()
    gc.collect()
    assert [model() for model in models] == [None]
