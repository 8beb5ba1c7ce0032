"""A session's source as it grows with each report, without bringing back what was purged from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import BLANK, Source, Transcript
from mycel.engine.purged_passages import blank_purged
from mycel.engine.transcripts.turns import PARAGRAPH, byte_size, check_size


def grown(before: Transcript, report: Transcript) -> Transcript:
    """The transcript that stands after a report, which may tell again what was told before.

    Its text begins with that of `before`, so that evidence keeps its place.
    """
    if report.text.startswith(before.text):
        return report
    if not report.text or _holds(before.text, report.text):
        return before
    return appended(before, report)


def appended(before: Transcript, report: Transcript) -> Transcript:
    check_size(byte_size(before.text) + len(PARAGRAPH) + byte_size(report.text))
    moved = len(before.text) + len(PARAGRAPH)
    turns = tuple(replace(turn, start=turn.start + moved, end=turn.end + moved) for turn in report.turns)
    return Transcript(before.text + PARAGRAPH + report.text, before.turns + turns)


def _holds(whole: str, part: str) -> bool:
    """Only as whole paragraphs: `use port 80` is not in `never use port 8080`."""
    return (
        whole.startswith(part + PARAGRAPH) or whole.endswith(PARAGRAPH + part) or PARAGRAPH + part + PARAGRAPH in whole
    )


def without_purged(report: Source, purged: Sequence[PurgedPassage]) -> Source:
    """The same object when nothing of it was purged before."""
    text = blank_purged(report.text, purged)
    return report if text == report.text else replace(report, text=text)


def grown_source(known: Source, report: Transcript, *, appends: bool = False) -> Source:
    """The same object when the report holds nothing new; one that `appends` is new as a whole."""
    before = Transcript(known.text, known.turns)
    after = appended(before, report) if appends else grown(before, _blanked_alike(before, report))
    if after.text == before.text:
        return known
    return replace(known, text=after.text, turns=after.turns)


def _blanked_alike(before: Transcript, report: Transcript) -> Transcript:
    """A report repeats what was purged since the last one: it is blanked there too."""
    if BLANK not in before.text or len(report.text) < len(before.text):
        return report
    parts = [BLANK if kept == BLANK else said for kept, said in zip(before.text, report.text, strict=False)]
    blanked = "".join(parts)
    if blanked != before.text:
        return report
    return replace(report, text=blanked + report.text[len(blanked) :])
