"""Who owns a data directory, and what becomes of the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mycel.errors import Conflict, Misconfigured
from mycel.surfaces.http import ownership
from mycel.surfaces.http.ownership import owned
from mycel.wire.daemon_file import read_daemon_file


@contextmanager
def held(data: Path, *, seconds: float = 60.0, url: str | None = None) -> Iterator[None]:
    """By a service that answers nobody, in a thread of its own."""
    begun, done = threading.Event(), threading.Event()

    def hold() -> None:
        with owned(data) as mine:
            if url is not None:
                mine.announce(url, version="0.1.0")
            begun.set()
            done.wait(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait(10)
    yield
    done.set()
    thread.join()


def test_it_is_announced_and_withdrawn(tmp_path: Path) -> None:
    data = tmp_path / "new"
    with owned(data) as mine:
        assert read_daemon_file(data) is None
        mine.announce("http://127.0.0.1:1", version="0.1.0")
        named = read_daemon_file(data)
        assert named is not None
        assert (named.url, named.secret) == ("http://127.0.0.1:1", mine.secret)
    assert read_daemon_file(data) is None


def test_it_is_given_back_whatever_happens(tmp_path: Path) -> None:
    def fail() -> None:
        with owned(tmp_path) as mine:
            mine.announce("http://127.0.0.1:1", version="0.1.0")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert read_daemon_file(tmp_path) is None
    with owned(tmp_path):
        pass


def test_one_that_ends_soon_is_waited_for(tmp_path: Path) -> None:
    with held(tmp_path, seconds=0.5), owned(tmp_path):
        pass


def test_one_that_neither_answers_nor_ends_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "SETTLING_SECONDS", 0.2)
    began = time.monotonic()
    with held(tmp_path), pytest.raises(Conflict) as caught, owned(tmp_path):
        pass
    assert str(caught.value) == (
        f"another process holds {tmp_path / 'service.lock'} and does not answer: stop it first"
    )
    with (
        held(tmp_path, url="http://127.0.0.1:1"),
        pytest.raises(Conflict, match=r"process \d+ at http://127.0.0.1:1 holds "),
        owned(tmp_path),
    ):
        pass
    assert time.monotonic() - began < 10


def test_a_file_is_no_data_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="the data directory cannot be used: "), owned(tmp_path / "file"):
        pass
