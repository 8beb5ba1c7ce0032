"""One call of the service without the sending: what to send, when to try again, and what came back.

Written once as a generator that asks for what it needs, and driven by a sync and an async sender.
"""

from __future__ import annotations

import base64
import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_origin
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from mycel.domain.query import Page
from mycel.errors import InvalidInput, MycelError, StoreDamaged, Unavailable
from mycel.wire.arguments import write_argument
from mycel.wire.operations import CURSOR, IDEMPOTENCY, Operation, Repeat
from mycel.wire.problems import error_of
from mycel.wire.reading import read_text
from mycel.wire.shapes import plain

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


class Sent(NamedTuple):
    """A request, as any HTTP library can send it.

    The answer to one that `takes_long` is waited for as long as it takes: whoever leaves ends it.
    """

    method: str
    path: str
    query: list[tuple[str, str]]
    body: bytes | None
    headers: dict[str, str]
    takes_long: bool = False

    @property
    def target(self) -> str:
        """Text that is no Unicode is sent too: the service says which field holds it."""
        return f"{self.path}?{urlencode(self.query, errors='surrogatepass')}" if self.query else self.path


class Received(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


class Failed(NamedTuple):
    """Nothing came back: the service could not be reached, or the connection broke."""

    reason: str


Exchange = Generator[Sent | Pause, Received | Failed | None, Any]


def exchange(operation: Operation, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> Exchange:
    """Tries again where that is safe: what was not reached, was too busy, or can be told from a second time."""
    given = dict(arguments)
    if operation.repeat is Repeat.KEYED and given.get(IDEMPOTENCY) is None:
        given[IDEMPOTENCY] = str(uuid.uuid4())
    repeatable = operation.repeat is Repeat.SAFE or IDEMPOTENCY in given
    came = yield from attempts(_request(operation, given, headers), repeatable=repeatable)
    return _result(operation, came)


def attempts(request: Sent, *, repeatable: bool) -> Exchange:
    """The answer to a request, tried again while there is hope; an error of the service is raised as our own."""
    said: Unavailable | None = None
    for attempt in range(1, TRIES + 1):
        came = yield request
        error = error_in(came)
        if error is None:
            return came
        if said is not None and not isinstance(came, Received):
            # What it said last tells more than that it is gone.
            error = Unavailable(f"{error}; before that it said: {said}", retry_after=said.retry_after)
        # 503 says that nothing was stored; without an answer nobody knows.
        may_repeat = repeatable or isinstance(came, Received)
        if isinstance(error, StoreDamaged) or not isinstance(error, Unavailable):
            raise error
        if attempt == TRIES or not may_repeat:
            raise error
        said = error if isinstance(came, Received) else said
        yield Pause(_wait(error, attempt))
    raise AssertionError("unreachable")


def _wait(error: Unavailable, attempt: int) -> float:
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt)
    return min(LONGEST_WAIT, max(error.retry_after if error.retry_after > 1 else 0.0, random.uniform(0, longest)))  # noqa: S311


def error_in(came: Received | Failed | None) -> MycelError | None:
    if not isinstance(came, Received):
        return Unavailable("the service cannot be reached" if came is None else came.reason)
    if came.status < 400:
        return None
    return error_of(came.status, _problem(came.body), came.headers)


def _problem(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _request(operation: Operation, given: Mapping[str, Any], headers: Mapping[str, str]) -> Sent:
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", quote(str(given[name]), safe="", errors="surrogatepass"))
    rest = {name: value for name, value in given.items() if name not in operation.in_path}
    if operation.in_query:
        return Sent(operation.method, path, written(operation.fields, rest), None, dict(headers), operation.takes_long)
    for name, value in rest.items():
        # In JSON 5 and 5.0 look alike, and in Python they do not.
        if isinstance(value, float):
            write_argument(operation.fields.get(name, float), value, field=name)
    body = ",".join(f"{json.dumps(name)}:{_sendable_text(name, value)}" for name, value in rest.items())
    headers = {**headers, "content-type": "application/json"}
    return Sent(operation.method, path, [], f"{{{body}}}".encode(), headers, operation.takes_long)


def written(types: Mapping[str, Any], given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The arguments of a query; what is None is left out."""
    return [
        (name, text)
        for name, value in given.items()
        if value is not None
        for text in write_argument(types.get(name, str), value, field=name)
    ]


def _sendable_text(name: str, value: object) -> str:
    """What JSON cannot carry is the caller's error; what only the service can judge is sent as it is."""
    try:
        _require_names(value)
        return json.dumps(value, default=_sendable)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"holds a {type(value).__name__} that cannot be sent", field=name) from None


def _require_names(value: object) -> None:
    """JSON would turn other names into text, and so change what was said."""
    if isinstance(value, Mapping):
        named = cast(Mapping[object, object], value)
        if not all(isinstance(name, str) for name in named):
            raise TypeError("a name that is not text")
        value = list(named.values())
    if isinstance(value, list | tuple):
        for one in cast(list[object], value):
            _require_names(one)


def _sendable(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, set | frozenset):
        return list(cast(set[object], value))
    return plain(value)


def _result(operation: Operation, came: Received) -> Any:
    if came.status == 204:
        return None
    found = read_text(operation.answers, came.body)
    if get_origin(operation.answers) is Page:
        return Page(cast("Page[object]", found).items, _next_cursor(came.headers.get("link")))
    return found


def _next_cursor(link: str | None) -> str | None:
    if link is None or "<" not in link:
        return None
    target = link[link.index("<") + 1 : link.index(">")]
    return next(iter(parse_qs(urlsplit(target).query).get(CURSOR, ())), None)


def carry_out(exchange: Exchange, once: Callable[[Sent], Received | Failed]) -> Any:
    """Sends what it asks for and waits in the thread, until it has its answer."""
    answer: Received | Failed | None = None
    try:
        while True:
            wanted = exchange.send(answer)
            answer = time.sleep(wanted.seconds) if isinstance(wanted, Pause) else once(wanted)
    except StopIteration as end:
        return end.value
