"""What a program is told by the system: one number for each family of errors. The words go to the mount's terminal."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from types import MappingProxyType

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

ERRNOS: Mapping[type[MycelError], int] = MappingProxyType(
    {
        MycelError: errno.EIO,
        InvalidInput: errno.EINVAL,
        InvalidState: errno.EINVAL,
        AmbiguousId: errno.EINVAL,
        NotFound: errno.ENOENT,
        ReferenceNotFound: errno.EINVAL,
        MemoryDamaged: errno.EIO,
        AccessDenied: errno.EACCES,
        Unauthenticated: errno.EACCES,
        Conflict: errno.EBUSY,
        LimitExceeded: errno.EBUSY,
        TooLarge: errno.EFBIG,
        Unavailable: errno.EIO,
        StorageFull: errno.ENOSPC,
        StoreDamaged: errno.EIO,
        Misconfigured: errno.EIO,
    }
)


def errno_of(error: MycelError) -> int:
    return next(ERRNOS[family] for family in type(error).__mro__ if family in ERRNOS)
