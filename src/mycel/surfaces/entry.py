"""`mycel` as a program: what agents start comes up at once, every other command by way of the command line."""

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
    if words[:1] == ["mcp"]:
        from mycel.surfaces.mcp.command import run as serve

        if serve(words[1:]):
            # A request that never ends must not keep the process.
            os._exit(0)
    from mycel.surfaces.cli.main import main as command_line

    command_line()
