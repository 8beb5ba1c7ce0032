"""A local model small enough to be written by hand: each token's row of a table, and nothing learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "cat", "dog", "fish", "bird"]
DIMENSIONS = 4
TABLE: NDArray[np.float32] = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
FLOAT, INT64 = 1, 7


def write_model(
    folder: Path,
    *,
    table: NDArray[np.float32] = TABLE,
    inputs: tuple[str, ...] = ("input_ids",),
    per_token: bool = True,
    **card: Any,
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(table, inputs=inputs, per_token=per_token))
    _tokenizer().save(str(folder / "tokenizer.json"))
    fields = {"name": "tiny", "dimensions": DIMENSIONS, "pooling": "cls", **card}
    kept = {name: value for name, value in fields.items() if value is not None}
    (folder / "card.json").write_text(json.dumps(kept), "utf-8")
    return folder


def _tokenizer() -> Any:
    package: Any = tokenizers
    places = {word: place for place, word in enumerate(WORDS)}
    made = package.Tokenizer(package.models.WordLevel(places, unk_token="[UNK]"))
    made.pre_tokenizer = package.pre_tokenizers.Whitespace()
    made.post_processor = package.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As published files have it; the embedder must not keep to it.
    made.enable_truncation(5)
    made.enable_padding(length=64)
    return made


def _model(table: NDArray[np.float32], *, inputs: tuple[str, ...], per_token: bool) -> bytes:
    """The few fields of onnx.proto that it needs: Gather, and for one row per text the largest over its tokens."""
    nodes = [_node("Gather", ["table", "input_ids"], "tokens")]
    if not per_token:
        nodes.append(
            _node("ReduceMax", ["tokens", "axes"], "texts", _text(1, "keepdims") + _number(3, 0) + _number(20, 2))
        )
    axes = _number(1, 1) + _number(2, INT64) + _text(8, "axes") + _field(9, np.array([1], np.int64).tobytes())
    weights = b"".join(_number(1, size) for size in table.shape)
    weights += _number(2, FLOAT) + _text(8, "table") + _field(9, table.tobytes())
    output = ("tokens", ("batch", "length", table.shape[1])) if per_token else ("texts", ("batch", table.shape[1]))
    graph = b"".join(_field(1, node) for node in nodes) + _text(2, "tiny")
    graph += _field(5, weights) + (b"" if per_token else _field(5, axes))
    graph += b"".join(_field(11, _value(name, INT64, ("batch", "length"))) for name in inputs)
    graph += _field(12, _value(output[0], FLOAT, output[1]))
    return _number(1, 8) + _field(7, graph) + _field(8, _text(1, "") + _number(2, 18))


def _node(operator: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    encoded = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)
    return encoded + (_field(5, attribute) if attribute else b"")


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape]
    tensor = _number(1, kind) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _text(1, name) + _field(2, _field(1, tensor))


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])
