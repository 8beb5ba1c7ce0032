"""A Postgres server that can be killed and started again, and a network to it that can be cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import threading
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote
from uuid import uuid4

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.postgres import MEMORY, start_server

_WAITING_FOR_MORE = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND wait_event = 'ClientRead' AND backend_xid IS NOT NULL"""


class KillableServer:
    def __init__(self) -> None:
        # Not below the folder of the tests: the server runs as a user of its own where they run as root, and whoever
        # runs tests beside these closes that folder to others.
        self._folder = Path(mkdtemp(prefix="mycel-outage-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
        self._server = start_server(self._folder)
        host = str(conninfo_to_dict(self._server.get_uri())["host"])
        self.socket = str(Path(host) / ".s.PGSQL.5432")
        self._host = host

    def new_database(self) -> str:
        name = f"mycel_{uuid4().hex[:12]}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as admin:
            admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return name

    def url(self, database: str) -> str:
        return f"postgresql://postgres@{quote(self._host, safe='')}/{database}"

    def waits_for_more(self, database: str) -> bool:
        """Whether one of its transactions has done what it was told, and was not told that this is all for now."""
        with psycopg.connect(self.url(database)) as admin:
            return bool(admin.execute(_WAITING_FOR_MORE).fetchall())

    def kill(self) -> None:
        """The server and every process of it, at once."""
        server = psutil.Process(self._server.get_pid())
        family = [server, *server.children(recursive=True)]
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=10)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Nobody needs what it holds any more."""
        self.kill()
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


class Network:
    """Between a node and the server: passes on what comes, until it is cut."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._kind = ""
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lost: list[socket.socket] = []
        self._changing = threading.Lock()
        self._open()
        self.port: int = self._listening.getsockname()[1]

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def cut(self, kind: str) -> None:
        """`reset`: told to both ends, and new connections refused. `silent`: nobody is told, and nothing arrives."""
        with self._changing:
            self._kind = kind
            pairs, self._pairs = self._pairs, set()
        if kind == "reset":
            self._listening.close()
        for end in (end for pair in pairs for end in pair):
            if kind == "reset":
                _reset(end)
            else:
                self._lost.append(end)

    def mend(self) -> None:
        """What was cut stays lost; new connections get through."""
        if self._kind == "reset":
            self._open(self.port)
        self._kind = ""

    def close(self) -> None:
        self.cut("reset")
        for end in self._lost:
            end.close()

    def _open(self, port: int = 0) -> None:
        self._listening = socket.create_server(("127.0.0.1", port), backlog=128)
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            with self._changing:
                if self._kind:
                    self._lost.append(near)
                    continue
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self._target)
            except OSError:
                _reset(near)
                continue
            pair = (near, far)
            with self._changing:
                self._pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._pass_on, args=(pair, source, sink), daemon=True).start()

    def _pass_on(self, pair: tuple[socket.socket, socket.socket], source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while sent := source.recv(65536):
                if pair not in self._pairs:
                    return
                sink.sendall(sent)
        with self._changing:
            is_ours = pair in self._pairs
            self._pairs.discard(pair)
        if is_ours:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if end.family == socket.AF_INET:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    end.close()
