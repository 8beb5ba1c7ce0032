"""Writes the student as ONNX: the graph is put together here, node by node, so that nothing is left to an exporter.

    python -m training.export STUDENT.npz TOKENIZER.json OUT

writes `float.onnx`, which computes as torch does, and `model.onnx` with whole numbers, and compares both with torch.
`trained_vectors.json` goes into the tests, which hold the shipped file against it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.weights import EPSILON, HEADS, NORMS, WIDTH, Weights, layer_count

# Operators of onnxruntime beside the standard ones: the only runtime this is for, and much faster with them.
RUNTIME = "com.microsoft"
OPERATORS = 18
# See training.rounding, which teaches the student to compute with these.
MOST = 64
WORD_MOST = 127


class Graph:
    """Nodes and constants; every method gives the name of what it adds."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self.add_many(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def add_many(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: object
    ) -> Sequence[str]:
        number = len(self._nodes)
        names = [f"{operator.lower()}_{number}_{place}" for place in range(outputs)]
        node = helper.make_node(operator, inputs, names, name=f"{operator}_{number}", domain=domain, **attributes)
        self._nodes.append(node)
        return names

    def constant(self, name: str, array: NDArray[np.generic]) -> str:
        self._constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def model(
        self, result: str, *, name: str, width: int, of_tokens: Sequence[str], of_words: Sequence[str] = ()
    ) -> onnx.ModelProto:
        """`name` and `width` of what comes out; what goes in is a number for each token, or its row of the table."""
        self._nodes.append(helper.make_node("Identity", [result], [name], name=name))
        inputs = [helper.make_tensor_value_info(entry, TensorProto.INT64, ["texts", "tokens"]) for entry in of_tokens]
        inputs += [
            helper.make_tensor_value_info(entry, TensorProto.FLOAT, ["texts", "tokens", WIDTH]) for entry in of_words
        ]
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["texts", width])
        graph = helper.make_graph(self._nodes, "mycel", inputs, [output], list(self._constants.values()))
        operators = [helper.make_opsetid("", OPERATORS), helper.make_opsetid(RUNTIME, 1)]
        model = helper.make_model(graph, opset_imports=operators, producer_name="mycel", ir_version=9)
        onnx.checker.check_model(model)
        return model


def build(weights: Weights, *, whole_numbers: bool) -> onnx.ModelProto:
    graph = Graph()
    words = _embedded(graph, weights, whole_numbers=whole_numbers)
    first = encoded(graph, weights, words, whole_numbers=whole_numbers)
    return graph.model(first, name="vector", width=WIDTH, of_tokens=("input_ids", "attention_mask"))


def encoded(graph: Graph, weights: Weights, words: str, *, whole_numbers: bool) -> str:
    """What the layers make of the rows of a text: that of its first token."""
    rows = _norm(graph, _with_positions(graph, weights, words), "embeddings.LayerNorm", weights)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.INT32)
    layers = layer_count(weights)
    for number in range(layers):
        layer = _Layer(graph, weights, f"encoder.layer.{number}.", whole_numbers=whole_numbers)
        rows = layer.add(rows, mask, only_first=number == layers - 1)
    return graph.add("Squeeze", rows, graph.constant("second axis", np.array([1])))


def _embedded(graph: Graph, weights: Weights, *, whole_numbers: bool) -> str:
    words = weights["embeddings.word_embeddings.weight"]
    if whole_numbers:
        table, scales = _rounded(words, most=WORD_MOST)
        taken = graph.add(
            "Cast", graph.add("Gather", graph.constant("words", table), "input_ids"), to=TensorProto.FLOAT
        )
        return graph.add("Mul", taken, graph.add("Gather", graph.constant("words scale", scales[:, None]), "input_ids"))
    return graph.add("Gather", graph.constant("words", words), "input_ids")


def _with_positions(graph: Graph, weights: Weights, rows: str) -> str:
    # There is one type of token only.
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    shape = graph.add("Shape", "attention_mask")
    zero, one, two = (graph.constant(f"number {number}", np.array([number])) for number in range(3))
    tokens = graph.add("Slice", shape, one, two)
    return graph.add("Add", rows, graph.add("Slice", graph.constant("positions", positions), zero, tokens, zero))


