"""A team that has worked for a while, and its pages in this process, as several of its members see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.forms import TOKEN_FIELD, form_token
from tests.asking import ADDRESS, asking
from tests.storefront import fill
from tests.template import copy_template


@dataclass(frozen=True)
class Reader:
    """A browser that somebody has signed in with."""

    client: TestClient
    secret: str

    def get(self, address: str, *, params: dict[str, str] | None = None, **headers: str) -> Any:
        sent = {"cookie": f"mycel_token={self.secret}", **headers}
        return self.client.get(address, params=params, headers=sent)

    def ask(self, address: str, headers: dict[str, str]) -> Any:
        """As a browser that says more of its request."""
        return self.client.get(address, headers={"cookie": f"mycel_token={self.secret}", **headers})

    def post(self, address: str, *, origin: str = ADDRESS, token: str | None = None, **form: str) -> Any:
        sent = {TOKEN_FIELD: form_token(self.secret) if token is None else token, **form}
        return self.client.post(address, data=sent, headers={"cookie": f"mycel_token={self.secret}", "origin": origin})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    copy_template(fill, tmp_path / "data")
    with open_workspace(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with asking(workspace) as opened:
        yield opened


@pytest.fixture
def lead(workspace: Workspace, client: TestClient) -> Reader:
    return Reader(client, workspace.issue_token("eng-director"))


@pytest.fixture
def agent(workspace: Workspace, client: TestClient) -> Reader:
    return Reader(client, workspace.issue_token("swe-1"))


@pytest.fixture
def operator(workspace: Workspace, client: TestClient) -> Reader:
    return Reader(client, workspace.issue_token("operator"))


def text_of(html: str) -> str:
    """What a reader sees, roughly."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
