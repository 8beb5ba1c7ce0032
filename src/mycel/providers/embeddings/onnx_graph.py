"""One ONNX model in memory: the tokens of a text in, its vector out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mycel.errors import Misconfigured, Unavailable
from mycel.providers.embeddings.card import Card

if TYPE_CHECKING:
    import onnxruntime

KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
INPUT_TYPES: dict[str, Any] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
ONLY_ERRORS = 3


class OnnxGraph:
    """onnxruntime lets many threads run one session at once."""

    def __init__(self, path: Path, *, card: Card) -> None:
        self._path = path
        self._card = card
        self._session = open_session(path)
        self._inputs = {entry.name: self._type_of(entry) for entry in self._session.get_inputs()}
        if "input_ids" not in self._inputs:
            raise Misconfigured(f"{path} has no input input_ids")
        output = self._session.get_outputs()[0]
        self._output = output.name
        # Empty where the graph leaves even that open.
        if output.shape:
            self._check_shape(output.shape)

    def run(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Return the vector of one text, of whatever length the model gives.

        A text may have no token that the model knows; it is then run as one of padding.
        """
        shape = 1, max(1, len(tokens))
        rows = {"input_ids": [tokens or [0]], "token_type_ids": np.zeros(shape), "attention_mask": np.ones(shape)}
        feed = {name: np.asarray(rows[name], dtype=kind) for name, kind in self._inputs.items()}
        try:
            output = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float32)
        except Exception as error:  # onnxruntime's errors have no common ancestor but this one
            raise Unavailable(f"{self._path} could not be run ({type(error).__name__})") from error
        self._check_shape(output.shape)
        if len(output) != 1:
            raise Misconfigured(f"{self._path} gives {len(output)} vectors for one text")
        if output.ndim == 2:
            return output[0]
        return output[0, 0] if self._card.pooling == "cls" else output[0].mean(axis=0)

    def _type_of(self, entry: onnxruntime.NodeArg) -> Any:
        if entry.name not in KNOWN_INPUTS or entry.type not in INPUT_TYPES:
            raise Misconfigured(f"{self._path} wants an input {entry.name} ({entry.type}), which Mycel cannot give")
        return INPUT_TYPES[entry.type]

    def _check_shape(self, shape: Sequence[int | str | None]) -> None:
        """A size that the graph leaves open stands there as a name, and is checked when it is known."""
        if len(shape) not in (2, 3):
            raise Misconfigured(f"{self._path} gives neither one vector per text nor one per token")
        size = shape[-1]
        if isinstance(size, int) and size != self._card.dimensions:
            raise Misconfigured(
                f"{self._path} gives vectors of {size} numbers; its card says dimensions {self._card.dimensions}"
            )


def open_session(path: Path) -> onnxruntime.InferenceSession:
    # From its import on it collects reports for its vendor, unless the process has said no before.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # The caller's own: two threads take a tenth to a quarter more processor time for the same text.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = ONLY_ERRORS
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common ancestor but this one
        raise Misconfigured(f"{path} is not a model that onnxruntime can load ({type(error).__name__})") from error
