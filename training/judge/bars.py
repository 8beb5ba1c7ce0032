"""How pairs left out of the lesson come out when rules and judge are weighed: for the bars of `judging/weighed.py`.

    python -m training.judge.bars [--fold K] [--search] [--measure]

reads the shipped judge. With `--measure` the held-out halves of the benchmark are counted too, as counts alone.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from mycel.contracts.judge import PairOdds
from mycel.engine.judging import weighed
from mycel.engine.judging.clauses import Reading
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import judge, with_same_values
from mycel.engine.language import read
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from mycel.providers.judge.shipped import builtin_judge
from training.judge.material import DATA, Example, fold_of, grouped, pair_example, pairs, rows_of


class Known(NamedTuple):
    """A pair with its label, what the rules found, both as they were read, and what the judge says."""

    label: str
    kind: str
    cosine: float
    found: Judgement
    first: Reading
    second: Reading
    odds: PairOdds


def known(examples: Sequence[Example]) -> list[Known]:
    model, embedder = builtin_judge(), make_embedder(EmbeddingOptions())
    if model is None or embedder is None:
        raise SystemExit("the package has no judge or no embedder")
    odds = model.compare([(example.first, with_same_values(example.first, example.second)) for example in examples])
    ones, others = (
        np.asarray(embedder.embed_documents([getattr(example, side) for example in examples]))
        for side in ("first", "second")
    )
    cosines = (ones * others).sum(axis=1).tolist()
    return [_known(*each) for each in zip(examples, cosines, odds, strict=True)]


def _known(example: Example, cosine: float, odds: PairOdds) -> Known:
    found = judge(Statement(example.first), Statement(example.second), cosine=cosine)
    return Known(*example.kind.split("/", 1), cosine, found, read(example.first), read(example.second), odds)


def outcome(pair: Known, *, by_rules: bool = False) -> str:
    found = pair.found
    if not by_rules and found.likeness < SURELY_SAME:
        found = weighed.weigh(found, pair.first, pair.second, pair.odds, in_order=True)
    if found.likeness >= SURELY_SAME:
        return "merged"
    if found.supersedes:
        return "supersedes"
    if found.contradiction >= CONTRADICTS:
        return "contradiction"
    return "suggested" if found.likeness >= LIKELY_SAME else "nothing"


def table(pairs: Iterable[Known], *, by_rules: bool = False) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        counts.setdefault(pair.label, Counter())[outcome(pair, by_rules=by_rules)] += 1
    return counts


def show(name: str, pairs: Sequence[Known]) -> None:
    for by_rules in (True, False):
        print(f"{name}, {'rules alone' if by_rules else 'weighed'}")
        for label, counts in table(pairs, by_rules=by_rules).items():
            print(f"  {label:14} {counts.total():4}  {dict(counts)}")


def search(pairs: Sequence[Known]) -> None:
    """The best settings, by what they find and what they get wrong."""
    rows: list[tuple[float, str]] = []
    tried = product((0.8, 0.9, 0.95), (0.05, 0.2, 0.4), (0.15, 0.3, 0.45, 0.6), (0.8, 0.9, 0.95), (0.5, 0.6, 0.7, 0.8))
    for opposes, by_values, by_words, suggests, agreeing in tried:
        weighed.OPPOSES, weighed.OPPOSES_BY_VALUES, weighed.OPPOSES_BY_WORDS = opposes, by_values, by_words
        weighed.SUGGESTS, weighed.SUGGESTS_WHERE_ALL_AGREE = suggests, agreeing
        counts = table(pairs)
        same = _share([counts["duplicate"]], "merged", "suggested")
        against = _share([counts["duplicate"]], "contradiction", "supersedes")
        false = _share([counts[label] for label in ("related", "unrelated", "contradiction")], "merged", "suggested")
        seen = _share([counts["contradiction"]], "contradiction", "supersedes")
        wrong = _share([counts[label] for label in ("related", "unrelated")], "contradiction", "supersedes")
        setting = f"opposes {opposes} by values {by_values} by words {by_words} suggests {suggests} {agreeing}"
        found = f"same {same:.2f} false {false:.3f} against {against:.2f} seen {seen:.2f} wrong {wrong:.2f}"
        rows.append(
            (same + seen - 10 * max(0, false - 0.015) - 2 * wrong - 10 * max(0, against - 0.04), f"{setting}: {found}")
        )
    for score, row in sorted(rows, reverse=True)[:25]:
        print(f"{score:.3f} {row}")


def _share(counts: Sequence[Counter[str]], *outcomes: str) -> float:
    return sum(count[name] for count in counts for name in outcomes) / sum(count.total() for count in counts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--search", action="store_true")
    asked = parser.parse_args()
    examples = pairs()
    folds = fold_of(grouped(examples))
    left_out = known([e for e, fold in zip(examples, folds, strict=True) if fold == asked.fold])
    show("left out", left_out)
    print(json.dumps({"least cosine of the same": min(p.cosine for p in left_out if p.label == "duplicate")}))
    if asked.search:
        search([pair for pair in left_out if pair.label != "none"])
    if asked.measure:
        for path in (DATA / "talk" / "paraphrases.tsv", DATA / "claim_pairs.tsv"):
            held = [pair_example(row, path.stem) for row in rows_of(path) if row["split"] == "held_out"]
            show(f"{path.stem}, held out", known(held))


if __name__ == "__main__":
    main()
