"""What `daemon.json` says, and that nothing else is taken for one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mycel.wire.daemon_file import DAEMON_FILE, DaemonFile, read_daemon_file, read_operator_token

NAMED = DaemonFile("http://127.0.0.1:4711", "abc", 7, "0.1.0", datetime(2026, 11, 15, 12, tzinfo=UTC))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / DAEMON_FILE).write_bytes(NAMED.render())
    assert read_daemon_file(tmp_path) == NAMED
    assert json.loads(NAMED.render()) == {
        "url": "http://127.0.0.1:4711",
        "secret": "abc",
        "pid": 7,
        "version": "0.1.0",
        "started_at": "2026-11-15T12:00:00+00:00",
        "database": None,
        "on_demand": False,
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"\xff\xfe",
        NAMED.render()[:-10],
        replace(NAMED, url="").render(),
        NAMED.render().replace(b'"abc"', b'""'),
        NAMED.render().replace(b'"abc"', b"7"),
        NAMED.render().replace(b"7,", b'"7",'),
        NAMED.render().replace(b"2026-11-15T12:00:00+00:00", b"yesterday"),
    ],
)
def test_what_cannot_be_understood_is_no_service(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DAEMON_FILE).write_bytes(content)
    assert read_daemon_file(tmp_path) is None


def test_a_file_of_a_later_version_may_say_more(tmp_path: Path) -> None:
    (tmp_path / DAEMON_FILE).write_bytes(NAMED.render().replace(b"{", b'{"socket": "/x", '))
    assert read_daemon_file(tmp_path) == NAMED


def test_a_file_of_an_older_version_has_no_secret(tmp_path: Path) -> None:
    (tmp_path / DAEMON_FILE).write_bytes(NAMED.render().replace(b'"secret"', b'"nonce"'))
    assert read_daemon_file(tmp_path) == replace(NAMED, secret=None)
    assert "abc" not in repr(NAMED)


def test_where_nothing_is_nothing_is_found(tmp_path: Path) -> None:
    assert read_daemon_file(tmp_path / "nowhere") is None
    assert read_operator_token(tmp_path / "nowhere") is None


def test_the_token_is_read_without_its_line_end(tmp_path: Path) -> None:
    (tmp_path / "operator.token").write_text("mycel_abc\n")
    assert read_operator_token(tmp_path) == "mycel_abc"
    (tmp_path / "operator.token").write_text("\n")
    assert read_operator_token(tmp_path) is None
