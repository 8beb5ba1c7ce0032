"""Nodes tell each other which teams were written to, by NOTIFY and LISTEN."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from uuid import uuid4

import psycopg

from mycel.domain.ids import TeamName
from mycel.errors import MycelError
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.connection_pool import ServerConnection
from mycel.stores.postgres.database import ORGANISATION, Database

CHANNEL = "mycel"
# How often the database is asked for writes of other nodes: while they can be heard, and while they cannot.
HEARING_POLL_SECONDS = 3.0
DEAF_POLL_SECONDS = 0.2
# One message tells of all that was committed in such a time.
TELL_SECONDS = 0.02
# A payload has room for 8,000 bytes.
MOST_TEAMS = 50
# A node tells itself something so often. What it does not hear by then, it would not hear of others either.
PROBE_SECONDS = 5.0
DEAF_AFTER_SECONDS = 8.0
_LOOK_SECONDS = 0.2
_RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
_BEHIND_POOLER_SECONDS = 60.0

# Every transaction that notifies waits for all others that do, so none that stores anything does; and what it says is
# nothing that a crash must not lose: whoever misses it asks.
_NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)"


class Notifications:
    """`heard` is told of a team that another node wrote to, or None where that may have been any."""

    def __init__(self, database: Database, heard: Callable[[TeamName | None], None]) -> None:
        self._database = database
        self._heard = heard
        self._node = uuid4().hex[:16]
        self._teams: set[TeamName] = set()
        self._changed = threading.Condition()
        self._sender: threading.Thread | None = None
        self._listener: threading.Thread | None = None
        self._closed = threading.Event()
        self.hears = False

    @property
    def poll_seconds(self) -> float:
        return HEARING_POLL_SECONDS if self.hears else DEAF_POLL_SECONDS

    def tell(self, team: TeamName) -> None:
        """Soon, and once for many commits."""
        with self._changed:
            self._teams.add(team)
            if self._sender is None and not self._closed.is_set():
                self._sender = threading.Thread(target=self._send, name="mycel-notify", daemon=True)
                self._sender.start()

    def listen(self) -> None:
        """From now on; a node that nobody watches a team on has no need to."""
        with self._changed:
            if self._listener is None and not self._closed.is_set():
                self._listener = threading.Thread(target=self._serve, name="mycel-listen", daemon=True)
                self._listener.start()

    def close(self) -> None:
        """What was committed last is still told."""
        self._closed.set()
        with self._changed:
            sender = self._sender
        if sender is not None:
            sender.join()

    def _send(self) -> None:
        while True:
            with self._changed:
                told = sorted(self._teams)[:MOST_TEAMS]
                self._teams.difference_update(told)
                if not told:
                    self._sender = None
                    return
            # Whoever is not told asks by and by.
            with contextlib.suppress(MycelError):
                self._notify("\n".join((self._node, *told)))
            self._closed.wait(TELL_SECONDS)

    def _notify(self, payload: str) -> None:
        def notify(connection: PostgresConnection) -> None:
            connection.execute(_NOTIFY, (CHANNEL, payload)).fetchone()

        self._database.read(ORGANISATION, notify)

    def _serve(self) -> None:
        failures = 0
        while not self._closed.is_set():
            try:
                with ServerConnection.connect(self._database.conninfo, autocommit=True) as raw:
                    raw.execute(f"LISTEN {CHANNEL}")
                    self._follow(raw)
                failures = 0
            except (psycopg.Error, MycelError):
                failures += 1
            was_heard, self.hears = self.hears, False
            if failures:
                self._closed.wait(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS)) - 1])
            elif not was_heard:
                # Most likely behind a pooler that passes no notifications on.
                self._closed.wait(_BEHIND_POOLER_SECONDS)

    def _follow(self, raw: ServerConnection) -> None:
        """Until nothing is heard any more, not even of itself."""
        heard_at = time.monotonic()
        probe_at = heard_at
        while not self._closed.is_set():
            now = time.monotonic()
            if now >= heard_at + DEAF_AFTER_SECONDS:
                return
            if now >= probe_at:
                self._notify(self._node)
                probe_at = now + PROBE_SECONDS
            for notice in raw.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                heard_at = time.monotonic()
                self._take(notice.payload)

    def _take(self, payload: str) -> None:
        node, *teams = payload.split("\n")
        if not self.hears:
            # Something may have been said before there was anybody to hear it.
            self.hears = True
            self._heard(None)
        if node != self._node:
            for team in teams:
                self._heard(TeamName(team))
