"""The log of the service: a line per request, written beside; never a path, a query or a body.

Nothing that was stored or asked comes into it. Of what our own code did not write only the first line is kept, and of
an error only its kind and the way it took: its text may quote what somebody saved.
"""

from __future__ import annotations

import contextlib
import json
import logging
import random
import re
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from queue import SimpleQueue
from time import perf_counter
from types import TracebackType
from typing import Any, TextIO, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mycel.errors import MycelError

OWN = "mycel"
# Below this level their lines name paths, queries and what goes over the wire.
LEAST_OF_OTHERS = logging.WARNING
# They look at their own level instead of the one they inherit.
_UVICORN = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
REQUEST = "request"

_log = logging.getLogger("mycel.service")


def begin_logs(level: str, *, stream: TextIO | None = None) -> None:
    """Has every logger of this process write here, and errors that nobody caught as well."""
    output = sys.stderr if stream is None else stream
    handler = LogWriter(output)
    handler.setFormatter(HumanLines() if output.isatty() else JsonLines())
    least = logging.getLevelNamesMapping()[level.upper()]
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(least, LEAST_OF_OTHERS))
    logging.getLogger(OWN).setLevel(least)
    for name in _UVICORN:
        logging.getLogger(name).setLevel(max(least, LEAST_OF_OTHERS))
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_thread_failure
    sys.excepthook = _log_failure


def log_event(event: str, message: str = "", *, level: int = logging.INFO, **details: object) -> None:
    """`event` is stable and safe to look for; the message is for people."""
    if _log.isEnabledFor(level):
        _log.log(level, message, extra={"event": event, "details": details})


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment.replace("+00:00", "Z"), "level": record.levelname.lower()}
        line["event"] = getattr(record, "event", record.name)
        if message := _message(record):
            line["message"] = message
        return json.dumps(line | getattr(record, "details", {}) | _failure(record), default=str)


class HumanLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = "" if record.levelno == logging.INFO else f" {record.levelname.lower()}:"
        details: dict[str, Any] = getattr(record, "details", {})
        text = _request(details) if getattr(record, "event", None) == REQUEST else _message(record)
        failure = _failure(record)
        why = f" ({failure['error']} in {failure['trace'][-1]})" if failure else ""
        return _printable(f"{moment}{level} {text}{why}")


def _message(record: logging.LogRecord) -> str:
    text = record.getMessage().strip()
    own = record.name.partition(".")[0] == OWN
    return text if own else text.partition("\n")[0]


def _request(details: dict[str, Any]) -> str:
    shown = [details["method"], details["route"] or "-", details["status"] or "-", f"{details['ms']} ms"]
    who = [details[name] for name in ("member", "team") if details[name]]
    return " ".join(str(part) for part in (*shown, *who))


def _failure(record: logging.LogRecord) -> dict[str, Any]:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    # The texts of our own errors are written for others to read.
    kind = f"{error.code}: {error}" if isinstance(error, MycelError) else type(error).__name__
    frames = traceback.walk_tb(error.__traceback__)
    trace = [f"{frame.f_globals.get('__name__')}:{line} {frame.f_code.co_name}" for frame, line in frames]
    return {"error": kind, "trace": trace or ["?"]}


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    if failure.exc_value is not None:
        _log_failure(failure.exc_type, failure.exc_value, failure.exc_traceback)


def _log_failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _log.critical("an error that nobody expected", exc_info=(kind, error, trace), extra={"event": "failure"})


# What waits while nobody reads the log; what comes beyond it is left out, and counted.
MOST_WAITING = 10_000
MOST_AT_ONCE = 500
# Lines gather for so long: a thread that woke for each would take the interpreter from whoever answers.
GATHER_SECONDS = 0.02
# How long the end of the process waits for what is still to be written.
ENDING_SECONDS = 2.0

_Waiting = str | threading.Event


