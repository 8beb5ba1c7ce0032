"""Local models: any folder with `model.onnx`, `tokenizer.json` and a card, run by onnxruntime."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.contracts.embedder import Background
from mycel.errors import Misconfigured
from mycel.providers.embeddings.card import FILE_NAME, Card, read_card
from mycel.providers.embeddings.checks import unit_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from mycel.contracts.embedder import Vectors
    from mycel.providers.embeddings.onnx_graph import OnnxGraph

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
BATCH_SIZE = 32
# Of one run, padding included. Measured on one core: fewer leave it idle on short texts, more cost padding and cache.
RUN_TOKENS = 128


class OnnxEmbedder:
    """Making one reads the card; model and tokenizer are loaded by the first use."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._card = _read_folder(folder)
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, OnnxGraph] | None = None

    @property
    def model(self) -> str:
        return f"{self._card.name}/{self._card.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._card.dimensions

    @property
    def max_tokens(self) -> int:
        return self._card.max_tokens

    @property
    def batch_size(self) -> int:
        return BATCH_SIZE

    @property
    def background(self) -> Background:
        return self._card.background

    def token_ends(self, text: str) -> Sequence[int]:
        tokenizer, _ = self._load()
        encoding = tokenizer.encode(text, add_special_tokens=False)
        # What the truncation cuts off is not lost but handed out in pieces.
        return [end for piece in (encoding, *encoding.overflowing) for _, end in piece.offsets]

    def embed_query(self, text: str) -> Vectors:
        return self._embed([self._card.query_prefix + text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._card.document_prefix + text for text in texts])

    def close(self) -> None:
        """Frees the model; a later use would load it again."""
        with self._lock:
            self._loaded = None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        tokenizer, graph = self._load()
        # One by one: `encode_batch` takes every core, and some versions warn on stderr when the process forks later.
        encodings = [tokenizer.encode(text) for text in texts]
        rows = np.empty((len(texts), self._card.dimensions), dtype=np.float32)
        for places in _runs([len(encoding) for encoding in encodings]):
            rows[places] = graph.run([encodings[place] for place in places])
        return unit_rows(rows, source=str(self._folder / MODEL_FILE))

    def _load(self) -> tuple[Tokenizer, OnnxGraph]:
        with self._lock:
            if self._loaded is None:
                from mycel.providers.embeddings.onnx_graph import OnnxGraph

                tokenizer = _load_tokenizer(self._folder / TOKENIZER_FILE, max_tokens=self._card.max_tokens)
                graph = OnnxGraph(self._folder / MODEL_FILE, card=self._card, threads=self._threads)
                self._loaded = tokenizer, graph
            return self._loaded


def _read_folder(folder: Path) -> Card:
    for name in (FILE_NAME, MODEL_FILE, TOKENIZER_FILE):
        if not (folder / name).is_file():
            raise Misconfigured(
                f"{folder / name} is not there: an embedder is `none`, `openai`, "
                f"or a folder with {MODEL_FILE}, {TOKENIZER_FILE} and {FILE_NAME}"
            )
    return read_card(folder / FILE_NAME)


def _load_tokenizer(path: Path, *, max_tokens: int) -> Tokenizer:
    """Its truncation is set here, once: a tokenizer that nobody changes may be used by many threads."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
    except Exception as error:  # the package knows no narrower error
        raise Misconfigured(f"{path} cannot be used: {error}") from error
    return tokenizer


def _runs(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of about the same length, so that none is padded to a much longer one."""
    run: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if run and lengths[place] * (len(run) + 1) > RUN_TOKENS:
            yield run
            run = []
        run.append(place)
    if run:
        yield run
