"""The heavy steps, which need nothing but texts: here in this process, or in a child that keeps it responsive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mycel.contracts.long_work import report_progress, require_wanted
from mycel.domain.source import Candidate, Transcript

if TYPE_CHECKING:
    from mycel.contracts.judge import Judge
    from mycel.engine.judging.judgement import Judgement, Statement


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements to compare, and how near they are by meaning, if anybody knows."""

    earlier: Statement
    later: Statement
    cosine: float | None


class Executor(Protocol):
    """Safe to use from any thread. Raises `Unavailable` when the work was cut short; it can be done again."""

    def begin(self) -> None:
        """Start what takes a moment to start, since work is about to come."""
        ...

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]: ...
    def summarize(self, transcript: Transcript) -> str: ...
    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        """`quick` goes by rules alone, for whoever waits for a save."""
        ...

    def close(self) -> None: ...


# Below it the trained judge found hardly anything in the measured pairs that rules had not: 1 of 286. What rules find
# there it is still asked about.
LEAST_COSINE = 0.82
# Of one piece of work, the nearest first. The rest is judged by rules alone.
MOST_ASKED = 1500
# So many pairs are judged between two looks at whether somebody still waits, and before it is another one's turn: some
# tenth of a second, by rules and by the judge.
COMPARED_AT_ONCE = 500
WEIGHED_AT_ONCE = 50
MakeJudge = Callable[[], "Judge | None"]


def no_judge() -> None:
    """Rules alone."""


class Compared(NamedTuple):
    """What rules say of a pair, and whether the trained judge could change it."""

    judgement: Judgement
    is_open: bool


def judge_in_parts(
    pairs: Sequence[Pair],
    *,
    compare: Callable[[Sequence[Pair]], Sequence[Compared]],
    weigh: Callable[[Sequence[Pair]], Sequence[Judgement]],
) -> list[Judgement]:
    """Judge pairs by rules, then those that are nearest to each other by the trained judge, a part at a time."""
    found: list[Judgement] = []
    opened: list[int] = []
    for start in range(0, len(pairs), COMPARED_AT_ONCE):
        require_wanted()
        for compared in compare(pairs[start : start + COMPARED_AT_ONCE]):
            if compared.is_open:
                opened.append(len(found))
            found.append(compared.judgement)
    nearest = sorted(opened, key=lambda number: pairs[number].cosine or found[number].likeness, reverse=True)
    asked = nearest[:MOST_ASKED]
    for start in range(0, len(asked), WEIGHED_AT_ONCE):
        report_progress(start, len(asked))
        numbers = asked[start : start + WEIGHED_AT_ONCE]
        weighed = weigh([pairs[number] for number in numbers])
        if not weighed:
            break
        for number, judgement in zip(numbers, weighed, strict=True):
            found[number] = judgement
    return found


class InlineExecutor:
    """For a program that waits for the result anyway. The judge is made by the first work that asks it."""

    def __init__(self, judge: MakeJudge = no_judge) -> None:
        self._judge = judge

    def begin(self) -> None:
        """Nothing has to be started."""

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        from mycel.engine.extraction.extract import extract

        return extract(transcript, start=start, judge=self._judge())

    def summarize(self, transcript: Transcript) -> str:
        from mycel.engine.summary import summarize

        return summarize(transcript, judge=self._judge())

    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        if quick:
            return [compared.judgement for compared in self.compare(pairs)]
        return judge_in_parts(pairs, compare=self.compare, weigh=self.weigh)

    def compare(self, pairs: Sequence[Pair]) -> Sequence[Compared]:
        """Judge pairs by rules alone."""
        from mycel.engine.judging.judgement import CONTRADICTS
        from mycel.engine.judging.pair import is_open, judge

        compared: list[Compared] = []
        for pair in pairs:
            found = judge(pair.earlier, pair.later, cosine=pair.cosine)
            may_relate = pair.cosine is None or pair.cosine >= LEAST_COSINE or found.contradiction >= CONTRADICTS
            compared.append(Compared(found, may_relate and is_open(pair.earlier, pair.later, found)))
        return compared

    def weigh(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """Judge pairs by rules and by the trained judge; return nothing where there is no judge."""
        from mycel.engine.judging.pair import add_odds, is_enough, judge, with_same_values

        trained = self._judge()
        if trained is None:
            return []
        found = [judge(pair.earlier, pair.later, cosine=pair.cosine) for pair in pairs]
        texts = [(pair.earlier.text, with_same_values(pair.earlier.text, pair.later.text)) for pair in pairs]
        told = trained.compare(
            texts,
            is_enough=lambda number, odds: is_enough(pairs[number].earlier, pairs[number].later, found[number], odds),
        )
        return [
            add_odds(pair.earlier, pair.later, judgement, odds)
            for pair, judgement, odds in zip(pairs, found, told, strict=True)
        ]

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

    def begin(self) -> None:
        self._current.begin()

    def extract(self, transcript: Transcript, *, start: int) -> Sequence[Candidate]:
        return self._current.extract(transcript, start=start)

    def summarize(self, transcript: Transcript) -> str:
        return self._current.summarize(transcript)

    def judge(self, pairs: Sequence[Pair], *, quick: bool = False) -> Sequence[Judgement]:
        return self._current.judge(pairs, quick=quick)

    def close(self) -> None:
        self._current.close()
