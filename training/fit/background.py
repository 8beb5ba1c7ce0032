"""A model's background: what its cosines are for questions and texts that have nothing to do with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from mycel.contracts.embedder import Background
from training.fit.gather import AGAIN, TOPICS, Asked

DIGITS = 3


def background_of(asked: Sequence[Asked]) -> Background:
    """From the statistics of each search's pool; every pairing of questions and texts counts alike."""
    unrelated: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    related: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        pool = one.kept.found.pool
        # A handful of texts has no spread worth the name, and no pairing counts twice.
        if one.place in AGAIN or one.place not in TOPICS:
            continue
        if one.on_topic:
            related[one.place].append(pool.deviation)
        else:
            unrelated[one.place, one.origin].append((pool.mean, pool.deviation))
    pairings = [np.array(rows) for rows in unrelated.values()]
    means = [rows[:, 0].mean() for rows in pairings]
    # Within a question, between the questions of a pairing, and between pairings.
    variances = [(rows[:, 1] ** 2).mean() + rows[:, 0].var() for rows in pairings]
    return Background(
        mean=round(float(np.mean(means)), DIGITS),
        deviation=round(float(np.sqrt(np.mean(variances) + np.var(means))), DIGITS),
        # Of questions that a store can answer: it stands in for a small store's own.
        spread=round(float(np.mean([np.mean(deviations) for deviations in related.values()])), DIGITS),
    )
