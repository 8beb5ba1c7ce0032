"""What is told of a connection that was not made: of the server's words, only what is wrong and what to do."""

import psycopg
import pytest

from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.stores.postgres.faults import translate

AT = 'connection to server at "10.1.2.3", port 5432 failed:'
SAID: dict[str, tuple[type[MycelError], str]] = {
    f'{AT} FATAL:  password authentication failed for user "mycel_login"': (Misconfigured, "refuses this login"),
    f'{AT} FATAL:  role "mycel_login" does not exist': (Misconfigured, "refuses this login"),
    f'{AT} FATAL:  role "mycel_login" is not permitted to log in': (Misconfigured, "refuses this login"),
    f'{AT} FATAL:  no pg_hba.conf entry for host "10.1.2.4"': (Misconfigured, "lets it in from here"),
    f"{AT} fe_sendauth: no password supplied": (Misconfigured, "refuses this login"),
    f'{AT} FATAL:  database "mycel" does not exist': (Misconfigured, "no database of this name"),
    f'{AT} FATAL:  permission denied for database "mycel"': (Misconfigured, "grant it CONNECT"),
    f"{AT} server does not support SSL, but SSL was required": (Misconfigured, "sslmode"),
    f"{AT} SSL error: certificate verify failed": (Misconfigured, "certificates"),
    f"{AT} FATAL:  sorry, too many clients already": (Unavailable, "max_connections"),
    f'{AT} FATAL:  too many connections for role "mycel_login"': (Unavailable, "max_connections"),
    f"{AT} FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute": (
        Unavailable,
        "max_connections",
    ),
    f"{AT} FATAL:  MaxClientsInSessionMode: max clients reached": (Unavailable, "max_connections"),
    f"{AT} FATAL:  the database system is starting up": (Unavailable, "starting or stopping"),
    "failed to resolve host 'db.example.org': [Errno -2] Name or service not known": (Unavailable, "nobody knows"),
    f"{AT} Connection refused": (Unavailable, "no server takes connections"),
    "connection timeout expired": (Unavailable, "nothing answers"),
    f"{AT} No route to host": (Unavailable, "nothing answers"),
    "server closed the connection unexpectedly": (Unavailable, "interrupted"),
}


@pytest.mark.parametrize("said", SAID)
def test_it_names_what_is_wrong_and_quotes_nothing(said: str) -> None:
    kind, words = SAID[said]
    error = translate(psycopg.OperationalError(said))
    assert isinstance(error, kind)
    assert words in str(error)
    assert not any(secret in str(error) for secret in ("mycel_login", "10.1.2", "example.org", "5432"))
    assert isinstance(error, Misconfigured) or (error.retry_after or 0) > 0
