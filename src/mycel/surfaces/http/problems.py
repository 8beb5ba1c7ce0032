"""Errors as answers: every one of them, expected or not, is problem+json."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mycel.errors import AmbiguousId, Candidate, InvalidInput, MycelError, NotFound, Unavailable
from mycel.wire.problems import MEDIA_TYPE, headers_of, problem, status_of
from mycel.wire.shapes import to_json

logger = logging.getLogger(__name__)
NO_MEMORY = "the service has no room in memory for this at the moment; send it later, or in smaller parts"
NO_MEMORY_SECONDS = 5.0


class Problem(Response):
    """An error as its reader gets it. `code` is stable; `detail` is for people."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str,
        field: str | None = None,
        candidates: Sequence[Candidate] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        body = to_json(problem(status, detail, code=code, field=field, candidates=candidates))
        super().__init__(body, status_code=status, headers=headers)


class Refused(Exception):
    """A request that HTTP itself has a word for, with the answer to it."""

    def __init__(self, answer: Problem) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


def problem_of(error: MycelError) -> Problem:
    status = status_of(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # The text may name files and settings, which only the operator should see.
        logger.error("%s: %s", error.code, error)
        return Problem(status, "the service needs its operator; its log says more", code=error.code)
    field = error.field if isinstance(error, InvalidInput) else None
    candidates = error.candidates if isinstance(error, AmbiguousId) else ()
    headers = headers_of(error)
    return Problem(status, str(error), code=error.code, field=field, candidates=candidates, headers=headers)


async def of_mycel(_request: Request, error: Exception) -> Problem:
    return problem_of(cast(MycelError, error))


async def of_http(_request: Request, error: Exception) -> Problem:
    raised = cast(HTTPException, error)
    status = HTTPStatus(raised.status_code)
    if status == HTTPStatus.NOT_FOUND:
        return Problem(status, "there is no such route; /docs shows them all", code=NotFound.code)
    return Problem(status, str(raised.detail), code=status.name.lower(), headers=raised.headers)


async def of_no_memory(_request: Request, error: Exception) -> Problem:
    return no_memory(cast(MemoryError, error))


def no_memory(_error: MemoryError) -> Problem:
    """The system gives this process no more: what made it too much is let go with the answer."""
    logger.warning("%s: %s", Unavailable.code, NO_MEMORY)
    return problem_of(Unavailable(NO_MEMORY, retry_after=NO_MEMORY_SECONDS))


async def of_bug(_request: Request, _error: Exception) -> Problem:
    """The server logs the error itself with its traceback."""
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here", code=MycelError.code)


async def of_refused(_request: Request, error: Exception) -> Problem:
    return cast(Refused, error).answer


HANDLERS = {
    Refused: of_refused,
    MycelError: of_mycel,
    MemoryError: of_no_memory,
    HTTPException: of_http,
    Exception: of_bug,
}
