"""Rounding to whole numbers as the shipped graph does it; gradients pass through as if nothing was rounded."""

from __future__ import annotations

import torch
from torch import Tensor

# Seven bits and not eight: processors without the newer instructions add pairs of products in 16 bits, and a weight
# above 64 times an activation of 255 could overflow there and give other vectors than everywhere else.
MOST = 64


def round_weights(weights: Tensor, *, most: int = MOST) -> Tensor:
    """Each row by a scale of its own."""
    scale = weights.detach().abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / most
    return _straight_through(weights, torch.round(weights / scale) * scale)


def round_activations(rows: Tensor, mask: Tensor) -> Tensor:
    """One scale and one zero for all tokens of a text, of 0 to 255; padding takes no part."""
    kept = (rows * mask[:, :, None]).detach().float()
    low, high = kept.amin(dim=(1, 2), keepdim=True), kept.amax(dim=(1, 2), keepdim=True)
    low, high = low.clamp_max(0), high.clamp_min(0)
    scale = ((high - low) / 255).clamp_min(1e-8)
    zero = torch.round(-low / scale)
    whole = torch.clamp(torch.round(rows.float() / scale) + zero, 0, 255)
    return _straight_through(rows, (whole - zero) * scale)


def _straight_through(given: Tensor, rounded: Tensor) -> Tensor:
    return given + (rounded.to(given.dtype) - given).detach()
