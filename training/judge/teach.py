"""Teaches the judge, and measures it on examples left out.

    python -m training.judge.teach --out OUT [--seed N] [--fold K | --all] [--epochs N] [--minutes N] [--begin FILE]

`--fold K` leaves out the K-th sixth of the groups, and tells after each epoch what the judge makes of them;
`--all` learns from everything. OUT/judge.pt is the judge after the last epoch.
`--begin FILE` goes on from a judge.pt that was taught with the same fold, or from the shipped judge.onnx (fold 0), for
material that came later.
After `--minutes` it breaks off with status 3, and goes on when it is started again.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.judge.batches import Coded, answers, batches, coded, joined, load_tokenizer, padded
from training.judge.labels import HEADS, place_of
from training.judge.material import ROOT, Example, all_examples, fold_of, grouped
from training.judge.measure import report
from training.judge.model import Judge, new_judge, read_judge

BUILTIN = ROOT / "src" / "mycel" / "providers" / "embeddings" / "builtin"
BATCH = 24
WEIGHTS = {"relation": 1.0, "keep": 1.0, "active": 0.5, "type": 0.5, "kind": 0.5}
# So many sentences of talks are seen in each epoch, of those to keep and of the others: they are many, and alike.
SEEN = {1: 0.45, 0: 0.22}
RATE, HEAD_RATE = 1.5e-4, 1e-3
WARM_UP = 0.06
# In the last steps it computes with whole numbers, as the shipped file does.
ROUNDED = 0.15
# What the program ends with when its minutes were over; started again, it goes on.
BROKEN_OFF = 3
# The lowest layers are left as the embedder has them.
FROZEN_LAYERS = 1


def loss_of(said: Tensor, examples: Sequence[Example], smoothing: float = 0.02) -> Tensor:
    total = said.new_zeros(())
    for head, (rows, right, weights) in answers(examples).items():
        part = said[rows][:, place_of(head)]
        if HEADS[head] == 1:
            target = right * (1 - 2 * smoothing) + smoothing
            losses = functional.binary_cross_entropy_with_logits(part, target, reduction="none")[:, 0]
        else:
            logs = functional.log_softmax(part, dim=-1)
            told = -logs.masked_fill(right == 0, -1e4).logsumexp(dim=-1)
            losses = (1 - smoothing) * told - smoothing * logs.mean(dim=-1)
        total = total + WEIGHTS[head] * (losses * weights).sum()
    return total / len(examples)


def said_of(judge: Judge, rows: Sequence[Coded], *, turned: bool = False, size: int = 32) -> np.ndarray:
    judge.eval()
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].first) + len(rows[number].second))
    found = np.zeros((len(rows), sum(HEADS.values())), dtype=np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), size):
            part = order[start : start + size]
            given = [(rows[n].second, rows[n].first) if turned else (rows[n].first, rows[n].second) for n in part]
            found[part] = judge(*padded([joined(*texts) for texts in given])).numpy()
    judge.train()
    return found


class Lesson:
    """A course of steps that can be broken off and taken up again: `folder` keeps where it stands."""

    def __init__(self, judge: Judge, learned: Sequence[Coded], *, epochs: int, seed: int, folder: Path) -> None:
        self._judge, self._seed, self._epochs = judge, seed, epochs
        self._file = folder / "lesson.pt"
        self._always = [row for row in learned if row.example.source != "talks"]
        self._talks = {
            kept: [row for row in learned if row.example.source == "talks" and kept in row.example.right["keep"]]
            for kept in SEEN
        }
        self._of_talks = {kept: int(share * len(self._talks[kept])) for kept, share in SEEN.items()}
        self._in_epoch = math.ceil((len(self._always) + sum(self._of_talks.values())) / BATCH)
        self.steps = epochs * self._in_epoch
        self.step = 0
        self._optimizer = _optimizer(judge)
        if self._file.exists():
            held = torch.load(self._file)
            judge.load_state_dict(held["judge"])
            self._optimizer.load_state_dict(held["optimizer"])
            self.step = held["step"]

    def run(self, *, until: float, after: Callable[[int], None]) -> bool:
        """Whether it came to its end before that moment."""
        while self.step < self.steps:
            epoch, done = divmod(self.step, self._in_epoch)
            for number, batch in enumerate(self._batches(epoch)):
                if number >= done:
                    self._learn(batch, random.Random(f"{self._seed} {epoch} {number}"))
                if time.monotonic() > until:
                    self._keep()
                    return False
            after(epoch)
            self._keep()
        return True

    def _batches(self, epoch: int) -> list[list[Coded]]:
        chance = random.Random(f"{self._seed} {epoch}")
        seen = [row for kept, count in self._of_talks.items() for row in chance.sample(self._talks[kept], count)]
        return batches([*self._always, *seen], BATCH, chance)

    def _learn(self, batch: Sequence[Coded], chance: random.Random) -> None:
        torch.manual_seed(self._seed * 1_000_003 + self.step)
        for group, rate in zip(self._optimizer.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = rate * min((self.step + 1) / (WARM_UP * self.steps), max(0.02, 1 - self.step / self.steps))
        self._judge.encoder.rounded = self.step >= (1 - ROUNDED) * self.steps
        given = [
            joined(row.second, row.first)
            if row.example.turns_round and chance.random() < 0.5
            else joined(row.first, row.second)
            for row in batch
        ]
        loss = loss_of(self._judge(*padded(given)), [row.example for row in batch])
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._judge.parameters(), 1.0)
        self._optimizer.step()
        self.step += 1
        if self.step % 25 == 0:
            print(f"step {self.step}/{self.steps} loss {loss.item():.3f}", flush=True)

    def _keep(self) -> None:
        state = {"judge": self._judge.state_dict(), "optimizer": self._optimizer.state_dict(), "step": self.step}
        torch.save(state, self._file)


def _optimizer(judge: Judge) -> torch.optim.Optimizer:
    for layer in judge.encoder.layers[:FROZEN_LAYERS]:
        layer.requires_grad_(False)
    judge.encoder.position.requires_grad_(False)
    heads = [judge.place, *judge.heads.parameters()]
    body = [part for part in judge.encoder.parameters() if part.requires_grad]
    return torch.optim.AdamW([{"params": body}, {"params": heads}], lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))


def divided(fold: int) -> tuple[list[Coded], list[Coded]]:
    """What is learned, and what is left out."""
    examples = all_examples()
    folds = fold_of(grouped(examples))
    rows = coded(examples, load_tokenizer(BUILTIN / "tokenizer.json"))
    both = list(zip(rows, folds, strict=True))
    return [row for row, of in both if of != fold], [row for row, of in both if of == fold]


def left_out(fold: int) -> list[Coded]:
    return divided(fold)[1]


def begun(file: Path | None) -> Judge:
    embedder = BUILTIN / "model.onnx"
    if file is not None and file.suffix == ".onnx":
        return read_judge(file, embedder)
    judge = new_judge(embedder)
    if file is not None:
        judge.load_state_dict(torch.load(file))
    return judge


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--begin", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    learned, apart = divided(asked.fold)
    if asked.all:
        learned, apart = [*learned, *apart], []
    judge = begun(asked.begin)
    judge.train()
    lesson = Lesson(judge, learned, epochs=asked.epochs, seed=asked.seed, folder=asked.out)

    def after(epoch: int) -> None:
        torch.save(judge.state_dict(), asked.out / "judge.pt")
        if apart:
            said, turned = said_of(judge, apart), said_of(judge, apart, turned=True)
            print(f"epoch {epoch}", report([row.example for row in apart], said, turned), flush=True)

    finished = lesson.run(until=time.monotonic() + 60 * asked.minutes, after=after)
    raise SystemExit(0 if finished else BROKEN_OFF)


if __name__ == "__main__":
    main()
