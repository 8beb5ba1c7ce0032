"""What filters and access rules look at, of every memory of a team: coded columns by memory number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.domain.embedding import IndexRow
from mycel.domain.memory import MemoryType
from mycel.domain.neighbourhood import Neighbourhood
from mycel.domain.query import Filters
from mycel.index.coded_column import NEVER, CodedColumn, Flags, Indices, Match, TimeColumn, both, either, resized
from mycel.index.sight import Narrow

# From here on filling whole columns is cheaper than one memory after the other.
BULK = 2_000
LEAST_LENGTH = 1_024
GROWTH = 1.125

TEXT_COLUMNS = (
    "visibility", "agent_id", "allowed_roles", "status", "type", "scope", "project_id", "repo_id", "path",
    "category", "key", "session_id", "task_id", "source_id", "tags",
)  # fmt: skip
# With what stands for a time that nothing says.
TIME_COLUMNS = {
    "created_at": NEVER,
    "expires_at": NEVER,
    "valid_from": NEVER,
    "holds_from": -NEVER,
    "holds_until": NEVER,
}

# How far on either side is looked at first for neighbours.
FIRST_STEPS = 4

_ABSENT, _KEPT, _DELETED = 0, 1, 2
# Names a question asked of whole columns, apart from the texts that other questions look for.
_ANY_KEY = ("any", "key")
# What is the same for memories that were saved together: see `Neighbourhood`.
_SAVED_WITH = ("path", "agent_id", "session_id", "source_id")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Facets:
    """Not safe to read while it is written: its owner keeps the two apart."""

    def __init__(self) -> None:
        self._states = np.zeros(LEAST_LENGTH, np.uint8)
        self._texts = {name: CodedColumn(LEAST_LENGTH) for name in TEXT_COLUMNS}
        self._times = {name: TimeColumn(LEAST_LENGTH) for name in TIME_COLUMNS}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], *, texts: Mapping[str, Sequence[str | None]]) -> Facets:
        """From what `arrays` and `texts` gave."""
        facets = cls()
        facets._states = arrays["states"]
        present = facets._states != _ABSENT
        for name in TEXT_COLUMNS:
            facets._texts[name] = CodedColumn.restored(arrays[name], texts=texts[name], present=present)
        for name in TIME_COLUMNS:
            facets._times[name] = TimeColumn.restored(arrays[name], present=present)
        return facets

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies, which later writes leave alone."""
        return (
            {"states": self._states.copy()}
            | {name: column.codes.copy() for name, column in self._texts.items()}
            | {name: column.moments.copy() for name, column in self._times.items()}
        )

    def texts(self) -> dict[str, list[str | None]]:
        return {name: list(column.texts) for name, column in self._texts.items()}

    def put(self, row: IndexRow) -> None:
        number = row.number
        self._make_room(number)
        place = CodedColumn.put if self._states[number] == _ABSENT else CodedColumn.change
        for name, column in self._texts.items():
            place(column, number, getattr(row, name))
        for name, unsaid in TIME_COLUMNS.items():
            moment: int | None = getattr(row, name)
            self._times[name].put(number, unsaid if moment is None else moment)
        self._states[number] = _KEPT if row.deleted_at is None else _DELETED

    def extend(self, rows: Iterable[IndexRow]) -> None:
        # The last word on each number is the one that counts.
        latest = list({row.number: row for row in rows}.values())
        if len(latest) < BULK:
            for row in latest:
                self.put(row)
        else:
            self._fill(latest)

    def remove(self, number: int) -> None:
        if 0 <= number < len(self._states):
            self._clear(number)
            self._states[number] = _ABSENT

    def mask(self, scope: ReadScope, filters: Filters, *, linked: Iterable[int] = ()) -> Flags:
        """The memories that the scope sees and the filters ask for, by number: what `stores/*/clauses.py` says.

        `linked` are those that a link puts into the project or repo in reach; links are not kept here.
        """
        mask = np.equal(self._states, _DELETED if filters.deleted else _KEPT)
        for match in self._conditions(scope, filters, linked):
            if match is False:
                mask[:] = False
                break
            if match is not True:
                np.logical_and(mask, match, out=mask)
        return mask

    def narrow(self) -> Narrow:
        visibility, author = self._texts["visibility"], self._texts["agent_id"]
        team = visibility.equal_to("team")
        if team is True:
            return Narrow(frozenset(), has_roles=False)
        hidden = np.not_equal(self._states, _ABSENT)
        if team is not False:
            hidden &= ~team
        authors = (author.texts[code] for code in np.flatnonzero(np.bincount(author.codes[hidden])).tolist())
        return Narrow(frozenset(filter(None, authors)), has_roles=visibility.equal_to("role") is not False)

    def next_expiry(self, moment: datetime) -> datetime:
        """When the first memory expires after that moment; the end of all time where none does."""
        micros = self._times["expires_at"].first_after(_micros(moment))
        return datetime.max.replace(tzinfo=UTC) if micros == NEVER else _EPOCH + micros * _MICROSECOND

    def has_other_authors(self, author: str) -> bool:
        return any(text not in (None, author) for text in self._texts["agent_id"].texts)

    def neighbours(self, numbers: Indices, allowed: Flags, near: Neighbourhood) -> dict[int, list[int]]:
        """Of each, those that `Neighbourhood.pick` picks from all that is allowed."""
        ordered = np.sort(numbers)
        # What belongs together mostly stands together: few need a look at the whole window.
        pairs, decided = self._beside(ordered, allowed, FIRST_STEPS, near)
        if not decided.all():
            further, _ = self._beside(ordered[~decided], allowed, near.window, near)
            pairs = np.concatenate((pairs[decided[np.searchsorted(ordered, pairs[:, 0])]], further))
        picked: dict[int, list[int]] = {}
        for number, other in pairs.tolist():
            picked.setdefault(number, []).append(other)
        return picked

    def _beside(self, numbers: Indices, allowed: Flags, steps: int, near: Neighbourhood) -> tuple[Indices, Flags]:
        """Each with those saved with it, right before and right after, from the nearest on; of which that is all."""
        away = np.arange(1, steps + 1)
        others = (numbers[:, np.newaxis] + np.append(-away, away)).ravel()
        mine = np.repeat(numbers, 2 * steps)
        there = np.flatnonzero((others > 0) & (others < len(allowed)))
        there = there[allowed[others[there]]]
        for name in _SAVED_WITH:
            column = self._texts[name]
            if not column.is_uniform:
                there = there[column.codes[others[there]] == column.codes[mine[there]]]
        moments = self._times["created_at"].moments
        there = there[abs(moments[others[there]] - moments[mine[there]]) <= near.within // _MICROSECOND]
        # Those on one side of one memory follow each other.
        sides = there // steps
        taken = there[np.arange(len(there)) - np.searchsorted(sides, sides) < near.beside]
        full = np.bincount(taken // (2 * steps), minlength=len(numbers)) == 2 * near.beside
        return np.stack((mine[taken], others[taken]), axis=1), full

    def _conditions(self, scope: ReadScope, filters: Filters, linked: Iterable[int]) -> Iterator[Match]:
        """Cheap and telling ones first: the rest is not looked at when nothing is left."""
        yield self._visible(scope)
        yield from self._options(filters)
        yield from self._equals(filters)
        yield from self._within(filters)
        yield self._in_reach(scope, filters, linked)

    def _visible(self, scope: ReadScope) -> Match:
        if scope.everything:
            return True
        visibility = self._texts["visibility"]
        seen = either(visibility.equal_to("team"), self._texts["agent_id"].equal_to(scope.member_id))
        if seen is True or not (scope.every_role or scope.role):
            return seen
        role = f'"{scope.role}"'
        named = scope.every_role or self._texts["allowed_roles"].where(role, lambda roles: role in roles)
        return either(seen, both(visibility.equal_to("role"), named))

    def _options(self, filters: Filters) -> Iterator[Match]:
        for name, wanted in (("status", filters.statuses), ("type", filters.types), ("scope", filters.scopes)):
            if wanted:
                yield self._texts[name].one_of([option.value for option in wanted])

    def _equals(self, filters: Filters) -> Iterator[Match]:
        for name in ("category", "key", "project_id", "repo_id", "agent_id", "session_id", "task_id"):
            wanted = getattr(filters, name)
            if wanted is not None:
                yield self._texts[name].equal_to(wanted)
        if filters.not_by:
            yield self._texts["agent_id"].where(("not by", filters.not_by), lambda author: author not in filters.not_by)
        if filters.at_path is not None:
            yield self._texts["path"].equal_to(filters.at_path)

    def _within(self, filters: Filters) -> Iterator[Match]:
        if filters.knowledge:
            yield self._texts["key"].where(_ANY_KEY, lambda key: True)
            yield self._texts["type"].where(_ANY_KEY, lambda type: type != MemoryType.PROFILE)
        if filters.path != "/":
            path = filters.path
            yield self._texts["path"].where(path, lambda other: other == path or other.startswith(f"{path}/"))
        for tag in filters.tags:
            yield self._texts["tags"].where(tag, _Tagged(tag))
        if filters.since is not None:
            yield self._times["created_at"].after(_micros(filters.since) - 1)
        if filters.until is not None:
            yield self._times["created_at"].before(_micros(filters.until))
        if filters.alive_at is not None:
            yield self._times["expires_at"].after(_micros(filters.alive_at))
        if filters.expired_at is not None:
            yield self._times["expires_at"].before(_micros(filters.expired_at) + 1)
        if filters.believed_at is not None:
            yield self._times["valid_from"].before(_micros(filters.believed_at) + 1)
        if filters.valid_at is not None:
            yield self._times["holds_from"].before(_micros(filters.valid_at) + 1)
            yield self._times["holds_until"].after(_micros(filters.valid_at) - 1)

    def _in_reach(self, scope: ReadScope, filters: Filters, linked: Iterable[int]) -> Match:
        if not filters.is_within_reach:
            return True
        own = both(self._texts["scope"].one_of(("agent", "session")), self._texts["agent_id"].equal_to(scope.member_id))
        near = either(own, self._texts["scope"].equal_to("global"))
        near = either(near, self._texts["project_id"].equal_to(filters.reach_project))
        near = either(near, self._texts["repo_id"].equal_to(filters.reach_repo))
        return either(near, self._flags(linked))

    def _flags(self, numbers: Iterable[int]) -> Match:
        there = [number for number in numbers if 0 <= number < len(self._states)]
        if not there:
            return False
        flags = np.zeros(len(self._states), np.bool_)
        flags[there] = True
        return flags

    def _clear(self, number: int) -> None:
        if self._states[number] != _ABSENT:
            for column in (*self._texts.values(), *self._times.values()):
                column.remove(number)

    def _fill(self, rows: Sequence[IndexRow]) -> None:
        columns = dict(zip(IndexRow._fields, zip(*rows, strict=True), strict=True))
        numbers = np.array(columns["number"], np.int64)
        self._make_room(int(numbers.max()))
        for number in numbers[self._states[numbers] != _ABSENT].tolist():
            self._clear(number)
        for name, column in self._texts.items():
            column.extend(numbers, columns[name])
        for name, unsaid in TIME_COLUMNS.items():
            moments = tuple(unsaid if moment is None else moment for moment in columns[name])
            self._times[name].extend(numbers, moments)
        self._states[numbers] = [_KEPT if moment is None else _DELETED for moment in columns["deleted_at"]]

    def _make_room(self, number: int) -> None:
        if number < len(self._states):
            return
        length = max(LEAST_LENGTH, int((number + 1) * GROWTH))
        self._states = resized(self._states, length=length)
        for column in (*self._texts.values(), *self._times.values()):
            column.resize(length)


class _Tagged:
    """Whether a stored list of tags holds this one."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._quoted = json.dumps(tag, ensure_ascii=False)

    def __call__(self, tags: str) -> bool:
        # Reading the list is slow, and most lists do not even hold the letters.
        return self._quoted in tags and self._tag in json.loads(tags)


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