class _Layer:
    def __init__(self, graph: Graph, weights: Weights, prefix: str, *, whole_numbers: bool) -> None:
        self._graph, self._weights, self._prefix, self._whole_numbers = graph, weights, prefix, whole_numbers

    def add(self, rows: str, mask: str, *, only_first: bool) -> str:
        """`only_first`: of the last layer nothing is used but the first token's row, so no other is computed."""
        graph = self._graph
        if only_first:
            key, value = self._split(rows, "attention.self.key", "attention.self.value")
            zero, one = (graph.constant(f"number {number}", np.array([number])) for number in range(2))
            rows = graph.add("Slice", rows, zero, one, graph.constant("second axis", np.array([1])))
            query = self._dense(rows, "attention.self.query")
        else:
            query, key, value = self._split(rows, *(f"attention.self.{part}" for part in ("query", "key", "value")))
        heads = graph.add("MultiHeadAttention", query, key, value, "", mask, domain=RUNTIME, num_heads=HEADS)
        attended = graph.add("Add", rows, self._dense(heads, "attention.output.dense"))
        rows = _norm(graph, attended, self._prefix + NORMS[0], self._weights)
        inner = graph.add("Gelu", self._dense(rows, "intermediate.dense"), domain=RUNTIME)
        fed = graph.add("Add", rows, self._dense(inner, "output.dense"))
        return _norm(graph, fed, self._prefix + NORMS[1], self._weights)

    def _split(self, rows: str, *names: str) -> Sequence[str]:
        """Several layers over the same rows as one product."""
        together = self._dense(rows, *names)
        return self._graph.add_many("Split", together, outputs=len(names), axis=2, num_outputs=len(names))

    def _dense(self, rows: str, *names: str) -> str:
        table = np.concatenate([self._weights[f"{self._prefix}{name}.weight"] for name in names])
        bias = np.concatenate([self._weights[f"{self._prefix}{name}.bias"] for name in names])
        graph, name = self._graph, self._prefix + "+".join(names)
        added = graph.constant(f"{name} bias", bias)
        if not self._whole_numbers:
            return graph.add("Add", graph.add("MatMul", rows, graph.constant(name, table.T)), added)
        whole, scales = _rounded(table, most=MOST)
        zeros = graph.constant(f"{name} zero", np.zeros(len(scales), dtype=np.int8))
        factors = graph.constant(name, whole.T), graph.constant(f"{name} scale", scales), zeros
        return graph.add("DynamicQuantizeMatMul", rows, *factors, added, domain=RUNTIME)


def _norm(graph: Graph, rows: str, name: str, weights: Weights) -> str:
    given = (graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
    return graph.add("LayerNormalization", rows, *given, axis=-1, epsilon=EPSILON)


def _rounded(table: NDArray[np.float32], *, most: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers and a scale for each row."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-8).astype(np.float32) / np.float32(most)
    return np.round(table / scales[:, None]).astype(np.int8), scales


def compare(weights: Weights, folder: Path, tokenizer_file: Path) -> dict[str, float]:
    """The least cosine between torch and each of the two files, over texts of many lengths.

    The student was taught to compute with whole numbers, so `model.onnx` is held against torch doing the same; what
    the rounding itself changes stands beside it.
    """
    import onnxruntime
    import torch
    from tokenizers import Tokenizer

    from training.encoder import encoder_of

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    encoder = encoder_of(weights).eval()
    sessions = {name: onnxruntime.InferenceSession(folder / name) for name in ("float.onnx", "model.onnx")}
    pairs = {"float.onnx": False, "model.onnx": True, "model.onnx, torch not rounding": False}
    least = dict.fromkeys(pairs, 1.0)
    for text in _samples():
        ids = np.asarray([tokenizer.encode(text).ids[:256]])
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for name, rounded in pairs.items():
            encoder.rounded = rounded
            with torch.inference_mode():
                wanted = encoder(torch.from_numpy(ids), torch.ones(ids.shape, dtype=torch.bool)).numpy()[0]
            vector = np.asarray(sessions[name.split(",")[0]].run(None, given)[0])[0]
            least[name] = min(least[name], float(vector @ wanted / np.linalg.norm(vector)))
    return least


def trained_vectors(weights: Weights, tokenizer_file: Path) -> dict[str, list[float]]:
    """Some texts with the vectors that the trained student gives them in torch: what the shipped file must repeat."""
    import torch
    from tokenizers import Tokenizer

    from training.encoder import encoder_of

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    encoder = encoder_of(weights).eval()
    encoder.rounded = True
    found: dict[str, list[float]] = {}
    for text in _samples()[::5]:
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.inference_mode():
            found[text] = [
                round(number, 4) for number in encoder(ids, torch.ones_like(ids, dtype=torch.bool))[0].tolist()
            ]
    return found


def _samples() -> list[str]:
    """Texts of many lengths."""
    words = (Path(__file__).parent / "README.md").read_text("utf-8").split()
    return [" ".join(words[start : start + length]) for length in (3, 8, 20, 60, 120) for start in range(0, 300, 25)]


def main() -> None:
    student, tokenizer, out = map(Path, sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    with np.load(student) as kept:
        weights = {name: kept[name].astype(np.float32) for name in kept.files}
    onnx.save(build(weights, whole_numbers=False), str(out / "float.onnx"))
    onnx.save(build(weights, whole_numbers=True), str(out / "model.onnx"))
    (out / "trained_vectors.json").write_text(json.dumps(trained_vectors(weights, tokenizer)) + "\n")
    print(json.dumps({"least cosine": compare(weights, out, tokenizer)}))


if __name__ == "__main__":
    main()
