"""What parent and child tell each other, as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.judging.pair import Judgement, Statement
from mycel.engine.workshop.workshop import Pair

SLICE_CHARS = 65_536


def json_line(request: Mapping[str, Any]) -> str:
    """A text of many megabytes is written in slices: each call holds the interpreter lock."""
    return "".join(_encoded(request))


def _encoded(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield '"'
        for start in range(0, len(value), SLICE_CHARS):
            yield json.dumps(value[start : start + SLICE_CHARS])[1:-1]
        yield '"'
    elif isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        yield "{"
        for number, (name, inner) in enumerate(named.items()):
            yield f"{', ' if number else ''}{json.dumps(name)}: "
            yield from _encoded(inner)
        yield "}"
    else:
        yield json.dumps(value)


def transcript_values(transcript: Transcript) -> dict[str, Any]:
    turns = [[turn.role, turn.start, turn.end, turn.speaker] for turn in transcript.turns]
    return {"text": transcript.text, "turns": turns}


def transcript_from(values: Mapping[str, Any]) -> Transcript:
    return Transcript(values["text"], tuple(Turn(*turn) for turn in values["turns"]))


def candidate_values(candidate: Candidate) -> dict[str, Any]:
    return {
        "type": candidate.type.value,
        "title": candidate.title,
        "content": candidate.content,
        "confidence": candidate.confidence,
        "start": candidate.start,
        "end": candidate.end,
        "category": candidate.category,
        "tags": list(candidate.tags),
        "rationale": candidate.rationale,
        "alternatives": list(candidate.alternatives),
    }


def candidate_from(values: Mapping[str, Any]) -> Candidate:
    read: dict[str, Any] = {**values, "type": MemoryType(values["type"])}
    read |= {name: tuple(values[name]) for name in ("tags", "alternatives")}
    return Candidate(**read)


def pair_values(pair: Pair) -> list[Any]:
    return [_statement_values(pair.earlier), _statement_values(pair.later), pair.cosine]


def pair_from(values: list[Any]) -> Pair:
    earlier, later, cosine = values
    return Pair(_statement_from(earlier), _statement_from(later), cosine)


def judgement_values(judgement: Judgement) -> list[Any]:
    return [judgement.likeness, judgement.contradiction, judgement.supersedes, judgement.reason]


def judgement_from(values: list[Any]) -> Judgement:
    likeness, contradiction, supersedes, reason = values
    return Judgement(likeness, contradiction, supersedes, reason)


def _statement_values(statement: Statement) -> list[Any]:
    at = statement.said_at
    return [statement.text, list(statement.subject), None if at is None else at.isoformat()]


def _statement_from(values: list[Any]) -> Statement:
    text, subject, at = values
    return Statement(text, tuple(subject), None if at is None else datetime.fromisoformat(at))
