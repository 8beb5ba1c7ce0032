"""The logistic fits of relevance, on all sets but one and judged on that one, and what the least topic costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.finding_quality import Answer, calibration_error
from mycel.contracts.embedder import Background
from mycel.retrieval.relevance import LEAST_TOPIC
from training.fit.constants import RELEVANCE, Values, today
from training.fit.features import TOPIC, USEFUL, USEFUL_WORDS, Seen, see
from training.fit.gather import FEW_NOTES, MIXED_NOTES, NEAR, NOTES, OWN, SETS, TOPICS, Asked
from training.fit.logistic import Examples, fit, gain
from training.fit.measured import Ordered

# Sets held back together: they are the same notes.
GROUPS: Mapping[str, tuple[str, ...]] = {**{name: (name,) for name in SETS}, NOTES: (NOTES, FEW_NOTES, MIXED_NOTES)}
# Questions about the world of a store that happens not to know the answer are hard to tell: they count as half.
HALF = 0.5
# The benchmark sets are all that is known of large stores, and what relevance states of them has to be true.
LARGE = 6.0
# Questions about Python are half on the topic among notes of a software team.
HALF_ON_TOPIC = frozenset({(NOTES, "CoSQA"), (FEW_NOTES, "CoSQA"), (MIXED_NOTES, "CoSQA")})
# Today's is among them, to be compared with.
THRESHOLDS = sorted({0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, LEAST_TOPIC})
# One question more in one of the larger sets is no loss.
TOLERANCE = 0.1
STEP = 0.05
# Standard errors of the gain, below which today's constants stay.
WORTH = 2.0

Array = NDArray[np.float64]
Constants = dict[str, tuple[float, ...]]
Frontier = Mapping[float, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What some constants do to one set; `empty` by origin and the rest in percent, errors of calibration 0 to 1."""

    error: float
    error_words: float
    empty: Mapping[str, float]
    recall: float
    recall_lost: float


@dataclass(frozen=True, slots=True)
class RelevanceFit:
    # By the set held back.
    folds: Mapping[str, Constants]
    held: Mapping[str, Judged]
    everything: Constants
    proposal: Constants
    # In log loss on all sets, with its standard error, by constant; of what was fitted, rounded, over today's.
    gains: Mapping[str, tuple[float, float]]
    # By whose constants, then by set.
    judged: Mapping[str, Mapping[str, Judged]]
    # Over the hits of all three sets: today's, the folds' own on what they held back, the proposal's; and words alone.
    errors: Mapping[str, tuple[float, float]]
    # By whose constants, threshold and set: the share of empty answers off the topic, and the recall lost.
    frontier: Mapping[str, Frontier]
    least_topic: float


def fit_relevance(asked: Sequence[Asked], fusion: Values, background: Background) -> RelevanceFit:
    ordered = Ordered(asked, fusion, background)
    ordered_by_words = Ordered([one for one in asked if one.on_topic], fusion, background, by_words=True)
    seen, by_words = see(ordered, USEFUL), see(ordered_by_words, USEFUL_WORDS)
    folds = {group: _Fits(_without(seen, held), _without(by_words, held)).fitted() for group, held in GROUPS.items()}
    fits = _Fits(seen, by_words)
    proposal, gains = fits.worth_changing()
    judge = _Judge(ordered, ordered_by_words)
    held = {place: judge(place, folds[group]) for group, members in GROUPS.items() for place in members}
    standing = {name: today()[name] for name in RELEVANCE}
    frontier = {
        "today": {least: judge.at_least(least, standing) for least in THRESHOLDS},
        "proposal": {least: judge.at_least(least, proposal) for least in THRESHOLDS},
    }
    least = _least_topic(frontier["proposal"], allowed=_lost(frontier["today"][LEAST_TOPIC]))
    ways = {"today": standing, "proposal": {**proposal, "LEAST_TOPIC": least}}
    return RelevanceFit(
        folds=folds,
        held=held,
        everything=fits.fitted(),
        proposal=proposal,
        gains=gains,
        judged={way: {place: judge(place, values) for place in judge.places} for way, values in ways.items()},
        errors={
            "today": judge.errors(dict.fromkeys(SETS, standing)),
            "held back": judge.errors({name: folds[name] for name in SETS}),
            "proposal": judge.errors(dict.fromkeys(SETS, ways["proposal"])),
        },
        frontier=frontier,
        least_topic=least,
    )


def _least_topic(frontier: Frontier, *, allowed: float) -> float:
    """The highest that loses no more recall than today's does."""
    return max((least for least, by_set in frontier.items() if _lost(by_set) <= allowed + TOLERANCE), default=0.0)


def _lost(by_set: Mapping[str, tuple[float, float]]) -> float:
    return float(np.mean([lost for _, lost in by_set.values()]))


def _without(seen: Sequence[Seen], places: Sequence[str]) -> list[Seen]:
    return [one for one in seen if one.asked.place not in places]


