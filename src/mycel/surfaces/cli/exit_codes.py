"""The one map from Mycel's errors to exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mycel.errors import (
    AccessDenied,
    Conflict,
    InvalidInput,
    InvalidState,
    LimitExceeded,
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

FAILED = 1

EXIT_CODES: Mapping[type[MycelError], int] = MappingProxyType(
    {
        MycelError: FAILED,
        InvalidInput: 2,
        NotFound: 3,
        ReferenceNotFound: 3,
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
    }
)


def exit_code_of(error: MycelError) -> int:
    return next(EXIT_CODES[family] for family in type(error).__mro__ if family in EXIT_CODES)
