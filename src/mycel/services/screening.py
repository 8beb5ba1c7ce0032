"""Every way in is screened: likely secrets are masked, and text that wants to steer its reader is held back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from itertools import chain
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.draft import Draft
from mycel.domain.fields import MAX_REASON_BYTES
from mycel.domain.hidden_text import hides
from mycel.domain.marks import with_marks, without_marks
from mycel.domain.memory import NO_METADATA, Memory
from mycel.domain.policy import Policy, Secrets
from mycel.domain.screened_fields import NAMES, is_screened, named_values, texts_in
from mycel.domain.source import Transcript, Turn
from mycel.errors import InvalidInput, InvalidState

HIDDEN = "holds characters that hide text from people or steer a terminal"
# Shorter ones are looked at together, as many as make one passage: a look at a word costs as much as one at a sentence.
_SHORT_CHARS = 48
_TOGETHER_CHARS = 280
# Beside its content a memory mostly says the same as the last one did: its project, its tags, who it is of.
_MOST_HARMLESS = 4096
_harmless: set[str] = set()
# What `engine.secrets.masking` writes in place of a secret.
_IN_PLACE = re.compile(r"\[secret:([a-z0-9_]+)\]")


def mark_masked(values: dict[str, Any], kinds: Iterable[str]) -> None:
    """Has a memory say which kinds of secrets were masked in it."""
    if named := list(kinds):
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), masked=named)


def screen(draft: Draft, policy: Policy) -> Draft:
    """The draft without secrets, and with the reason why a person should look at it first, if there is one."""
    values = draft.values
    texts = _texts_of(values)
    masked: tuple[str, ...] = ()
    if _hold_secret(values, texts):
        before = _count_masked(texts)
        values = without_secrets(values, policy)
        texts = _texts_of(values)
        masked = tuple((_count_masked(texts) - before).elements())
    return Draft(values, draft.ttl, draft.needs_review, _suspicion(texts), masked)


def _count_masked(texts_of_fields: list[list[str]]) -> Counter[str]:
    """Count what stands in place of secrets, by their kinds."""
    return Counter(kind for texts in texts_of_fields for text in texts for kind in _IN_PLACE.findall(text))


def suspicion(values: Mapping[str, Any]) -> str | None:
    """Why a person should look at a record first: at any text of it that an agent or a terminal may be shown."""
    return _suspicion(_texts_of(values))


def warning_of(memory: Memory) -> str | None:
    """Say what the text of a memory asks of its reader, as if it were written now; None where it asks nothing."""
    return suspicion({**vars(memory), "metadata": without_marks(memory.metadata)})


def is_clean(values: Mapping[str, Any]) -> bool:
    """Whether a record holds no secret, and nothing for a person to look at first: nearly every one does not."""
    texts = _texts_of(values)
    return not _hold_secret(values, texts) and _suspicion(texts) is None


def _texts_of(values: Mapping[str, Any]) -> list[list[str]]:
    """The texts of each field that is screened and has any."""
    found = [texts_in(value) for name, value in values.items() if value and is_screened(name)]
    return [texts for texts in found if texts]


def _suspicion(texts_of_fields: list[list[str]]) -> str | None:
    from mycel.engine.poison.detection import instruction_to_reader

    # A list is shown in one line, and so it is read here.
    texts = [", ".join(texts) for texts in texts_of_fields]
    for together in _together(texts):
        said = "\n".join(together)
        if said in _harmless:
            continue
        found = instruction_to_reader(said)
        if not found and len(said) <= _TOGETHER_CHARS and len(together[0]) < _SHORT_CHARS:
            if len(_harmless) >= _MOST_HARMLESS:
                _harmless.clear()
            _harmless.add(said)
        if found and len(together) > 1:
            # Words of one field make no order with words of another.
            found = next((one for text in together if (one := instruction_to_reader(text))), None)
        if found:
            return found
    return HIDDEN if any(map(hides, texts)) else None


def screen_at_once(values: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """Of a record that cannot wait for a person: masked, and refused where it would have to wait."""
    for name, value in values.items():
        if found := suspicion({name: value}):
            # What it says is not repeated.
            raise InvalidState(f"{found.partition(':')[0]}; say it in other words", field=name)
    return without_secrets(values, policy)


def _together(texts: list[str]) -> Iterator[list[str]]:
    """Each long text alone, and short ones up to the length of a passage."""
    short: list[str] = []
    length = 0
    for text in texts:
        if len(text) >= _SHORT_CHARS:
            yield [text]
        elif text:
            if length + len(text) > _TOGETHER_CHARS:
                yield short
                short, length = [], 0
            short.append(text)
            length += len(text)
    if short:
        yield short


def _hold_secret(values: Mapping[str, Any], texts: list[list[str]]) -> bool:
    """Everything at once: nearly every draft holds none, and each look costs as much as a page of text."""
    from mycel.engine.secrets.masking import mask_secrets, mask_within

    if mask_secrets("\n".join(chain.from_iterable(texts))).kinds:
        return True
    for name, value in values.items():
        # Names in an object say what a value is.
        is_object = value and type(value) is not str and isinstance(value, Mapping) and is_screened(name)
        if is_object and mask_within(cast(Mapping[str, Any], value))[1]:
            return True
    return False


def without_secrets(
    values: Mapping[str, Any], policy: Policy, *, kinds: dict[str, None] | None = None
) -> dict[str, Any]:
    """Fields by their names, masked; `InvalidInput` for a name that holds a secret, or where the policy says so."""
    return {
        name: _without_secrets(value, policy, field=name, kinds=kinds) if value and is_screened(name) else value
        for name, value in values.items()
    }


def _without_secrets(value: Any, policy: Policy, *, field: str, kinds: dict[str, None] | None) -> Any:
    if type(value) is str:
        if field not in NAMES:
            return masked(value, policy, field=field, kinds=kinds)
        refuse_secret(value, field=field)
    elif isinstance(value, Mapping):
        return _masked_object(cast(Mapping[str, Any], value), policy, field=field, kinds=kinds)
    elif isinstance(value, tuple):
        texts = cast(tuple[Any, ...], value)
        return tuple(_without_secrets(text, policy, field=field, kinds=kinds) for text in texts)
    elif is_dataclass(value) and not isinstance(value, type):
        return replace(value, **without_secrets(dict(named_values(value)), policy, kinds=kinds))
    return value


def masked(text: str, policy: Policy, *, field: str, kinds: dict[str, None] | None = None) -> str:
    """Raises `InvalidInput` where the team's policy refuses secrets instead."""
    from mycel.engine.secrets.masking import mask_secrets

    found = mask_secrets(text)
    _note(found.kinds, policy, field=field, kinds=kinds)
    return found.text


