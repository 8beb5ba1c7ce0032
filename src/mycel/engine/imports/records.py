"""What a reader finds: things to remember, talks to keep, links between them, and what it had to leave out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory: `kind` is what its system calls it, `id` what it is known by there, `fields` those of a save."""

    kind: str
    id: str
    content: str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # The memory of ours that it was written from, if it was.
    memory: str | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation that stays raw until somebody has memories drawn from it; `material` is messages or a text."""

    kind: str
    id: str
    material: Sequence[Mapping[str, Any]] | str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Related:
    """A link between two records by their ids there."""

    kind: str
    from_id: str
    to_id: str
    relation: str


@dataclass(frozen=True, slots=True)
class Left:
    """A record that was read and is no memory: skipped on purpose, or refused because something is wrong with it."""

    kind: str
    where: str
    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Warned:
    """Something to know about the whole, such as a file that looks cut."""

    text: str


Found = Remembered | Talk | Related | Left | Warned

# The names that other systems give to links, as far as they mean one of ours; all else is related somehow.
_RELATIONS = {
    **dict.fromkeys(("supports", "confirms", "evidence_for", "proves"), "supports"),
    **dict.fromkeys(("contradicts", "conflicts_with", "disproves"), "contradicts"),
    **dict.fromkeys(("supersedes", "replaces", "obsoletes"), "supersedes"),
    **dict.fromkeys(("applies_to", "governs", "about"), "applies_to"),
    **dict.fromkeys(("derived_from", "based_on", "inspired_by", "extracted_from"), "derived_from"),
}
RELATED = "related_to"


def relation_of(name: str) -> str:
    return _RELATIONS.get(name.strip().casefold().replace(" ", "_").replace("-", "_"), RELATED)
