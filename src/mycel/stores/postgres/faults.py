"""Translates what Postgres raises into Mycel's errors, without any text of a query or a memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

import psycopg
from psycopg import errors

from mycel.errors import KEY_TAKEN, Conflict, Misconfigured, MycelError, StorageFull, Unavailable
from mycel.stores.postgres.connection_pool import NoConnectionFree

# Nothing was stored, and the same work may well succeed right away.
TRANSIENT = (errors.SerializationFailure, errors.DeadlockDetected)
# A statement prepared in one session was looked for in another.
UNPREPARED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)
# Classes of SQLSTATE: connection, state of the transaction, login, lost races, resources, locks, intervention.
_OF_SERVER = ("08", "25", "28", "40", "53", "55", "57")
# Said by a server that has become a standby: its successor has taken over the address.
_STALE = (errors.ReadOnlySqlTransaction,)
# Said by a server that was left waiting in the middle of a transaction, and has ended it.
_ENDED = (errors.IdleInTransactionSessionTimeout, errors.TransactionTimeout)
# After these the connection is of no use, and nothing of the transaction was stored.
GIVEN_UP = (*_STALE, *_ENDED)


class OutcomeUnknown(psycopg.OperationalError):
    """The connection was lost between COMMIT and its answer."""


# What a server says to those whom it will never let in; it gives no code for it that the driver would tell.
_REFUSALS = (
    *("authentication failed", "does not exist", "pg_hba.conf", "not permitted to log in", "no password supplied"),
    "permission denied for database",
)

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
        lambda: Misconfigured(
            "the database has another schema than this Mycel: migrate it as its owner, by `mycel database migrate`"
        ),
    ),
    (
        (errors.ObjectNotInPrerequisiteState,),
        lambda: Misconfigured("the database was upgraded and takes no writes of this Mycel: install a newer Mycel"),
    ),
    (
        (OutcomeUnknown,),
        lambda: Unavailable(
            "the connection to the database was lost while this was being stored, and it may or may not be: "
            "repeat it with the same idempotency key, or look before you repeat it"
        ),
    ),
    (
        (NoConnectionFree,),
        lambda: Unavailable("no connection to the database became free; retry", retry_after=1.0),
    ),
    (
        (errors.LockNotAvailable, *TRANSIENT),
        lambda: Unavailable("the database is busy with other writers; retry", retry_after=0.1),
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        lambda: Unavailable("the database cannot be reached or was interrupted; retry", retry_after=1.0),
    ),
)


def _is_refusal(error: psycopg.OperationalError) -> bool:
    return any(said in str(error) for said in _REFUSALS)


def is_of_all(error: psycopg.Error) -> bool:
    """Whether it came from the server's or the connection's state, rather than from what one operation wanted."""
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate[:2] in _OF_SERVER)


def translate(error: Exception) -> Exception:
    """The error a caller should see; what the driver did not raise passes through."""
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None and _is_refusal(error):
        return Misconfigured(
            "the server refuses this login, or has no such database: check the address and its password"
        )
    for kinds, translated in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translated()
    return error


@contextlib.contextmanager
def faults() -> Generator[None]:
    try:
        yield
    except Exception as error:
        translated = translate(error)
        if translated is error:
            raise
        raise translated from error
