"""`mycel` as a program: hooks start at once, every other command by way of the command line."""

from __future__ import annotations

import sys


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"--help", "-h"} & set(words):
        from mycel.surfaces.hooks.command import run

        sys.exit(run(words[1:]))
    from mycel.surfaces.cli.main import main as command_line

    command_line()
