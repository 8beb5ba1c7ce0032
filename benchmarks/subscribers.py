"""Subscribers: a thousand readers of fifty teams, while others write."""

from __future__ import annotations

import asyncio
import json
import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from time import perf_counter
from typing import Any

import uvloop

from benchmarks.http_load import request
from benchmarks.report import Figure, p50, p99, show
from benchmarks.service import service
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.settings import Settings
from mycel.surfaces.http.serving import raise_handle_limit
from mycel.wire.daemon_file import read_daemon_file

TEAMS = 50
WRITERS = 32
STEADY_RATE = 100.0
DELIVERY_AIM = 0.25
# A service that has been told of so many changes may have grown by this much.
GROWTH_AIM_BYTES = 20 * 2**20
PATIENCE_SECONDS = 30.0
_CHANGE = re.compile(rb'id: (\d+)\nevent: change\ndata: [^\n]*?"memory_id":"([^"]+)"[^\n]*\n\n')


class Subscriber(asyncio.Protocol):
    """Keeps whatever comes with its time; what it means is looked at when the measuring is over."""

    def __init__(self, ask: bytes) -> None:
        self._ask = ask
        self._parts: list[bytes] = []
        self._times: list[float] = []
        self.is_open = asyncio.Event()
        self.is_lost = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._ask)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._times.append(perf_counter())
        if not self.is_open.is_set() and b"event: cursor" in data:
            self.is_open.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True

    def told(self) -> list[tuple[int, str, float]]:
        """Sequence, memory and time of each change."""
        ends = list(accumulate(map(len, self._parts)))
        return [
            (int(found[1]), found[2].decode(), self._times[bisect_left(ends, found.end())])
            for found in _CHANGE.finditer(b"".join(self._parts))
        ]


@dataclass(slots=True)
class Writes:
    """When each memory was acknowledged, and how long that took."""

    acknowledged: dict[str, float] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    began: float = 0.0
    ended: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.acknowledged) / (self.ended - self.began)


def run(folder: Path, *, quick: bool) -> None:
    subscribers, writes = (200, 300) if quick else (1000, 2000)
    raise_handle_limit()
    settings = Settings(data=folder, embedder="none")
    with open_workspace(settings=settings) as workspace:
        readers, writers = _people(workspace, subscribers)
    with service(folder, embedder="none") as port:
        running = read_daemon_file(folder)
        assert running is not None
        figures = uvloop.run(_measure(port, running.pid, readers, writers, folder, writes))
    show(
        f"Subscribers: {subscribers:,} on {TEAMS} teams, {writes:,} writes each way, clients on the same cores", figures
    )


def _people(workspace: Any, subscribers: int) -> tuple[list[str], list[str]]:
    readers, writers = [], []
    for place in range(TEAMS):
        workspace.add_team(f"team-{place}")
        workspace.add_member(f"writer-{place}", team=f"team-{place}")
        writers.append(workspace.issue_token(f"writer-{place}"))
    for place in range(subscribers):
        workspace.add_member(f"reader-{place}", team=f"team-{place % TEAMS}")
        readers.append(workspace.issue_token(f"reader-{place}"))
    return readers, writers


async def _measure(
    port: int, process: int, readers: Sequence[str], writers: Sequence[str], folder: Path, count: int
) -> list[Figure]:
    # Every store is open before the clock starts.
    await _write(port, writers, TEAMS, rate=None)
    began, alone = perf_counter(), _resident(process)
    subscribed = await _subscribe(port, readers)
    connecting, connected = perf_counter() - began, _resident(process)
    idle = await _idle_share(process)
    figures = [
        Figure("all are connected after", f"{connecting:.1f} s", f"{len(readers):,} connections", ""),
        Figure(
            "memory for each", f"{(connected - alone) / len(readers) / 1024:.0f} KB", f"in all {connected >> 20} MB", ""
        ),
        Figure("processor time of the service while all is quiet", f"{idle:.1%}", "of one core", ""),
    ]
    sizes, written = [], 0
    for name, rate in ((f"{STEADY_RATE:.0f} writes a second", STEADY_RATE), ("as fast as it goes", None)):
        writes = await _write(port, writers, count, rate=rate)
        written += len(writes.acknowledged)
        await _until_told(subscribed, written)
        sizes.append(_resident(process))
        figures.append(_delivery(name, writes, subscribed))
    figures += [_growth(sizes), _completeness(folder, subscribed)]
    for subscriber in subscribed:
        subscriber.transport.close()
    return figures


