"""Fits the weights of extraction and writes them into the package: `python -m training.extraction`."""

from __future__ import annotations

import argparse

from benchmarks.extraction import read_split
from training.extraction.examples import examples_of
from training.extraction.fitting import fit
from training.extraction.measure import candidates_left_out, show
from training.extraction.talks import own_talks
from training.extraction.writing import as_module, module_path


def main() -> None:
    parser = argparse.ArgumentParser(prog="training.extraction", description=__doc__)
    parser.add_argument("--no-measure", action="store_true", help="only fit and write")
    parser.add_argument("--no-write", action="store_true", help="only measure")
    options = parser.parse_args()
    dev, own = read_split("dev"), own_talks()
    talks = [*dev, *own]
    examples = {talk.name: examples_of(talk) for talk in talks}
    if not options.no_measure:
        found = list(candidates_left_out(talks, examples))
        names = {talk.name for talk in dev}
        show(found, title="All talks, each left out once")
        show([one for one in found if one[0].name not in names], title="Those of our own")
    if not options.no_write:
        module_path().write_text(as_module(fit([one for each in examples.values() for one in each])), "utf-8")
        print(f"written: {module_path().name}")


if __name__ == "__main__":
    main()
