"""A workspace and a real service for what the five documents show, on files and on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

import mycel
from tests.serving import served


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[mycel.Workspace]:
    """Open a workspace with nothing in it; its folder is also the current one."""
    monkeypatch.chdir(tmp_path)
    with mycel.open(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def service(workspace: mycel.Workspace) -> Iterator[str]:
    """Serve the workspace over HTTP and return the address."""
    with served(workspace) as url:
        yield url


def client_of(workspace: mycel.Workspace, service: str, member_id: str) -> httpx2.Client:
    """Return an HTTP client that acts as this member."""
    token = workspace.issue_token(member_id)
    return httpx2.Client(base_url=service, headers={"Authorization": f"Bearer {token}"}, timeout=30)
