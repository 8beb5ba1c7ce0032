"""A process that syncs a vault, to be killed while it does."""

from __future__ import annotations

import sys
from pathlib import Path

from mycel.app import open_workspace
from tests.surfaces.vault.bench import Bench


def main(data: str, root: str, known: str) -> None:
    with open_workspace(Path(data)) as workspace:
        bench = Bench(Path(root), workspace.as_member("lead-1"), Path(known))
        sys.stdout.write("begins\n")
        sys.stdout.flush()
        bench.sync()


if __name__ == "__main__":
    main(*sys.argv[1:])
