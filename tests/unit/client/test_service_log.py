"""The log of a service that was started on demand."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from mycel.client.daemon import MAX_LOG_BYTES, ServiceLog


def write(log: ServiceLog, text: str) -> None:
    with log.open() as file:
        file.write(text.encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mycel: the data directory cannot be used\n", "the data directory cannot be used"),
        ('{"event": "listening", "message": "Mycel listens"}\n\n', "Mycel listens"),
        ('{"level": "info", "event": "stopped"}\n', "stopped"),
        ("Traceback:\n  here\nModuleNotFoundError: no mycel\n", "ModuleNotFoundError: no mycel"),
        ("7\n", "7"),
        ("", None),
    ],
)
def test_the_last_line_tells_why(tmp_path: Path, text: str, message: str | None) -> None:
    write(ServiceLog(tmp_path), "mycel: of an earlier service\n")
    log = ServiceLog(tmp_path)
    write(log, text)
    assert log.last_message() == message


def test_a_large_log_is_begun_anew_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    write(ServiceLog(tmp_path), "x" * MAX_LOG_BYTES)
    write(ServiceLog(tmp_path), "more\n")
    assert (tmp_path / "service.log").stat().st_size == MAX_LOG_BYTES + 5
    write(ServiceLog(tmp_path), "new\n")
    assert (tmp_path / "service.log").read_text() == "new\n"
    assert (tmp_path / "service.log.1").stat().st_size == MAX_LOG_BYTES + 5
    assert stat.S_IMODE((tmp_path / "service.log").stat().st_mode) == 0o600
