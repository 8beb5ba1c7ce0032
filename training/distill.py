"""Teaches a small encoder to give the vectors of a larger one.

    python -m training.distill --texts DIR [--texts DIR …] --teacher MODEL.onnx --tokenizer tokenizer.json --out DIR

Texts are tokenised once and the teacher's vectors computed once; both are kept in `--kept` and used again.
Needs a GPU to be quick: see README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from training.encoder import Encoder, encoder_of, weights_of
from training.measure import Task, measure
from training.texts import items
from training.tokens import Tokens, tokenise
from training.weights import WIDTH, chosen_layers, read_quantised

# Of the teacher's twelve, evenly, with the first and the last.
LAYERS = (0, 2, 4, 7, 9, 11)
GROUPS = 32
GROUP = 64
CLUSTERS = 2048
# Tokens in one pass, padding included.
PASS_TOKENS = 65_536
HELD_OUT = 5_000
SEED = 20261115


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    epochs: float = 8.5
    rate: float = 6e-4
    warmup: int = 400
    decay: float = 0.01
    # The loss is 1 - cosine, plus so many times the squared difference of all cosines in the batch.
    pairs: float = 20.0
    # The last part of the steps computes with whole numbers, as the shipped file does.
    rounded: float = 0.12
    layers: tuple[int, ...] = LAYERS


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(SEED)
    kept = options.kept or options.out
    kept.mkdir(parents=True, exist_ok=True)
    tokens = _tokens(options.texts, options.tokenizer, kept, share=options.share)
    teacher = read_quantised(options.teacher)
    targets = _targets(tokens, encoder_of(teacher).to(device), kept, device)
    lesson = Lesson(tokens, targets, device)
    recipe = Recipe(**json.loads(options.recipe))
    student = encoder_of(chosen_layers(teacher, tuple(recipe.layers))).to(device)
    tasks = [Task.load(path) for path in sorted(options.tasks.glob("*.npz"))] if options.tasks else []
    train(student, lesson, recipe, tasks, options.out)
    _keep(student, options.out)
    report = {"recipe": asdict(recipe), "texts": len(tokens), **judge(student, lesson, tasks)}
    (options.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=Path, action="append", required=True, help="folder of .txt.xz files")
    parser.add_argument("--teacher", type=Path, required=True, help="the teacher as int8 ONNX")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, help="folder made by training.measure; measured, never trained on")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="where tokens and teacher vectors are kept; by default in --out")
    parser.add_argument("--recipe", default="{}", help="fields of Recipe as JSON")
    parser.add_argument("--share", type=float, default=1.0, help="use only this share of the texts")
    return parser.parse_args()


def _tokens(folders: list[Path], tokenizer: Path, out: Path, *, share: float) -> Tokens:
    path = out / "tokens.npz"
    if not path.exists():
        began = time.monotonic()
        found = items(folders)
        order = np.random.default_rng(SEED).permutation(len(found))[: int(len(found) * share)]
        tokenise([found[place] for place in order], Tokenizer.from_file(str(tokenizer))).save(path)
        _say(f"{len(order):,} texts tokenised in {time.monotonic() - began:.0f} s")
    return Tokens.load(path)


def _targets(tokens: Tokens, teacher: Encoder, out: Path, device: torch.device) -> Tensor:
    path = out / "targets.npy"
    if not path.exists():
        began = time.monotonic()
        np.save(path, embed(teacher, tokens, device).astype(np.float16))
        _say(f"{len(tokens):,} teacher vectors in {time.monotonic() - began:.0f} s")
    return torch.from_numpy(np.load(path)).to(device)


@torch.inference_mode()
def embed(encoder: Encoder, tokens: Tokens, device: torch.device) -> NDArray[np.float32]:
    there = OnDevice(tokens, device)
    rows = np.empty((len(tokens), WIDTH), dtype=np.float32)
    for places in _passes(np.argsort(there.lengths, kind="stable"), there.lengths):
        rows[places] = _vectors(encoder, there, places).cpu().numpy()
    return rows


def _vectors(encoder: Encoder, tokens: OnDevice, places: NDArray[np.int64]) -> Tensor:
    with torch.autocast(tokens.device.type, dtype=torch.bfloat16, enabled=tokens.device.type == "cuda"):
        return encoder(*tokens.padded(places))


def _passes(order: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Places in order of length, cut so that no pass has too many tokens."""
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > PASS_TOKENS:
            yield order[start:end]
            start = end


