"""A session that reports again."""

from __future__ import annotations

from dataclasses import replace

from mycel.domain.transcript import Transcript
from mycel.engine.transcripts.limit import byte_size, check_size
from mycel.engine.transcripts.said import PARAGRAPH


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
