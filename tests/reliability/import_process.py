"""Imports a file into a new workspace, and tells how much more memory that took, in MiB, and the report."""

import json
import resource
import sys
from pathlib import Path

from mycel.app import open_workspace
from mycel.engine.imports.registry import recognise
from mycel.surfaces.importing.places import Place
from mycel.surfaces.importing.run import Choices, import_from


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(file: str, data: str) -> None:
    with open_workspace(Path(data)) as workspace, Place(Path(file)) as place:
        imports = workspace.as_operator().imports
        # Whatever is loaded once is not what a larger file would cost.
        imports.take([{"id": "first", "messages": "user: hello there"}], system="warm")
        before = peak()
        form = recognise(place)
        assert form is not None
        report = import_from(imports, form, place, Choices(origin="large"))
        sys.stdout.write(json.dumps({"mib": peak() - before, "taken": report.taken, "read": report.read}))


if __name__ == "__main__":
    main(*sys.argv[1:])
