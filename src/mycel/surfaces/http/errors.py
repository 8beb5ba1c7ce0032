"""Errors as problem+json (RFC 9457): the one map from Mycel's errors to HTTP statuses, and who answers with it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from mycel.errors import (
    AccessDenied,
    Conflict,
    InvalidInput,
    LimitExceeded,
    Misconfigured,
    MycelError,
    NotFound,
    StorageFull,
    Unavailable,
)

STATUSES: Mapping[type[MycelError], HTTPStatus] = MappingProxyType(
    {
        MycelError: HTTPStatus.INTERNAL_SERVER_ERROR,
        InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
        NotFound: HTTPStatus.NOT_FOUND,
        AccessDenied: HTTPStatus.FORBIDDEN,
        Conflict: HTTPStatus.CONFLICT,
        LimitExceeded: HTTPStatus.TOO_MANY_REQUESTS,
        Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
        StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
        Misconfigured: HTTPStatus.INTERNAL_SERVER_ERROR,
    }
)

logger = logging.getLogger(__name__)


class Problem(JSONResponse):
    """An error as its reader gets it. `code` is stable; `detail` is for people."""

    media_type = "application/problem+json"

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
        named = {} if field is None else {"field": field}
        super().__init__({**body, "code": code, **named}, status_code=status, headers=headers)


def status_of(error: MycelError) -> HTTPStatus:
    return next(STATUSES[family] for family in type(error).__mro__ if family in STATUSES)


def problem_of(error: MycelError) -> Problem:
    status = status_of(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # The text may name files and settings, which only the operator should see.
        logger.error("%s: %s", error.code, error)
        return Problem(status, "the service needs its operator; its log says more", code=error.code)
    field = error.field if isinstance(error, InvalidInput) else None
    headers: dict[str, str] = {}
    if isinstance(error, Unavailable):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    return Problem(status, str(error), code=error.code, field=field, headers=headers)


def answer_problems(app: FastAPI) -> None:
    """Makes every error of the app, expected or not, a problem+json answer."""
    app.add_exception_handler(MycelError, _of_mycel)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(Exception, _of_bug)


async def _of_mycel(_request: Request, error: Exception) -> Problem:
    return problem_of(cast(MycelError, error))


async def _of_http(_request: Request, error: Exception) -> Problem:
    raised = cast(HTTPException, error)
    status = HTTPStatus(raised.status_code)
    code = NotFound.code if status == HTTPStatus.NOT_FOUND else status.name.lower()
    return Problem(status, str(raised.detail), code=code, headers=raised.headers)


async def _of_validation(_request: Request, error: Exception) -> Problem:
    first = cast(RequestValidationError, error).errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or "body"
    return problem_of(InvalidInput(str(first["msg"]), field=field))


async def _of_bug(_request: Request, _error: Exception) -> Problem:
    """The server logs the error itself with its traceback."""
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here", code=MycelError.code)
