"""Archives on their way through the service: what a member, all together and the disk have room for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.staging import MAX_AT_ONCE, Staging
from tests.asking import ADDRESS, bearer
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


SMALL = {"max_import_bytes": 100_000, "max_whole_import_bytes": 200_000, "max_staged_bytes": 250_000}


class Door(NamedTuple):
    client: TestClient
    workspace: Workspace
    folder: Path

    @property
    def staging(self) -> Staging:
        return self.client.app.state.service.staging  # type: ignore[attr-defined]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    settings = settings_of(tmp_path / "data", min_free_bytes=0, **SMALL)
    folder = settings.data / "staging"
    with open_workspace(settings=settings) as workspace:
        workspace.add_team("squad")
        for role in ("agent", "admin"):
            workspace.add_member(f"{role}-1", team="squad", role=role)
        app = create_app(workspace, settings=settings, staging_folder=folder)
        with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
            yield Door(client, workspace, folder)


def left_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize(
    ("member", "query", "size", "status"),
    [
        ("agent-1", "", 100_001, 413),
        ("admin-1", "", 100_001, 413),
        ("agent-1", "?whole=true", 1, 403),
        ("admin-1", "?whole=true", 1, 403),
        ("operator", "", 100_001, 413),
        ("operator", "?whole=true", 200_001, 413),
        ("operator", "?whole=true", 150_000, 422),
        ("agent-1", "", 90_000, 422),
    ],
)
@pytest.mark.parametrize("announced", [True, False])
def test_each_has_its_share_and_nothing_stays(
    door: Door, member: str, query: str, size: int, status: int, announced: bool
) -> None:
    body = b"x" * size
    content = body if announced else iter([body[place : place + 10_000] for place in range(0, size, 10_000)])
    secret = door.workspace.issue_token(member)
    answer = door.client.post(f"/api/import{query}", content=content, headers=bearer(secret))
    assert answer.status_code == status, answer.text
    assert left_in(door.folder) == []


def test_what_is_on_its_way_counts_for_its_member_and_for_all(door: Door) -> None:
    """Whatever its tokens: two half archives of one member are one archive."""
    member = door.workspace.sign_in(door.workspace.issue_token("agent-1")).token.member_id
    first = door.staging.open(member, "a", limit=100_000)
    first.write(b"x" * 60_000)
    own = bearer(door.workspace.issue_token("agent-1"))
    assert door.client.post("/api/import", content=b"x" * 50_000, headers=own).status_code == 429
    operator = bearer(door.workspace.issue_token("operator"))
    assert door.client.post("/api/import?whole=true", content=b"x" * 195_000, headers=operator).status_code == 503
    first.close()
    assert door.client.post("/api/import", content=b"x" * 50_000, headers=own).status_code == 422
    assert left_in(door.folder) == []


def test_a_member_moves_only_so_many_at_once(door: Door) -> None:
    token = door.workspace.issue_token("agent-1")
    member = door.workspace.sign_in(token).token.member_id
    stages = [door.staging.open(member, "a") for _ in range(MAX_AT_ONCE)]
    assert door.client.get("/api/export", headers=bearer(token)).status_code == 429
    for stage in stages:
        stage.close()
        stage.close()
    assert door.client.get("/api/export", headers=bearer(token)).status_code == 200
    assert left_in(door.folder) == []


def test_the_disk_is_not_filled(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage(door.folder.parents[1]).free
    monkeypatch.setattr(door.staging, "limits", replace(door.staging.limits, min_free_bytes=free * 2))
    headers = bearer(door.workspace.issue_token("agent-1"))
    for answer in (
        door.client.post("/api/import", content=b"x", headers=headers),
        door.client.get("/api/export", headers=headers),
    ):
        assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert left_in(door.folder) == []


def test_what_a_killed_service_left_is_removed_at_the_start(door: Door) -> None:
    stage = door.staging.open(door.workspace.who_am_i().member_id, "left")
    stage.write(b"x")
    stage.finish()
    assert left_in(door.folder) != []
    door.staging.clear()
    assert not door.folder.exists()
