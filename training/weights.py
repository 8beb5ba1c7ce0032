"""The weights of a BERT encoder as plain arrays: how the teacher's are read, and how a student's travel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]

# Of the encoder that is taught and of the one that teaches; only the number of layers differs.
WIDTH = 384
HEADS = 12
INNER = 1536
EPSILON = 1e-12

EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")
DENSE = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def read_quantised(path: Path) -> Weights:
    """A plain encoder from an int8 graph: its whole numbers times their scales, under the usual names of BERT."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    arrays = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    weights = {name: array for name, array in arrays.items() if name.endswith((".bias", "LayerNorm.weight"))}
    for name in EMBEDDINGS:
        weights[f"embeddings.{name}.weight"] = _dequantised(arrays, f"embeddings.{name}.weight")
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            # "/encoder/layer.0/attention/self/query/MatMul_quant" is the product of one dense layer.
            name = node.name.strip("/").removesuffix("_quant").removesuffix("/MatMul").replace("/", ".")
            source = node.input[1].removesuffix("_quantized")
            # Kept as torch keeps it: a row for each output.
            weights[f"{name}.weight"] = _dequantised(arrays, source).T
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}


def _dequantised(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    whole = arrays[f"{name}_quantized"].astype(np.float32)
    return (whole - arrays[f"{name}_zero_point"].astype(np.float32)) * arrays[f"{name}_scale"]


def layer_count(weights: Weights) -> int:
    return sum(name.endswith("intermediate.dense.bias") for name in weights)


def chosen_layers(weights: Weights, chosen: tuple[int, ...]) -> Weights:
    """The embeddings and some of the layers, numbered anew: where a student begins."""
    taken = {name: array for name, array in weights.items() if name.startswith("embeddings.")}
    for new, old in enumerate(chosen):
        prefix = f"encoder.layer.{old}."
        for name, array in weights.items():
            if name.startswith(prefix):
                taken[f"encoder.layer.{new}.{name.removeprefix(prefix)}"] = array
    return taken
