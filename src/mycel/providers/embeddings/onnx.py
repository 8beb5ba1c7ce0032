"""A local ONNX model; embedders of the same files share one in memory, which goes with the last of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from mycel.contracts.embedder import Background
from mycel.errors import Misconfigured
from mycel.providers.embeddings.card import FILE_NAME, USUAL_BACKGROUND, Card, read_card
from mycel.providers.embeddings.checks import unit_rows
from mycel.providers.embeddings.parallel import run_parallel, usable_threads

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors
    from mycel.providers.embeddings.onnx_graph import OnnxGraph
    from mycel.providers.embeddings.tokens import TextTokenizer


MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

# The folder, what its card says, and which files exactly these are.
_Key = tuple[Path, Card, tuple[int, ...]]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class LoadedModel:
    """Safe to use from any thread: nobody changes either of the two."""

    tokenizer: TextTokenizer
    graph: OnnxGraph


@dataclass(frozen=True, slots=True)
class _Shelf:
    """What one process has loaded. It owns nothing: the embedders do."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    models: WeakValueDictionary[_Key, LoadedModel] = field(default_factory=WeakValueDictionary[_Key, LoadedModel])


# By process: after a fork, the lock may be held for ever and the model be in the middle of something.
_shelves: dict[int, _Shelf] = {}


def load_model(folder: Path, *, card: Card) -> LoadedModel:
    """The model that somebody has in use already, if there is one. Keep the answer: nothing else does."""
    shelf = _shelves.setdefault(os.getpid(), _Shelf())
    with shelf.lock:
        key = (folder.resolve(), card, _identity(folder))
        known = shelf.models.get(key)
        if known is None:
            known = shelf.models[key] = _load(folder, card=card)
        return known


def _load(folder: Path, *, card: Card) -> LoadedModel:
    from mycel.providers.embeddings.onnx_graph import OnnxGraph
    from mycel.providers.embeddings.tokens import load_tokenizer

    tokenizer = load_tokenizer(folder / TOKENIZER_FILE, max_tokens=card.max_tokens)
    return LoadedModel(tokenizer, OnnxGraph(folder / MODEL_FILE, card=card))


def _identity(folder: Path) -> tuple[int, ...]:
    """Changes when a file is replaced, so that nobody is given the model that was there before."""
    numbers: list[int] = []
    for name in (MODEL_FILE, TOKENIZER_FILE):
        try:
            found = (folder / name).stat()
        except OSError as error:
            raise Misconfigured(f"{folder / name} cannot be read: {error.strerror}") from None
        numbers += [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]
    return tuple(numbers)


MODEL_FILES = (FILE_NAME, MODEL_FILE, TOKENIZER_FILE)
# Together they keep every thread busy but for the last text of each.
BATCH_SIZE = 64


class OnnxEmbedder:
    """Making one reads the card; model and tokenizer are loaded by the first use, and shared by all of one folder.

    `threads` is how many texts are embedded at once, at most; as many as there are cores unless it is given.
    """

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self._folder = folder
        self._threads = usable_threads() if threads is None else threads
        self._card = _read_folder(folder)
        self._lock = threading.Lock()
        self._loaded: LoadedModel | None = None

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
        return self._card.background or USUAL_BACKGROUND

    def token_ends(self, text: str) -> Sequence[int]:
        return self._load().tokenizer.token_ends(text)

    def embed_query(self, text: str) -> Vectors:
        return self._embed([self._card.query_prefix + text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._card.document_prefix + text for text in texts])

    def close(self) -> None:
        """Frees the model unless another embedder has it in use; a later use would load it again."""
        with self._lock:
            self._loaded = None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        model = self._load()
        rows = np.empty((len(texts), self._card.dimensions), dtype=np.float32)

        def embed(place: int) -> None:
            rows[place] = model.graph.run(model.tokenizer.encode(texts[place]))

        # One by one: a quantised model rounds a text by what runs beside it, so only alone has it always the same
        # vector, and together is no faster on one core. `encode_batch` would take every core, and some versions of it
        # warn on stderr when the process forks later.
        run_parallel(embed, len(texts), threads=self._threads)
        return unit_rows(rows, source=str(self._folder / MODEL_FILE))

    def _load(self) -> LoadedModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = load_model(self._folder, card=self._card)
            return self._loaded


def _read_folder(folder: Path) -> Card:
    for name in MODEL_FILES:
        if not (folder / name).is_file():
            raise Misconfigured(
                f"{folder / name} is not there: an embedder is `builtin`, `none`, `openai`, "
                f"or a folder with {MODEL_FILE}, {TOKENIZER_FILE} and {FILE_NAME}"
            )
    return read_card(folder / FILE_NAME)
