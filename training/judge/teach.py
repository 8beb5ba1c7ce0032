"""Teaches the judge, and measures it on examples left out.

    python -m training.judge.teach --out OUT [--seed N] [--fold K | --all] [--epochs N] [--minutes N]
        [--batch N] [--rate X] [--pairs SHARE] [--hold] [--frozen N]
        [--begin FILE | --teacher FILE [--layers 0,2,…]] [--judges OUT …]

`--fold K` leaves out the K-th sixth of the groups, and tells after each epoch what the judge makes of them;
`--all` learns from everything. OUT/judge.pt is the judge after the last epoch.
`--begin FILE` goes on from a judge.pt that was taught with the same fold, or from the shipped judge.onnx (fold 0), for
material that came later: `--pairs SHARE` sees so much of the pairs in each epoch; `--hold` has it learn, beside their
labels, what it said of pairs when it began, so that new talk changes little for them; `--frozen N` leaves the lowest N
layers as they are, and what is below them, in half the time. Without a GPU it computes with half precision.
`--teacher FILE` begins with the embedder's own teacher, all its layers or those named. `--judges` names judges taught
before, large ones: their mean is learned beside the labels, also of pairs and sentences that nobody has labelled.
After `--minutes` it breaks off with status 3, and goes on when it is started again.
"""

from __future__ import annotations

import argparse
import copy
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.judge.batches import Coded, answers, batches, coded, joined, load_tokenizer, padded
from training.judge.labels import HEADS, place_of
from training.judge.material import ROOT, Example, all_examples, fold_of, grouped
from training.judge.measure import report
from training.judge.model import Judge, kept_judge, large_judge, new_judge, read_judge
from training.judge.unlabelled import PAIR, unlabelled

BUILTIN = ROOT / "src" / "mycel" / "providers" / "embeddings" / "builtin"
WEIGHTS = {"relation": 1.0, "keep": 1.0, "active": 0.5, "type": 0.5, "kind": 0.5}
# What other judges say of an example, beside its label; and how much softer than they say it.
OF_JUDGES, SOFTER = 1.5, 1.5
# So many sentences of talks are seen in each epoch, of those to keep and of the others: they are many, and alike.
SEEN = {1: 0.45, 0: 0.22}
HEAD_RATE = 1e-3
WARM_UP = 0.06
# In the last steps it computes with whole numbers, as the shipped file does.
ROUNDED = 0.15
# What the program ends with when its minutes were over; started again, it goes on.
BROKEN_OFF = 3
# The lowest layer is left as the embedder has it.
FROZEN_LAYERS = 1


def loss_of(said: Tensor, examples: Sequence[Example], smoothing: float = 0.02) -> Tensor:
    total = said.new_zeros(())
    for head, found in answers(examples).items():
        rows, right, weights = (part.to(said.device) for part in found)
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


def judged_loss(said: Tensor, wanted: Tensor, *, is_pair: Tensor) -> Tensor:
    """How far what is said is from what the judges say: of pairs the relation, of sentences the rest."""
    total = said.new_zeros(())
    for head, width in HEADS.items():
        place, rows = place_of(head), is_pair if head == "relation" else ~is_pair
        ours, theirs = said[rows][:, place] / SOFTER, wanted[rows][:, place] / SOFTER
        if width == 1:
            losses = functional.binary_cross_entropy_with_logits(ours, theirs.sigmoid(), reduction="none")[:, 0]
        else:
            losses = -(theirs.softmax(dim=-1) * ours.log_softmax(dim=-1)).sum(dim=-1)
        total = total + WEIGHTS[head] * losses.sum()
    return total / max(1, len(said))