def read_reason(value: object, policy: Policy) -> str:
    """Why somebody did something, which is kept as long as the memory and shown with its history."""
    said = {"reason": fields.filled_text(value, field="reason", max_bytes=MAX_REASON_BYTES)}
    return screen_at_once(said, policy)["reason"]


def refuse_secret(name: object, *, field: str) -> None:
    from mycel.engine.secrets.masking import mask_secrets

    if isinstance(name, str) and (kinds := mask_secrets(name).kinds):
        raise InvalidInput(f"holds what looks like a secret ({', '.join(kinds)}); choose another name", field=field)


def _masked_object(
    value: Mapping[str, Any], policy: Policy, *, field: str, kinds: dict[str, None] | None
) -> Mapping[str, Any]:
    from mycel.engine.secrets.masking import mask_within

    for name in _names_in(value):
        refuse_secret(name, field=field)
    found, masked_kinds = mask_within(dict(value))
    _note(masked_kinds, policy, field=field, kinds=kinds)
    return cast(Mapping[str, Any], found)


def _names_in(value: object) -> Iterator[str]:
    """Every name in an object, however deep."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield name
            yield from _names_in(inner)
    elif isinstance(value, list | tuple):
        for inner in cast(list[object], value):
            yield from _names_in(inner)


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
