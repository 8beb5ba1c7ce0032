"""How well weights do on talks that they were not fitted to: every talk is left out once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.extraction import Label, Labelled, Score, compare
from benchmarks.report import show_rows
from mycel.domain.source import Candidate
from mycel.engine.extraction.extract import extract
from training.extraction.examples import Example
from training.extraction.fitting import fit
from training.extraction.talks import SENTENCES

FOLDS = 6


def candidates_left_out(
    talks: Sequence[Labelled], examples: Mapping[str, Sequence[Example]]
) -> Iterator[tuple[Labelled, list[Candidate]]]:
    """Each talk with what is drawn from it by weights fitted to the others and to the sentences."""
    whole = [talk for talk in talks if talk.kind != SENTENCES]
    for fold in range(FOLDS):
        left_out = {talk.name for talk in whole[fold::FOLDS]}
        table = fit([one for talk in talks if talk.name not in left_out for one in examples[talk.name]])
        for talk in whole[fold::FOLDS]:
            yield talk, extract(talk.transcript, table=table)


def show(found: Sequence[tuple[Labelled, list[Candidate]]], *, title: str) -> None:
    rows: list[tuple[str, ...]] = []
    kinds = dict.fromkeys(talk.kind for talk, _ in found)
    for kind in ("", *kinds):
        chosen = [(talk, candidates) for talk, candidates in found if kind in ("", talk.kind)]
        right, kept = (
            sum((compare(talk, candidates, judged=judged) for talk, candidates in chosen), Score())
            for judged in (Label.fits, Label.covers)
        )
        figures = (right.precision, right.recall, right.f1, kept.precision, kept.recall)
        rows.append((kind or "all", str(len(chosen)), *(f"{figure:.3f}" for figure in figures), str(right.given)))
    headings = ("talks", "count", "precision", "recall", "F1", "precision, any type", "recall, any type", "candidates")
    show_rows(title, headings, rows)
