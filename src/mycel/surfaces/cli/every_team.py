"""The one rule of what the owner of the files sees and changes without naming a member or a team.

What reads spans every team; what an id names is looked for in every team before anything is done; what is new, and
what belongs to one team as its policy does, is for the team that `--team` names, or `executive`. `REACHES` says which
it is of every command, and `docs/reference/command-line.md` says it to users.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mycel.domain.ids import is_whole
from mycel.domain.query import Order, Page
from mycel.domain.request_filters import DEFAULT_PAGE
from mycel.domain.team import EXECUTIVE
from mycel.errors import MOST_CANDIDATES, AmbiguousId, Candidate, InvalidInput, MemoryDamaged, NotFound, StoreDamaged
from mycel.surfaces.cli.display import named, show_done
from mycel.surfaces.cli.output import note
from mycel.wire.shapes import plain

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.memory import Memory
    from mycel.domain.recall import Recall
    from mycel.surfaces.cli.invocation import AnyWorkspace, Invocation

ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

# A cursor names the teams that have more, each with the place where its part of the page ended.
_BETWEEN, _OF = "+", "@"


class Reach(StrEnum):
    """How far a command of the owner reaches that names neither a member nor a team."""

    EVERY_TEAM = "every team"
    WHERE_IT_IS = "the team that has it"
    ONE_TEAM = "one team"
    WORKSPACE = "the workspace"


def _in_groups(groups: Mapping[str, str], reach: Reach) -> dict[str, Reach]:
    """Read `{group: "command command"}`; commands without a group stand under the empty name."""
    return {f"{group} {name}".strip(): reach for group, names in groups.items() for name in names.split()}


# Of every command; a test holds it against the commands that there are.
REACHES: Mapping[str, Reach] = {
    **_in_groups(
        {
            "": "search list recent tree stats context watch export consolidate reports cascades",
            "inbox": "list",
            "knowledge": "list candidates",
            "episodes": "list similar agents rates",
            "artifacts": "list",
            "events": "list",
            "task": "brief",
        },
        Reach.EVERY_TEAM,
    ),
    **_in_groups(
        {
            "": "get explain update delete restore purge settle cascade escalate withdraw undo",
            "inbox": "show approve edit merge reject snooze reopen",
            "knowledge": "get history arbitrate delete",
            "episodes": "get",
            "artifacts": "get verify delete",
            "events": "show retry",
        },
        Reach.WHERE_IT_IS,
    ),
    **_in_groups(
        {
            "": "save learn import mount mcp hook install",
            "profile": "set",
            "knowledge": "set import",
            "capture": "session conversation thread file",
            "task": "complete fail",
            "episodes": "log",
            "artifacts": "register",
            "vault": "sync status watch",
            "policy": "show set",
        },
        Reach.ONE_TEAM,
    ),
    **_in_groups(
        {
            "": "migrate work maintain embed check uninstall doctor serve status stop open demo",
            "backup": "create list verify restore",
            "team": "add list load reset",
            "member": "add list move remove resolve",
            "token": "issue list revoke",
            "model": "list check use",
            "database": "migrate index publish",
        },
        Reach.WORKSPACE,
    ),
}


@dataclass(frozen=True, slots=True)
class Place:
    """The one team that has what a command is about, and the whole ids of it."""

    memory: MemoryApi
    ids: tuple[str, ...]
    found: tuple[Memory, ...] = ()

    @property
    def id(self) -> str:
        return self.ids[0]


@dataclass(frozen=True, slots=True)
class Teams:
    """What one command works on, by the names of the teams: a single one where a member or a team is named."""

    memories: Mapping[str, MemoryApi]
    workspace: AnyWorkspace

    @property
    def are_several(self) -> bool:
        return len(self.memories) > 1

    @property
    def only(self) -> MemoryApi:
        """The one team, where they are not several; otherwise the first."""
        return next(iter(self.memories.values()))

    def those(self, wanted: Callable[[MemoryApi], bool]) -> Teams:
        """Return the teams for which this is true, or the first where it is of none."""
        kept = [name for name, is_wanted in self.each(wanted).items() if is_wanted]
        return replace(self, memories={name: self.memories[name] for name in kept or list(self.memories)[:1]})

    def named(self, names: Iterable[str]) -> Teams:
        return replace(self, memories={name: self.memories[name] for name in names})

    def alone(self, memory: MemoryApi) -> Teams:
        return self.named(name for name, one in self.memories.items() if one is memory)

    def search(self, ask: Callable[[MemoryApi], Recall], *, limit: int) -> Recall:
        """Merge the hits of each team, which keep their own order, by relevance."""
        recalls = list(self.each(ask).values())
        hits = tuple(heapq.merge(*(recall.hits for recall in recalls), key=lambda hit: -hit.relevance))[:limit]
        best = next((one for one in recalls if hits and hits[0] in one.hits), recalls[0])
        degraded = tuple(dict.fromkeys(reason for recall in recalls for reason in recall.degraded))
        return replace(best, hits=hits, degraded=degraded)

    def each(self, ask: Callable[[MemoryApi], ResultT]) -> dict[str, ResultT]:
        """Ask every team, and return the answers by team."""
        return self._each(lambda _, memory: ask(memory))

    def page(
        self,
        ask: Callable[[MemoryApi, int | None, str | None], Page[ItemT]],
        *,
        limit: int | None,
        cursor: str | None,
        order: Callable[[], Order] = Order,
        memory_of: Callable[[ItemT], Memory],
    ) -> Page[ItemT]:
        """Merge pages of memories, or of what has one. `ask` returns a team's items after a cursor, in this order."""
        asked = order() if self.are_several else Order()
        place = _placing(asked, memory_of)
        return self.page_by(ask, limit=limit, cursor=cursor, place=place, descending=asked.descending)

    def page_by(
        self,
        ask: Callable[[MemoryApi, int | None, str | None], Page[ItemT]],
        *,
        limit: int | None,
        cursor: str | None,
        place: Callable[[ItemT], Any],
        descending: bool = True,
    ) -> Page[ItemT]:
        """Merge pages whose items each team returns in the order of their `place`."""
        if not self.are_several:
            return ask(self.only, limit, cursor)
        most = DEFAULT_PAGE if limit is None else limit
        places = self._places(cursor)
        teams = replace(self, memories={name: self.memories[name] for name in places})
        pages = teams._each(lambda name, memory: ask(memory, most, places[name]))
        listed = ([(name, item) for item in page] for name, page in pages.items())
        merged = heapq.merge(*listed, key=lambda one: place(one[1]), reverse=descending)
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

    def find(self, *ids: str, deleted: bool = False, field: str = "id") -> Place:
        """Find the one team that has all of these memories, before anything is done to any of them.

        Raises `NotFound`, or `AmbiguousId` with the candidates where an id or a part of one means several.
        """
        if not self.are_several:
            return Place(self.only, ids)
        if len(ids) == 1 and (damaged := self._find_damaged(ids[0])) is not None:
            return Place(damaged, ids)
        found = [self._locate(id, deleted=deleted, field=field) for id in ids]
        teams = sorted({str(one.team) for one in found})
        if len(teams) > 1:
            raise InvalidInput(
                f"are of several teams, {', '.join(teams)}: name those of one team at a time", field=field
            )
        return Place(self.memories[teams[0]], tuple(one.id for one in found), tuple(found))

    def find_titled(self, id: str) -> Place:
        """As `find`, also with what it is in a single team, to say later what was changed; it is not used by that."""
        place = self.find(id)
        if place.found:
            return place
        try:
            present = place.memory.history(id)[-1].memory
        except MemoryDamaged:
            # It has no title that could be read, and can be deleted all the same.
            return place
        return Place(place.memory, (present.id,), (present,))

    def find_to_purge(self, id: str) -> Place:
        """As `find_titled`, also of what is deleted or, where one team is named, hidden from who purges it."""
        if self.are_several:
            if (damaged := self._find_damaged(id)) is not None:
                return Place(damaged, (id,))
            found = self._locate(id, deleted=True, field="id")
            return Place(self.memories[found.team], (found.id,), (found,))
        try:
            return self.find_titled(id)
        except NotFound:
            return self.find(id)

    def home(self, call: Invocation) -> Place:
        """Return where something new goes: the team that is named, the member's own, or `executive`."""
        return Place(call.memory_in(self.workspace), ())

    def having(self, look: Callable[[MemoryApi], object], *, id: str, field: str = "id") -> MemoryApi:
        """Find the one team in which `look` finds what is no memory, such as a report."""
        if not self.are_several:
            return self.only
        having: list[str] = []
        failure: NotFound | StoreDamaged | None = None
        for name, memory in self.memories.items():
            try:
                look(memory)
            except (NotFound, StoreDamaged) as error:
                # It may have been in the store that is damaged.
                failure = error if failure is None or isinstance(error, StoreDamaged) else failure
            else:
                having.append(name)
        if not having:
            raise failure or NotFound("there is no team")
        if len(having) > 1:
            named = [Candidate(id, "", team) for team in having]
            raise AmbiguousId("is in several teams: --team names one", field=field, candidates=named)
        return self.memories[having[0]]

    def _find_damaged(self, id: str) -> MemoryApi | None:
        """Find the team in which a memory is that cannot be read; only a whole id names it."""
        for memory in self.memories.values() if is_whole(id) else ():
            try:
                memory.links(id)
            except MemoryDamaged:
                return memory
            except (NotFound, StoreDamaged):
                continue
        return None

    def _locate(self, id: str, *, deleted: bool, field: str) -> Memory:
        found = self.workspace.locate(id, deleted=deleted)
        if not found:
            raise NotFound(f"no memory {id}")
        if len(found) > 1:
            candidates = [Candidate(one.id, one.title, one.team) for one in found[:MOST_CANDIDATES]]
            hint = "is in several teams: --team names one"
            if len({one.id for one in found}) > 1:
                hint = "names several memories: give more of it"
            raise AmbiguousId(hint, field=field, candidates=candidates)
        return found[0]

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
def teams_of(
    call: Invocation, *, reads_other_team: bool = False, reads_files: bool = False, lasting: bool = False
) -> Generator[Teams]:
    """Open what a command works on; what reads files of this machine works on those of the workspace as well."""
    if lasting:
        opened = call.lasting()
    elif reads_files and call.settings().url is None:
        opened = call.files()
    else:
        opened = call.workspace()
    with opened as workspace:
        if not call.sees_every_team:
            yield Teams({"": call.memory_in(workspace, reads_other_team=reads_other_team)}, workspace)
            return
        names = sorted((team.name for team in workspace.teams()), key=lambda name: (name != EXECUTIVE, name))
        yield Teams({name: workspace.as_operator(name) for name in names}, workspace)


def of_teams(answers: Mapping[str, object]) -> list[dict[str, object]]:
    """The answers of several teams as JSON values that name their team."""
    return [{"team": team, **cast("dict[str, object]", plain(answer))} for team, answer in answers.items()]


def answer_deleted(call: Invocation, place: Place) -> None:
    """Say what was deleted, and in which team."""
    if not place.found:
        # It was damaged, and had no title that could be read.
        call.answer({"id": place.id, "deleted": True}, lambda: show_done(place.id, "deleted"))
        return
    memory = place.found[0]
    answer = {"id": memory.id, "deleted": True, "title": memory.title, "team": memory.team}
    call.answer(answer, lambda: show_done(memory.id, f"deleted: {named(memory)}"))


def _placing(order: Order, memory_of: Callable[[ItemT], Memory]) -> Callable[[ItemT], str | float]:
    def place(item: ItemT) -> str | float:
        value: datetime | float | str = getattr(memory_of(item), order.field.value)
        return value.timestamp() if isinstance(value, datetime) else value

    return place


def _cursor(left: Mapping[str, str | None]) -> str | None:
    return _BETWEEN.join(f"{name}{_OF}{place or ''}" for name, place in left.items()) or None
