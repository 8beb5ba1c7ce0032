"""What the owner of the files sees without naming a member or a team: every team at once."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from mycel.domain.query import Order, Page
from mycel.domain.request_filters import DEFAULT_PAGE
from mycel.domain.team import EXECUTIVE
from mycel.errors import InvalidInput, MycelError, NotFound, ReferenceNotFound, StoreDamaged
from mycel.surfaces.cli.output import note

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.memory import Memory
    from mycel.domain.recall import Recall
    from mycel.surfaces.cli.invocation import Invocation

ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

# A cursor names the teams that have more, each with the place where its part of the page ended.
_BETWEEN, _OF = "+", "@"


@dataclass(frozen=True, slots=True)
class Teams:
    """What one command reads, by the names of the teams: a single one where a member or a team is named."""

    memories: Mapping[str, MemoryApi]

    @property
    def are_several(self) -> bool:
        return len(self.memories) > 1

    def search(self, ask: Callable[[MemoryApi], Recall], *, limit: int) -> Recall:
        """Of each team in its own order, between teams the more relevant first."""
        recalls = list(self._each(lambda _, memory: ask(memory)).values())
        hits = tuple(heapq.merge(*(recall.hits for recall in recalls), key=lambda hit: -hit.relevance))[:limit]
        best = next((one for one in recalls if hits and hits[0] in one.hits), recalls[0])
        degraded = tuple(dict.fromkeys(reason for recall in recalls for reason in recall.degraded))
        return replace(best, hits=hits, degraded=degraded)

    def page(
        self,
        ask: Callable[[MemoryApi, int | None, str | None], Page[ItemT]],
        *,
        limit: int | None,
        cursor: str | None,
        order: Callable[[], Order],
        memory_of: Callable[[ItemT], Memory],
    ) -> Page[ItemT]:
        """`ask` gives so many of a team's items after a cursor, in this order."""
        if not self.are_several:
            return ask(next(iter(self.memories.values())), limit, cursor)
        most = DEFAULT_PAGE if limit is None else limit
        places = self._places(cursor)
        teams = Teams({name: self.memories[name] for name in places})
        pages = teams._each(lambda name, memory: ask(memory, most, places[name]))
        asked = order()
        listed = ([(name, item) for item in page] for name, page in pages.items())
        merged = heapq.merge(*listed, key=lambda one: _place_in(asked, memory_of(one[1])), reverse=asked.descending)
        shown = [one for one, _ in zip(merged, range(most), strict=False)]
        left: dict[str, str | None] = {}
        for name, page in pages.items():
            count = sum(1 for team, _ in shown if team == name)
            if count < len(page):
                # Only a page that ends there says where that is.
                left[name] = ask(self.memories[name], count, places[name]).next_cursor if count else places[name]
            elif page.next_cursor is not None:
                left[name] = page.next_cursor
        return Page([item for _, item in shown], _cursor(left))

    def where_it_is(self, act: Callable[[MemoryApi], ResultT]) -> ResultT:
        """In the one team that has what this is about."""
        failure: MycelError | None = None
        for memory in self.memories.values():
            try:
                return act(memory)
            except ReferenceNotFound:
                raise
            except (NotFound, StoreDamaged) as error:
                # It may have been in the store that is damaged.
                failure = error if failure is None or isinstance(error, StoreDamaged) else failure
        raise failure or NotFound("there is no team")

    def _each(self, ask: Callable[[str, MemoryApi], ResultT]) -> dict[str, ResultT]:
        """A team whose store is damaged is told of, and does not keep the others from answering."""
        answers: dict[str, ResultT] = {}
        damage: StoreDamaged | None = None
        for name, memory in self.memories.items():
            try:
                answers[name] = ask(name, memory)
            except StoreDamaged as error:
                damage = error
                if self.are_several:
                    note(f"{name} is left out: {error}")
        if damage is not None and not answers:
            raise damage
        return answers

    def _places(self, cursor: str | None) -> dict[str, str | None]:
        if cursor is None:
            return dict.fromkeys(self.memories)
        places: dict[str, str | None] = {}
        for part in cursor.split(_BETWEEN):
            name, mark, place = part.partition(_OF)
            if not mark or name not in self.memories:
                raise InvalidInput("is not from a page of every team; --team names the one it is from", field="cursor")
            places[name] = place or None
        return places


@contextmanager
def teams_of(call: Invocation, *, reads_other_team: bool = False) -> Generator[Teams]:
    with call.workspace() as workspace:
        if not call.sees_every_team:
            yield Teams({"": call.memory_in(workspace, reads_other_team=reads_other_team)})
            return
        names = sorted((team.name for team in workspace.teams()), key=lambda name: (name != EXECUTIVE, name))
        yield Teams({name: workspace.as_operator(name) for name in names})


def _place_in(order: Order, memory: Memory) -> str | float:
    value: datetime | float | str = getattr(memory, order.field.value)
    return value.timestamp() if isinstance(value, datetime) else value


def _cursor(left: Mapping[str, str | None]) -> str | None:
    return _BETWEEN.join(f"{name}{_OF}{place or ''}" for name, place in left.items()) or None
