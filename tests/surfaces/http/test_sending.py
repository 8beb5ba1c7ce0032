"""What leaves over a connection: an answer in one piece, and the head of a stream before anything happens in it."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from mycel.surfaces.http.bounded_protocol import BoundedProtocol
from mycel.surfaces.http.connections import ConnectionLimits, Connections

LIMITS = ConnectionLimits(
    in_total=9, per_address=9, header_bytes=9_000, header_seconds=9, stall_seconds=9, discarded_bytes=9_000
)
ASK = b"GET /%s HTTP/1.1\r\nhost: x\r\n\r\n"


class Wire(asyncio.Transport):
    """Keeps what is written, each write by itself."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        assert not self.closed
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def application(scope: Scope, _receive: Receive, send: Send) -> None:
    length = [(b"content-length", b"9")] if scope["path"] == "/plain" else []
    await send({"type": "http.response.start", "status": 200, "headers": length})
    if scope["path"] == "/stream":
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": b"begins", "more_body": True})
    await send({"type": "http.response.body", "body": b"an answer"})


def connect() -> tuple[BoundedProtocol, Wire]:
    config = uvicorn.Config(application, http="httptools", lifespan="off", log_config=None)
    config.load()
    protocol, wire = BoundedProtocol(Connections(LIMITS), config, ServerState(), {}), Wire()
    protocol.connection_made(wire)
    return protocol, wire


def test_an_answer_leaves_in_one_piece() -> None:
    async def ask() -> list[bytes]:
        protocol, wire = connect()
        protocol.data_received(ASK % b"plain" * 2)
        await asyncio.sleep(0.05)
        protocol.connection_lost(None)
        return wire.sent

    answers = asyncio.run(ask())
    assert len(answers) == 2
    assert all(one.startswith(b"HTTP/1.1 200") and one.endswith(b"\r\n\r\nan answer") for one in answers)


def test_the_head_of_a_stream_does_not_wait_for_what_happens_in_it() -> None:
    async def ask() -> tuple[list[bytes], list[bytes]]:
        protocol, wire = connect()
        protocol.data_received(ASK % b"stream")
        await asyncio.sleep(0.02)
        begun = list(wire.sent)
        await asyncio.sleep(0.1)
        protocol.connection_lost(None)
        return begun, wire.sent

    begun, sent = asyncio.run(ask())
    assert len(begun) == 1
    assert begun[0].endswith(b"\r\n\r\n")
    assert b"".join(sent).endswith(b"6\r\nbegins\r\n9\r\nan answer\r\n0\r\n\r\n")


def test_an_answer_after_which_the_connection_ends_is_sent_whole() -> None:
    async def ask() -> Wire:
        protocol, wire = connect()
        protocol.data_received(b"GET /plain HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        await asyncio.sleep(0.05)
        protocol.connection_lost(None)
        return wire

    wire = asyncio.run(ask())
    assert wire.closed
    assert [one.endswith(b"an answer") for one in wire.sent] == [True]
