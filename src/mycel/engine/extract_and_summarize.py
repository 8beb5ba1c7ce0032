"""The candidates in one source and its summary, by a language model if there is one, else by rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mycel.contracts.language_model import LanguageModel
from mycel.domain.marks import EXPLICIT
from mycel.domain.source import Candidate, Step, Transcript
from mycel.engine.by_model.extraction import extract_with_model
from mycel.engine.by_model.summary import summarize_with_model
from mycel.engine.executor import Executor
from mycel.errors import Misconfigured, Unavailable

ResultT = TypeVar("ResultT")

RULES = "rules"


@dataclass(frozen=True, slots=True)
class SourceResult:
    """`by` says what made it: the model's name, or rules, with what went wrong when rules stood in for a model."""

    candidates: tuple[Candidate, ...]
    summary: str
    by: str


def extract_and_summarize(
    transcript: Transcript,
    *,
    steps: tuple[Step, ...],
    start: int,
    executor: Executor,
    model: LanguageModel | None,
) -> SourceResult:
    """Candidates of what stands at or after `start`; the summary is of the whole."""
    made_by: dict[str, None] = {}

    def attempt(by_model: Callable[[LanguageModel], ResultT], by_rules: Callable[[], ResultT]) -> ResultT:
        if model is None:
            made_by[RULES] = None
            return by_rules()
        try:
            found = by_model(model)
            made_by[model.model] = None
        except (Unavailable, Misconfigured) as error:
            made_by[f"{RULES}, since {model.model} failed: {error}"] = None
            return by_rules()
        return found

    candidates: tuple[Candidate, ...] = ()
    summary = ""
    if Step.EXTRACT in steps:
        candidates = attempt(
            lambda asked: _with_outright(
                extract_with_model(asked, transcript, start=start).candidates,
                executor.extract(transcript, start=start),
            ),
            lambda: tuple(executor.extract(transcript, start=start)),
        )
    if Step.SUMMARIZE in steps:
        summary = attempt(
            lambda asked: summarize_with_model(asked, transcript),
            lambda: executor.summarize(transcript),
        )
    return SourceResult(candidates, summary, "; ".join(made_by))


def _with_outright(found: Sequence[Candidate], by_rules: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What people said outright is kept, also where a model leaves it out."""
    missed = [
        one
        for one in by_rules
        if one.grounds == EXPLICIT and not any(one.start < other.end and other.start < one.end for other in found)
    ]
    return tuple(sorted((*found, *missed), key=lambda one: (one.start, one.end)))
