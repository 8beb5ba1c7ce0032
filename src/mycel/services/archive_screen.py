"""What an archive brings in is screened like every other way in: it may have been written by anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mycel.domain.archive import MemoryRecord, Record
from mycel.domain.marks import marks_of, with_marks, without_marks
from mycel.domain.memory import Memory, Status, Version
from mycel.domain.place import Project, Repo
from mycel.domain.policy import Policy
from mycel.domain.screened_fields import named_values
from mycel.domain.source import Source
from mycel.services.screening import masked, screen_at_once, suspicion, without_secrets


def screened(record: Record, policy: Policy) -> Record:
    """The record itself where nothing is to be done; `InvalidInput` where nothing of it can be kept.

    What stands in an archive as approved waits again: nobody here has approved it. The text of a source stays as it is,
    since memories point into it; agents are shown none of it.
    """
    if isinstance(record, MemoryRecord):
        return _screened_memory(record, policy)
    if isinstance(record, Project | Repo):
        return replace(record, **screen_at_once(dict(named_values(record)), policy))
    if isinstance(record, Source):
        about = {name: value for name, value in named_values(record) if name not in {"text", "turns"}}
        return replace(record, **without_secrets(about, policy))
    return record


def _screened_memory(record: MemoryRecord, policy: Policy) -> MemoryRecord:
    places = _places(record)
    present, moved = _without_secrets(record.present, policy, places)
    past = tuple(_without_secrets(version, policy, ())[0] for version in record.past)
    found = replace(record, present=replace(present, memory=_waiting(present.memory)), past=past)
    if record.episode is not None:
        approach_end, outcome_start = moved
        episode = replace(record.episode, approach_end=approach_end or 0, outcome_start=outcome_start)
        return replace(found, episode=episode)
    if record.artifact is not None:
        description_end, text_start = moved
        artifact = replace(record.artifact, description_end=description_end, text_start=text_start)
        return replace(found, artifact=artifact)
    return found


def _waiting(memory: Memory) -> Memory:
    if memory.status is not Status.ACTIVE or memory.deleted_at is not None:
        return memory
    values = {**dict(named_values(memory)), "metadata": without_marks(memory.metadata)}
    reason = suspicion(values)
    if reason is None:
        return memory
    return replace(memory, status=Status.INBOX, metadata=with_marks(memory.metadata, review=reason))


def _without_secrets(
    version: Version, policy: Policy, places: Sequence[int | None]
) -> tuple[Version, tuple[int | None, ...]]:
    """With where those places of the content are afterwards."""
    memory = version.memory
    content, moved = _masked_parts(memory.content, policy, places)
    values: dict[str, Any] = dict(named_values(memory))
    values |= {"content": content, "metadata": without_marks(memory.metadata)}
    clean = without_secrets(values, policy)
    clean["metadata"] = with_marks({**clean["metadata"], **marks_of(memory.metadata)})
    reason = None if version.reason is None else masked(version.reason, policy, field="reason")
    return replace(version, memory=replace(memory, **clean), reason=reason), moved


def _masked_parts(text: str, policy: Policy, places: Sequence[int | None]) -> tuple[str, tuple[int | None, ...]]:
    """Part by part, so that each still begins where the details say."""
    kept = ""
    done = 0
    moved: list[int | None] = []
    for place in places:
        if place is not None:
            kept += masked(text[done:place], policy, field="content")
            done = place
        moved.append(None if place is None else len(kept))
    return kept + masked(text[done:], policy, field="content"), tuple(moved)


def _places(record: MemoryRecord) -> tuple[int | None, ...]:
    if record.episode is not None:
        return record.episode.approach_end, record.episode.outcome_start
    if record.artifact is not None:
        return record.artifact.description_end, record.artifact.text_start
    return ()
