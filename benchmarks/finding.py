"""Finding by words and meaning together: speed with vectors given, quality with a local model."""

from __future__ import annotations

from pathlib import Path

from benchmarks.finding_speed import speed


def run(
    folder: Path,
    *,
    quick: bool,
    large: bool = False,
    only: str | None = None,
    bench_data: Path | None = None,
    model: Path | None = None,
    cache: Path | None = None,
) -> None:
    if only != "quality":
        speed(folder, quick=quick, large=large)
    if only != "speed":
        from benchmarks.finding_quality import quality

        quality(folder / "quality", bench_data=bench_data, model=model, cache=cache)
