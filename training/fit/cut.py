"""What each cut keeps of the answers among the first ten, and drops of the rest, where judgments are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.report import show_rows
from mycel.contracts.embedder import Background
from training.fit.constants import Values
from training.fit.gather import TOPICS, Asked
from training.fit.measured import Ordered
from training.fit.worlds import SIZES, TOGETHER, small_name

CUTS: Mapping[str, Sequence[float]] = {
    "CUT": (0.4, 0.6, 0.8, 1.0, 1.2),
    "CUT_WORDS": (0.2, 0.4, 0.6, 0.8, 1.0),
}
# The small worlds count as one set.
WORLDS = "worlds"


def show_cuts(asked: Sequence[Asked], values: Values, background: Background) -> None:
    own = [one for one in asked if one.on_topic]
    for name, by_words in (("CUT", False), ("CUT_WORDS", True)):
        ordered = Ordered(own, values, background, by_words=by_words)
        tried = {cut: _kept_and_dropped(ordered, {**values, name: cut}) for cut in CUTS[name]}
        places = list(next(iter(tried.values())))
        rows = [[f"{cut:g}", *(_pair(by_set[place]) for place in places)] for cut, by_set in tried.items()]
        show_rows(f"{name}: answers kept / others dropped, percent of the first ten", ["at least", *places], rows)


def _kept_and_dropped(ordered: Ordered, values: Values) -> dict[str, list[tuple[bool, bool]]]:
    """By set, for each of the first ten hits: whether it answers and whether it is shown."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for number, (one, _) in enumerate(ordered.replays):
        replay = ordered.judge(number, values)
        ranked = replay.ranked()
        hits = found.setdefault(_set_of(one), [])
        for candidate in ranked.candidates[:10]:
            id = one.kept.shelf.ids[candidate.key[1]]
            if id not in one.question.maybe:
                hits.append((id in one.question.gold, ranked.shows(candidate)))
    return found


def _set_of(one: Asked) -> str:
    apart = (*TOPICS, TOGETHER, "notes, dev", *map(small_name, SIZES))
    return one.place if one.place in apart else WORLDS


def _pair(hits: Sequence[tuple[bool, bool]]) -> str:
    kept = [shown for answers, shown in hits if answers]
    dropped = [not shown for answers, shown in hits if not answers]
    return f"{100 * float(np.mean(kept)):.1f} / {100 * float(np.mean(dropped)) if dropped else 0:.0f}"
