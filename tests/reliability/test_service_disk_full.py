"""A service that is killed on a full disk: it starts there again, reads, refuses writes, and recovers with the room."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from mycel.app import open_workspace
from mycel.client.daemon import find_daemon
from mycel.errors import StorageFull
from mycel.settings import Settings
from mycel.wire.daemon_file import DAEMON_FILE, OPERATOR_TOKEN, read_operator_token
from tests.reliability.inspection import find_damage, team_file
from tests.service_process import Service, service

TEAMS = ("builders", "menders")
RECOVERY_SECONDS = 5.0
FULL = "the disk is full"


def mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of a few megabytes; where nothing can be mounted, a simulated disk proves the stores alone."""
    folder = tmp_path / "mount"
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0 or not mount(folder, "size=4m"):
        pytest.skip("nothing can be mounted here")
    yield folder
    # Also when a test that failed has left a file open: nobody could remove the folder.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> None:
    """To the last byte."""
    handle = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with contextlib.suppress(OSError):
            while os.write(handle, b"x" * 512):
                pass
    finally:
        os.close(handle)


class Client:
    """Asks once, and waits for no room."""

    def __init__(self, running: Service, token: str, team: str) -> None:
        self._url = f"{running.url}/api/memory"
        self._headers = {"authorization": f"Bearer {token}", "mycel-team": team}

    def save(self, content: str) -> httpx2.Response:
        return httpx2.post(self._url, json={"content": content}, headers=self._headers, timeout=30)

    def contents(self) -> list[str]:
        came = httpx2.get(self._url, params={"limit": 200}, headers=self._headers, timeout=30)
        assert came.status_code == 200, came.text
        return sorted(memory["content"] for memory in came.json())


def filled(disk: Path) -> dict[str, list[str]]:
    """What a service had acknowledged, by team, when it was killed in the middle of its writes on a full disk."""
    data, saved = disk, {team: list[str]() for team in TEAMS}
    with open_workspace(settings=Settings(data=data, embedder="none")) as workspace:
        for team in TEAMS:
            workspace.add_team(team)
    with service(data) as running:
        token = read_operator_token(data) or ""
        clients = {team: Client(running, token, team) for team in TEAMS}
        for number in range(200):
            team = TEAMS[number % 2]
            came = clients[team].save(f"number {number} " + "word " * 4000)
            if came.status_code == 507:
                break
            assert came.status_code == 201, came.text
            saved[team].append(came.json()["content"])
        fill(disk)
        running.process.send_signal(signal.SIGKILL)
        running.wait()
    fill(disk)
    return saved


def works_without_room(running: Service, token: str, saved: dict[str, list[str]]) -> None:
    for team in TEAMS:
        client = Client(running, token, team)
        assert client.contents() == sorted(saved[team])
        refused = save_until_refused(client, saved[team])
        assert refused.status_code == 507, refused.text
        assert FULL in refused.text
        assert client.contents() == sorted(saved[team])


def recovers(running: Service, token: str) -> None:
    deadline = time.monotonic() + RECOVERY_SECONDS
    while Client(running, token, TEAMS[0]).save("room again").status_code != 201:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert "room again" in Client(running, token, TEAMS[0]).contents()


def save_until_refused(client: Client, saved: list[str]) -> httpx2.Response:
    """A WAL that begins anew has room of its own for a while."""
    for number in range(100):
        came = client.save(f"large {number} " + "word " * 10_000)
        if came.status_code != 201:
            return came
        saved.append(came.json()["content"])
    raise AssertionError("there is no end of room")


@pytest.mark.proof
def test_a_service_that_was_killed_on_a_full_disk_starts_there_reads_and_recovers(disk: Path) -> None:
    saved = filled(disk)
    data = disk
    token = read_operator_token(data) or ""
    with service(data) as running:
        works_without_room(running, token, saved)
        found = find_daemon(data)
        assert found is not None, "clients must find it where its file had room before"
        assert found.url == running.url
        assert mount(disk, "remount,size=32m")
        recovers(running, token)
    for team in TEAMS:
        assert find_damage(team_file(data, team)) == []


def test_without_room_for_its_files_it_starts_says_so_and_is_found_later(disk: Path) -> None:
    saved = filled(disk)
    data = disk
    token = read_operator_token(data) or ""
    for name in (DAEMON_FILE, OPERATOR_TOKEN):
        (data / name).unlink()
    fill(disk)
    with service(data) as running:
        works_without_room(running, token, saved)
        told = {event["event"] for event in running.events()}
        assert {"not_announced", "no_operator_token"} <= told
        assert find_daemon(data) is None
        assert mount(disk, "remount,size=32m")
        deadline = time.monotonic() + RECOVERY_SECONDS
        while find_daemon(data) is None:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        recovers(running, token)


def test_what_was_closed_well_is_read_on_a_full_disk(disk: Path) -> None:
    data = disk
    settings = Settings(data=data, embedder="none")
    with open_workspace(settings=settings) as workspace:
        workspace.add_team(TEAMS[0])
        workspace.as_operator(TEAMS[0]).save("here before")
    fill(disk)
    with open_workspace(settings=settings) as workspace:
        memory = workspace.as_operator(TEAMS[0])
        assert [found.content for found in memory.list()] == ["here before"]
        with pytest.raises(StorageFull):
            memory.save("no room " * 5_000)
    # Without their files there is no room to read, and that is said.
    for file in data.rglob("*-shm"):
        file.unlink()
    fill(disk)
    with pytest.raises(StorageFull):
        open_workspace(settings=settings)
