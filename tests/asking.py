"""Requests to the app of a service in this process, as a program or a browser sends them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from tests.serving import ADDRESS

# Of the right form, and nobody's.
UNKNOWN = f"mycel_{'a' * 43}"


@contextmanager
def asking(
    workspace: Workspace, *, address: str = ADDRESS, host: str | None = None, **settings: Any
) -> Iterator[TestClient]:
    app = create_app(workspace, host=host, settings=Settings(**settings))
    with TestClient(app, base_url=address, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


def by_cookie(secret: str, *, origin: str | None = ADDRESS) -> dict[str, str]:
    """As a page of the service sends it."""
    return {"cookie": f"mycel_token={secret}"} | ({} if origin is None else {"origin": origin})
