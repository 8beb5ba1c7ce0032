"""Marks: what Mycel itself notes in a memory's metadata. Their names are taken; no writer can set or remove them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mycel.errors import InvalidInput

PREFIX = "mycel_"
# Why it waits for a person.
REVIEW = "mycel_review"
# Another memory says otherwise, and nobody has decided yet.
CONTESTED = "mycel_contested"
# The team, id and version it is a copy of.
ORIGIN = "mycel_origin"
# What speaks for a candidate besides a pattern: the language model that found it, a report that names it as a lesson,
# a speaker who said it outright, or two independent sources.
GROUNDS = "mycel_grounds"
TOLD = "told"
EXPLICIT = "explicit"
TWO_SOURCES = "two sources"
# Who said it, as the talk names them; its author is whoever captured the talk.
SAID_BY = "mycel_said_by"
# Whose word is nobody's rule: an agent's, or that of somebody who is no member of the team.
SPOKE_AS = "mycel_spoke_as"
AGENT = "agent"
OUTSIDER = "outsider"
# The later remark of the same talk that may have taken it back.
TAKEN_BACK = "mycel_taken_back"
# Somebody has looked at it and said no.
REJECTED = "mycel_rejected"
# The kinds of secrets that were masked in it.
MASKED = "mycel_masked"
# The memory whose change waits for a reviewer, and which of its fields that concerns.
CHANGE = "mycel_change"
# Who its source says wrote it, by `type` and `author_id`; its writer is whoever saved it.
SOURCE = "mycel_source"
# The person a profile memory is about.
ABOUT = "mycel_about"


def refuse_marks(metadata: Mapping[str, Any], *, field: str) -> Mapping[str, Any]:
    taken = sorted(name for name in metadata if name.startswith(PREFIX))
    if taken:
        raise InvalidInput(f"names that begin with {PREFIX} are Mycel's own: {', '.join(taken)}", field=field)
    return metadata


def with_marks(metadata: Mapping[str, Any], **marks: object) -> Mapping[str, Any]:
    """Sets marks by their names without the prefix; None takes one away."""
    named = {PREFIX + name: value for name, value in marks.items()}
    kept = {name: value for name, value in metadata.items() if name not in named}
    # A writer's own null stays what it is.
    return MappingProxyType({**kept, **{name: value for name, value in named.items() if value is not None}})


def without_marks(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if not name.startswith(PREFIX)}


def marks_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name.startswith(PREFIX)}


def voice_of(metadata: Mapping[str, Any], author: str) -> str:
    """Whose word it is: who said it in the talk that it was drawn from, otherwise who wrote it."""
    said_by = metadata.get(SAID_BY)
    return said_by if isinstance(said_by, str) else author
