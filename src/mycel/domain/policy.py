"""A team's policy: what waits for a person, what becomes true by itself, and how long things live."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.memory import MadeBy, MemoryType
from mycel.domain.names import unknown_name
from mycel.domain.team import Trust
from mycel.errors import InvalidInput

# What a request writes for "never" and for "every type".
NEVER = "never"
ALL = "all"
NONE = "none"
NEEDS_RATIONALE = "the team's policy asks why a decision was made, and it has no rationale"
_RANKS = {trust: rank for rank, trust in enumerate(Trust)}

DEFAULT_LIVES: Mapping[MadeBy, timedelta] = MappingProxyType(
    {
        MadeBy.TASK_COMPLETION: timedelta(days=7),
        MadeBy.SESSION_SUMMARY: timedelta(days=3),
        MadeBy.FILE_INDEX: timedelta(days=30),
    }
)


class Promote(StrEnum):
    """What becomes active without a person.

    `reviewed`: only what a language model has found with evidence, or a report names as a lesson. `grounded`: also what
    somebody said outright, and what two independent sources say. What is merely likely waits under both.
    """

    REVIEWED = "reviewed"
    GROUNDED = "grounded"


class Secrets(StrEnum):
    """What happens to text that holds what looks like a secret."""

    MASK = "mask"
    REFUSE = "refuse"


class LeadsBelow(StrEnum):
    """Which leads of the teams below read what is for the whole team: all, those right below it, or none."""

    ALL = "all"
    DIRECT = "direct"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What nobody decides otherwise: whatever a rule has found waits for a person.

    `least_trust`: whoever is below it writes into the inbox. `review`: what is of these types waits for a person,
    whoever wrote it. `promote`: which of the others may become active without one; `promote_from`: the least
    confidence of those.
    `consolidate_every`: None runs it only when asked. `lives`: by what made a memory; what is not in it never expires.
    `inbox_kept`: for candidates nobody looked at. `episodes_kept`: for the ledger of what was tried. `purge_after`:
    how long deleted and archived memories stay; None keeps them. `leads_below`: which leads of the teams below read it.
    `decisions_need_rationale`: a decision that does not say why waits for a person.
    """

    least_trust: Trust = Trust.NORMAL
    review: tuple[MemoryType, ...] = ()
    promote: Promote = Promote.REVIEWED
    promote_from: float = 0.8
    consolidate_every: timedelta | None = timedelta(hours=1)
    lives: Mapping[MadeBy, timedelta] = field(default_factory=lambda: DEFAULT_LIVES)
    inbox_kept: timedelta | None = timedelta(days=30)
    episodes_kept: timedelta | None = timedelta(days=30)
    purge_after: timedelta | None = None
    secrets: Secrets = Secrets.MASK
    leads_below: LeadsBelow = LeadsBelow.ALL
    decisions_need_rationale: bool = False

    def review_reason(self, type: MemoryType, rationale: str | None) -> str | None:
        """Say why a memory waits for a person whoever wrote it and however it came in, or None."""
        if type in self.review:
            return f"the team's policy leaves every {type} to a person"
        if self.decisions_need_rationale and type is MemoryType.DECISION and not rationale:
            return NEEDS_RATIONALE
        return None

    def life_of(self, made_by: MadeBy, type: MemoryType | None = None) -> timedelta | None:
        """An episode is found no longer than the ledger keeps it."""
        life = self.lives.get(made_by)
        if type is not MemoryType.EPISODE or self.episodes_kept is None:
            return life
        return self.episodes_kept if life is None else min(life, self.episodes_kept)

    def trusts(self, trust: Trust) -> bool:
        return _RANKS[trust] >= _RANKS[self.least_trust]


def changed_policy(policy: Policy, given: Mapping[str, object]) -> Policy:
    """The policy with what a request gave; names the field that is wrong."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _READERS:
            raise unknown_name(name, _READERS, kind="part of a policy")
        values[name] = _READERS[name](value, name)
    if "lives" in values:
        values["lives"] = _merged(policy.lives, values["lives"])
    return replace(policy, **values)


def policy_values(policy: Policy) -> dict[str, Any]:
    """Plain JSON, as `changed_policy` reads it."""
    return {
        "least_trust": policy.least_trust.value,
        "review": _shown_types(policy.review),
        "promote": policy.promote.value,
        "promote_from": policy.promote_from,
        "consolidate_every": _shown(policy.consolidate_every),
        "lives": {made_by.value: _shown(policy.lives.get(made_by)) for made_by in MadeBy},
        "inbox_kept": _shown(policy.inbox_kept),
        "episodes_kept": _shown(policy.episodes_kept),
        "purge_after": _shown(policy.purge_after),
        "secrets": policy.secrets.value,
        "leads_below": policy.leads_below.value,
        "decisions_need_rationale": policy.decisions_need_rationale,
    }


def _merged(
    standing: Mapping[MadeBy, timedelta], given: Mapping[MadeBy, timedelta | None]
) -> Mapping[MadeBy, timedelta]:
    merged = {**standing, **given}
    return MappingProxyType({made_by: life for made_by, life in merged.items() if life is not None})


def _read_span(value: object, name: str) -> timedelta | None:
    """Whole seconds, the next more: that is how it is stored and shown."""
    if value is None or value == NEVER:
        return None
    return timedelta(seconds=math.ceil(fields.lifetime(value, field=name).total_seconds()))


def _read_types(value: object, name: str) -> tuple[MemoryType, ...]:
    if value == ALL:
        return tuple(MemoryType)
    if value is None or value == NONE:
        return ()
    return fields.choices(value, MemoryType, field=name)


def _read_lives(value: object, name: str) -> dict[MadeBy, timedelta | None]:
    if not isinstance(value, Mapping):
        raise InvalidInput("must be an object of what made a memory and a time span", field=name)
    given = cast(Mapping[object, object], value)
    return {
        fields.choice(made_by, MadeBy, field=name): _read_span(life, f"{name}.{made_by}")
        for made_by, life in given.items()
    }


def _shown(span: timedelta | None) -> str:
    if span is None:
        return NEVER
    seconds = int(span.total_seconds())
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _shown_types(types: tuple[MemoryType, ...]) -> str | list[str]:
    if not types:
        return NONE
    return ALL if set(types) == set(MemoryType) else [type.value for type in types]


# What a form sends for a flag.
_WORDS: Mapping[object, bool] = {"true": True, "false": False}
_READERS: Mapping[str, Callable[[object, str], Any]] = {
    "least_trust": lambda value, name: fields.choice(value, Trust, field=name),
    "review": _read_types,
    "promote": lambda value, name: fields.choice(value, Promote, field=name),
    "promote_from": lambda value, name: fields.fraction(value, field=name),
    "consolidate_every": _read_span,
    "lives": _read_lives,
    "inbox_kept": _read_span,
    "episodes_kept": _read_span,
    "purge_after": _read_span,
    "secrets": lambda value, name: fields.choice(value, Secrets, field=name),
    "leads_below": lambda value, name: fields.choice(value, LeadsBelow, field=name),
    "decisions_need_rationale": lambda value, name: fields.flag(_WORDS.get(value, value), field=name),
}
