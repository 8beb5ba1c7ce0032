"""The heavy steps, which need nothing but texts: here in this process, or in a child that keeps it responsive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mycel.domain.source import Candidate, Transcript

if TYPE_CHECKING:
    from mycel.contracts.judge import Judge, PairOdds
    from mycel.engine.judging.judgement import Judgement, Statement


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements to compare, and how near they are by meaning, if anybody knows."""

    earlier: Statement
    later: Statement
    cosine: float | None


class Executor(Protocol):
    """Safe to use from any thread. Raises `Unavailable` when the work was cut short; it can be done again."""

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]: ...
    def summarize(self, transcript: Transcript) -> str: ...
    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        """`quick` goes by rules alone, for whoever waits for a save."""
        ...

    def close(self) -> None: ...


# Below it no two statements of the measured pairs said the same or went against each other.
LEAST_COSINE = 0.75
# Of one piece of work, the nearest first: about a quarter of a minute. The rest is judged by rules alone.
MOST_ASKED = 1500
MakeJudge = Callable[[], "Judge | None"]


def no_judge() -> None:
    """Rules alone."""


class InlineExecutor:
    """For a program that waits for the result anyway. The judge is made by the first work that asks it."""

    def __init__(self, judge: MakeJudge = no_judge) -> None:
        self._judge = judge

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        from mycel.engine.extraction.extract import extract

        return extract(transcript, start=start, judge=self._judge())

    def summarize(self, transcript: Transcript) -> str:
        from mycel.engine.summary import summarize

        return summarize(transcript, judge=self._judge())

    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        from mycel.engine.judging.pair import is_open, judge

        found = [judge(pair.earlier, pair.later, cosine=pair.cosine) for pair in pairs]
        if quick:
            return found
        opened = [
            number
            for number, (pair, judgement) in enumerate(zip(pairs, found, strict=True))
            if (pair.cosine is None or pair.cosine >= LEAST_COSINE) and is_open(pair.earlier, pair.later, judgement)
        ]
        nearest = sorted(opened, key=lambda number: pairs[number].cosine or found[number].likeness, reverse=True)
        for number, odds in self._odds(pairs, nearest[:MOST_ASKED]):
            pair = pairs[number]
            found[number] = judge(pair.earlier, pair.later, cosine=pair.cosine, odds=odds)
        return found

    def _odds(self, pairs: Sequence[Pair], asked: Sequence[int]) -> Iterator[tuple[int, PairOdds]]:
        """Nothing where there is no judge."""
        from mycel.engine.judging.pair import with_same_values

        judge = self._judge() if asked else None
        if judge is not None:
            chosen = [(pairs[number].earlier.text, pairs[number].later.text) for number in asked]
            texts = [(earlier, with_same_values(earlier, later)) for earlier, later in chosen]
            yield from zip(asked, judge.compare(texts), strict=True)

    def close(self) -> None:
        """Nothing is held."""


class MovableExecutor:
    """In this process until told to move out, for programs that others wait for."""

    def __init__(self, outside: Callable[[], Executor], *, judge: MakeJudge = no_judge) -> None:
        self._inside: Executor = InlineExecutor(judge)
        self._outside = outside
        self._current = self._inside

    def move_out(self) -> None:
        if self._current is self._inside:
            self._current = self._outside()

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        return self._current.extract(transcript, start=start)

    def summarize(self, transcript: Transcript) -> str:
        return self._current.summarize(transcript)

    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        return self._current.judge(pairs, quick=quick)

    def close(self) -> None:
        self._current.close()
