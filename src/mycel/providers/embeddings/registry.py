"""The embedders that can be chosen by name, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mycel.contracts.embedder import Embedder
from mycel.errors import Misconfigured

NONE, BUILTIN, OPENAI = "none", "builtin", "openai"
NAMES = (BUILTIN, OPENAI, NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions:
    """`embedder` is `builtin`, `none`, `openai`, or the folder of a local model; the rest is for endpoints."""

    embedder: str = BUILTIN
    model: str | None = None
    dimensions: int | None = None
    url: str | None = None
    key: str | None = field(default=None, repr=False)


def make_embedder(options: EmbeddingOptions) -> Embedder | None:
    """None when memories are found by words alone; `Misconfigured` when the options cannot work."""
    return _MAKERS.get(options.embedder, _local)(options)


def folder_of(embedder: str) -> Path | None:
    """Where the files of a model are that runs here."""
    if embedder == BUILTIN:
        from mycel.providers.embeddings.shipped import FOLDER

        return FOLDER
    return None if embedder in NAMES else Path(embedder).expanduser()


def _none(_: EmbeddingOptions) -> None:
    return None


def _builtin(_: EmbeddingOptions) -> Embedder:
    from mycel.providers.embeddings.shipped import builtin_embedder

    return builtin_embedder()


def _openai(options: EmbeddingOptions) -> Embedder:
    from mycel.providers.embeddings.openai import DEFAULT_MODEL, OpenAIEmbedder

    return OpenAIEmbedder(
        model=options.model or DEFAULT_MODEL, dimensions=options.dimensions, url=options.url, key=options.key
    )


def _local(options: EmbeddingOptions) -> Embedder:
    from mycel.providers.embeddings.onnx import OnnxEmbedder

    return OnnxEmbedder(Path(options.embedder).expanduser())


_MAKERS: Mapping[str, Callable[[EmbeddingOptions], Embedder | None]] = {
    NONE: _none,
    BUILTIN: _builtin,
    OPENAI: _openai,
}


class Kind(StrEnum):
    BUILTIN = "built-in"
    LOCAL = "local"
    ENDPOINT = "endpoint"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """`name` is what the setting says; `problem` why it could not be used, if so."""

    name: str
    kind: Kind
    model: str | None = None
    dimensions: int | None = None
    size_bytes: int | None = None
    problem: str | None = None


def describe(options: EmbeddingOptions) -> Description:
    name, kind = options.embedder, _KINDS.get(options.embedder, Kind.LOCAL)
    try:
        embedder = make_embedder(options)
    except Misconfigured as error:
        return Description(name=name, kind=kind, problem=str(error))
    if embedder is None:
        return Description(name=name, kind=kind)
    size = _size_bytes(name)
    embedder.close()
    return Description(name=name, kind=kind, model=embedder.model, dimensions=embedder.dimensions, size_bytes=size)


def _size_bytes(name: str) -> int | None:
    from mycel.providers.embeddings.onnx import MODEL_FILES

    folder = folder_of(name)
    return None if folder is None else sum((folder / file).stat().st_size for file in MODEL_FILES)


_KINDS = {BUILTIN: Kind.BUILTIN, NONE: Kind.WORDS, OPENAI: Kind.ENDPOINT}
