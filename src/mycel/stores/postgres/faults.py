"""Translates what Postgres raises into Mycel's errors, without any text of a query or a memory."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from mycel.errors import CLOSED, KEY_TAKEN, Conflict, Misconfigured, MycelError, StorageFull, Unavailable

# Nothing was stored, and the same work may well succeed right away.
TRANSIENT = (errors.SerializationFailure, errors.DeadlockDetected)

_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], Callable[[], MycelError]], ...] = (
    ((errors.UniqueViolation,), lambda: Conflict(KEY_TAKEN)),
    (
        (errors.DiskFull,),
        lambda: StorageFull(
            "the database has no room left: make some, then retry; nothing was stored", retry_after=5.0
        ),
    ),
    (
        (errors.InsufficientPrivilege, errors.InvalidPassword, errors.InvalidAuthorizationSpecification),
        lambda: Misconfigured("the database refuses this role: check the address and the grants of the service's role"),
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction, errors.InvalidSchemaName),
        lambda: Misconfigured("the database has another schema than this Mycel: migrate it as its owner"),
    ),
    ((PoolClosed,), lambda: Unavailable(CLOSED)),
    ((PoolTimeout,), lambda: Unavailable("no connection to the database became free; retry", retry_after=1.0)),
    (TRANSIENT, lambda: Unavailable("the database is busy with other writers; retry", retry_after=0.1)),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        lambda: Unavailable("the database cannot be reached or was interrupted; retry", retry_after=1.0),
    ),
)


def translate(error: Exception) -> Exception:
    """The error a caller should see; what the driver did not raise passes through."""
    for kinds, translated in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translated()
    return error
