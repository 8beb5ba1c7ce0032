"""The one map from Mycel's errors to exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mycel.errors import (
    AccessDenied,
    Conflict,
    Dangling,
    InvalidInput,
    LimitExceeded,
    Misconfigured,
    MycelError,
    NotFound,
    StorageFull,
    StoreDamaged,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Unfitting,
)

FAILED = 1

EXIT_CODES: Mapping[type[MycelError], int] = MappingProxyType(
    {
        MycelError: FAILED,
        InvalidInput: 2,
        NotFound: 3,
        Dangling: 3,
        AccessDenied: 4,
        Conflict: 5,
        LimitExceeded: 6,
        Unavailable: 7,
        StorageFull: 8,
        Misconfigured: 9,
        Unauthenticated: 10,
        TooLarge: 11,
        StoreDamaged: 12,
        Unfitting: 2,
    }
)


def exit_code_of(error: MycelError) -> int:
    return next(EXIT_CODES[family] for family in type(error).__mro__ if family in EXIT_CODES)
