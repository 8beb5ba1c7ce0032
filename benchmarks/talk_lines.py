"""A talk line by line: what would be drawn from each line, as what, whose word it is, active or waiting, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from mycel.contracts.judge import Judge
from mycel.domain.marks import EXPLICIT
from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript
from mycel.engine.extraction.extract import extract
from mycel.engine.transcripts.reading import read_transcript


def show_talk(path: Path, *, judge: Judge | None) -> None:
    """Of a transcript that `mycel capture` reads, or of a labelled talk."""
    transcript = _read(path)
    found = extract(transcript, judge=judge)
    for turn in transcript.turns:
        if turn.role in {"tool", "system"}:
            continue
        print(f"\n{turn.speaker or turn.role or '?'}: {' '.join(transcript.text[turn.start : turn.end].split())}")
        for candidate in found:
            if turn.start <= candidate.start < turn.end:
                print(
                    f"    -> {kind_in_words(candidate)} of {candidate.said_by or 'nobody named'}: {candidate.content}"
                )
                print(f"       {fate(candidate)}")
    waiting = sum(not becomes_active(candidate) for candidate in found)
    print(f"\n{len(found)} kept: {len(found) - waiting} active under promote=grounded, {waiting} waiting")


def kind_in_words(candidate: Candidate) -> str:
    beside = "" if candidate.category in (None, candidate.type) else f" ({candidate.category})"
    return f"{candidate.type}{beside} {candidate.confidence:.2f}"


def becomes_active(candidate: Candidate) -> bool:
    """Under the policy `promote=grounded`, with nothing else in the team."""
    return candidate.grounds == EXPLICIT and candidate.type is not MemoryType.PROFILE


def fate(candidate: Candidate) -> str:
    if becomes_active(candidate):
        return "active under promote=grounded: said outright"
    if candidate.type is MemoryType.PROFILE:
        return "waits: the person it is about should confirm it"
    return "waits: said in passing, not outright"


def _read(path: Path) -> Transcript:
    text = path.read_text("utf-8")
    if path.suffix in {".yaml", ".yml"}:
        from benchmarks.extraction import as_transcript, moment_of

        content: dict[str, Any] = yaml.safe_load(text)
        return as_transcript(content["turns"], said_at=moment_of(content.get("date")) or datetime.now(UTC))
    return read_transcript(text)
