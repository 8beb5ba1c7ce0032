"""How the parts of a store reach its database: on a connection lent for reading, or inside a transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from types import MethodType
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from mycel.domain.ids import MemoryId
from mycel.domain.packed_terms import PackedTerms
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import DeferredWrites

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")


class Session(Protocol):
    @property
    def now(self) -> datetime: ...

    def run(
        self,
        work: Callable[Concatenate[Connection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT: ...


class WriteSession(Session, Protocol):
    """A transaction. New rows, tags, words and the log may be left to its end, for all operations together."""

    @property
    def connection(self) -> Connection:
        """The database as this operation must see it: with everything written that was left for later."""
        ...

    @property
    def later(self) -> DeferredWrites: ...
    @property
    def committed_at(self) -> datetime: ...
    @property
    def committed_micros(self) -> int: ...
    @property
    def clock_micros(self) -> int | None:
        """What the clock says, where that is another moment."""
        ...

    def next_number(self) -> int:
        """For a new memory."""
        ...

    def put_terms(self, words: PackedTerms, *, number: int) -> None:
        """In the place of any that the memory had."""
        ...

    def mend(self, id: MemoryId) -> None:
        """Write what can be read of a damaged memory; from then on queries of this operation find it."""
        ...


class Part:
    """One part of a store. Its queries run wherever its session runs them."""

    def __init__(self, session: Session) -> None:
        self.session = session


PartT = TypeVar("PartT", bound=Part)


def query(
    method: Callable[Concatenate[PartT, Connection, ParamsT], ResultT],
) -> Callable[Concatenate[PartT, ParamsT], ResultT]:
    """A method that is given its connection by the session of its part."""

    @wraps(method)
    def run(part: PartT, *args: ParamsT.args, **kwargs: ParamsT.kwargs) -> ResultT:
        return part.session.run(MethodType(method, part), *args, **kwargs)

    return run


class OneConnection:
    """Every query on the same connection."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self.now = now

    def run(
        self,
        work: Callable[Concatenate[Connection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        return work(self._connection, *args, **kwargs)


class WritingPart(Part):
    """A part that leaves writes for the end of the batch, or needs its moment."""

    def __init__(self, batch: WriteSession) -> None:
        # Without the way by `super`: every transaction makes all of its parts.
        self.session = self.batch = batch
