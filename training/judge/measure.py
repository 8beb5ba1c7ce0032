"""How well the judge does on examples left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from training.judge.labels import HEADS, RELATIONS, place_of
from training.judge.material import Example

Said = NDArray[np.float32]


def softmax(rows: Said) -> Said:
    grown = np.exp(rows - rows.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def relation_odds(said: Said, turned: Said) -> Said:
    """Both ways round, but for what replaces what, where the order is the question."""
    one, other = softmax(said[:, place_of("relation")]), softmax(turned[:, place_of("relation")])
    mean = (one + other) / 2
    mean[:, 2] = one[:, 2]
    return mean / mean.sum(axis=1, keepdims=True)


def found_at(odds: Said, is_right: NDArray[np.bool_], may_be: float) -> tuple[float, float]:
    """The share of the right ones that is found where at most this share of the others is taken for one."""
    wrong = np.sort(odds[~is_right])[::-1]
    bar = wrong[int(may_be * len(wrong))] if len(wrong) else 0.0
    return float((odds[is_right] > bar).mean()), float(bar)


def temperatures(examples: Sequence[Example], said: Said) -> dict[str, float]:
    """By what to divide what each head says, so that its odds are as often right as they say."""
    found: dict[str, float] = {}
    for head, width in HEADS.items():
        rows = [number for number, example in enumerate(examples) if head in example.right and example.weight == 1]
        right = [examples[number].right[head] for number in rows]
        part = said[rows][:, place_of(head)]
        found[head] = min(TEMPERATURES, key=lambda tried: _surprise(part / tried, right, width=width))
    return found


TEMPERATURES = [round(0.5 + step / 20, 2) for step in range(60)]


def _surprise(said: Said, right: Sequence[frozenset[int]], *, width: int) -> float:
    if width == 1:
        signs = np.array([1 if min(answer) else -1 for answer in right])
        return float(np.logaddexp(0, -signs * said[:, 0]).mean())
    odds = softmax(said)
    return float(-np.mean([np.log(odds[row, list(answer)].sum() + 1e-9) for row, answer in enumerate(right)]))


def report(examples: Sequence[Example], said: Said, turned: Said) -> str:
    lines: list[str] = []
    chosen = [n for n, e in enumerate(examples) if len(e.right.get("relation", ())) == 1]
    if chosen:
        odds = relation_odds(said[chosen], turned[chosen])
        labels = np.array([min(examples[n].right["relation"]) for n in chosen])
        table = np.zeros((5, 5), dtype=int)
        np.add.at(table, (labels, odds.argmax(axis=1)), 1)
        lines.append(f"pairs {len(labels)} right {(odds.argmax(axis=1) == labels).mean():.3f}\n{table}")
        not_superseding = labels != 2
        for name, may_be in (("duplicate", 0.02), ("duplicate", 0.01), ("contradiction", 0.03), ("supersedes", 0.01)):
            label = RELATIONS.index(name)
            among = not_superseding if name == "duplicate" else labels > -1
            share, bar = found_at(odds[among][:, label], labels[among] == label, may_be)
            lines.append(f"{name} at {may_be}: {share:.2f} (bar {bar:.2f})")
    chosen = [n for n, e in enumerate(examples) if "keep" in e.right and e.weight == 1]
    if chosen:
        lines += _of_talk([examples[n] for n in chosen], said[chosen])
    return "\n".join(lines)


def chance(said: Said) -> Said:
    return 1 / (1 + np.exp(-said))


def _of_talk(examples: Sequence[Example], said: Said) -> list[str]:
    lines: list[str] = []
    for name, is_talk in (("turns", False), ("talks", True)):
        rows = [number for number, example in enumerate(examples) if (example.source == "talks") is is_talk]
        if rows:
            lines += _kept(name, [examples[number] for number in rows], said[rows])
    rows = [number for number, example in enumerate(examples) if "kind" in example.right]
    return [*lines, *_sorts([examples[number] for number in rows], said[rows])] if rows else lines


def _kept(name: str, examples: Sequence[Example], said: Said) -> Iterator[str]:
    keep = np.array([min(example.right["keep"]) for example in examples], dtype=bool)
    odds, types = chance(said[:, place_of("keep")][:, 0]), said[:, place_of("type")].argmax(axis=1)
    typed = np.array([kind in example.right.get("type", ()) for kind, example in zip(types, examples, strict=True)])
    for bar in (0.3, 0.5, 0.7):
        taken = odds > bar
        right = taken & keep
        precision, recall = right.sum() / max(1, taken.sum()), right.sum() / keep.sum()
        share = typed[right].mean() if right.any() else 0.0
        yield f"{name} {len(keep)} bar {bar}: precision {precision:.2f} recall {recall:.2f} type right {share:.2f}"


def _sorts(examples: Sequence[Example], said: Said) -> Iterator[str]:
    kinds = said[:, place_of("kind")].argmax(axis=1)
    right = [kind in example.right["kind"] for kind, example in zip(kinds, examples, strict=True)]
    yield f"kind right {np.mean(right):.2f}"
    active = np.array([min(example.right["active"]) for example in examples], dtype=bool)
    odds = chance(said[:, place_of("active")][:, 0])
    for bar in (0.5, 0.8, 0.9):
        precision = active[odds > bar].mean() if (odds > bar).any() else 0.0
        yield f"active bar {bar}: precision {precision:.3f} recall {(odds[active] > bar).mean():.2f}"
