"""Behind a pooler that gives every transaction another session, nothing of a session is relied on."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

import mycel
from mycel.errors import Misconfigured
from mycel.stores.postgres.connection_pool import ConnectionPool, ServerConnection
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.pool import PostgresStores
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import TEAM, listed, put, reader
from tests.patience import PATIENCE_SECONDS
from tests.postgres import as_url, emptied, server
from tests.service_process import eventually

PGBOUNCER = shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))


def forget_session(pool: ConnectionPool, raw: ServerConnection) -> None:
    """What another session would not know either; the next to come gets the one that was idle longest."""
    if not raw.closed:
        raw.execute("DISCARD ALL", prepare=False)
    ConnectionPool._put_back(pool, raw)
    pool._idle.rotate(1)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_store_works_when_every_transaction_gets_another_session(
    is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever does not say so in the address is found out by the first statement that is missing."""
    emptied()
    url = as_url(server().service)
    database = Database(f"{url}?pooler=transaction" if is_told else url)
    pool = database._pool
    monkeypatch.setattr(pool, "_put_back", lambda raw: forget_session(pool, raw))
    database.open()
    with (
        closing(database),
        closing(PostgresStores(database, clock=ManualClock())) as stores,
        stores.lease(TEAM) as store,
    ):
        kept = [put(store) for _ in range(12)]
        assert listed(store) == {memory.id for memory in kept}
        for memory in kept:
            assert store.memories.find(reader(), memory.id) == memory
        assert store.log.last_sequence() == len(kept)
    assert pool._prepares is False


def test_an_unknown_pooler_is_refused_by_name() -> None:
    with pytest.raises(Misconfigured, match="pooler"):
        Database(f"{as_url(server().service)}?pooler=statement")


def accepts(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def pooler(tmp_path: Path) -> Iterator[str]:
    """A real one, in front of the test server; the address that leads through it."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parts = conninfo_to_dict(server().service)
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(f"""
[databases]
{parts["dbname"]} = host={parts["host"]} dbname={parts["dbname"]} user={parts["user"]}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 3
unix_socket_dir =
logfile =
pidfile =
""")
    settings.chmod(0o644)
    # As whoever may use the server's socket.
    user = Path(str(parts["host"])).owner()
    command = [PGBOUNCER, *(["-u", user] if os.getuid() == 0 else []), str(settings)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
    url = f"postgresql://{parts['user']}@127.0.0.1:{port}/{parts['dbname']}?pooler=transaction"
    try:
        eventually(lambda: accepts(port))
        yield url
    finally:
        running.terminate()
        running.wait(PATIENCE_SECONDS)


def test_a_workspace_behind_pgbouncer_in_transaction_mode_saves_searches_and_tells(
    pooler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path))
    emptied()
    with mycel.open(pooler) as workspace, mycel.open(as_url(server().service)) as elsewhere:
        memory, other = workspace.as_member("operator"), elsewhere.as_member("operator")
        heard: list[int] = []

        def follow() -> None:
            for change in memory.changes(follow=True):
                heard.append(change.sequence)
                if len(heard) == 80:
                    return

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()

        def save(number: int) -> None:
            for place in range(10):
                memory.save(f"The gauge {number} {place} stands on zero.", idempotency_key=f"{number}-{place}")

        writers = [threading.Thread(target=save, args=(number,)) for number in range(7)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        for place in range(10):
            other.save(f"The gauge of the other {place} stands on one.")
        follower.join(PATIENCE_SECONDS)
        assert heard == list(range(1, 81))
        assert len(memory.search("which gauge stands on one", limit=10).hits) == 10
