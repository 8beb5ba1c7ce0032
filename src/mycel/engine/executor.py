"""The heavy steps, which need nothing but texts: here in this process, or in a child that keeps it responsive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mycel.domain.source import Candidate, Transcript

if TYPE_CHECKING:
    from mycel.contracts.judge import Judge
    from mycel.engine.judging.pair import Judgement, Statement


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
    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]: ...
    def close(self) -> None: ...


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

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        from mycel.engine.judging.pair import judge

        return [judge(pair.earlier, pair.later, cosine=pair.cosine) for pair in pairs]

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

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        return self._current.judge(pairs)

    def close(self) -> None:
        self._current.close()
