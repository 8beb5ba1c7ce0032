"""Prints the figures of the hostile sets: `python -m tests.hostile`.

The texts behind a miss are shown for the half that may be tuned on; the other half shows them only to
`--spend-held-out`, after which it is no longer kept apart and has to be written anew.
"""

from __future__ import annotations

import argparse
import sys

from tests.hostile.figures import measured, table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--misses", action="store_true", help="show the misses of the half for tuning")
    parser.add_argument("--spend-held-out", action="store_true", help="show those of the half kept apart too")
    asked = parser.parse_args()
    figures = measured()
    sys.stdout.write(table(figures) + "\n")
    for figure in figures:
        if (asked.misses and figure.half == "tuning") or asked.spend_held_out:
            for missed in figure.missed:
                sys.stdout.write(f"\n[{figure.name}, {missed.kind}] {missed.text}\n")


if __name__ == "__main__":
    main()
