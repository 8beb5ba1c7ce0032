"""How well the judge does on examples left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.judge.labels import RELATIONS, place_of
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


def _of_talk(examples: Sequence[Example], said: Said) -> list[str]:
    lines: list[str] = []
    for single in (True, False):
        rows = [n for n, e in enumerate(examples) if (e.source != "talks") is single]
        if not rows:
            continue
        keep = np.array([min(examples[n].right["keep"]) for n in rows], dtype=bool)
        odds = 1 / (1 + np.exp(-said[rows][:, place_of("keep")][:, 0]))
        for bar in (0.3, 0.5, 0.7):
            taken = odds > bar
            right = taken & keep
            typed = sum(
                int(said[rows[n]][place_of("type")].argmax()) in examples[rows[n]].right.get("type", ())
                for n in np.flatnonzero(right)
            )
            lines.append(
                f"{'turns' if single else 'talks'} {len(rows)} bar {bar}: precision {right.sum() / max(1, taken.sum()):.2f} recall {right.sum() / keep.sum():.2f} type right {typed / max(1, right.sum()):.2f}"
            )
    rows = [n for n, e in enumerate(examples) if "kind" in e.right]
    if rows:
        kinds = said[rows][:, place_of("kind")].argmax(axis=1)
        lines.append(f"kind right {np.mean([k in examples[n].right['kind'] for k, n in zip(kinds, rows)]):.2f}")
        active = np.array([min(examples[n].right["active"]) for n in rows], dtype=bool)
        odds = 1 / (1 + np.exp(-said[rows][:, place_of("active")][:, 0]))
        for bar in (0.5, 0.8, 0.9):
            lines.append(
                f"active bar {bar}: precision {active[odds > bar].mean():.3f} recall {(odds[active] > bar).mean():.2f}"
            )
    return lines
