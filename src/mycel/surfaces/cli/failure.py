"""How a command fails: one line or one JSON value on standard error, and an exit code for every error."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import typer

from mycel.errors import (
    AccessDenied,
    AmbiguousId,
    Conflict,
    InvalidInput,
    InvalidState,
    LimitExceeded,
    MemoryDamaged,
    Misconfigured,
    MycelError,
    NotFound,
    ReferenceNotFound,
    StorageFull,
    StoreDamaged,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from mycel.surfaces.cli.output import one_line

FAILED = 1

EXIT_CODES: Mapping[type[MycelError], int] = MappingProxyType(
    {
        MycelError: FAILED,
        InvalidInput: 2,
        NotFound: 3,
        ReferenceNotFound: 3,
        MemoryDamaged: 13,
        AccessDenied: 4,
        Conflict: 5,
        LimitExceeded: 6,
        Unavailable: 7,
        StorageFull: 8,
        Misconfigured: 9,
        Unauthenticated: 10,
        TooLarge: 11,
        StoreDamaged: 12,
        InvalidState: 2,
        AmbiguousId: 2,
    }
)


def exit_code_of(error: MycelError) -> int:
    return next(EXIT_CODES[family] for family in type(error).__mro__ if family in EXIT_CODES)


EXPECTED = (MycelError, typer.TyperException, typer.Abort, OSError)


def wants_json(args: Sequence[str]) -> bool:
    """Looks at the line itself, since an error in it may be met before the option is."""
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options


def report(error: Exception, *, as_json: bool) -> int:
    code, message, field, exit_code = _described(error)
    if as_json:
        found: dict[str, object] = {"code": code, "message": message, "field": field}
        if isinstance(error, AmbiguousId):
            found["candidates"] = [one._asdict() for one in error.candidates]
        typer.echo(json.dumps({"error": found}), err=True)
    else:
        typer.echo(f"mycel: {one_line(message)}", err=True)
        if isinstance(error, AmbiguousId):
            for one in error.candidates:
                typer.echo(f"  {one.id}  team {one.team}  {one_line(one.title)}", err=True)
    return exit_code


def _described(error: Exception) -> tuple[str, str, str | None, int]:
    if isinstance(error, MycelError):
        field = error.field if isinstance(error, InvalidInput) else None
        return error.code, str(error), field, exit_code_of(error)
    if isinstance(error, typer.TyperException):
        return InvalidInput.code, _usage(error), _parameter(error), error.exit_code
    if isinstance(error, typer.Abort):
        return "aborted", "aborted", None, FAILED
    return MycelError.code, _reason(error), None, FAILED


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _usage(error: typer.TyperException) -> str:
    context: Any = getattr(error, "ctx", None)
    message = error.format_message().rstrip()
    if context is None:
        return message
    stop = "" if message.endswith((".", "?", "!")) else "."
    return f"{message}{stop} See `{context.command_path} --help`."


def _parameter(error: typer.TyperException) -> str | None:
    parameter: Any = getattr(error, "param", None)
    if parameter is not None:
        return parameter.name
    return getattr(error, "option_name", None)
