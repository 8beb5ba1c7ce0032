"""The registration of an artifact: what was asked for, and the memory and the detail that it becomes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mycel.domain import fields
from mycel.domain.artifact import ArtifactDetail, ArtifactType, Composed, compose
from mycel.domain.draft import Draft, new_memory, read_fields
from mycel.domain.ids import MemberId
from mycel.domain.memory import MemoryType
from mycel.domain.policy import Policy
from mycel.domain.team import Caller
from mycel.errors import InvalidInput, InvalidState
from mycel.services.artifact_files import Measured, Placed
from mycel.services.prepared import PreparedMemory, unwritten
from mycel.services.screening import mark_masked, masked, screen, suspicion

MAX_GIVEN_BYTES = 64 * 1024 * 1024
MAX_SHOWN_PATH = 200

ValueT = TypeVar("ValueT", int, str)


@dataclass(frozen=True, slots=True)
class Registration:
    """As it was asked for, checked; `of_the_memory` are fields by their names in `Memory`."""

    placed: Placed
    type: ArtifactType
    producer: MemberId
    description: str | None
    keeps_content: bool
    content: bytes | None
    # As its producer knows them.
    size_bytes: int | None
    checksum: str | None
    of_the_memory: Mapping[str, Any]

    def request(self) -> tuple[object, ...]:
        """What makes two requests the same; a file may have changed between them."""
        content = None if self.content is None else hashlib.sha256(self.content).hexdigest()
        plain = (self.placed.path, self.type, self.producer, self.description, self.keeps_content, content)
        told = () if self.size_bytes is None and self.checksum is None else (self.size_bytes, self.checksum)
        return (*plain, *told, dict(self.of_the_memory))


def read_description(value: object, *, max_bytes: int) -> str | None:
    return None if value is None else fields.filled_text(value, field="description", max_bytes=max_bytes)


def read_content(value: object) -> bytes | None:
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise InvalidInput("holds a lone surrogate, which is not valid Unicode text", field="content") from None
    if value is None:
        return None
    if not isinstance(value, bytes):
        raise InvalidInput(f"must be text or bytes, not {type(value).__name__}", field="content")
    if len(value) > MAX_GIVEN_BYTES:
        raise InvalidInput(f"is {len(value):,} bytes long; at most {MAX_GIVEN_BYTES:,} are taken", field="content")
    return value


def prepare(
    caller: Caller, asked: Registration, measured: Measured | None, *, policy: Policy, max_content: int
) -> tuple[PreparedMemory, ArtifactDetail]:
    kinds: dict[str, None] = {}
    composed = _compose(asked, measured, policy, kinds, max_content=max_content)
    values = new_memory(_screened(asked, composed, policy, max_content=max_content), caller=caller, policy=policy)
    mark_masked(values, kinds)
    detail = ArtifactDetail(
        agent_id=asked.producer,
        type=asked.type,
        path=asked.placed.path,
        size_bytes=_agreed(asked.size_bytes, measured and measured.size_bytes, field="size_bytes"),
        checksum=_agreed(asked.checksum, measured and measured.checksum, field="checksum"),
        description_end=composed.description_end,
        text_start=composed.text_start,
    )
    return unwritten(values, ttl=policy.life_of(values["made_by"])), detail


def _agreed(told: ValueT | None, found: ValueT | None, *, field: str) -> ValueT | None:
    if told is not None and found is not None and told != found:
        raise InvalidState("is not that of the content that is there", field=field)
    return told if found is None else found


def _compose(
    asked: Registration, measured: Measured | None, policy: Policy, kinds: dict[str, None], *, max_content: int
) -> Composed:
    """Masked before they are put together, so that each part is where the detail says."""
    said, text = asked.description, None
    if asked.keeps_content:
        text = masked(_kept_text(asked, measured, max_content), policy, field="content", kinds=kinds)
    description = None if said is None else masked(said, policy, field="description", kinds=kinds)
    return compose(asked.placed.path, description=description, text=text)


def _screened(asked: Registration, composed: Composed, policy: Policy, *, max_content: int) -> Draft:
    about = {"content": composed.content, "title": _title(asked.placed.path), "type": MemoryType.ARTIFACT.value}
    draft = read_fields(about, max_content=max_content)
    draft = screen(replace(draft, values={**asked.of_the_memory, **draft.values}), policy)
    # The title holds only the end of a long one, and agents are shown all of it.
    draft = replace(draft, suspicion=draft.suspicion or suspicion({"content": asked.placed.path}))
    if draft.values["content"] != composed.content:
        raise InvalidInput("reads like a secret where the content begins; end it otherwise", field="description")
    return draft


def _kept_text(asked: Registration, measured: Measured | None, max_content: int) -> str:
    if measured is None:
        raise InvalidState("has nothing to keep: no workspace folder has the file", field="keep_content")
    head = compose(asked.placed.path, description=asked.description, text="").content
    room = max_content - len(head.encode())
    if measured.size_bytes > room:
        raise InvalidState(
            f"cannot hold the {measured.size_bytes:,} bytes of the file, only {max(0, room):,}: leave it out",
            field="keep_content",
        )
    try:
        text = measured.start.decode()
    except UnicodeDecodeError:
        raise InvalidState("is for text in UTF-8, and this is something else", field="keep_content") from None
    if "\0" in text:
        raise InvalidState("is for text, and this holds NUL characters", field="keep_content")
    return text


def _title(path: str) -> str:
    """The end of it says more than the beginning."""
    shown = "".join(letter if letter.isprintable() else " " for letter in path)
    return shown if len(shown) <= MAX_SHOWN_PATH else f"…{shown[1 - MAX_SHOWN_PATH :]}"
