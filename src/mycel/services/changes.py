"""The change log for its readers: once, or followed as it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mycel.access.scope import ReadScope
from mycel.contracts.store import Stores
from mycel.domain import fields
from mycel.domain.change import Change
from mycel.domain.team import Caller
from mycel.services.reach import named_scope

BATCH = 500
WAIT_SECONDS = 0.5
MAX_SEQUENCE = 2**63 - 1


class Changes:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def read(
        self,
        caller: Callable[[], Caller],
        *,
        after: object = 0,
        path: object = "/",
        follow: object = False,
        team: object = None,
    ) -> Iterator[Change]:
        """In order of their sequence. Gaps are changes the caller may not see; with `follow` it never ends.

        Who is calling is asked again for every batch: whoever follows for days may lose a role or a token meanwhile.
        """
        start = fields.whole(after, field="after", least=0, most=MAX_SEQUENCE)
        folder, endless = fields.path(path), fields.flag(follow, field="follow")
        named_scope(caller(), team)
        return self._walk(lambda: named_scope(caller(), team), start, folder, follow=endless)

    def _walk(self, scope_now: Callable[[], ReadScope], after: int, path: str, *, follow: bool) -> Iterator[Change]:
        while True:
            scope = scope_now()
            with self._stores.lease(scope.team) as store:
                found, reached = store.changes(scope, after=after, path=path, limit=BATCH)
            yield from found
            if reached == after:
                if not follow:
                    return
                # Leased anew for each wait, so that a quiet follower does not keep a store open for ever.
                with self._stores.lease(scope.team) as store:
                    store.wait_for_change(after=after, timeout=WAIT_SECONDS)
            after = reached
