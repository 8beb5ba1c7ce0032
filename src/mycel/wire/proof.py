"""Proof that whoever answers on a port is the service that wrote `daemon.json`, asked before it is shown any token.

The client sends random words, and the service answers with a keyed hash of them under the secret that only the owner of
the file can read. The address of the connection goes into the hash: whoever passes the question on to the service from
another address gets an answer that is worth nothing there.

Light to import: every hook comes by here.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Generator
from typing import Any, cast

try:
    # `hashlib` loads OpenSSL too, which takes longer than all the rest of the proof.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

PATH = "/health"
CHALLENGE, PROOF = "challenge", "proof"
LEAST_CHALLENGE, MOST_CHALLENGE = 32, 128
STRANGER = "something else answers at the address of the service: start it again, by any command"
MAX_ANSWER_BYTES = 16 * 1024
_PURPOSE = b"mycel service"

Address = tuple[str, int]
# Yields what to send, or nothing to be given what has come; returns what the service says of itself, or None.
Proving = Generator[bytes, bytes, dict[str, Any] | None]


def new_secret() -> str:
    return os.urandom(32).hex()


def proof_of(secret: str, challenge: str, address: Address) -> str:
    """For a connection to this address of the service."""
    host, port = address
    text = f"{challenge} {host} {port}".encode()
    return blake2b(text, key=secret.encode(), person=_PURPOSE, digest_size=32).hexdigest()


def proving(secret: str, address: Address, *, host: str) -> Proving:
    """On a new connection to this address, under this name; None where somebody else answers."""
    challenge = os.urandom(32).hex()
    came = yield f"GET {PATH}?{CHALLENGE}={challenge} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode("ascii", "replace")
    while (body := _body_of(came)) is None:
        more = yield b""
        if not more or len(came) > MAX_ANSWER_BYTES:
            return None
        came += more
    try:
        found: object = json.loads(body)
    except ValueError:
        return None
    told = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return told if told.get(PROOF) == proof_of(secret, challenge, address) else None


def prove(line: socket.socket, secret: str, *, host: str, seconds: Callable[[], float]) -> dict[str, Any] | None:
    """`seconds` says how long each step may still take; OSError where the connection breaks."""
    asking = proving(secret, line.getpeername()[:2], host=host)
    wanted = next(asking)
    try:
        while True:
            line.settimeout(seconds())
            line.sendall(wanted)
            wanted = asking.send(line.recv(MAX_ANSWER_BYTES))
    except StopIteration as end:
        return end.value


def _body_of(came: bytes) -> bytes | None:
    """None while it is not whole. Whatever is no plain answer of the service's own form has an empty one."""
    head, end, body = came.partition(b"\r\n\r\n")
    if not end:
        return None
    first, *rest = head.lower().split(b"\r\n")
    named = dict(line.split(b":", 1) for line in rest if b":" in line)
    size = named.get(b"content-length", b"").strip()
    if first.split()[1:2] != [b"200"] or not size.isdigit() or int(size) > MAX_ANSWER_BYTES or len(body) > int(size):
        return b""
    return body if len(body) == int(size) else None
