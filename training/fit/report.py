"""What was fitted, as tables to read and as JSON to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.report import show_rows
from mycel.contracts.embedder import Background
from mycel.retrieval.relevance import LEAST_TOPIC
from training.fit.constants import RELEVANCE, Values, today
from training.fit.fusion import Fold, FusionFit, standing
from training.fit.gather import FEW_NOTES, GENERAL, SETS, Asked
from training.fit.measured import Ordered, Orders, summary
from training.fit.relevance import Judged, RelevanceFit

# By what was tried, then by set: recall and nDCG at 10.
Quality = Mapping[str, Mapping[str, tuple[float, float]]]


def show_check(found: Mapping[str, tuple[float, float]]) -> None:
    rows = [[name, *(f"{share:.1f}" for share in both)] for name, both in found.items()]
    show_rows("As the product answers today (percent)", ["set", "recall at 10", "nDCG at 10"], rows)


def show_background(measured: Background, given: Background) -> None:
    print("Background for card.json:")
    print(f'  "background": {json.dumps(asdict(measured))}')
    print(f"  (so far: {json.dumps(asdict(given))})\n")


def show_fusion(fitted: FusionFit, orders: Orders) -> None:
    start = standing()
    columns: dict[str, Values] = {"today": start}
    columns |= {f"without {fold.held}": fold.values for fold in fitted.folds}
    columns |= {"on all": fitted.everything.values, "proposal": fitted.proposal}
    rows = [[name, *(f"{values[name]:g}" for values in columns.values())] for name in start]
    show_rows("Fusion: constants", ["", *columns], rows)
    print(f"{fitted.short_questions} questions are short enough for EMPHASIS to matter.")
    gains = [[_fold_name(fold), _gain(fold.gain), _gain(fold.held_gain)] for fold in [*fitted.folds, fitted.everything]]
    gains.append(["proposal", _gain(fitted.proposal_gain), ""])
    title = "Fusion: gain over today's, points of the mean of recall and nDCG at 10 (± one standard error)"
    show_rows(title, ["fitted", "on its sets", "on the set held back"], gains)
    ordered = [
        [name, *(_pair(orders.quality(name, values).mean(axis=0)) for values in columns.values())] for name in SETS
    ]
    show_rows("Fusion: order (recall / nDCG at 10), before anything is left out", ["set", *columns], ordered)
    profile = [
        [name, "  ".join(f"{value:g}: {gain:+.2f}" for value, gain in values.items())]
        for name, values in fitted.profile.items()
    ]
    show_rows("Fusion: one constant changed in the proposal, points", ["", "value: gain"], profile)


def show_relevance(fitted: RelevanceFit) -> None:
    columns = {"today": {name: today()[name] for name in RELEVANCE}}
    columns |= {f"without {name}": constants for name, constants in fitted.folds.items()}
    columns |= {"on all": fitted.everything, "proposal": fitted.proposal}
    rows = [[name, *(_numbers(constants[name]) for constants in columns.values())] for name in RELEVANCE]
    show_rows("Relevance: constants", ["", *columns], rows)
    told = ", ".join(f"{name} {_gain(found, digits=4)}" for name, found in fitted.gains.items())
    print(f"Log loss gained over today's by what was fitted on all, rounded: {told}.\n")
    ways = {"today": fitted.judged["today"], "held back": fitted.held, "proposal": fitted.judged["proposal"]}
    # The few notes share one store, whose words alone say nothing of their number.
    compared = [place for place in fitted.held if place != FEW_NOTES]
    errors = [[place, *(_errors(by_set[place]) for by_set in ways.values())] for place in compared]
    errors.append(["all three", *(f"{own:.3f} / {words:.3f}" for own, words in fitted.errors.values())])
    show_rows("Relevance: calibration error, with vectors / words alone", ["hits of", *ways], errors)
    empty = [[place, *(_empty(by_set[place]) for by_set in ways.values())] for place in fitted.held]
    show_rows(
        f"Relevance: empty answers off the topic (general / of other sets), recall lost; LEAST_TOPIC "
        f"{LEAST_TOPIC:g}, in the proposal {fitted.least_topic:g}",
        ["asked in", *ways],
        empty,
    )
    for way, frontier in fitted.frontier.items():
        show_rows(
            f"Relevance: empty answers off the topic, mean over origins / recall lost, by LEAST_TOPIC, {way}",
            ["at least", *fitted.held],
            [
                [f"{least:g}", *(f"{empty:.0f} / {lost:.1f}" for empty, lost in by_set.values())]
                for least, by_set in frontier.items()
            ],
        )
    print(f"LEAST_TOPIC {fitted.least_topic:g} loses no more recall than {LEAST_TOPIC:g} does today.\n")


def quality_rows(asked: Sequence[Asked], measured: Background, given: Background, proposal: Values) -> Quality:
    """What is shown, with everything in its place."""
    own = [one for one in asked if one.on_topic]
    tried: dict[str, tuple[Background, Values]] = {
        "today": (given, today()),
        "today, background measured": (measured, today()),
        "proposal": (measured, {**today(), **proposal}),
    }
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, (background, values) in tried.items():
        ordered = Ordered(own, values, background)
        places = dict.fromkeys(one.place for one in own)
        found[name] = {place: summary([answer for _, answer in ordered.answers({}, place=place)]) for place in places}
    return found


def show_quality(quality: Quality) -> None:
    places = next(iter(quality.values()))
    rows = [[place, *(_pair(by_set[place]) for by_set in quality.values())] for place in places]
    show_rows("As shown (recall / nDCG at 10, in percent)", ["set", *quality], rows)


def as_json(
    model: str, background: Background, fusion: FusionFit | None, relevance: RelevanceFit, quality: Quality
) -> dict[str, Any]:
    return {
        "model": model,
        "background": asdict(background),
        "today": {**today(), "LEAST_TOPIC": LEAST_TOPIC},
        "proposal": proposal_of(fusion, relevance),
        "fusion": None if fusion is None else asdict(fusion),
        "relevance": asdict(relevance),
        "quality": quality,
    }


def proposal_of(fusion: FusionFit | None, relevance: RelevanceFit) -> Values:
    changed = standing() if fusion is None else fusion.proposal
    return {**changed, **relevance.proposal, "LEAST_TOPIC": relevance.least_topic}


def _fold_name(fold: Fold) -> str:
    return "on all" if fold.held is None else f"without {fold.held}"


def _gain(gain: tuple[float, float] | None, *, digits: int = 2) -> str:
    return "" if gain is None else f"{gain[0]:+.{digits}f} ± {gain[1]:.{digits}f}"


def _pair(both: Sequence[float] | np.ndarray) -> str:
    return f"{both[0]:.1f} / {both[1]:.1f}"


def _numbers(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.2f}" for number in numbers)


def _errors(judged: Judged) -> str:
    return f"{judged.error:.3f} / {judged.error_words:.3f}"


def _empty(judged: Judged) -> str:
    others = [share for origin, share in judged.empty.items() if origin != GENERAL]
    return f"{judged.empty[GENERAL]:.0f} / {np.mean(others):.0f}, lost {judged.recall_lost:.1f}"
