"""The log of the service: one JSON object per line, or on a terminal a short line for a person.

Nothing that was stored or asked comes into it. Of what our own code did not write only the first line is kept, and of
an error only its kind and the way it took: its text may quote what somebody saved.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO, cast

from mycel.errors import MycelError
from mycel.surfaces.http.log_writer import LogWriter

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
