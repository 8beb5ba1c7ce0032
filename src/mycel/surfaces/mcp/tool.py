"""A tool: a method of the API as a model is given it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mycel.domain.team import Caller
from mycel.surfaces.mcp.argument_help import Schema, meaning_of
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.tool_results import Tell
from mycel.surfaces.mcp.tool_sets import ToolSet
from mycel.wire.operations import IDEMPOTENCY, OPERATIONS, Effect, Operation, Repeat


def anybody(_caller: Caller) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`takes` names the fields of the method that are offered, `needs` those without which it is refused.

    `does` is the method of the API behind it. `new_after` are the seconds
    after which the same words tell of something new: what is a memory stays one, what is an event happens again.
    """

    name: str
    does: str
    about: str
    tell: Tell
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    sets: frozenset[ToolSet] = frozenset()
    shown_to: Callable[[Caller], bool] = anybody
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    new_after: float | None = None
    # Of what answers nothing by itself, the memory that it is done to is told.
    names_its_memory: bool = False

    @cached_property
    def operation(self) -> Operation:
        return next(operation for operation in OPERATIONS if operation.name == self.does)

    @property
    def effect(self) -> Effect:
        return self.operation.effect

    @property
    def takes_long(self) -> bool:
        return self.operation.takes_long

    @property
    def repeat(self) -> Repeat:
        return self.operation.repeat

    @property
    def repeats_by_key(self) -> bool:
        """Whether a repeated call must be known by a key; of others, the last one says what holds."""
        return self.effect is Effect.ADDS and IDEMPOTENCY in self.operation.fields

    @cached_property
    def schema(self) -> Schema:
        found: Schema = {
            "type": "object",
            "properties": {word: meaning_of(word, tool=self.name) for word in self.takes},
        }
        if self.needs:
            found["required"] = list(self.needs)
        return found

    def is_in(self, chosen: ToolSet) -> bool:
        return chosen is ToolSet.FULL or chosen in self.sets


@dataclass(frozen=True, kw_only=True)
class LocalTool(Tool):
    """Done with what the caller's side has, such as its working memory or a file, by `apply`.

    Of all of them a second time changes nothing. One that `goes_over_all` of a team takes long.
    """

    apply: Callable[[Guest, Mapping[str, Any]], object]
    local_effect: Effect = Effect.READS
    goes_over_all: bool = False

    @property
    def takes_long(self) -> bool:
        return self.goes_over_all

    @property
    def effect(self) -> Effect:
        return self.local_effect

    @property
    def repeat(self) -> Repeat:
        return Repeat.SAFE

    @property
    def repeats_by_key(self) -> bool:
        return False
