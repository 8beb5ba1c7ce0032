"""Whoever sends much does not keep others waiting: the service answers while it reads large captures."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mycel.domain.draft import DEFAULT_POLICY
from mycel.engine.executor_process import json_line, transcript_values
from mycel.engine.transcripts.reading import read_transcript
from mycel.services.screening import screen_transcript
from mycel.surfaces.http.bodies import read_object
from mycel.surfaces.http.threads import Threads
from mycel.wire.daemon_file import read_operator_token
from tests.service_process import Service, service

MEGABYTE = 1 << 20
PROSE = "We decided to use port 8080, because it is free.\nThe <b> tag & the token come later \u2014 it's fine!\n"
SHAPES = ("text", "messages", "lines")
MOST_PROBE_SECONDS = 0.2
# Of processor time, for each megabyte of material.
MOST_HELD_SECONDS = 0.01


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_a_probe_is_answered_while_seven_large_captures_are_read(tmp_path: Path) -> None:
    idle, busy = _longest_probes(tmp_path, [32, 20, 20, 20, 20, 20, 20])
    assert busy <= max(MOST_PROBE_SECONDS, 3 * idle)


@pytest.mark.timeout(300)
def test_a_probe_is_answered_while_captures_are_read(tmp_path: Path) -> None:
    idle, busy = _longest_probes(tmp_path, [4, 2, 2])
    assert busy <= max(1.0, 10 * idle)


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="another thread's processor time is not told")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("megabytes", [5, pytest.param(16, marks=pytest.mark.proof)])
def test_no_step_of_a_large_capture_holds_the_interpreter(shape: str, megabytes: int) -> None:
    body = _body(megabytes * MEGABYTE, shape, 1)

    def work() -> None:
        transcript = read_transcript(read_object(body)["messages"])
        screened = screen_transcript(transcript, DEFAULT_POLICY, field="messages")
        json_line({"work": "extract", "transcript": transcript_values(screened)})

    assert _lets_others_go_on(work, most=megabytes * MOST_HELD_SECONDS)


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="another thread's processor time is not told")
@pytest.mark.timeout(300)
def test_json_of_many_small_parts_holds_nobody_up() -> None:
    body = json.dumps({"messages": [[1] * 2_000_000]}).encode()
    assert _lets_others_go_on(lambda: read_object(body), most=0.05)


def test_large_requests_take_turns() -> None:
    threads = Threads()
    at_once, most = 0, 0

    def work() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        time.sleep(0.02)
        at_once -= 1

    async def run() -> None:
        await asyncio.gather(*(threads.run(work, writes=True, is_large=True) for _ in range(4)))

    asyncio.run(run())
    threads.close()
    assert most == 1


def _lets_others_go_on(work: Callable[[], object], *, most: float) -> bool:
    """On a busy machine the thread that looks may itself come late, but not each time."""
    return any(_longest_hold(work) < most for _ in range(5))


def _longest_hold(work: Callable[[], object]) -> float:
    """How much processor time the work took at most before another thread had its turn."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    over = threading.Event()
    holds: list[float] = []

    def watch() -> None:
        last = time.clock_gettime(clock)
        while not over.is_set():
            time.sleep(0.0005)
            now = time.clock_gettime(clock)
            holds.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    over.set()
    watcher.join()
    return max(holds)


def _longest_probes(folder: Path, sizes: list[int]) -> tuple[float, float]:
    """The longest wait for an answer while one service reads captures of so many megabytes at once.

    First that of another service with nothing to do: whatever else the machine is busy with, both are kept from work.
    """
    bodies = [_body(size * MEGABYTE, SHAPES[number % len(SHAPES)], number) for number, size in enumerate(sizes)]
    with (
        service(folder / "idle") as idle,
        service(folder / "busy") as busy,
        ThreadPoolExecutor(len(sizes) + 2) as threads,
    ):
        sent = [threads.submit(_send, busy, body) for body in bodies]
        probed = [threads.submit(_probe, one, sent) for one in (idle, busy)]
        statuses = [one.result() for one in sent]
        waits = (probed[0].result(), probed[1].result())
    assert statuses == [202] * len(sizes)
    return max(waits[0]), max(waits[1])


def _probe(running: Service, sent: Sequence[Future[int]]) -> list[float]:
    """How long each answer took, until everything that is sent has been answered."""
    address = urlsplit(running.url)
    waits: list[float] = []
    while not waits or not all(one.done() for one in sent):
        began = time.perf_counter()
        connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        connection.close()
        waits.append(time.perf_counter() - began)
        time.sleep(0.01)
    return waits


def _send(running: Service, body: bytes) -> int:
    address = urlsplit(running.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=300)
    headers = {"content-type": "application/json", "authorization": f"Bearer {read_operator_token(running.data)}"}
    connection.request("POST", "/api/capture/conversation", body=body, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def _body(size: int, shape: str, number: int) -> bytes:
    """Nearly as many bytes of a capture that is only stored."""
    note = f"Note {number}. " + PROSE * 4
    entry = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": note}}
    one = {"text": note, "messages": {"role": "user", "content": note}, "lines": f"{json.dumps(entry)}\n"}[shape]
    times = int(size * 0.9) // len(json.dumps(one, ensure_ascii=False).encode())
    messages = [one] * times if isinstance(one, dict) else one * times
    return json.dumps({"messages": messages, "capture_mode": "store"}, ensure_ascii=False).encode()