def said_of(judge: Judge, rows: Sequence[Coded], *, turned: bool = False, size: int = 256) -> np.ndarray:
    judge.eval()
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].first) + len(rows[number].second))
    found = np.zeros((len(rows), sum(HEADS.values())), dtype=np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), size):
            part = order[start : start + size]
            given = [(rows[n].second, rows[n].first) if turned else (rows[n].first, rows[n].second) for n in part]
            found[part] = _answers_of(judge, [joined(*texts) for texts in given]).cpu().numpy()
    judge.train()
    return found


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judges say of a row, as it stands and turned round."""

    said: Tensor
    turned: Tensor


class Lesson:
    """A course of steps that can be broken off and taken up again: `folder` keeps where it stands."""

    def __init__(
        self,
        judge: Judge,
        learned: Sequence[Coded],
        *,
        epochs: int,
        seed: int,
        folder: Path,
        size: int,
        rate: float,
        pairs: float = 1.0,
        frozen: int = FROZEN_LAYERS,
        hold: bool = False,
        judged: Mapping[int, Judged] | None = None,
    ) -> None:
        """`size` of a batch; of the `pairs` this share is seen in an epoch; `frozen` layers learn nothing; `judged` by
        the identity of the row."""
        self._judge, self._seed, self._size, self._rate, self._judged = judge, seed, size, rate, judged or {}
        self._file = folder / "lesson.pt"
        talks = [row for row in learned if row.example.source == "talks"]
        others = [row for row in learned if row.example.source != "talks"]
        of_pairs = [row for row in others if is_of_pairs(row.example)]
        self._parts = [
            ([row for row in others if not is_of_pairs(row.example)], 1.0),
            (of_pairs, pairs),
            *(([row for row in talks if kept in row.example.right["keep"]], share) for kept, share in SEEN.items()),
        ]
        self._in_epoch = math.ceil(sum(int(share * len(rows)) for rows, share in self._parts) / size)
        self.steps = epochs * self._in_epoch
        self.step = 0
        self._held = copy.deepcopy(judge).eval().requires_grad_(False) if hold else None
        self._optimizer = _optimizer(judge, frozen)
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
        seen = [row for rows, share in self._parts for row in chance.sample(rows, int(share * len(rows)))]
        return batches(seen, self._size, chance)

    def _learn(self, batch: Sequence[Coded], chance: random.Random) -> None:
        torch.manual_seed(self._seed * 1_000_003 + self.step)
        for group, rate in zip(self._optimizer.param_groups, (self._rate, HEAD_RATE), strict=True):
            group["lr"] = rate * min((self.step + 1) / (WARM_UP * self.steps), max(0.02, 1 - self.step / self.steps))
        self._judge.encoder.rounded = self.step >= (1 - ROUNDED) * self.steps
        turned = [row.example.turns_round and chance.random() < 0.5 for row in batch]
        given = [
            joined(row.second, row.first) if is_turned else joined(row.first, row.second)
            for row, is_turned in zip(batch, turned, strict=True)
        ]
        device = self._judge.place.device
        said = _answers_of(self._judge, given)
        loss = loss_of(said, [row.example for row in batch])
        if self._held is not None:
            rows = [number for number, row in enumerate(batch) if is_of_pairs(row.example)]
            with torch.no_grad():
                wanted = _answers_of(self._held, [given[number] for number in rows]) if rows else said[:0]
            are_pairs = torch.ones(len(rows), dtype=torch.bool, device=device)
            loss = loss + OF_JUDGES * judged_loss(said[rows], wanted, is_pair=are_pairs) * len(rows) / len(batch)
        if self._judged:
            told = (self._judged[id(row)] for row in batch)
            wanted = torch.stack([both.turned if back else both.said for both, back in zip(told, turned, strict=True)])
            is_pair = torch.tensor([is_of_pairs(row.example) for row in batch], device=device)
            loss = loss + OF_JUDGES * judged_loss(said, wanted.to(device), is_pair=is_pair)
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


def _answers_of(judge: Judge, given: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    device = judge.place.device
    with torch.autocast("cpu", torch.bfloat16, enabled=device.type == "cpu"):
        return judge(*(part.to(device) for part in padded(given))).float()


def is_of_pairs(example: Example) -> bool:
    return "relation" in example.right or example.kind == PAIR


def judged_by(judges: Sequence[Judge], rows: Sequence[Coded]) -> dict[int, Judged]:
    one, other = (
        torch.tensor(np.mean([said_of(judge, rows, turned=turned) for judge in judges], axis=0))
        for turned in (False, True)
    )
    return {id(row): Judged(one[number], other[number]) for number, row in enumerate(rows)}


def _optimizer(judge: Judge, frozen: int) -> torch.optim.Optimizer:
    for layer in judge.encoder.layers[:frozen]:
        layer.requires_grad_(False)
    judge.encoder.position.requires_grad_(False)
    # As long as places are learned, each step goes back through every layer.
    judge.place.requires_grad_(frozen <= FROZEN_LAYERS)
    judge.encoder.norm.requires_grad_(frozen <= FROZEN_LAYERS)
    heads = [part for part in (judge.place, *judge.heads.parameters()) if part.requires_grad]
    body = [part for part in judge.encoder.parameters() if part.requires_grad]
    return torch.optim.AdamW([{"params": body}, {"params": heads}], weight_decay=0.01, betas=(0.9, 0.98))


def divided(fold: int) -> tuple[list[Coded], list[Coded]]:
    """What is learned, and what is left out."""
    examples = all_examples()
    folds = fold_of(grouped(examples))
    rows = coded(examples, load_tokenizer(BUILTIN / "tokenizer.json"))
    both = list(zip(rows, folds, strict=True))
    return [row for row, of in both if of != fold], [row for row, of in both if of == fold]


def left_out(fold: int) -> list[Coded]:
    return divided(fold)[1]


def begun(file: Path | None, teacher: Path | None, layers: str | None) -> Judge:
    embedder = BUILTIN / "model.onnx"
    if teacher is not None:
        return large_judge(teacher, embedder, layers=tuple(map(int, layers.split(","))) if layers else None)
    if file is None:
        return new_judge(embedder)
    return read_judge(file, embedder) if file.suffix == ".onnx" else kept_judge(file)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--pairs", type=float, default=1.0)
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("--frozen", type=int, default=FROZEN_LAYERS)
    parser.add_argument("--begin", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--layers")
    parser.add_argument("--judges", type=Path, nargs="*", default=())
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    learned, apart = divided(asked.fold)
    if asked.all:
        learned, apart = [*learned, *apart], []
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = begun(asked.begin, asked.teacher, asked.layers).to(device)
    judge.train()
    judged: dict[int, Judged] = {}
    if asked.judges:
        learned = [*learned, *coded(unlabelled(asked.fold), load_tokenizer(BUILTIN / "tokenizer.json"))]
        judged = judged_by([kept_judge(folder / "judge.pt").to(device) for folder in asked.judges], learned)
    lesson = Lesson(
        judge,
        learned,
        epochs=asked.epochs,
        seed=asked.seed,
        folder=asked.out,
        size=asked.batch,
        rate=asked.rate,
        pairs=asked.pairs,
        frozen=asked.frozen,
        hold=asked.hold,
        judged=judged,
    )

    def after(epoch: int) -> None:
        torch.save(judge.state_dict(), asked.out / "judge.pt")
        if apart:
            said, turned = said_of(judge, apart), said_of(judge, apart, turned=True)
            print(f"epoch {epoch}", report([row.example for row in apart], said, turned), flush=True)

    finished = lesson.run(until=time.monotonic() + 60 * asked.minutes, after=after)
    raise SystemExit(0 if finished else BROKEN_OFF)


if __name__ == "__main__":
    main()
