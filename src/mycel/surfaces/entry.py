"""`mycel` as a program: hooks start at once, every other command by way of the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"--help", "-h"} & set(words):
        from mycel.surfaces.hooks.command import run

        code = run(words[1:])
        # All is written: taking the interpreter apart would keep the agent waiting for nothing.
        os._exit(code)
    from mycel.surfaces.cli.main import main as command_line

    command_line()