async def _subscribe(port: int, tokens: Sequence[str]) -> list[Subscriber]:
    loop, few = asyncio.get_running_loop(), asyncio.Semaphore(64)

    async def one(token: str) -> Subscriber:
        ask = (
            f"GET /api/memory/changes?follow=true HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n"
        )
        async with few:
            _, made = await loop.create_connection(lambda: Subscriber(ask.encode()), "127.0.0.1", port)
            await asyncio.wait_for(made.is_open.wait(), PATIENCE_SECONDS)
            return made

    return await asyncio.gather(*(one(token) for token in tokens))


async def _write(port: int, tokens: Sequence[str], count: int, *, rate: float | None) -> Writes:
    """One after the other by some connections, each team in turn; with a rate, at the times that it says."""
    notes, writes = Notes(), Writes(began=perf_counter())
    due = iter(
        (writes.began + (place / rate if rate else 0.0), request(token, "/api/memory", {"content": notes.text()}))
        for place, token in ((place, tokens[place % len(tokens)]) for place in range(count))
    )

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        for moment, sent in due:
            if (wait := moment - perf_counter()) > 0:
                await asyncio.sleep(wait)
            started = perf_counter()
            writer.write(sent)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 201"), head
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            ended = perf_counter()
            writes.acknowledged[json.loads(body)["id"]] = ended
            writes.seconds.append(ended - started)
        writer.close()

    await asyncio.gather(*(one() for _ in range(WRITERS)))
    writes.ended = perf_counter()
    return writes


async def _until_told(subscribed: Sequence[Subscriber], written: int) -> None:
    """Until each has been told its team's part of all that was written; nobody is looked at while times are taken."""
    expected, deadline = written * len(subscribed) // TEAMS, perf_counter() + PATIENCE_SECONDS
    while perf_counter() < deadline:
        await asyncio.sleep(1.0)
        if sum(len(subscriber.told()) for subscriber in subscribed) >= expected:
            return


def _delivery(name: str, writes: Writes, subscribed: Sequence[Subscriber]) -> Figure:
    acknowledged = writes.acknowledged
    # Some are told before the writer has read its answer.
    late = [
        max(0.0, told_at - acknowledged[memory])
        for subscriber in subscribed
        for _, memory, told_at in subscriber.told()
        if memory in acknowledged
    ]
    return Figure(
        f"{name}: told after, p50 (p99, most)",
        f"{p50(late) * 1000:.0f} ({p99(late) * 1000:.0f}, {max(late) * 1000:.0f}) ms",
        f"writes p50 {p50(writes.seconds) * 1000:.0f}, p99 {p99(writes.seconds) * 1000:.0f} ms",
        f"{writes.rate:,.0f} writes, {len(late) / (writes.ended - writes.began):,.0f} told a second",
        f"p99 < {DELIVERY_AIM * 1000:.0f} ms",
        p99(late) < DELIVERY_AIM,
    )


def _growth(sizes: Sequence[int]) -> Figure:
    middle, end = sizes
    return Figure(
        "memory of the service in the middle, at the end",
        f"{middle >> 20} MB, {end >> 20} MB",
        "",
        f"{(end - middle) / 2**20:+.1f} MB",
        f"< +{GROWTH_AIM_BYTES >> 20} MB",
        end - middle < GROWTH_AIM_BYTES,
    )


def _completeness(folder: Path, subscribed: Sequence[Subscriber]) -> Figure:
    """Beside what a plain reading of the log gives."""
    with open_workspace(settings=Settings(data=folder, embedder="none")) as workspace:
        logs = [
            [(change.sequence, change.memory_id) for change in workspace.as_member(f"reader-{team}").changes(1)]
            for team in range(TEAMS)
        ]
    right = sum(
        [(sequence, memory) for sequence, memory, _ in subscriber.told()] == logs[place % TEAMS]
        for place, subscriber in enumerate(subscribed)
    )
    lost = sum(subscriber.is_lost for subscriber in subscribed)
    return Figure(
        "were told exactly their team's changes, in order",
        f"{right:,} of {len(subscribed):,}",
        f"{lost} connections lost",
        "",
        "all",
        right == len(subscribed) and not lost,
    )


async def _idle_share(process: int) -> float:
    began, used = perf_counter(), _processor_seconds(process)
    await asyncio.sleep(5.0)
    return (_processor_seconds(process) - used) / (perf_counter() - began)


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> int:
    line = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
