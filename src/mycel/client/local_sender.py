"""A sender to the service of this machine for commands, which starts at once.

The other sender's library and its TLS would take a command longer to load than all the rest of it.
"""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mycel.client.exchanges import Exchange, Failed, Received, Sent, carry_out
from mycel.errors import CLOSED, Unavailable
from mycel.wire.proof import STRANGER, prove

if TYPE_CHECKING:
    from mycel.client.senders import Sender

CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 60.0
# A consolidation of much, or a check of all teams.
LONG_ANSWER_SECONDS = 3600.0


class LocalSender:
    """Asks over plain HTTP, each time anew, and only who proves to be the service of this `secret`.

    What is more than question and answer goes by the other sender.
    """

    def __init__(self, url: str, *, secret: str) -> None:
        self._url = url
        self._secret = secret
        self._closed = False

    def require_open(self) -> None:
        if self._closed:
            raise Unavailable(CLOSED)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)

    def send(self, exchange: Exchange) -> Any:
        return carry_out(exchange, self.once)

    def once(self, wanted: Sent) -> Received | Failed:
        self.require_open()
        parts = urlsplit(self._url)
        try:
            with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=CONNECT_SECONDS)) as connection:
                connection.connect()
                # One that is closed in between is not opened again: it would be somebody else's.
                connection.auto_open = 0
                if prove(connection.sock, self._secret, host=parts.netloc, seconds=lambda: CONNECT_SECONDS) is None:
                    return Failed(STRANGER)
                connection.sock.settimeout(LONG_ANSWER_SECONDS if wanted.takes_long else ANSWER_SECONDS)
                connection.request(wanted.method, wanted.target, wanted.body, {**wanted.headers, "connection": "close"})
                came = connection.getresponse()
                headers = {name.lower(): value for name, value in came.headers.items()}
                return Received(came.status, headers, came.read())
        except (OSError, HTTPException) as error:
            return Failed(f"the service cannot be reached: {error or type(error).__name__}")

    def close(self) -> None:
        self._closed = True
        if "_other" in vars(self):
            self._other.close()

    @cached_property
    def _other(self) -> Sender:
        from mycel.client.senders import Sender

        self.require_open()
        return Sender(self._url, secret=self._secret)
