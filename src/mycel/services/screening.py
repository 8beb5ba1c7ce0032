"""Every way in is screened: likely secrets are masked, and text that wants to steer its reader is held back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.draft import Draft
from mycel.domain.limits import MAX_REASON_BYTES
from mycel.domain.marks import with_marks
from mycel.domain.memory import NO_METADATA
from mycel.domain.policy import Policy, Secrets
from mycel.domain.transcript import Transcript, Turn
from mycel.errors import InvalidInput

_TEXTS = ("content", "title", "summary", "rationale")
# Names by which things are found again: a masked one would find nothing, so a secret in one is refused.
_NAMES = ("key", "category", "path", "project_id", "repo_id", "session_id", "task_id", "thread_id")
_LISTS = ("tags", "alternatives")
# What an agent is shown; a suspicious word elsewhere steers nobody.
_SHOWN = ("title", "summary", "content", "task_id")


def screen(draft: Draft, policy: Policy) -> Draft:
    """The draft without secrets, and with the reason why a person should look at it first, if there is one."""
    values = _without_secrets(draft.values, policy) if _holds_secret(draft.values) else draft.values
    return replace(draft, values=values, suspicion=suspicion(values))


def suspicion(values: Mapping[str, Any]) -> str | None:
    from mycel.engine.poison.detection import instruction_to_reader

    shown = [values[name] for name in _SHOWN if values.get(name)]
    return next((found for text in shown if (found := instruction_to_reader(text))), None)


def _holds_secret(values: Mapping[str, Any]) -> bool:
    """Everything at once: nearly every draft holds none, and each look costs as much as a page of text."""
    from mycel.engine.secrets.masking import mask_secrets

    texts = [values[name] for name in (*_TEXTS, *_NAMES) if values.get(name)]
    texts += [text for name in _LISTS for text in values.get(name) or ()]
    source = values.get("source_ref")
    if source is not None and source.uri:
        texts.append(source.uri)
    return bool(values.get("metadata")) or bool(mask_secrets("\n".join(texts)).kinds)


def _without_secrets(draft: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    values = dict(draft)
    kinds: dict[str, None] = {}
    for name in _NAMES:
        refuse_secret(values.get(name), field=name)
    for name in _TEXTS:
        if values.get(name):
            values[name] = masked(values[name], policy, field=name, kinds=kinds)
    for name in _LISTS:
        if values.get(name):
            values[name] = tuple(masked(text, policy, field=name, kinds=kinds) for text in values[name])
    if values.get("metadata"):
        values["metadata"] = _masked_metadata(values["metadata"], policy, kinds)
    source = values.get("source_ref")
    if source is not None and source.uri:
        values["source_ref"] = replace(source, uri=masked(source.uri, policy, field="source", kinds=kinds))
    if kinds:
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), masked=list(kinds))
    return values


def masked(text: str, policy: Policy, *, field: str, kinds: dict[str, None] | None = None) -> str:
    """Raises `InvalidInput` where the team's policy refuses secrets instead."""
    from mycel.engine.secrets.masking import mask_secrets

    found = mask_secrets(text)
    _note(found.kinds, policy, field=field, kinds=kinds)
    return found.text


def read_reason(value: object, policy: Policy) -> str:
    """Why somebody did something, which is kept as long as the memory."""
    return masked(fields.filled_text(value, field="reason", max_bytes=MAX_REASON_BYTES), policy, field="reason")


def refuse_secret(name: object, *, field: str) -> None:
    from mycel.engine.secrets.masking import mask_secrets

    if isinstance(name, str) and (kinds := mask_secrets(name).kinds):
        raise InvalidInput(f"holds what looks like a secret ({', '.join(kinds)}); choose another name", field=field)


def screen_surroundings(values: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """What a capture says about its material."""
    for name in _NAMES:
        refuse_secret(values.get(name), field=name)
    shown = {name: masked(values[name], policy, field=name) for name in ("title", "uri") if values.get(name)}
    return {**values, **shown}


def _masked_metadata(metadata: Mapping[str, Any], policy: Policy, kinds: dict[str, None]) -> Mapping[str, Any]:
    from mycel.engine.secrets.masking import mask_within

    found, masked_kinds = mask_within(dict(metadata))
    _note(masked_kinds, policy, field="metadata", kinds=kinds)
    return cast(Mapping[str, Any], found)


def _note(found: tuple[str, ...], policy: Policy, *, field: str, kinds: dict[str, None] | None) -> None:
    if found and policy.secrets is Secrets.REFUSE:
        raise InvalidInput(f"holds what looks like a secret ({', '.join(found)}); take it out", field=field)
    if kinds is not None:
        kinds.update(dict.fromkeys(found))


def screen_transcript(transcript: Transcript, policy: Policy, *, field: str) -> Transcript:
    """Masked piece by piece, so that every turn keeps its place."""
    from mycel.engine.secrets.masking import mask_secrets

    if masked(transcript.text, policy, field=field) is transcript.text:
        return transcript
    pieces: list[str] = []
    turns: list[Turn] = []
    done = length = 0
    for turn in transcript.turns:
        between = mask_secrets(transcript.text[done : turn.start]).text
        said = mask_secrets(transcript.text[turn.start : turn.end]).text
        start = length + len(between)
        length = start + len(said)
        pieces += (between, said)
        speaker = turn.speaker and mask_secrets(turn.speaker).text
        turns.append(replace(turn, start=start, end=length, speaker=speaker))
        done = turn.end
    pieces.append(mask_secrets(transcript.text[done:]).text)
    return Transcript("".join(pieces), tuple(turns))
