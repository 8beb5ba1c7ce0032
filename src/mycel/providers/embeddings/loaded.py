"""Models in memory: embedders of the same files share one, and it goes when the last of them lets go of it."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from mycel.errors import Misconfigured
from mycel.providers.embeddings.card import Card

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from mycel.providers.embeddings.onnx_graph import OnnxGraph

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

# The folder, what its card says, and which files exactly these are.
_Key = tuple[Path, Card, tuple[int, ...]]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class LoadedModel:
    """Safe to use from any thread: nobody changes either of the two."""

    tokenizer: Tokenizer
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

    tokenizer = _load_tokenizer(folder / TOKENIZER_FILE, max_tokens=card.max_tokens)
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