class OnDevice:
    """Tokens where the encoder is, so that no batch waits for a copy."""

    def __init__(self, tokens: Tokens, device: torch.device) -> None:
        self.device = device
        self.lengths = tokens.lengths
        self._flat = torch.from_numpy(tokens.flat.astype(np.int32)).to(device)
        self._starts = torch.from_numpy(tokens.ends - self.lengths).to(device)
        self._lengths = torch.from_numpy(self.lengths).to(device)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, places: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Rows of token numbers, and where a token stands; the width is a multiple of 8, which suits the device."""
        chosen = torch.from_numpy(places).to(self.device, non_blocking=True)
        columns = torch.arange(int(-(-self.lengths[places].max() // 8) * 8), device=self.device)
        mask = columns < self._lengths[chosen][:, None]
        offsets = torch.where(mask, self._starts[chosen][:, None] + columns, 0)
        return torch.where(mask, self._flat[offsets], 0), mask


class Lesson:
    """Texts with the teacher's vectors, in batches that hold texts near each other as well as far ones.

    A batch is some groups of texts from one cluster each: to tell near texts apart is what finding needs, and in a
    batch drawn at random hardly any two are near.
    """

    def __init__(self, tokens: Tokens, targets: Tensor, device: torch.device) -> None:
        self.tokens, self.targets, self.device = tokens, targets, device
        self.there = OnDevice(tokens, device)
        order = np.random.default_rng(SEED).permutation(len(tokens))
        held = min(HELD_OUT, len(tokens) // 20)
        self.held_out, self._taught = np.sort(order[:held]), np.sort(order[held:])
        self._clusters = _clusters(targets[torch.from_numpy(self._taught).to(device)])

    def steps(self) -> int:
        """Of one epoch."""
        return len(self._taught) // (GROUP * GROUPS)

    def epoch(self, number: int) -> Iterator[NDArray[np.int64]]:
        chance = np.random.default_rng((SEED, number))
        shuffled = chance.permutation(len(self._taught))
        by_cluster = shuffled[np.argsort(self._clusters[shuffled], kind="stable")]
        groups = self._taught[by_cluster][: len(by_cluster) // GROUP * GROUP].reshape(-1, GROUP)
        groups = groups[chance.permutation(len(groups))]
        for start in range(0, len(groups) - GROUPS + 1, GROUPS):
            yield groups[start : start + GROUPS].ravel()


def _clusters(vectors: Tensor, *, rounds: int = 6) -> NDArray[np.int64]:
    """Plain k-means by cosine."""
    count = min(CLUSTERS, max(1, len(vectors) // (4 * GROUP)))
    generator = torch.Generator().manual_seed(SEED)
    centres = vectors[torch.randperm(len(vectors), generator=generator)[:count].to(vectors.device)].float()
    nearest = torch.zeros(len(vectors), dtype=torch.long, device=vectors.device)
    for _ in range(rounds):
        for start in range(0, len(vectors), 100_000):
            part = vectors[start : start + 100_000].float()
            nearest[start : start + 100_000] = (part @ centres.T).argmax(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, vectors.float())
        centres = functional.normalize(torch.where(sums.norm(dim=1, keepdim=True) > 0, sums, centres), dim=1)
    return nearest.cpu().numpy()


def train(student: Encoder, lesson: Lesson, recipe: Recipe, tasks: list[Task], out: Path) -> None:
    steps = int(recipe.epochs * lesson.steps())
    optimiser = torch.optim.AdamW(
        student.parameters(), lr=recipe.rate, weight_decay=recipe.decay, betas=(0.9, 0.98),
        fused=lesson.device.type == "cuda",
    )  # fmt: skip
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps, recipe.warmup))
    began, seen = time.monotonic(), torch.zeros((), device=lesson.device)
    for step, batch in enumerate(_batches(lesson, steps)):
        student.rounded = step >= steps * (1 - recipe.rounded)
        optimiser.zero_grad(set_to_none=True)
        loss = _learn(student, lesson, batch, recipe)
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        seen += loss
        if step % 500 == 499:
            per_second = (step + 1) / (time.monotonic() - began)
            _say(f"step {step + 1:,} of {steps:,}, loss {seen.item() / 500:.4f}, {per_second:.1f} steps/s")
            seen.zero_()
        if step % 4000 == 3999:
            _keep(student, out)
            _say(json.dumps(judge(student, lesson, tasks)))


def _keep(student: Encoder, out: Path) -> None:
    """In half precision: rounding to seven bits is coarser by far."""
    np.savez(out / "student.npz", **{name: array.astype(np.float16) for name, array in weights_of(student).items()})


def _batches(lesson: Lesson, steps: int) -> Iterator[NDArray[np.int64]]:
    number, left = 0, steps
    while left:
        for batch in lesson.epoch(number):
            yield batch
            left -= 1
            if not left:
                return
        number += 1


def _rate(step: int, steps: int, warmup: int) -> float:
    if step < warmup:
        return (step + 1) / warmup
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def _learn(student: Encoder, lesson: Lesson, batch: NDArray[np.int64], recipe: Recipe) -> Tensor:
    """One batch in passes of about the same length each, with one loss over all of them."""
    order = batch[np.argsort(lesson.there.lengths[batch], kind="stable")]
    passes = _passes(order, lesson.there.lengths)
    taught = torch.cat([_vectors(student, lesson.there, places) for places in passes])
    loss = distance(taught, lesson.targets[torch.from_numpy(order).to(lesson.device)].float(), recipe)
    loss.backward()
    return loss.detach()


def distance(student: Tensor, teacher: Tensor, recipe: Recipe) -> Tensor:
    apart = (1 - (student * teacher).sum(dim=1)).mean()
    return apart + recipe.pairs * functional.mse_loss(student @ student.T, teacher @ teacher.T)


def judge(student: Encoder, lesson: Lesson, tasks: list[Task]) -> dict[str, object]:
    """With whole numbers, as shipped, and without, on texts held out and on the benchmark sets."""
    found: dict[str, object] = {}
    was = student.rounded
    for rounded in (False, True):
        student.rounded = rounded

        def vectors(tokens: Tokens) -> NDArray[np.float32]:
            return embed(student, tokens, lesson.device)

        held = vectors(_part(lesson.tokens, lesson.held_out))
        wanted = lesson.targets[torch.from_numpy(lesson.held_out).to(lesson.device)].float().cpu().numpy()
        cosines = (held * wanted).sum(axis=1)
        name = "rounded" if rounded else "plain"
        found[f"{name} cosine"] = round(float(cosines.mean()), 4)
        for task in tasks:
            found[f"{name} {task.name}"] = [round(share, 1) for share in measure(task, vectors)]
    student.rounded = was
    return found


def _part(tokens: Tokens, places: NDArray[np.int64]) -> Tokens:
    lengths = tokens.lengths[places]
    rows = [tokens.flat[end - length : end] for end, length in zip(tokens.ends[places], lengths, strict=True)]
    return Tokens(np.concatenate(rows), np.cumsum(lengths))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