class _Fits:
    """The three fits on some of the questions, each beside the next: being useful builds on being on the topic."""

    def __init__(self, seen: Sequence[Seen], by_words: Sequence[Seen]) -> None:
        self._own = [one for one in seen if one.asked.on_topic]
        self._by_words = by_words
        self._topics = _topic_examples(seen)

    def fitted(self) -> Constants:
        topic = fit(self._topics, towards=today()["TOPIC"])
        useful = fit(self._useful(topic), towards=today()["USEFUL"])
        words = fit(_useful_examples(self._by_words, lambda one: 1.0), towards=today()["USEFUL_WORDS"])
        return {"TOPIC": topic, "USEFUL": useful, "USEFUL_WORDS": words}

    def worth_changing(self) -> tuple[Constants, dict[str, tuple[float, float]]]:
        """Rounded, and today's where they surprise no more than noise does; with what each gains in log loss."""
        topic, topic_gain = _chosen(self._topics, "TOPIC")
        useful, useful_gain = _chosen(self._useful(topic), "USEFUL")
        words, words_gain = _chosen(_useful_examples(self._by_words, lambda one: 1.0), "USEFUL_WORDS")
        constants = {"TOPIC": topic, "USEFUL": useful, "USEFUL_WORDS": words}
        return constants, {"TOPIC": topic_gain, "USEFUL": useful_gain, "USEFUL_WORDS": words_gain}

    def _useful(self, topic: Sequence[float]) -> Examples:
        """How likely the store knows of the matter at all is multiplied with it."""
        return _useful_examples(self._own, lambda one: _topic(one, topic))


def _chosen(examples: Examples, name: str) -> tuple[tuple[float, ...], tuple[float, float]]:
    standing = today()[name]
    rounded = tuple(round(round(number / STEP) * STEP, 2) for number in fit(examples, towards=standing))
    found = gain(examples, rounded, over=standing)
    return (rounded if found[0] > WORTH * found[1] else standing), found


def _topic_examples(seen: Sequence[Seen]) -> Examples:
    rows = [
        (one.asked, one.topic)
        for one in seen
        if one.topic is not None and (one.asked.place, one.asked.origin) not in HALF_ON_TOPIC
    ]
    return Examples(
        features=np.array([topic[TOPIC] for _, topic in rows]),
        targets=np.array([float(asked.on_topic) for asked, _ in rows]),
        shares=_alike([(asked.place, asked.origin) for asked, _ in rows]),
        offsets=np.zeros(len(rows)),
        ceilings=np.ones(len(rows)),
    )


def _useful_examples(seen: Sequence[Seen], ceiling: Callable[[Seen], float]) -> Examples:
    judged = [one for one in seen if one.asked.place in SETS or one.asked.place not in TOPICS]
    rows = [(one, features, useful) for one in judged for features, useful in one.hits]
    return Examples(
        features=np.array([features for _, features, _ in rows]),
        targets=np.array([float(useful) for _, _, useful in rows]),
        shares=_alike([(one.asked.place, OWN) for one, _, _ in rows]),
        offsets=np.zeros(len(rows)),
        ceilings=np.array([ceiling(one) for one, _, _ in rows]),
    )


def _topic(one: Seen, constants: Sequence[float]) -> float:
    if one.topic is None:
        return 1.0
    return float(1 / (1 + np.exp(-(one.topic[TOPIC] @ np.array(constants)))))


def _worth(place: str, origin: str) -> float:
    return LARGE if place in SETS else HALF if origin == NEAR else 1.0


def _alike(groups: Sequence[tuple[str, str]]) -> Array:
    """Every place and origin counts for what it is worth, however many examples it has."""
    counts = Counter(groups)
    shares = np.array([_worth(*group) / counts[group] for group in groups])
    return shares / shares.sum()


class _Judge:
    """What is shown with given constants."""

    def __init__(self, ordered: Ordered, by_words: Ordered) -> None:
        self._ordered = ordered
        self._by_words = by_words
        self.places = [place for place in dict.fromkeys(one.place for one, _ in ordered.replays) if place in TOPICS]

    def __call__(self, place: str, constants: Values) -> Judged:
        answers = self._ordered.answers(constants, place=place)
        recall, lost = self._recall(place, constants)
        return Judged(
            error=calibration_error(_hits(answers)),
            error_words=calibration_error(_hits(self._by_words.answers(constants, place=place))),
            empty=self._empty(place, constants),
            recall=recall,
            recall_lost=lost,
        )

    def errors(self, by_set: Mapping[str, Values]) -> tuple[float, float]:
        """Of calibration over the hits of all three sets, with vectors and by words alone."""
        with_vectors, by_words = (
            [hit for place, constants in by_set.items() for hit in _hits(ordered.answers(constants, place=place))]
            for ordered in (self._ordered, self._by_words)
        )
        return calibration_error(with_vectors), calibration_error(by_words)

    def at_least(self, least: float, constants: Values) -> dict[str, tuple[float, float]]:
        changed = {**constants, "LEAST_TOPIC": least}
        return {
            place: (float(np.mean(list(self._empty(place, changed).values()))), self._recall(place, changed)[1])
            for place in self.places
        }

    def _empty(self, place: str, constants: Values) -> dict[str, float]:
        found: dict[str, list[bool]] = {}
        for one, answer in self._ordered.answers(constants, place=place, on_topic=False):
            found.setdefault(one.origin, []).append(not answer.ids)
        return {origin: 100 * float(np.mean(empty)) for origin, empty in found.items()}

    def _recall(self, place: str, constants: Values) -> tuple[float, float]:
        """What is found, and how much more would be were nothing held to be off the topic."""
        shown, everything = (
            100 * float(np.mean([answer.recall for _, answer in self._ordered.answers(chosen, place=place)]))
            for chosen in (constants, {**constants, "LEAST_TOPIC": 0.0})
        )
        return shown, everything - shown


def _hits(answers: Sequence[tuple[Asked, Answer]]) -> list[tuple[float, bool]]:
    return [
        (relevance, id in answer.question.gold)
        for _, answer in answers
        for id, relevance in zip(answer.ids, answer.relevances, strict=True)
    ]
