"""The change log for its readers: once, or followed as it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mycel.access.scope import ReadScope
from mycel.contracts.store import Stores
from mycel.domain import fields
from mycel.domain.change import Change, ChangeFilter
from mycel.domain.request_filters import read_change_filter, read_sequence
from mycel.domain.team import Caller
from mycel.services.read import named_scope

BATCH = 500
WAIT_SECONDS = 0.5


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
