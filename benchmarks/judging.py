"""Judging two statements: duplicates and contradictions against what people said, and the time a pair takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks.report import Figure, show, show_rows
from mycel.contracts.embedder import Embedder
from mycel.contracts.judge import PairOdds
from mycel.engine.english.reading import read
from mycel.engine.judging.judgement import LIKELY_SAME, SURELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import judge, with_same_values
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from mycel.providers.judge.shipped import builtin_judge

CLAIMS = Path(__file__).parent / "data" / "claim_pairs.tsv"
PARAPHRASES = Path(__file__).parent / "data" / "talk" / "paraphrases.tsv"
KEPT_APART = Path(__file__).parent / "data" / "talk" / "kept_apart_pairs.tsv"
LEAST_DUPLICATE_SCORE = 4.5
CONTRADICTS = 0.5
QUICK_PAIRS = 400
BATCH = 32

AIM_DUPLICATES = 0.60
AIM_PARAPHRASED = 0.60
AIM_FALSE_PARAPHRASED = 0.02
AIM_FALSE_CONTRADICTIONS = 0.05
AIM_SICK = 0.85
AIM_CLAIMS = 0.75
AIM_MICROSECONDS = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """`is_so` is what people said of it: the same, or a contradiction; `kind` is the sort of pair."""

    first: str
    second: str
    is_so: bool
    kind: str = ""


class Known(NamedTuple):
    """How near a pair is by meaning, and what the trained judge makes of it."""

    cosine: float
    odds: PairOdds | None


Cosines = Mapping[tuple[str, str], Known]


def run(folder: Path, *, quick: bool, bench_data: Path | None = None) -> None:
    claims = {split: [pair for pair, of in read_claims() if of == split] for split in ("dev", "held_out")}
    paraphrases = {split: list(read_paraphrases(split)) for split in ("dev", "held_out", "kept_apart")}
    sets = [*claims.values(), *paraphrases.values()]
    if bench_data is None:
        print("Duplicates and everyday contradictions (STS, SICK) are skipped: they need --bench-data DIR.")
        sts, sick = [], []
    else:
        most = QUICK_PAIRS if quick else None
        sts = list(read_sts(bench_data / "pairs" / "sts-dev.tsv"))[:most]
        sick = list(read_sick(bench_data / "pairs" / "sick-train.tsv"))[:most]
        sets += [sts, sick]
    cosines = measure_cosines(pair for pairs in sets for pair in pairs)
    if sts:
        show(f"Duplicates: average precision, {len(sts)} pairs", duplicate_figures(sts, cosines))
    figures = [contradiction_figure("SICK", sick, cosines, aim=AIM_SICK)] if sick else []
    figures += [
        contradiction_figure(f"claims, {name}", pairs, cosines, aim=AIM_CLAIMS) for name, pairs in claims.items()
    ]
    for split, found in paraphrases.items():
        show(f"Paraphrases, {split}: what becomes of {len(found)} pairs", paraphrase_figures(found, cosines))
    show("Contradictions: F1, with precision and recall", figures)
    show_rows("Claims by kind: called a contradiction", ["kind", "so?", *claims], kind_rows(claims, cosines))
    show("Judging: time", time_figures([pair for pairs in sets for pair in pairs][: 400 if quick else 1500]))


def read_claims() -> Iterator[tuple[Pair, str]]:
    for split, label, kind, first, second in _rows(CLAIMS):
        yield Pair(first, second, label == "contradiction", kind), split


def read_paraphrases(split: str) -> Iterator[Pair]:
    """The label is the first word of the kind."""
    for of, label, kind, first, second, *_ in (*_rows(PARAPHRASES), *_rows(KEPT_APART)):
        if of == split:
            yield Pair(first, second, label == "duplicate", f"{label} {kind}")


def read_sts(path: Path) -> Iterator[Pair]:
    for score, first, second in _rows(path):
        yield Pair(first, second, float(score) >= LEAST_DUPLICATE_SCORE)


def read_sick(path: Path) -> Iterator[Pair]:
    for label, _, first, second in _rows(path):
        yield Pair(first, second, label == "CONTRADICTION")


def _rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text("utf-8").splitlines()[1:]:
        yield line.split("\t")


def measure_cosines(pairs: Iterable[Pair]) -> Cosines:
    embedder = make_embedder(EmbeddingOptions(embedder="builtin"))
    if embedder is None:
        raise SystemExit("there is no built-in model")
    wanted = list(pairs)
    texts = list(dict.fromkeys(text for pair in wanted for text in (pair.first, pair.second)))
    vectors = dict(zip(texts, _embed(embedder, texts), strict=True))
    embedder.close()
    model = builtin_judge()
    asked = [(pair.first, pair.second) for pair in wanted]
    given = [(first, with_same_values(first, second)) for first, second in asked]
    odds = [None] * len(asked) if model is None else model.compare(given)
    return {
        texts: Known(float(vectors[texts[0]] @ vectors[texts[1]]), found)
        for texts, found in zip(asked, odds, strict=True)
    }


def _embed(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    parts = [np.asarray(embedder.embed_documents(texts[at : at + BATCH])) for at in range(0, len(texts), BATCH)]
    vectors = np.concatenate(parts)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def judged(pair: Pair, cosines: Cosines | None) -> Judgement:
    """With all that is known, or by rules alone."""
    cosine, odds = (None, None) if cosines is None else cosines[pair.first, pair.second]
    return judge(Statement(pair.first), Statement(pair.second), cosine=cosine, odds=odds)


def paraphrase_figures(pairs: Sequence[Pair], cosines: Cosines) -> list[Figure]:
    found = [(pair.kind, judged(pair, cosines)) for pair in pairs]

    def share(labels: tuple[str, ...], is_so: Callable[[Judgement], bool]) -> tuple[int, int]:
        among = [is_so(judgement) for kind, judgement in found if kind.startswith(labels)]
        return sum(among), len(among)

    def figure(name: str, counted: tuple[int, int], aim: str, is_met: Callable[[float], bool] | None) -> Figure:
        of = counted[0] / max(1, counted[1])
        met = None if is_met is None else is_met(of)
        return Figure(name, f"{counted[0]} of {counted[1]}", "", f"{of:.3f}", aim, met)

    same, others = ("duplicate",), ("related", "unrelated", "contradiction")
    moved = ("related moved_other_attribute",)
    return [
        figure("the same: merged", share(same, _is_merged), "", None),
        figure(
            "the same: merged or suggested",
            share(same, _is_found),
            f">= {AIM_PARAPHRASED}",
            lambda of: of >= AIM_PARAPHRASED,
        ),
        figure("others: merged", share(others, _is_merged), "", None),
        figure(
            "others: merged or suggested",
            share(others, _is_found),
            f"<= {AIM_FALSE_PARAPHRASED}",
            lambda of: of <= AIM_FALSE_PARAPHRASED,
        ),
        figure(
            "the same: called contradictions",
            share(same, _is_against),
            f"<= {AIM_FALSE_CONTRADICTIONS}",
            lambda of: of <= AIM_FALSE_CONTRADICTIONS,
        ),
        figure("contradictions found", share(("contradiction",), _is_against), "", None),
        figure("related or unrelated: called contradictions", share(("related", "unrelated"), _is_against), "", None),
        figure("replaced: told", share(("supersedes",), _replaces), "", None),
        figure("related or unrelated: replaced", share(("related", "unrelated"), _replaces), "0", lambda of: of == 0),
        figure("of these, moved in another attribute", share(moved, _replaces), "0", lambda of: of == 0),
    ]


def _is_merged(found: Judgement) -> bool:
    return found.likeness >= SURELY_SAME


def _is_found(found: Judgement) -> bool:
    return found.likeness >= LIKELY_SAME


def _is_against(found: Judgement) -> bool:
    return found.contradiction >= CONTRADICTS


def _replaces(found: Judgement) -> bool:
    return found.supersedes


def duplicate_figures(pairs: Sequence[Pair], cosines: Cosines) -> list[Figure]:
    ways: dict[str, Callable[[Pair], float]] = {
        "likeness": lambda pair: judged(pair, cosines).likeness,
        "likeness by rules alone": lambda pair: judged(pair, None).likeness,
        "cosine alone": lambda pair: cosines[pair.first, pair.second].cosine,
        "common words alone": _overlap,
    }
    found = {name: average_precision([(way(pair), pair.is_so) for pair in pairs]) for name, way in ways.items()}
    plain = max(found["cosine alone"], found["common words alone"])
    merged = [pair.is_so for pair in pairs if _is_merged(judged(pair, cosines))]
    return [
        Figure(
            name,
            f"{value:.3f}",
            f"the better of cosine and words: {plain:.3f}",
            f"{value / plain:.2f} x",
            f">= {AIM_DUPLICATES:.2f}" if name == "likeness" else "",
            value >= AIM_DUPLICATES if name == "likeness" else None,
        )
        for name, value in found.items()
    ] + [Figure("from 0.85 on, merged without asking", f"{len(merged)} pairs", f"{sum(merged)} of them are", "")]


def _overlap(pair: Pair) -> float:
    first, second = read(pair.first, about=()).counts, read(pair.second, about=()).counts
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def average_precision(scored: Sequence[tuple[float, bool]]) -> float:
    ordered = [is_so for _, is_so in sorted(scored, key=lambda entry: -entry[0])]
    hits, total = 0, 0.0
    for place, is_so in enumerate(ordered, start=1):
        if is_so:
            hits += 1
            total += hits / place
    return total / hits if hits else 0.0


def contradiction_figure(name: str, pairs: Sequence[Pair], cosines: Cosines, *, aim: float) -> Figure:
    f1, precision, recall = f1_score(pairs, cosines)
    without, _, _ = f1_score(pairs, None)
    return Figure(
        f"{name}, {len(pairs)} pairs",
        f"{f1:.3f} ({precision:.3f}, {recall:.3f})",
        f"by rules alone: {without:.3f}",
        f"{f1 / without:.2f} x" if without else "",
        f">= {aim:.2f}",
        f1 >= aim,
    )


def f1_score(pairs: Sequence[Pair], cosines: Cosines | None) -> tuple[float, float, float]:
    called = [judged(pair, cosines).contradiction >= CONTRADICTS for pair in pairs]
    right = sum(is_called and pair.is_so for is_called, pair in zip(called, pairs, strict=True))
    precision = right / max(1, sum(called))
    recall = right / max(1, sum(pair.is_so for pair in pairs))
    return 2 * precision * recall / max(1e-9, precision + recall), precision, recall


def kind_rows(claims: Mapping[str, Sequence[Pair]], cosines: Cosines) -> list[list[str]]:
    kinds = dict.fromkeys((pair.kind, pair.is_so) for pairs in claims.values() for pair in pairs)
    rows: list[list[str]] = []
    for kind, is_so in kinds:
        row = [kind, "yes" if is_so else "no"]
        for pairs in claims.values():
            called = [judged(pair, cosines).contradiction >= CONTRADICTS for pair in pairs if pair.kind == kind]
            row.append(f"{sum(called)} of {len(called)}")
        rows.append(row)
    return rows


def time_figures(pairs: Sequence[Pair]) -> list[Figure]:
    read.cache_clear()
    started = perf_counter()
    for pair in pairs:
        read(pair.first, about=())
        read(pair.second, about=())
    prepared = perf_counter()
    for pair in pairs:
        judge(Statement(pair.first), Statement(pair.second), cosine=0.9)
    finished = perf_counter()
    reading = 1e6 * (prepared - started) / (2 * len(pairs))
    judging = 1e6 * (finished - prepared) / len(pairs)
    return [
        Figure("reading a statement once", f"{reading:.0f} us", "", ""),
        Figure(
            "judging a pair of read statements",
            f"{judging:.0f} us",
            "",
            "",
            f"<= {AIM_MICROSECONDS} us",
            judging <= AIM_MICROSECONDS,
        ),
    ]
