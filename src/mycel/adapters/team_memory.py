"""A team's memory by the path of its file, as a class with `save`, `search`, `recent` and `delete`.

The same store, locks and rules are behind it as behind everything else: whoever saves is a member of the team, and what
is read is what the whole team may read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from mycel.app import open_workspace
from mycel.domain import memory as domain
from mycel.domain.fields import MAX_PAGE
from mycel.domain.hidden_text import program_text
from mycel.domain.team import EXECUTIVE
from mycel.embedded.team_memory import TeamMemory as MemberMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidInput, Misconfigured, NotFound
from mycel.settings import load_settings
from mycel.stores.layout import TEAMS_FOLDER, WORKSPACE_FILE

FILE = "memory.sqlite"


class Memory(NamedTuple):
    """A memory with plain values: tags separated by commas, times in milliseconds since 1970."""

    id: str
    agent_id: str
    type: str
    content: str
    tags: str
    created_at: int
    updated_at: int


class TeamMemory:
    """The memory of one team, at `…/teams/<team>/memory.sqlite`. Nothing is made before the first save.

    The folder above `teams` is the data directory of a workspace, which other programs may use at the same time.
    Safe to use from any thread; `close` it, or use it in a `with` block.
    """

    def __init__(self, path: str | Path) -> None:
        file = Path(path).absolute()
        if file.name != FILE or file.parent.parent.name != TEAMS_FOLDER:
            raise InvalidInput(f"must end with {TEAMS_FOLDER}/<team>/{FILE}", field="path")
        self.path, self.team, self._data = file, file.parent.name, file.parents[2]
        self._workspace: Workspace | None = None
        self._lock = threading.Lock()

    def save(self, agent_id: str, type: str, content: str, tags: str | Sequence[str] = "") -> str:
        """Save a memory and return its id. An agent that nobody has added becomes a member of the team."""
        workspace = self._opened()
        if all(team.name != self.team for team in workspace.teams()):
            workspace.add_team(self.team)
        member = workspace.as_member(agent_id, may_be_new=True)
        if member.team != self.team:
            # Refused for a member of another team.
            workspace.add_member(agent_id, team=self.team)
            member = workspace.as_member(agent_id)
        return member.save(content, type=type, tags=tags).id

    def search(self, query: str, type: str | None = None, limit: int = 10) -> list[Memory]:
        """Return the memories that match, the best first."""
        reader = self._reader()
        asked, found = limit, list[domain.Memory]()
        while reader is not None:
            hits = reader.search(query, type=type, limit=asked).hits
            found = _for_all(hit.memory for hit in hits)
            # What is for some members only takes places; then more are asked for.
            if len(found) >= limit or len(hits) < asked or asked == MAX_PAGE:
                break
            asked = min(MAX_PAGE, 4 * asked)
        return [_plain(memory) for memory in found[:limit]]

    def recent(self, limit: int = 10) -> list[Memory]:
        """Return the newest memories, newest first."""
        reader = self._reader()
        found: list[domain.Memory] = []
        cursor = None
        while reader is not None:
            page = reader.list(order_by="-created_at", limit=limit, cursor=cursor)
            found += _for_all(page)
            cursor = page.next_cursor
            if cursor is None or len(found) >= limit:
                break
        return [_plain(memory) for memory in found[:limit]]

    def delete(self, id: str) -> None:
        """Delete a memory. It can be restored until it is purged."""
        reader = self._reader()
        if reader is None or not _for_all([reader.get(id)]):
            raise NotFound(f"no memory {id}")
        reader.delete(id)

    def close(self) -> None:
        """Close the workspace, unless another `TeamMemory` of this process uses it."""
        with self._lock:
            workspace, self._workspace = self._workspace, None
        if workspace is not None:
            _release(self._data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self) -> Workspace:
        with self._lock:
            if self._workspace is None:
                self._workspace = _acquire(self._data)
            return self._workspace

    def _reader(self) -> MemberMemory | None:
        """Return the team's memory as its operator sees it; None where nobody has saved anything yet."""
        if self._workspace is None and not (self._data / WORKSPACE_FILE).exists():
            return None
        workspace = self._opened()
        is_there = self.team == EXECUTIVE or any(team.name == self.team for team in workspace.teams())
        return workspace.as_operator(self.team) if is_there else None


# One workspace for all teams of a data directory that this process has open, and how many use it.
_open: dict[Path, tuple[Workspace, int]] = {}
_opening = threading.Lock()


def _acquire(data: Path) -> Workspace:
    with _opening:
        if data not in _open:
            settings = load_settings(data)
            if settings.database_url is not None:
                raise Misconfigured(f"the workspace at {data} is in a database and has no file for each team")
            _open[data] = open_workspace(settings=settings), 0
        workspace, users = _open[data]
        _open[data] = workspace, users + 1
        return workspace


def _release(data: Path) -> None:
    with _opening:
        workspace, users = _open.pop(data)
        if users > 1:
            _open[data] = workspace, users - 1
            return
    workspace.close()


def _for_all(memories: Iterable[domain.Memory]) -> list[domain.Memory]:
    """Return what is for the whole team: nobody has said who reads."""
    return [memory for memory in memories if memory.visibility is domain.Visibility.TEAM]


def _plain(memory: domain.Memory) -> Memory:
    return Memory(
        id=memory.id,
        agent_id=memory.agent_id,
        type=memory.type.value,
        content=program_text(memory.content),
        tags=program_text(",".join(memory.tags)),
        created_at=_milliseconds(memory.created_at),
        updated_at=_milliseconds(memory.updated_at),
    )


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
