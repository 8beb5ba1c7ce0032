"""Fits background, fusion and relevance to a model: `python -m training.fit --model FOLDER --bench-data DIR`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

from benchmarks.kept_vectors import KeptVectors
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from training.fit import report
from training.fit.background import background_of
from training.fit.constants import today
from training.fit.cut import show_cuts
from training.fit.fusion import fit_fusion, standing
from training.fit.gather import gather
from training.fit.measured import Orders, check
from training.fit.relevance import fit_relevance


def main() -> None:
    parser = argparse.ArgumentParser(prog="training.fit", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of a local model")
    parser.add_argument("--bench-data", type=Path, required=True, help="folder with the LoCoMo, SciFact and CoSQA data")
    parser.add_argument("--cache", type=Path, help="where vectors of the model are kept for the next run")
    parser.add_argument("--out", type=Path, help="where to write everything as JSON")
    parser.add_argument("--keep-fusion", action="store_true", help="fit relevance alone, to the fusion as it stands")
    options = parser.parse_args()
    embedder = make_embedder(EmbeddingOptions(embedder=str(options.model)))
    if embedder is None:
        parser.error(f"--model {options.model} names no model")
    clock = _Clock()
    print(f"Asking every question once, with {embedder.model}")
    asked = gather(options.bench_data, KeptVectors(embedder, folder=options.cache))
    clock.tell("asked")
    report.show_check(check(asked))
    clock.tell("asked again from memory, with the same answers")
    background = background_of(asked)
    report.show_background(background, embedder.background)
    orders = Orders(asked, background)
    fusion = None if options.keep_fusion else fit_fusion(orders)
    if fusion is not None:
        report.show_fusion(fusion, orders)
        clock.tell("fusion")
    relevance = fit_relevance(asked, standing() if fusion is None else fusion.proposal, background)
    report.show_relevance(relevance)
    clock.tell("relevance")
    proposal = report.proposal_of(fusion, relevance)
    show_cuts(asked, {**today(), **proposal}, background)
    clock.tell("cuts")
    quality = report.quality_rows(asked, background, embedder.background, proposal)
    report.show_quality(quality)
    if options.out is not None:
        told = report.as_json(embedder.model, background, fusion, relevance, quality)
        options.out.write_text(json.dumps(told, indent=2) + "\n")


class _Clock:
    def __init__(self) -> None:
        self._last = perf_counter()

    def tell(self, what: str) -> None:
        now = perf_counter()
        print(f"[{what}: {now - self._last:.0f} s]\n", flush=True)
        self._last = now


if __name__ == "__main__":
    main()
