"""What an embedder is, told without loading it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mycel.errors import Misconfigured
from mycel.providers.embeddings.registry import BUILTIN, NONE, OPENAI, EmbeddingOptions, folder_of, make_embedder


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
