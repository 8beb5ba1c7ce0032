"""The judge in torch: the encoder of the built-in embedder with heads, told of each token where else it stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from training.encoder import Encoder, encoder_of
from training.judge.labels import WIDTH as OUTPUTS
from training.weights import DENSE, NORMS, WIDTH, Weights, chosen_layers, read_quantised

# First or second text, and whether the same token stands in the other one too: see `places_of`.
PLACES = 4
# Rows of the table of an encoder; a shipped file has those that are used.
POSITIONS = 512


class Judge(nn.Module):
    """The table of words stays as the embedder has it, so that the package carries it once."""

    def __init__(self, encoder: Encoder, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.word.requires_grad_(False)
        self.place = nn.Parameter(torch.randn(PLACES, WIDTH) * 0.02)
        self.heads = nn.Linear(WIDTH, OUTPUTS)
        nn.init.normal_(self.heads.weight, std=0.02)
        nn.init.zeros_(self.heads.bias)
        self._dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, places: Tensor, mask: Tensor) -> Tensor:
        encoder = self.encoder
        rows = functional.embedding(ids, encoder.word) + encoder.position[: ids.shape[1]]
        rows = self._dropout(encoder.norm(rows + functional.embedding(places, self.place)))
        seen = mask[:, None, None, :]
        for layer in encoder.layers[:-1]:
            rows = layer(rows, mask, seen, rounded=encoder.rounded)
        rows = encoder.layers[-1](rows, mask, seen, rounded=encoder.rounded, only_first=True)
        return self.heads(self._dropout(rows[:, 0].float()))


def read_shipped(path: Path, *, words: Path | None = None) -> Weights:
    """A model of the package as a plain encoder: the other way round of `training.export`.

    `words` is the file with the table of words where it is another one.
    """
    constants = _constants(path)
    table = constants if words is None else _constants(words)
    weights: Weights = {
        "embeddings.word_embeddings.weight": table["words"].astype(np.float32) * table["words scale"],
        "embeddings.position_embeddings.weight": np.pad(
            constants["positions"], ((0, POSITIONS - len(constants["positions"])), (0, 0))
        ),
        "embeddings.token_type_embeddings.weight": np.zeros((2, WIDTH), dtype=np.float32),
    }
    for name, array in constants.items():
        if name.endswith((".weight", ".bias")):
            weights[name] = array
        elif name.endswith(" scale") and name.startswith("encoder."):
            joined = name.removesuffix(" scale")
            number, names = joined.removeprefix("encoder.layer.").split(".", 1)
            parts = names.split("+")
            tables = np.split(constants[joined].T.astype(np.float32) * array[:, None], len(parts))
            biases = np.split(constants[f"{joined} bias"], len(parts))
            for part, table, bias in zip(parts, tables, biases, strict=True):
                weights[f"encoder.layer.{number}.{part}.weight"] = table
                weights[f"encoder.layer.{number}.{part}.bias"] = bias
    return weights


def new_judge(embedder: Path) -> Judge:
    return Judge(encoder_of(read_shipped(embedder)))


def large_judge(teacher: Path, embedder: Path, *, layers: tuple[int, ...] | None = None) -> Judge:
    """All layers of the embedder's own teacher, or those named with the words of the embedder, as a shipped one has."""
    weights = read_quantised(teacher)
    if layers is not None:
        weights = chosen_layers(weights, layers)
        weights["embeddings.word_embeddings.weight"] = read_shipped(embedder)["embeddings.word_embeddings.weight"]
    return Judge(encoder_of(weights))


def kept_judge(path: Path) -> Judge:
    """A judge.pt of any number of layers."""
    state = torch.load(path, map_location="cpu")
    count = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("encoder.layers."))
    judge = Judge(Encoder(count))
    judge.load_state_dict(state)
    return judge


def read_judge(path: Path, embedder: Path) -> Judge:
    """The judge of the package, to go on teaching it: its whole numbers as they are, its words from the embedder."""
    judge = Judge(encoder_of(read_shipped(path, words=embedder)))
    constants = _constants(path)
    with torch.no_grad():
        judge.place.copy_(torch.tensor(constants["places table"]))
        judge.heads.weight.copy_(torch.tensor(constants["heads"].T.copy()))
        judge.heads.bias.copy_(torch.tensor(constants["heads bias"]))
    return judge


def _constants(path: Path) -> Weights:
    return {entry.name: numpy_helper.to_array(entry) for entry in onnx.load(str(path)).graph.initializer}


__all__ = ("DENSE", "NORMS", "Judge", "kept_judge", "large_judge", "new_judge", "read_judge", "read_shipped")
