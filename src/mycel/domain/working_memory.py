"""What an agent keeps in mind during a session: its plan, constraints, task context and notes, within bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from mycel.domain import fields
from mycel.domain.envelope import one_line
from mycel.errors import InvalidInput, NotFound

MAX_PLAN_BYTES = 64 * 1024
MAX_CONSTRAINT_BYTES = 4 * 1024
MAX_NOTE_BYTES = 16 * 1024
MAX_VALUE_TEXT_BYTES = 256 * 1024
MAX_CONSTRAINTS = 100
MAX_KEYS = 250
MAX_NOTES = 1000
# Of everything together, as it is written in a snapshot.
MAX_TOTAL_BYTES = 1024 * 1024

WorkingField = Literal["current_plan", "active_constraints", "task_context", "scratchpad", "all"]


@dataclass(frozen=True, slots=True)
class WorkingChange:
    """What changed and when, not what it says; `key` is that of the task context, and `all` means it was cleared."""

    field: WorkingField
    key: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingState:
    """Never changed, only replaced, so that whoever reads it sees one moment.

    A method that has nothing to change returns the state itself.
    """

    updated_at: datetime
    current_plan: str | None = None
    active_constraints: tuple[str, ...] = ()
    # Each value as JSON text: nobody can hold on to a part of it, and its size is known.
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    scratchpad: tuple[str, ...] = ()
    size_bytes: int = 0

    @property
    def is_empty(self) -> bool:
        return self.current_plan is None and not (self.active_constraints or self.values or self.scratchpad)

    def with_plan(self, plan: object) -> WorkingState:
        name = "current_plan"
        new = None if plan is None else fields.filled_text(plan, field=name, max_bytes=MAX_PLAN_BYTES)
        if new == self.current_plan:
            return self
        size = self._resized(name, less=_size(self.current_plan), more=_size(new))
        return replace(self, current_plan=new, size_bytes=size)

    def with_constraint(self, text: object) -> WorkingState:
        name = "active_constraints"
        new = read_constraint(text)
        if new in self.active_constraints:
            return self
        _require_room(len(self.active_constraints), most=MAX_CONSTRAINTS, field=name)
        size = self._resized(name, more=_size(new))
        return replace(self, active_constraints=(*self.active_constraints, new), size_bytes=size)

    def without_constraint(self, text: object) -> WorkingState:
        old = read_constraint(text)
        if old not in self.active_constraints:
            return self
        left = tuple(one for one in self.active_constraints if one != old)
        return replace(self, active_constraints=left, size_bytes=self.size_bytes - _size(old))

    def with_value(self, key: str, new: str) -> WorkingState:
        """`key` and `new` are what `read_key` and `read_value` make of them."""
        name, old = "task_context", self.values.get(key)
        if new == old:
            return self
        if old is None:
            _require_room(len(self.values), most=MAX_KEYS, field=name)
        size = self._resized(name, less=_entry_size(key, old), more=_entry_size(key, new))
        return replace(self, values=MappingProxyType({**self.values, key: new}), size_bytes=size)

    def without_value(self, key: str) -> WorkingState:
        if key not in self.values:
            return self
        left = {name: value for name, value in self.values.items() if name != key}
        size = self.size_bytes - _entry_size(key, self.values[key])
        return replace(self, values=MappingProxyType(left), size_bytes=size)

    def value(self, key: str) -> Any:
        """A copy; `NotFound` where nothing is kept under the key."""
        if key not in self.values:
            raise NotFound("the task context has no such key")
        return json.loads(self.values[key])

    def with_note(self, text: object) -> WorkingState:
        name = "scratchpad"
        new = fields.filled_text(text, field=name, max_bytes=MAX_NOTE_BYTES)
        _require_room(len(self.scratchpad), most=MAX_NOTES, field=name)
        return replace(self, scratchpad=(*self.scratchpad, new), size_bytes=self._resized(name, more=_size(new)))

    def without_notes(self) -> WorkingState:
        if not self.scratchpad:
            return self
        size = self.size_bytes - sum(_size(note) for note in self.scratchpad)
        return replace(self, scratchpad=(), size_bytes=size)

    def emptied(self) -> WorkingState:
        return self if self.is_empty else WorkingState(updated_at=self.updated_at)

    def _resized(self, name: str, *, less: int = 0, more: int) -> int:
        size = self.size_bytes - less + more
        if size > MAX_TOTAL_BYTES:
            raise InvalidInput(
                f"would make the working memory {size:,} bytes large; at most {MAX_TOTAL_BYTES:,} are kept", field=name
            )
        return size


def read_key(value: object) -> str:
    return fields.label(value, field="key")


def read_value(value: object) -> str:
    copied = fields.json_value(value, field="task_context", max_text_bytes=MAX_VALUE_TEXT_BYTES)
    return json.dumps(copied, ensure_ascii=False)


def read_constraint(value: object) -> str:
    return fields.filled_text(value, field="active_constraints", max_bytes=MAX_CONSTRAINT_BYTES).strip()


def render(state: WorkingState) -> str:
    """As markdown for a prompt. No kept text begins a line of its own, so none can pass for a heading."""
    plan = [] if state.current_plan is None else [f"> {line}".rstrip() for line in _lines(state.current_plan)]
    sections = {
        "Current plan": plan,
        "Active constraints": [_bullet(constraint) for constraint in state.active_constraints],
        "Task context": [f"- {one_line(key)}: {one_line(value)}" for key, value in state.values.items()],
        "Scratchpad": [_bullet(note) for note in state.scratchpad],
    }
    shown = ["\n".join([f"### {title}", "", *lines]) for title, lines in sections.items() if lines]
    return "\n\n".join(["## Working memory", *shown]) if shown else ""


def _bullet(text: str) -> str:
    return "\n  ".join(line.rstrip() for line in _lines(f"- {text.strip()}"))


def _lines(text: str) -> list[str]:
    """Each line without what nobody sees, its indent as plain spaces."""
    lines = (line.expandtabs(4) for line in text.splitlines())
    return [" " * (len(line) - len(line.lstrip())) + one_line(line) for line in lines]


def _size(text: str | None) -> int:
    return 0 if text is None else len(json.dumps(text, ensure_ascii=False).encode())


def _entry_size(key: str, value: str | None) -> int:
    return 0 if value is None else _size(key) + len(value.encode())


def _require_room(count: int, *, most: int, field: str) -> None:
    if count >= most:
        raise InvalidInput(
            f"is full: it holds {count:,}, and at most {most:,} are kept; remove some first", field=field
        )
