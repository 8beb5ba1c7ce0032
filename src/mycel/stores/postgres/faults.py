"""Translates what Postgres raises into Mycel's errors, without any text of a query or a memory."""

from __future__ import annotations

import contextlib
import re
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


# Of a connection that was not made the driver tells no code: what is wrong stands in its words alone, and what they
# quote is not for everybody who calls a service.
_UNCONNECTED: tuple[tuple[re.Pattern[str], Callable[[], MycelError]], ...] = (
    (
        re.compile(r'database "[^"]*" does not exist'),
        lambda: Misconfigured("the server has no database of this name: correct the address, or have it made"),
    ),
    (
        re.compile("permission denied for database"),
        lambda: Misconfigured("this login may not connect to the database: have its owner grant it CONNECT"),
    ),
    (
        re.compile(
            "authentication failed|does not exist|pg_hba.conf|not permitted to log in|no password supplied"
            "|server requested a password"
        ),
        lambda: Misconfigured(
            "the server refuses this login: check the name and the password in the address of the database, "
            "and that the server lets it in from here"
        ),
    ),
    (
        re.compile("SSL|certificate"),
        lambda: Misconfigured(
            "the server cannot be reached as encrypted as the address of the database demands: "
            "see its sslmode and certificates"
        ),
    ),
    (
        re.compile("too many clients|too many connections|connection slots are reserved|[Mm]ax ?clients|no more conn"),
        lambda: Unavailable(
            "the database's server has no connection left: raise its max_connections, or run fewer nodes",
            retry_after=1.0,
        ),
    ),
    (
        re.compile("the database system is|not accepting connections"),
        lambda: Unavailable("the database's server is starting or stopping; retry", retry_after=1.0),
    ),
    (
        re.compile("resolve host|translate host name|not known"),
        lambda: Unavailable(
            "nobody knows the host in the address of the database: check its name, and the network", retry_after=5.0
        ),
    ),
    (
        re.compile("timeout expired|timed out|unreachable|No route"),
        lambda: Unavailable(
            "nothing answers at the address of the database: check host and port, network and firewalls",
            retry_after=2.0,
        ),
    ),
    (
        re.compile("refused|No such file"),
        lambda: Unavailable(
            "no server takes connections at the address of the database: see that it runs, and check host and port",
            retry_after=1.0,
        ),
    ),
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
        lambda: Unavailable(
            "every connection that this node may have to the database is busy; retry, or run another node",
            retry_after=1.0,
        ),
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


def is_of_all(error: psycopg.Error) -> bool:
    """Whether it came from the server's or the connection's state, rather than from what one operation wanted."""
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate[:2] in _OF_SERVER)


def translate(error: Exception) -> Exception:
    """The error a caller should see; what the driver did not raise passes through."""
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        for said, meant in _UNCONNECTED:
            if said.search(str(error)):
                return meant()
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
