"""Importing from other systems: simple records of one large file, into local files, without vectors."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from time import perf_counter
from uuid import UUID

import mycel
from benchmarks.report import Figure, show
from benchmarks.texts import Notes
from mycel.engine.imports.registry import recognise
from mycel.surfaces.importing.places import Place
from mycel.surfaces.importing.run import Choices, import_from


def run(folder: Path, *, quick: bool) -> None:
    count = 5_000 if quick else 40_000
    file = folder / "memories.json"
    folder.mkdir(parents=True, exist_ok=True)
    write(file, count)
    read, _ = timed(lambda: sum(1 for _ in records(file)))
    with mycel.open(folder / "data") as workspace:
        imports = workspace.as_operator().imports
        before = peak_mib()
        first, report = timed(lambda: taken(imports, file))
        again, repeated = timed(lambda: taken(imports, file))
    assert (report.taken, repeated.taken, repeated.skipped) == (count, 0, count)
    speed = count / first
    figures = [
        Figure("records read from JSON, nothing stored", f"{count / read:,.0f}/s", "", ""),
        Figure(f"records imported, {count:,}", f"{speed:,.0f}/s", "", "", ">= 8,000/s", speed >= 8000),
        Figure("the same a second time, nothing taken", f"{count / again:,.0f}/s", "", ""),
        Figure("memory used above the start", f"{peak_mib() - before:,.0f} MiB", "", ""),
    ]
    show("Importing", figures)


def write(file: Path, count: int) -> None:
    """As mem0 gives them: an id, a sentence, when, and of whom."""
    notes = Notes()
    with file.open("w", encoding="utf-8") as out:
        out.write('{"results": [')
        for number in range(count):
            one = {"id": str(UUID(int=number + 1)), "memory": notes.text().split("\n")[0][:120], "user_id": "swe-1"}
            out.write(("," if number else "") + json.dumps({**one, "created_at": "2025-01-01T00:00:00Z"}))
        out.write("]}")


def records(file: Path):
    with Place(file) as place:
        form = recognise(place)
        assert form is not None
        yield from form.read(place)


def taken(imports, file: Path):
    with Place(file) as place:
        form = recognise(place)
        assert form is not None
        return import_from(imports, form, place, Choices(origin="bench"))


def timed(work):
    began = perf_counter()
    found = work()
    return perf_counter() - began, found


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
