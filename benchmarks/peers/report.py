"""The figures of all peers in one Markdown table, each beside its ratio to Mycel's."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.peers.absent import ABSENT, TRIED_ON
from benchmarks.peers.measure import ADDS_AND_FINDS, QUESTIONS, SINGLE_ADDS, Measured, Sized
from benchmarks.report import p50

MEGABYTE = 1_000_000
# Long turns, of which Mycel embeds parts.
FEW = 20

PREFACE = """\
Vectors are given to all of them: no model's time counts, not even in the first result. "add" is the last {singles}
memories before a size is reached, one by one; what is before is added in bulk where a peer can. "bulk" includes what is
left to do afterwards, as Mycel's vectors are. "search" is {questions} questions with ten answers each. "add, then find
it" is one new memory and a search for its text, {finds} times: a peer that puts work off pays here."""

# A figure of one peer, or None where there is none.
Figure = Callable[[Measured], float | None]


def p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def machine(measured: Sequence[Measured]) -> str:
    pythons = " and ".join(dict.fromkeys(one.environment.runs for one in measured))
    loads = [one.load_average for one in measured]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {pythons}, "
        f"load average while measuring {min(loads):.1f} to {max(loads):.1f}"
    )


def markdown(measured: Sequence[Measured], sizes: Sequence[int], *, missing: Sequence[str]) -> str:
    """Mycel is the first of them; a ratio above 1 means that the peer takes or has that many times as much."""
    heads = ["", *(f"{one.peer.name} {one.environment.version}" for one in measured)]
    rows = [[name, *_cells(measured, figure, write)] for name, figure, write in _figures(sizes)]
    table = [f"| {' | '.join(row)} |" for row in (heads, ["---", *["---:"] * len(measured)], *rows)]
    absent = [f"- {one.package}: {one.tried}: {one.said}." for one in ABSENT]
    return "\n".join(
        [
            f"{machine(measured)}. In brackets: how many times Mycel's figure.",
            *("", *table, ""),
            *(PREFACE.format(singles=SINGLE_ADDS, questions=QUESTIONS, finds=ADDS_AND_FINDS).splitlines()),
            *("", *_notes(measured), *(f"- {line}." for line in missing)),
            *("", f"Not measured, since they do not run offline (tried on {TRIED_ON}):", "", *absent),
        ]
    )


def as_json(measured: Sequence[Measured], *, missing: Sequence[str]) -> dict[str, Any]:
    return {"machine": machine(measured), "missing": missing, "peers": [asdict(one) for one in measured]}


def _figures(sizes: Sequence[int]) -> Iterator[tuple[str, Figure, Callable[[float], str]]]:
    yield "packages installed", lambda one: one.environment.packages, "{:.0f}".format
    yield "MB installed", lambda one: one.environment.size / MEGABYTE, "{:,.0f}".format
    yield "first result, new process", lambda one: one.first_seconds, _milliseconds
    yield "LoCoMo R@10", lambda one: one.recall, "{:.1f}".format
    yield "LoCoMo nDCG@10", lambda one: one.gain, "{:.1f}".format
    for size in sizes:
        yield from _figures_at(size)


def _figures_at(size: int) -> Iterator[tuple[str, Figure, Callable[[float], str]]]:
    def figure(take: Callable[[Sized], float | None]) -> Figure:
        def taken(one: Measured) -> float | None:
            sized = next((sized for sized in one.sizes if sized.size == size), None)
            return None if sized is None else take(sized)

        return taken

    at = f"{size:,}:"
    yield f"{at} memories loaded", figure(lambda sized: sized.loaded), "{:,.0f}".format
    yield f"{at} add p50", figure(lambda sized: p50(sized.adds)), _milliseconds
    yield f"{at} add p95", figure(lambda sized: p95(sized.adds)), _milliseconds
    yield f"{at} bulk, per memory", figure(_bulk_seconds), _milliseconds
    yield f"{at} search p50", figure(lambda sized: p50(sized.searches)), _milliseconds
    yield f"{at} search p95", figure(lambda sized: p95(sized.searches)), _milliseconds
    yield f"{at} add, then find it, p50", figure(lambda sized: p50(sized.adds_and_finds)), _milliseconds


def _bulk_seconds(sized: Sized) -> float | None:
    """With what is left to do afterwards, where adding leaves something."""
    return (sized.bulk_seconds + sized.settling_seconds) / sized.added_in_bulk if sized.added_in_bulk else None


def _cells(measured: Sequence[Measured], figure: Figure, write: Callable[[float], str]) -> Iterator[str]:
    ours = figure(measured[0])
    for place, one in enumerate(measured):
        value = figure(one)
        if value is None:
            yield "-"
        elif place == 0 or not ours:
            yield write(value)
        else:
            yield f"{write(value)} ({_ratio(value / ours)})"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f} x" if ratio < 10 else f"{ratio:,.0f} x"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:.2f} ms"


def _notes(measured: Sequence[Measured]) -> Iterator[str]:
    for one in measured:
        parts = [one.peer.used, one.peer.on_disk]
        if one.stored_bytes and one.sizes:
            parts.append(f"{one.stored_bytes / one.sizes[-1].loaded:,.0f} B on disk per memory")
        for sized in one.sizes:
            parts += _remarks(sized)
        if one.embedded_meanwhile > FEW:
            parts.append(f"{one.embedded_meanwhile:,} texts were embedded meanwhile, in its time")
        parts += [f"{part} failed: {reason}" for part, reason in one.failures.items()]
        yield f"- {one.peer.name}: {'; '.join(filter(None, parts))}."


def _remarks(sized: Sized) -> Iterator[str]:
    if sized.found_at_once_percent < 100:
        yield f"at {sized.size:,} it found {sized.found_at_once_percent:.0f} % of what was just added"
    if sized.projected_seconds is not None:
        yield f"filling to {sized.size:,} was stopped, all of it would take {sized.projected_seconds:,.0f} s or more"
    if sized.loaded < sized.size:
        yield f"searches at {sized.size:,} are over the {sized.loaded:,} that were there in time"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
