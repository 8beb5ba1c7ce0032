"""A small load generator in a process of its own: keep-alive connections, each sending its next request at once."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True, slots=True)
class Load:
    """What each of the connections sends, and what came of it all together."""

    seconds: float
    latencies: list[float]
    statuses: dict[int, int]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds


def request(token: str, path: str, body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def send(port: int, batches: Sequence[Sequence[bytes]]) -> Load:
    latencies: list[float] = []
    statuses: dict[int, int] = {}

    async def one(requests: Sequence[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        for each in requests:
            started = perf_counter()
            writer.write(each)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            await reader.readexactly(length)
            latencies.append(perf_counter() - started)
            status = int(head[9:12])
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()

    started = perf_counter()
    await asyncio.gather(*(one(requests) for requests in batches))
    return Load(perf_counter() - started, latencies, statuses)


def main() -> None:
    """Reads `{port, connections: [{token, path, bodies}]}` and answers what it measured."""
    given = json.load(sys.stdin)
    batches = [[request(one["token"], one["path"], body) for body in one["bodies"]] for one in given["connections"]]
    try:
        import uvloop

        load = uvloop.run(send(given["port"], batches))
    except ImportError:
        load = asyncio.run(send(given["port"], batches))
    answer = {"seconds": load.seconds, "latencies": load.latencies, "statuses": load.statuses}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
