"""Errors as problem+json (RFC 9457): the one map from Mycel's errors to HTTP statuses, and the way back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from mycel.errors import (
    AccessDenied,
    AmbiguousId,
    Candidate,
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

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = "retry-after"
STATUSES: Mapping[type[MycelError], HTTPStatus] = MappingProxyType(
    {
        MycelError: HTTPStatus.INTERNAL_SERVER_ERROR,
        InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
        InvalidState: HTTPStatus.CONFLICT,
        AmbiguousId: HTTPStatus.CONFLICT,
        MemoryDamaged: HTTPStatus.NOT_FOUND,
        NotFound: HTTPStatus.NOT_FOUND,
        ReferenceNotFound: HTTPStatus.CONFLICT,
        AccessDenied: HTTPStatus.FORBIDDEN,
        Unauthenticated: HTTPStatus.UNAUTHORIZED,
        Conflict: HTTPStatus.CONFLICT,
        LimitExceeded: HTTPStatus.TOO_MANY_REQUESTS,
        TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        StoreDamaged: HTTPStatus.SERVICE_UNAVAILABLE,
        Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
        StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
        Misconfigured: HTTPStatus.INTERNAL_SERVER_ERROR,
    }
)
# Statuses that have no error of ours behind them, or another code than its family's.
_FAMILIES: Mapping[int, type[MycelError]] = {
    HTTPStatus.PRECONDITION_FAILED: Conflict,
    HTTPStatus.MISDIRECTED_REQUEST: AccessDenied,
    HTTPStatus.BAD_GATEWAY: Unavailable,
    HTTPStatus.GATEWAY_TIMEOUT: Unavailable,
    **{status: family for family, status in STATUSES.items() if status != HTTPStatus.INTERNAL_SERVER_ERROR},
}
# Errors that share their status with others.
_BY_CODE: Mapping[str, type[MycelError]] = {
    error.code: error for error in (ReferenceNotFound, StoreDamaged, MemoryDamaged, InvalidState, AmbiguousId)
}


def status_of(error: MycelError) -> HTTPStatus:
    return next(STATUSES[family] for family in type(error).__mro__ if family in STATUSES)


def problem(
    status: int, detail: str, *, code: str, field: str | None = None, candidates: Sequence[Candidate] = ()
) -> dict[str, object]:
    """Build the body of an error. `code` is stable; `detail` is for people; `candidates` hold stored titles."""
    named: dict[str, object] = {} if field is None else {"field": field}
    if candidates:
        named["candidates"] = [one._asdict() for one in candidates]
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": int(status), "detail": detail, "code": code, **named}


def headers_of(error: MycelError) -> dict[str, str]:
    if isinstance(error, Unavailable | LimitExceeded) and error.retry_after is not None:
        return {RETRY_AFTER: str(max(1, math.ceil(error.retry_after)))}
    return {"www-authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}


def error_of(status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> MycelError:
    """The error that the answer stands for."""
    family = _FAMILIES.get(status, Unavailable if status >= HTTPStatus.INTERNAL_SERVER_ERROR else MycelError)
    detail = str(body.get("detail") or f"the service answered with status {status}")
    family = _BY_CODE.get(str(body.get("code")), family)
    if issubclass(family, InvalidInput):
        field = str(body.get("field") or "request")
        if family is AmbiguousId:
            candidates = [Candidate(**one) for one in body.get("candidates", ())]
            return AmbiguousId(detail.removeprefix(f"{field}: "), field=field, candidates=candidates)
        return family(detail.removeprefix(f"{field}: "), field=field)
    if issubclass(family, Unavailable | LimitExceeded):
        return family(detail, retry_after=_seconds(headers.get(RETRY_AFTER)))
    return family(detail)


def _seconds(given: str | None) -> float:
    return float(given) if given is not None and given.isdecimal() else 1.0
