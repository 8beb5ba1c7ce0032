"""The encoder in torch, for teacher and student alike: BERT, whose vector is that of the first token."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.rounding import round_activations, round_weights
from training.weights import DENSE, EPSILON, HEADS, INNER, NORMS, WIDTH, Weights, layer_count


class Encoder(nn.Module):
    """`rounded` makes it compute as the shipped file does, with whole numbers, and still be trained."""

    def __init__(self, layers: int, *, words: int = 30522, positions: int = 512) -> None:
        super().__init__()
        self.rounded = False
        self.word = nn.Parameter(torch.zeros(words, WIDTH))
        # With the row of the only token type in it.
        self.position = nn.Parameter(torch.zeros(positions, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """One vector of length 1 for each row of `ids`; `mask` is true where a token stands."""
        table = round_weights(self.word, most=127) if self.rounded else self.word
        rows = self.norm(functional.embedding(ids, table) + self.position[: ids.shape[1]])
        seen = mask[:, None, None, :]
        for layer in self.layers:
            rows = layer(rows, mask, seen, rounded=self.rounded)
        return functional.normalize(rows[:, 0].float(), dim=-1)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.ModuleDict({_key(name): nn.Linear(*_shape(name)) for name in DENSE})
        self.norms = nn.ModuleDict({_key(name): nn.LayerNorm(WIDTH, eps=EPSILON) for name in NORMS})

    def forward(self, rows: Tensor, mask: Tensor, seen: Tensor, *, rounded: bool, only_first: bool = False) -> Tensor:
        """`only_first` computes the row of the first token and no other."""

        def dense(name: str, inputs: Tensor) -> Tensor:
            layer = self.dense[_key(name)]
            return functional.linear(inputs, round_weights(layer.weight) if rounded else layer.weight, layer.bias)

        def entering(inputs: Tensor) -> Tensor:
            return round_activations(inputs, mask) if rounded else inputs

        given = entering(rows)
        query, key, value = (
            dense(f"attention.self.{part}", given).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        if only_first:
            rows, query, mask = rows[:, :1], query[:, :, :1], mask[:, :1]
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        attended = dense("attention.output.dense", entering(heads.transpose(1, 2).flatten(2)))
        rows = self.norms[_key(NORMS[0])](rows + attended)
        inner = functional.gelu(dense("intermediate.dense", entering(rows)))
        return self.norms[_key(NORMS[1])](rows + dense("output.dense", entering(inner)))


def encoder_of(weights: Weights) -> Encoder:
    encoder = Encoder(layer_count(weights))
    with torch.no_grad():
        for name, parameter in _named(encoder):
            parameter.copy_(torch.tensor(weights[name]))
        kinds = torch.tensor(weights["embeddings.token_type_embeddings.weight"])
        encoder.position += kinds[0]
    return encoder


def weights_of(encoder: Encoder) -> Weights:
    """Under the usual names of BERT. The token types are in the positions already, so theirs are zero."""
    weights = {name: parameter.detach().float().cpu().numpy().copy() for name, parameter in _named(encoder)}
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((2, WIDTH), dtype=np.float32)
    return weights


def _named(encoder: Encoder) -> list[tuple[str, Tensor]]:
    pairs: list[tuple[str, Tensor]] = [
        ("embeddings.word_embeddings.weight", encoder.word),
        ("embeddings.position_embeddings.weight", encoder.position),
        ("embeddings.LayerNorm.weight", encoder.norm.weight),
        ("embeddings.LayerNorm.bias", encoder.norm.bias),
    ]
    for number, layer in enumerate(encoder.layers):
        for group, names in ((layer.dense, DENSE), (layer.norms, NORMS)):
            for name in names:
                part = group[_key(name)]
                pairs += [(f"encoder.layer.{number}.{name}.{kind}", getattr(part, kind)) for kind in ("weight", "bias")]
    return pairs


def _key(name: str) -> str:
    """Torch allows no dots in the name of a part."""
    return name.replace(".", "_")


def _shape(name: str) -> tuple[int, int]:
    return {"intermediate.dense": (WIDTH, INNER), "output.dense": (INNER, WIDTH)}.get(name, (WIDTH, WIDTH))
