"""Whether an embedder does what Mycel needs: its files, its vectors, what they say about meaning, and how fast."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from time import perf_counter
from typing import TYPE_CHECKING

from mycel.contracts.embedder import Background, Embedder
from mycel.errors import Misconfigured, Unavailable
from mycel.providers.embeddings.registry import BUILTIN, EmbeddingOptions, folder_of, make_embedder

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors


# Each answer shares no word of weight with its question, so only meaning brings the two together.
ANSWERED = (
    ("why is the website so slow in the morning", "Page loads crawl before 9 am because the nightly cache is empty."),
    ("how do I get a new password", "Locked out? Reset your credentials on the account page."),
    ("who may approve spending", "Invoices above 500 are signed off by the head of finance."),
    ("when do we ship", "Releases go out every second Tuesday."),
    ("what should I do when the database is full", "If storage runs out, delete old partitions of the events table."),
    ("is it safe to run the tests twice", "The suite can be repeated without harm: it cleans up after itself."),
)

QUESTIONS = (
    "which tea has the least caffeine",
    "how long does concrete need to harden",
    "what makes bread rise",
    "how many strings has a cello",
    "why do leaves turn red",
    "which port does the mail server use",
    "how do I sharpen a kitchen knife",
    "when was the printing press invented",
    "what is the capital of Mongolia",
    "how can I lower my heating bill",
    "which gear should I use uphill",
    "how is glass recycled",
    "what does a red flag on the beach mean",
    "how do vaccines work",
    "who pays for a broken rental car",
    "why is my code review still open",
    "how deep are tulip bulbs planted",
    "how do I undo the last commit",
    "what is the offside rule",
    "how far away is the moon",
)

STATEMENTS = (
    "The lighthouse was painted white and red again last summer.",
    "Timestamps in the export are in UTC.",
    "Wolves returned to the valley after sixty years.",
    "The elevator is out of order until Friday.",
    "Two thirds of the audience left before the second act.",
    "Feature flags are removed one release after they are on for everybody.",
    "Olive oil goes rancid when it stands in the light.",
    "The orchestra rehearses on the third floor.",
    "A customer complained about the colour of the packaging.",
    "Penguins take turns keeping the egg warm.",
    "The contract with the cleaning company ends in March.",
    "Our logo must not be stretched or tilted.",
    "Volcanic soil is rich in minerals.",
    "Parcels are picked up at half past four.",
    "The museum charges no entry on the first Sunday.",
    "Screenshots belong into the ticket, not into the chat.",
    "Silk threads are stronger than they look.",
    "The river froze twice that winter.",
    "Interviews take place in the small meeting room.",
    "Copper prices fell by a tenth within a week.",
    "The linter ignores generated files.",
    "Whales sing differently in each ocean.",
    "He missed the ferry and slept in the harbour.",
    "Ticket prices for students are half of the usual ones.",
    "The translation into Finnish is not finished.",
    "Never mix bleach with vinegar.",
    "Clocks on the space station drift by microseconds.",
    "The bakery closes on Mondays.",
    "Trains to the north are replaced by buses.",
    "The dragon in the story turns out to be kind.",
    "Backups are kept for ninety days.",
    "Bamboo grows a hand's width in one day.",
    "The board elected a new chair without opposition.",
    "Wool sweaters should dry flat.",
    "The satellite burned up over the Pacific.",
    "Salaries are paid on the last working day.",
    "Chess was banned there for a decade.",
    "Our office plants are watered by the front desk.",
    "Emails with large attachments are refused by the gateway.",
    "The marathon route passes the old bridge.",
)


# Quantised models round a text differently in other company; what differs more would be found by luck.
LEAST_REPEATED_COSINE = 0.99
# Of six answers, drawn by lot one would be nearest to its question. Small models may miss one or two.
LEAST_ANSWERED = 4
# A background measured on other texts differs a little; beyond this, relevance would say something else.
MOST_SHIFT_DEVIATIONS = 1.0
MOST_RATIO = 1.75


class Outcome(StrEnum):
    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """One bad finding and the model is not usable; what comes after it was not looked at."""

    embedder: str
    model: str | None = None
    dimensions: int | None = None
    load_ms: float | None = None
    text_ms: float | None = None
    background: Background | None = None
    findings: tuple[Finding, ...] = ()
    usable: bool = True


def examine(options: EmbeddingOptions) -> Examination:
    """`Misconfigured` when there is no model to look at; whatever it does wrong is in the findings."""
    embedder = make_embedder(options)
    if embedder is None:
        return Examination(embedder=options.embedder)
    try:
        return _Examining(options, embedder).all()
    finally:
        embedder.close()


class _Examining:
    """The checks in order; each goes on with what those before it have found."""

    def __init__(self, options: EmbeddingOptions, embedder: Embedder) -> None:
        self._options = options
        self._embedder = embedder
        self._folder = folder_of(options.embedder)
        self._load_ms: float | None = None
        self._text_ms: float | None = None
        self._background: Background | None = None
        self._asked: Vectors
        self._documents: Vectors

    def all(self) -> Examination:
        findings: list[Finding] = []
        checks: tuple[tuple[str, Callable[[], tuple[Outcome, str]]], ...] = (
            ("files", self._files),
            ("load", self._load),
            ("vectors", self._vectors),
            ("meaning", self._meaning),
            ("repeatability", self._repeatability),
            ("background", self._measure_background),
        )
        for name, check in checks:
            try:
                outcome, text = check()
            except (Misconfigured, Unavailable) as error:
                outcome, text = Outcome.BAD, str(error)
            findings.append(Finding(name, outcome, text))
            if outcome is Outcome.BAD:
                break
        return Examination(
            embedder=self._options.embedder,
            model=self._embedder.model,
            dimensions=self._embedder.dimensions,
            load_ms=self._load_ms,
            text_ms=self._text_ms,
            background=self._background,
            findings=tuple(findings),
            usable=all(finding.outcome is not Outcome.BAD for finding in findings),
        )

    def _files(self) -> tuple[Outcome, str]:
        if self._folder is None:
            return Outcome.GOOD, "an endpoint has none"
        if self._options.embedder != BUILTIN:
            return Outcome.GOOD, f"all there in {self._folder}"
        from mycel.providers.embeddings.shipped import damaged_files

        if damaged := damaged_files():
            return Outcome.BAD, f"{', '.join(damaged)} is not what was shipped: install Mycel again"
        return Outcome.GOOD, "as they were shipped"

    def _load(self) -> tuple[Outcome, str]:
        self._load_ms = _milliseconds(lambda: self._embedder.embed_query("ready"))
        return Outcome.GOOD, f"ready after {self._load_ms:.0f} ms"

    def _vectors(self) -> tuple[Outcome, str]:
        import numpy as np

        from mycel.index.vectors import checked

        questions = [*(question for question, _ in ANSWERED), *QUESTIONS]
        times: list[float] = []
        asked: list[Vectors] = []
        for question in questions:
            times.append(_milliseconds(lambda text=question: asked.append(self._embedder.embed_query(text))))
        self._text_ms = sorted(times)[len(times) // 2]
        dimensions = self._embedder.dimensions
        self._asked = _unit(checked(np.concatenate(asked), count=len(questions), dimensions=dimensions))
        self._documents = self._embed(list(_documents()))
        return Outcome.GOOD, f"{dimensions} finite numbers each; a short text takes {self._text_ms:.1f} ms"

    def _meaning(self) -> tuple[Outcome, str]:
        count = len(ANSWERED)
        nearest = (self._asked[:count] @ self._documents[:count].T).argmax(axis=1)
        right = sum(int(place == answer) for place, answer in enumerate(nearest))
        text = f"{right} of {count} questions are nearest to the sentence that answers them in other words"
        if right < LEAST_ANSWERED:
            return Outcome.BAD, text
        return Outcome.GOOD if right == count else Outcome.DOUBTFUL, text

    def _repeatability(self) -> tuple[Outcome, str]:
        alone = [self._embed([text]) for text in list(_documents())[: len(ANSWERED)]]
        least = min(float((row @ self._documents[place]).item()) for place, row in enumerate(alone))
        text = f"a text alone and among {len(self._documents)}: cosine {least:.3f} or more"
        return Outcome.GOOD if least >= LEAST_REPEATED_COSINE else Outcome.BAD, text

    def _measure_background(self) -> tuple[Outcome, str]:
        cosines = self._asked[len(ANSWERED) :] @ self._documents[len(ANSWERED) :].T
        measured = Background(
            mean=round(float(cosines.mean()), 3),
            deviation=round(float(cosines.std()), 3),
            spread=round(float(cosines.std(axis=1).mean()), 3),
        )
        self._background = measured
        return self._compared(measured)

    def _compared(self, measured: Background) -> tuple[Outcome, str]:
        if self._folder is not None and not self._has_background():
            numbers = json.dumps(asdict(measured))
            return (
                Outcome.DOUBTFUL,
                f'the card has none, so relevance is a guess; measured here: "background": {numbers}',
            )
        stated = self._embedder.background
        who = "the estimate" if self._folder is None else "the card"
        text = f"measured here {_numbers(measured)}; {who} says {_numbers(stated)}"
        if _is_far(measured, stated):
            return Outcome.DOUBTFUL, f"{text}: relevance may be too high or too low"
        return Outcome.GOOD, text

    def _has_background(self) -> bool:
        from mycel.providers.embeddings.card import FILE_NAME, read_card

        return self._folder is not None and read_card(self._folder / FILE_NAME).background is not None

    def _embed(self, texts: list[str]) -> Vectors:
        import numpy as np

        from mycel.index.vectors import checked

        size = self._embedder.batch_size
        parts = [self._embedder.embed_documents(texts[start : start + size]) for start in range(0, len(texts), size)]
        return _unit(checked(np.concatenate(parts), count=len(texts), dimensions=self._embedder.dimensions))


def _documents() -> Iterator[str]:
    yield from (answer for _, answer in ANSWERED)
    yield from STATEMENTS


def _milliseconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return round((perf_counter() - started) * 1000, 2)


def _unit(rows: Vectors) -> Vectors:
    import numpy as np

    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _is_far(measured: Background, stated: Background) -> bool:
    shift = abs(measured.mean - stated.mean) / stated.deviation
    ratios = (measured.deviation / stated.deviation, measured.spread / stated.spread)
    return shift > MOST_SHIFT_DEVIATIONS or not all(1 / MOST_RATIO <= ratio <= MOST_RATIO for ratio in ratios)


def _numbers(background: Background) -> str:
    return f"mean {background.mean:.2f}, deviation {background.deviation:.2f}, spread {background.spread:.2f}"
