"""Changes for readers: from the log as it is stored, and followed for many at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from mycel.access.scope import ReadScope, read_scope, scope_of_team
from mycel.contracts.store import Stores
from mycel.domain import fields
from mycel.domain.change import Change, ChangeFilter
from mycel.domain.ids import TeamName
from mycel.domain.query import Page
from mycel.domain.request_filters import read_audit_filter, read_change_filter, read_limit, read_sequence
from mycel.domain.team import Caller
from mycel.errors import CLOSED, InvalidInput, NotFound, Unavailable
from mycel.services.callers import known
from mycel.services.log_tail import Cursor, RecentLog, Tail, told_of
from mycel.services.read import named_scope
from mycel.services.short_ids import find_id

BATCH = 500
MAX_DIGITS = 18
WAIT_SECONDS = 0.5
# Whoever sees little of a long log gets a short page, and soon.
MOST_SCANS = 10


class Changes:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def read(
        self,
        caller: Callable[[], Caller],
        *,
        after: object = 0,
        path: object = "/",
        project: object = None,
        type: object = None,
        follow: object = False,
        team: object = None,
    ) -> Iterator[Change]:
        """In order of their sequence. Gaps are changes the caller may not see; with `follow` it never ends.

        Without `after` it begins with what comes from now on. Who is calling is asked again for every batch: whoever
        follows for days may lose a role or a token meanwhile.
        """
        start = None if after is None else read_sequence(after)
        wanted, endless = read_change_filter(path=path, project=project, type=type), fields.flag(follow, field="follow")
        # One team's sequence means nothing in another, should the caller move there.
        followed = named_scope(caller(), team).team
        if start is None:
            start = self.last_sequence(caller(), team=followed)
        return self._walk(lambda: named_scope(caller(), followed), start, wanted, follow=endless)

    def last_sequence(self, caller: Caller, *, team: object = None) -> int:
        """Where a reader begins that wants nothing but what is still to come."""
        with self._stores.lease(named_scope(caller, team).team) as store:
            return store.log.last_sequence()

    def audit(
        self, caller: Caller, filters: Mapping[str, object], *, limit: object = None, cursor: object = None
    ) -> Page[Change]:
        if filters.get("memory_id") is not None:
            id = find_id(self._stores, caller, filters["memory_id"], field="memory_id", deleted=True)
            filters = {**filters, "memory_id": id}
        wanted, most = read_audit_filter(filters), read_limit(limit)
        before = None if cursor is None else _sequence_of(cursor)
        found: list[Change] = []
        with self._stores.lease(caller.team) as store:
            for _ in range(MOST_SCANS):
                some, before = store.log.latest(
                    read_scope(caller), before=before, wanted=wanted, limit=most - len(found)
                )
                found += some
                if before is None or len(found) == most:
                    break
        return Page(found, None if before is None else str(before))

    def _walk(
        self, scope_now: Callable[[], ReadScope], after: int, wanted: ChangeFilter, *, follow: bool
    ) -> Iterator[Change]:
        while True:
            scope = scope_now()
            with self._stores.lease(scope.team) as store:
                found, reached = store.log.changes(scope, after=after, wanted=wanted, limit=BATCH)
            yield from found
            if reached == after:
                if not follow:
                    return
                # Leased anew for each wait, so that a quiet follower does not keep a store open for ever.
                with self._stores.lease(scope.team) as store:
                    store.log.wait(after=after, timeout=WAIT_SECONDS)
            after = reached


def _sequence_of(cursor: object) -> int:
    if isinstance(cursor, str) and cursor.isascii() and cursor.isdecimal() and len(cursor) <= MAX_DIGITS:
        return read_sequence(int(cursor), field="cursor")
    raise InvalidInput("is not one of this list", field="cursor")


# Enough for whoever was away for a minute in a busy team; whoever is further behind reads from the store.
KEPT_ENTRIES = 2000
# A tail goes on for so long without followers: most of them come back at once.
LINGER_SECONDS = 5.0
CLOSING_SECONDS = 5.0
# For no longer than this is anybody told what it may no longer know.
KNOWN_SECONDS = 1.0


class Follower:
    """One reader of one team, with a cursor. Take what is there first; from then on `wake` says there may be more.

    Who is calling is asked with every taking, so take now and then also while it is quiet.
    """

    def __init__(self, tail: Tail, stores: Stores, caller: Callable[[], Caller], cursor: Cursor) -> None:
        self._tail = tail
        self._stores = stores
        self._caller = caller
        self._cursor = cursor
        self._taking = threading.Lock()

    @property
    def team(self) -> TeamName:
        return self._tail.team

    @property
    def reached(self) -> int:
        """Up to here nothing is left to tell; whoever goes away can come back with this."""
        return self._cursor.reached

    @property
    def is_current(self) -> bool:
        """Whether it has come as far as the tail: if so after a taking, whatever comes later wakes it."""
        return self._tail.has_shown_all_to(self._cursor)

    def check(self) -> None:
        """Raises what `take` would raise because of who is calling."""
        self._scope_of(self._caller())

    def take(self, limit: int = 100) -> tuple[list[Change], int]:
        """What is new for it, in order, and the sequence up to which the log was looked at.

        Take again while that moves on. Raises `AccessDenied` or `NotFound` when the caller may no longer read the
        team, and `Unavailable` when the workspace is closed.
        """
        most = read_limit(limit)
        with self._taking:
            scope = self._scope_of(self._caller())
            return self._take_kept(scope, most) or self._take_stored(scope, most)

    def take_at_hand(self, limit: int = 100) -> tuple[list[Change], int] | None:
        """As `take`, but None where that would wait for a disk: for an event loop, while somebody else calls `check`.

        Who is calling may have been found out up to a second ago.
        """
        most = read_limit(limit)
        caller = known(self._caller, seconds=KNOWN_SECONDS)
        if caller is None or not self._taking.acquire(blocking=False):
            return None
        try:
            return self._take_kept(self._scope_of(caller), most)
        finally:
            self._taking.release()

    def close(self) -> None:
        """It may be woken once more after this."""
        self._tail.remove(self._cursor)

    def _scope_of(self, caller: Caller) -> ReadScope:
        scope = scope_of_team(caller, self._tail.team)
        if scope is None:
            raise NotFound(f"no team {self._tail.team}")
        return scope

    def _take_kept(self, scope: ReadScope, most: int) -> tuple[list[Change], int] | None:
        after, kept = self._tail.next_for(self._cursor)
        if kept is None:
            return None
        found, reached = told_of(kept, scope, self._cursor.wanted, after=after, limit=most)
        return found, self._tail.advance(self._cursor, reached)

    def _take_stored(self, scope: ReadScope, most: int) -> tuple[list[Change], int]:
        after, wanted = self._cursor.reached, self._cursor.wanted
        with self._stores.lease(scope.team) as store:
            found, reached = store.log.changes(scope, after=after, wanted=wanted, limit=most)
        return found, self._tail.advance(self._cursor, reached)


class Following:
    """At most one tail for each team, which is there while somebody follows."""

    def __init__(self, stores: Stores, *, kept: int = KEPT_ENTRIES, linger: float = LINGER_SECONDS) -> None:
        self._stores = stores
        self._kept = kept
        self._linger = linger
        self._tails: dict[TeamName, Tail] = {}
        self._lock = threading.Lock()
        self._closed = False

    def follow(
        self,
        caller: Callable[[], Caller],
        *,
        wake: Callable[[], None],
        after: object = None,
        path: object = "/",
        project: object = None,
        type: object = None,
        team: object = None,
    ) -> Follower:
        """Follows from a sequence on or, without one, from now on.

        `wake` is called in the thread of the tail, for whatever may concern the filters, and must return at once.
        """
        start = None if after is None else read_sequence(after)
        wanted = read_change_filter(path=path, project=project, type=type)
        # One team's sequence means nothing in another, should the caller move there.
        followed = named_scope(caller(), team).team
        with self._stores.lease(followed) as store:
            last = store.log.last_sequence()
        cursor = Cursor(wanted, wake, last if start is None else start)
        with self._lock:
            if self._closed:
                raise Unavailable(CLOSED)
            tail = self._tails.get(followed) or self._begin(followed, last)
            tail.add(cursor)
        return Follower(tail, self._stores, caller, cursor)

    def close(self) -> None:
        """Ends every tail, and wakes every follower to learn of it."""
        with self._lock:
            self._closed = True
            tails = list(self._tails.values())
        for tail in tails:
            tail.stop()
        for tail in tails:
            tail.join(CLOSING_SECONDS)

    def _begin(self, team: TeamName, last: int) -> Tail:
        recent = RecentLog(last=last, most=self._kept)
        tail = self._tails[team] = Tail(team, self._stores, recent, linger=self._linger, may_end=self._end)
        tail.start()
        return tail

    def _end(self, tail: Tail) -> bool:
        """Under this lock, so that nobody begins to follow a tail that ends."""
        with self._lock:
            if not tail.is_idle():
                return False
            self._tails.pop(tail.team, None)
            return True
