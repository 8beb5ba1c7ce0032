"""Quality of an order with other constants, question by question, and how sure a difference between two is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.finding_quality import Answer
from mycel.contracts.embedder import Background
from training.fit.constants import Values, using
from training.fit.gather import SETS, Asked
from training.fit.replay import Replay

DRAWS = 1_000
SEED = 17
# At most this share of all questions finds near-copies.
WITH_COPIES = 0.02

Figures = NDArray[np.float64]


class Orders:
    """What each set's questions get with given values, kept: folds and directions of a search meet the same ones."""

    def __init__(self, asked: Sequence[Asked], background: Background) -> None:
        self._background = background
        self._by_set = {name: [one for one in asked if one.place == name and one.on_topic] for name in SETS}
        self._known: dict[tuple[object, ...], Figures] = {}

    def quality(self, name: str, values: Values) -> Figures:
        """Recall and nDCG at 10 in percent, a row for each question, before anything is left out as irrelevant."""
        key = (name, *sorted(values.items()))
        if key not in self._known:
            with using(values):
                answers = [self._ordered(one) for one in self._by_set[name]]
            self._known[key] = 100 * np.array([(answer.recall, answer.gain) for answer in answers])
        return self._known[key]

    def mean(self, names: Sequence[str], values: Values) -> float:
        """What is fitted: recall and nDCG alike, and every set alike however many questions it has."""
        return float(np.mean([self.quality(name, values).mean() for name in names]))

    def gain(self, names: Sequence[str], values: Values, *, over: Values) -> tuple[float, float]:
        """The difference of the means and its standard error, by drawing questions again."""
        draws = np.zeros(DRAWS)
        generator = np.random.default_rng(SEED)
        for name in names:
            each = (self.quality(name, values) - self.quality(name, over)).mean(axis=1)
            chosen = generator.integers(len(each), size=(DRAWS, len(each)))
            draws += each[chosen].mean(axis=1) / len(names)
        return self.mean(names, values) - self.mean(names, over), float(draws.std())

    def short_questions(self) -> int:
        """How many are short enough for `EMPHASIS` to matter."""
        return sum(Replay(one.kept).weights.emphasis != 1.0 for questions in self._by_set.values() for one in questions)

    def _ordered(self, one: Asked) -> Answer:
        replay = Replay(one.kept, background=self._background)
        replay.order()
        return replay.answer(one.question, judged=False)


class Ordered:
    """Questions in the order that given values of the fusion make, to be judged with any constants of relevance."""

    def __init__(
        self, asked: Sequence[Asked], fusion: Values, background: Background, *, by_words: bool = False
    ) -> None:
        self._fusion = fusion
        self.replays = [(one, Replay(one.kept, background=background, by_words=by_words)) for one in asked]
        with using(fusion):
            for _, replay in self.replays:
                replay.order()

    def answers(self, constants: Values, *, place: str, on_topic: bool = True) -> list[tuple[Asked, Answer]]:
        """What is shown to the questions asked in one set."""
        with using({**self._fusion, **constants}):
            return [
                (one, replay.answer(one.question, judged=True))
                for one, replay in self.replays
                if one.place == place and one.on_topic == on_topic
            ]

    def judge(self, number: int, constants: Values) -> Replay:
        """One question alone."""
        _, replay = self.replays[number]
        with using({**self._fusion, **constants}):
            replay.judge()
        return replay


def summary(answers: Sequence[Answer]) -> tuple[float, float]:
    """Recall and nDCG at 10 in percent, of the questions that have an answer."""
    answered = [answer for answer in answers if answer.question.gold]
    return (
        100 * float(np.mean([answer.recall for answer in answered])),
        100 * float(np.mean([answer.gain for answer in answered])),
    )


def check(asked: Sequence[Asked]) -> Mapping[str, tuple[float, float]]:
    """Everything else here stands on this: asked again from memory, each question gets the product's own answer.

    But for the few where one text stands for its near-copies: what is kept has no texts to tell them by.
    """
    own: dict[str, list[Answer]] = {}
    others: list[str] = []
    for one in asked:
        replay = Replay(one.kept)
        replay.order()
        again = replay.answer(one.question, judged=True)
        if again != one.answer:
            others.append(f"{one.place}: {one.question.text!r}")
        if one.on_topic:
            own.setdefault(one.place, []).append(again)
    if len(others) > WITH_COPIES * len(asked):
        raise RuntimeError(f"asked again, {len(others)} questions get another answer, such as {others[0]}")
    return {place: summary(answers) for place, answers in own.items()}
