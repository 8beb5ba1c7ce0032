"""How many connections there may be, from one address and in all, and which of them goes when there is one too many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, Self

from mycel.settings import Settings

LOOK_SECONDS = 1.0
# Among so many of the oldest an idle one is looked for: looking at all would cost more than it is worth in a flood.
OLDEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    in_total: int
    per_address: int
    header_bytes: int
    header_seconds: float
    stall_seconds: float
    discarded_bytes: int

    @classmethod
    def of(cls, settings: Settings, *, handles: int) -> Self:
        """Fewer where the system gives a process few handles: half of them are for files."""
        in_total = min(settings.max_connections, max(1, handles // 2))
        return cls(
            in_total=in_total,
            per_address=min(settings.max_connections_per_address, in_total),
            header_bytes=settings.max_header_bytes,
            header_seconds=settings.header_seconds,
            stall_seconds=settings.stall_seconds,
            discarded_bytes=settings.max_discarded_bytes,
        )


class Connection(Protocol):
    """Whatever speaks over one, as far as its place is concerned."""

    transport: asyncio.Transport
    client: tuple[str, int] | None

    @property
    def is_known(self) -> bool:
        """Whether it has shown a token that works."""
        ...

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        ...

    def look(self, now: float) -> None:
        """Ends it, if it takes too long."""
        ...


@dataclass(slots=True)
class _Places:
    """Connections in the order in which they came; `strangers` are those that may not have shown a token yet."""

    taken: dict[Connection, None] = field(default_factory=dict["Connection", None])
    strangers: dict[Connection, None] = field(default_factory=dict["Connection", None])

    def add(self, connection: Connection) -> None:
        self.taken[connection] = self.strangers[connection] = None

    def remove(self, connection: Connection) -> None:
        self.taken.pop(connection, None)
        self.strangers.pop(connection, None)

    def spare(self) -> Connection | None:
        """One that has shown no token, best an idle one; otherwise an idle one; never one at work with a token."""
        oldest = self._oldest_strangers()
        idle = (one for one in (*oldest, *(() if oldest else self.taken)) if one.is_idle)
        return next(idle, None) or next(iter(oldest), None)

    def _oldest_strangers(self) -> list[Connection]:
        found: list[Connection] = []
        while self.strangers and not found:
            for one in tuple(islice(self.strangers, OLDEST)):
                if one.is_known:
                    del self.strangers[one]
                else:
                    found.append(one)
        return found


class Connections:
    """Belongs to the event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._all = _Places()
        self._by_address: dict[str, _Places] = {}
        self._looking: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all.taken)

    def add(self, connection: Connection) -> bool:
        """Whether there is a place for it: that of the one that can best be spared, if need be."""
        has_place = self._has_place(_address_of(connection))
        # Whoever is refused is told so, and counts until it has gone.
        self._by_address.setdefault(_address_of(connection), _Places()).add(connection)
        self._all.add(connection)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        return has_place

    def remove(self, connection: Connection) -> None:
        self._all.remove(connection)
        address = _address_of(connection)
        neighbours = self._by_address.get(address)
        if neighbours is not None:
            neighbours.remove(connection)
            if not neighbours.taken:
                del self._by_address[address]

    def _has_place(self, address: str) -> bool:
        neighbours = self._by_address.get(address)
        if neighbours is not None and len(neighbours.taken) >= self.limits.per_address:
            return self._make_room(neighbours)
        return len(self) < self.limits.in_total or self._make_room(self._all)

    def _make_room(self, places: _Places) -> bool:
        spared = places.spare()
        if spared is None:
            return False
        self.remove(spared)
        spared.transport.abort()
        return True

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        for connection in tuple(self._all.taken):
            connection.look(loop.time())
        self._looking = loop.call_later(LOOK_SECONDS, self._look) if len(self) else None


def _address_of(connection: Connection) -> str:
    return connection.client[0] if connection.client else ""
