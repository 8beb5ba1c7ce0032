"""A judge for tests that says of each sentence what it was told to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mycel.contracts.judge import PairOdds, Sentence, SentenceOdds

TYPES = ("decision", "lesson", "fact", "convention", "preference", "task_hint", "reference")
KINDS = (
    *("explicit_decision", "decision_in_passing", "lesson", "solution", "failed_approach", "confirmed_fact"),
    *("correction", "standing_instruction", "preference", "promise", "reference", "agent_narration", "example_text"),
    *("hypothetical", "joke", "machine_narrative", "name_with_cue", "negated", "news", "not_standalone"),
    *("other_company", "other_team", "private", "question", "quoted_text", "status_chatter"),
)


def odds(type: str = "fact", kind: str = "status_chatter", *, keep: float = 0.0, active: float = 0.0) -> SentenceOdds:
    return SentenceOdds(keep, active, _sure(TYPES, type), _sure(KINDS, kind))


def _sure(names: Sequence[str], name: str) -> dict[str, float]:
    return {one: float(one == name) for one in names}


class ToldJudge:
    """What begins with one of the texts gets its odds; all else is not worth keeping."""

    def __init__(self, told: Mapping[str, SentenceOdds]) -> None:
        self._told = told
        self.asked: list[Sentence] = []

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
        self.asked += sentences
        return [self._of(sentence.text) for sentence in sentences]

    def compare(
        self, pairs: Sequence[tuple[str, str]], *, is_enough: Callable[[int, PairOdds], bool] | None = None
    ) -> Sequence[PairOdds]:
        raise NotImplementedError

    def _of(self, text: str) -> SentenceOdds:
        return next((found for begins, found in self._told.items() if text.startswith(begins)), odds())
