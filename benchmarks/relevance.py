"""What relevance says of each hit where every note was judged: what the default cut keeps and drops, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.finding_quality import HYBRID, TOP, WORDS, Task, bins_told, calibration_error, model_of, save
from benchmarks.kept_vectors import KeptVectors
from benchmarks.relevance_notes import APART, DEV, HELD_OUT, half
from benchmarks.report import Figure, show, show_rows
from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory

AIM_KEPT, AIM_DROPPED, AIM_ERROR = 95, 70, 0.03
# Where the distribution is divided.
STEPS = (0.0, 0.05, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Judged:
    """One of the first ten hits of a question; `shown` is whether it is in the answer unless asked otherwise."""

    kind: str
    relevance: float
    answers: bool
    shown: bool


def run(folder: Path, *, quick: bool, model: Path | None, cache: Path | None) -> None:
    """`dev` may have been tuned on, `held_out` and `apart` never."""
    embedder = KeptVectors(model_of(model), folder=cache)
    splits = (DEV,) if quick else (DEV, HELD_OUT, APART)
    judged: dict[str, list[Judged]] = {}
    empty: dict[str, tuple[int, int]] = {}
    for split in splits:
        for way, used in ((HYBRID, embedder), (WORDS, None)):
            name = f"{split}, {way}"
            with open_workspace(folder / name.replace(" ", ""), embedder=used) as workspace:
                memory = workspace.as_member("swe-1", may_be_new=True)
                task = half(split)
                given = save(memory, task)
                workspace.run_pending()
                judged[name] = list(judge(memory, task, given))
                empty[name] = _empty_answers(memory, task)
    show("Relevance: what the default cut does to the first ten", list(_figures(judged, empty)))
    show_rows("Relevance: distribution, in percent", *_distribution(judged))
    show_rows("Relevance: kept / dropped by kind of question, in percent", *_by_kind(judged))


def judge(memory: TeamMemory, task: Task, given: Mapping[str, str]) -> Iterator[Judged]:
    for question in task.questions:
        everything = memory.search(question.text, limit=TOP, min_relevance=0).hits
        shown = {hit.memory.id for hit in memory.search(question.text, limit=TOP).hits}
        for hit in everything:
            id = given[hit.memory.id]
            if id not in question.maybe:
                yield Judged(question.category, hit.relevance, id in question.gold, hit.memory.id in shown)


def _empty_answers(memory: TeamMemory, task: Task) -> tuple[int, int]:
    """Of the questions that no note answers, though some are near."""
    asked = [question for question in task.questions if not question.gold]
    return sum(not memory.search(question.text, limit=TOP).hits for question in asked), len(asked)


def _figures(judged: Mapping[str, Sequence[Judged]], empty: Mapping[str, tuple[int, int]]) -> Iterator[Figure]:
    for name, hits in judged.items():
        aimed = name.endswith(HYBRID)
        kept, dropped = kept_and_dropped(hits)
        answers = sum(hit.answers for hit in hits)
        error = calibration_error([(hit.relevance, hit.answers) for hit in hits])
        for what, share, aim, count in (
            ("answers kept", kept, AIM_KEPT, answers),
            ("others dropped", dropped, AIM_DROPPED, len(hits) - answers),
        ):
            target = f">= {aim} %" if aimed else ""
            yield Figure(
                f"{name}: {what}", f"{share:.0f} %", f"of {count}", "", target, share >= aim if aimed else None
            )
        yield Figure(
            f"{name}: calibration error",
            f"{error:.3f}",
            bins_told([(hit.relevance, hit.answers) for hit in hits]),
            "",
            f"<= {AIM_ERROR}" if aimed else "",
            error <= AIM_ERROR if aimed else None,
        )
        none, asked = empty[name]
        yield Figure(f"{name}: empty where nothing answers", f"{none}", f"of {asked} questions, notes near", "")


def kept_and_dropped(hits: Sequence[Judged]) -> tuple[float, float]:
    """In percent; what there is none of is neither lost nor left in."""
    kept = [hit.shown for hit in hits if hit.answers] or [True]
    dropped = [not hit.shown for hit in hits if not hit.answers] or [True]
    return 100 * sum(kept) / len(kept), 100 * sum(dropped) / len(dropped)


def _distribution(judged: Mapping[str, Sequence[Judged]]) -> tuple[list[str], list[list[str]]]:
    bands = list(pairwise(STEPS))
    rows: list[list[str]] = []
    for name, hits in judged.items():
        for what, chosen in (("answers", True), ("others", False)):
            found = [hit.relevance for hit in hits if hit.answers is chosen]
            shares = (sum(low <= one < high for one in found) / max(1, len(found)) for low, high in bands)
            rows.append([f"{name}: {what}", f"{len(found)}", *(f"{100 * share:.0f}" for share in shares)])
    return ["hits", "count", *(f"{low:g} to {high:g}" for low, high in bands)], rows


def _by_kind(judged: Mapping[str, Sequence[Judged]]) -> tuple[list[str], list[list[str]]]:
    kinds = dict.fromkeys(hit.kind for hits in judged.values() for hit in hits)
    rows: list[list[str]] = []
    for kind in kinds:
        each = (kept_and_dropped([hit for hit in hits if hit.kind == kind]) for hits in judged.values())
        rows.append([kind, *(f"{kept:.0f} / {dropped:.0f}" for kept, dropped in each)])
    return ["kind", *judged], rows