class LogWriter(logging.Handler):
    """A write gives the interpreter away, and under load the event loop would wait longer for it than for all the rest.

    Lines keep their order. What is told in the last moment before the process is killed may be lost.
    """

    def __init__(self, output: TextIO) -> None:
        super().__init__()
        self._output = output
        self._waiting: SimpleQueue[_Waiting] = SimpleQueue()
        self._left_out = 0
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="mycel-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            self._left_out += 1
            return
        try:
            self._waiting.put(self.format(record))
        except Exception:  # noqa: BLE001 - as every handler does: what cannot be logged stops nobody
            self.handleError(record)

    def flush(self) -> None:
        """Returns when all that was told before is written, or cannot be for a while."""
        if self._thread.is_alive():
            written = threading.Event()
            self._waiting.put(written)
            written.wait(ENDING_SECONDS)

    def close(self) -> None:
        self._is_closed = True
        self._waiting.put(threading.Event())
        self._thread.join(ENDING_SECONDS)
        super().close()

    def _run(self) -> None:
        while not self._is_closed:
            some = [self._waiting.get()]
            if isinstance(some[0], str):
                time.sleep(GATHER_SECONDS)
            while len(some) < MOST_AT_ONCE and not self._waiting.empty():
                some.append(self._waiting.get())
            self._write([one for one in some if isinstance(one, str)])
            for one in some:
                if isinstance(one, threading.Event):
                    one.set()

    def _write(self, lines: list[str]) -> None:
        left_out, self._left_out = self._left_out, 0
        if left_out:
            lines.append(self.format(_left_out(left_out)))
        # Whoever read it may have gone.
        with contextlib.suppress(OSError, ValueError):
            self._output.write("".join(f"{line}\n" for line in lines))
            self._output.flush()


def _left_out(count: int) -> logging.LogRecord:
    told = f"nobody read the log for a while: {count} lines are left out"
    return logging.LogRecord("mycel.service", logging.WARNING, "", 0, told, None, None)


REQUEST_ID = b"x-request-id"
_ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Asked again and again by those who watch the service.
QUIET_ROUTES = frozenset({"/health", "/metrics"})
# How each kind of answer begins; a socket that is accepted switches protocols, one that is not is refused.
_BEGINNINGS = {
    "http.response.start": 200,
    "websocket.http.response.start": 403,
    "websocket.accept": 101,
}
_REFUSED_SOCKET = 403


class RequestLog:
    """ASGI middleware around the whole app. Routes say in `scope["state"]` what only they know: the template of the
    `route`, and the `member` and `team` of the caller. They find the `request_id` there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        id = _request_id(scope)
        state["request_id"] = id.decode("ascii")
        status: int | None = None
        started = perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] in _BEGINNINGS:
                status = message.get("status", _BEGINNINGS[message["type"]])
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID, id)]
            elif message["type"] == "websocket.close" and status is None:
                status = _REFUSED_SOCKET
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            _log_request(scope, state, status=status, seconds=perf_counter() - started)


def _request_id(scope: Scope) -> bytes:
    given = [value for name, value in scope["headers"] if name == REQUEST_ID]
    if len(given) == 1 and _ACCEPTED_ID.fullmatch(given[0]):
        return given[0]
    # A name and no secret: asking the system would give the interpreter away, and getting it back takes its time.
    return b"%016x" % random.getrandbits(64)


def _log_request(scope: Scope, state: dict[str, Any], *, status: int | None, seconds: float) -> None:
    route = state.get("route")
    quiet = route in QUIET_ROUTES and status == 200
    failed = status is not None and status >= 500
    log_event(
        REQUEST,
        level=logging.DEBUG if quiet else logging.ERROR if failed else logging.INFO,
        # A socket has no method.
        method=scope.get("method", "WEBSOCKET"),
        route=route,
        status=status,
        ms=round(seconds * 1000, 1),
        member=state.get("member"),
        team=state.get("team"),
        request_id=state["request_id"],
    )
