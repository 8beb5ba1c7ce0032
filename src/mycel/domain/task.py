"""What a task came to: as it is reported, and as it was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.artifact import Artifact
from mycel.domain.draft import MAX_NOTE_BYTES
from mycel.domain.episode import COUNTS, Action, Episode
from mycel.domain.memory import Memory
from mycel.domain.names import read_names
from mycel.domain.source import SURROUNDINGS, IngestionEvent, read_surroundings
from mycel.errors import InvalidInput

MAX_LESSONS = 20
MAX_ARTIFACTS = 100
MAX_TASK_OUTPUT_BYTES = 32 * 1024 * 1024
# What an agent says it has learned is grounded in its own report; a contradiction still holds it back.
LESSON_CONFIDENCE = 0.8
ENDINGS = (Action.COMPLETED, Action.FAILED)
WENT_WRONG = "What went wrong: "
_LESSONS = "Lessons:"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """What one report of a task left behind. `event` is the engine's work on it."""

    event: IngestionEvent
    episode: Episode
    artifacts: tuple[Artifact, ...] = ()
    lessons: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """A checked report. `about` says where it belongs and who may read it, `counts` what the ledger keeps beside."""

    task_id: str
    action: Action
    approach: str | None
    outcome: str
    lessons: tuple[str, ...]
    artifacts: tuple[Mapping[str, object], ...]
    counts: Mapping[str, object]
    about: Mapping[str, Any]


def read_task_result(given: Mapping[str, object]) -> TaskResult:
    said = {name: value for name, value in given.items() if value is not None}
    if not said.keys() <= _KNOWN:
        said = read_names(said, sorted(_KNOWN), kind="known here")
    action = fields.choice(said.get("action", Action.COMPLETED.value), Action, field="action")
    if action not in ENDINGS:
        raise InvalidInput("must be completed or failed: log an attempt with episodes.log", field="action")
    approach = said.get("approach")
    return TaskResult(
        task_id=fields.label(said.get("task_id"), field="task_id"),
        action=action,
        approach=None
        if approach is None
        else fields.filled_text(approach, field="approach", max_bytes=MAX_NOTE_BYTES).strip(),
        outcome=_read_outcome(action, said),
        lessons=_read_lessons(said.get("lessons", ())),
        artifacts=_read_artifacts(said),
        counts={name: said[name] for name in _COUNTS if name in said},
        about=read_surroundings({name: said[name] for name in SURROUNDINGS if name in said and name != "task_id"}),
    )


def report_text(approach: str | None, outcome: str, lessons: Sequence[str]) -> tuple[str, int, tuple[int, ...]]:
    """The report as one text, where its lessons begin, and where each of them does."""
    text = outcome if approach is None else f"{approach}\n\n{outcome}"
    if not lessons:
        return text, len(text), ()
    told = len(text)
    text += f"\n\n{_LESSONS}"
    starts: list[int] = []
    for lesson in lessons:
        starts.append(len(text) + 3)
        text += f"\n- {lesson}"
    return text, told, tuple(starts)


def _read_outcome(action: Action, said: Mapping[str, object]) -> str:
    if action is Action.COMPLETED:
        if "what_went_wrong" in said:
            raise InvalidInput("is for a task that failed", field="what_went_wrong")
        return fields.filled_text(said.get("output"), field="output", max_bytes=MAX_TASK_OUTPUT_BYTES)
    output = said.get("output", "")
    told = fields.text(output, field="output", max_bytes=MAX_TASK_OUTPUT_BYTES)
    wrong = said.get("what_went_wrong")
    reason = fields.filled_text(wrong, field="what_went_wrong", max_bytes=4 * MAX_NOTE_BYTES)
    return f"{WENT_WRONG}{reason}" + (f"\n\n{told}" if told.strip() else "")


def _read_lessons(value: object) -> tuple[str, ...]:
    listed = fields.several(value, field="lessons", most=MAX_LESSONS)
    texts = (fields.filled_text(one, field="lessons", max_bytes=MAX_NOTE_BYTES) for one in listed)
    return tuple(dict.fromkeys(" ".join(text.split()) for text in texts))


def _read_artifacts(said: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """Each with the task, place and readers of the report."""
    shared = {name: said[name] for name in _SHARED_WITH_ARTIFACTS if name in said}
    listed = fields.several(said.get("artifacts", ()), field="artifacts", most=MAX_ARTIFACTS)
    found: list[Mapping[str, object]] = []
    for place, item in enumerate(listed):
        if not isinstance(item, Mapping):
            raise InvalidInput("must be an object with a path", field=f"artifacts[{place}]")
        given = dict(cast(Mapping[str, object], item))
        if taken := sorted(given.keys() & {*_SHARED_WITH_ARTIFACTS, "idempotency_key"}):
            raise InvalidInput("is that of the task", field=f"artifacts[{place}].{taken[0]}")
        found.append({**given, **shared})
    return tuple(found)


def as_mapping(result: object, given: Mapping[str, object]) -> dict[str, object]:
    """A result given as one object, as fields, or as both."""
    if result is None:
        return dict(given)
    if not isinstance(result, Mapping):
        raise InvalidInput("must be an object of names and values", field="result")
    named = cast(Mapping[object, object], result)
    if unnamed := [name for name in named if not isinstance(name, str)]:
        raise InvalidInput(f"has a name that is not text: {unnamed[0]!r}", field="result")
    return {**cast(Mapping[str, object], result), **given}


_SHARED_WITH_ARTIFACTS = ("task_id", "agent_id", "project", "repo", "session_id", "visibility", "allowed_roles")
_COUNTS = ("agent_id", *COUNTS)
_KNOWN = frozenset(
    {"task_id", "action", "approach", "output", "what_went_wrong", "lessons", "artifacts", "idempotency_key"}
) | {*_COUNTS, *SURROUNDINGS}
