"""Files that come in over HTTP, made to do harm: refused before anything of them is stored, or taken as plain text."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.services import archive_files
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from tests.serving import ADDRESS

pytestmark = pytest.mark.each_database(slow=True)


Lines = list[dict[str, Any]]
AS_NEW = {"mycel-team": "new"}
QUICK = 2.0


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "data") as opened:
        for team in ("old", "new"):
            opened.add_team(team)
        opened.add_member("swe-1", team="old")
        member = opened.as_member("swe-1")
        member.save("alpha heron")
        member.artifacts.register(path="notes/heron.md", content="beta heron", task_id="T-1")
        yield opened


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    headers = {"authorization": f"Bearer {workspace.issue_token('operator')}"}
    app = create_app(workspace, settings=Settings(data=Path(), requests_per_second=1e6))
    with TestClient(app, base_url=ADDRESS, headers=headers) as client:
        yield client


@pytest.fixture
def lines(client: TestClient) -> Lines:
    answer = client.get("/api/export?packed=false&whole=true", headers={"mycel-team": "old"})
    return [json.loads(line) for line in answer.text.splitlines()][:-1]


def sealed(lines: Lines) -> bytes:
    """With a footer that fits, as somebody would write it who means harm."""
    body = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    kinds = [line["kind"] for line in lines[1:]]
    footer = {"kind": "footer", "counts": {kind: kinds.count(kind) for kind in kinds}}
    return body + json.dumps({**footer, "sha256": sha256(body).hexdigest()}).encode() + b"\n"


def import_(client: TestClient, content: bytes, *, packed: bool = False) -> Any:
    query = f"whole=true&packed={str(packed).lower()}"
    return client.post(f"/api/import?{query}", content=content, headers=AS_NEW)


def refused(client: TestClient, content: bytes, *, packed: bool = False) -> dict[str, Any]:
    answer = import_(client, content, packed=packed)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_input")
    assert client.get("/api/memory?status=any", headers=AS_NEW).json() == []
    return problem


def of_kind(lines: Lines, kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind)


def test_an_archive_as_it_was_exported_is_taken(client: TestClient, lines: Lines) -> None:
    """So that what follows is refused for what was done to it."""
    answer = import_(client, sealed(lines))
    assert answer.status_code == HTTPStatus.OK
    assert len(client.get("/api/memory?status=any", headers=AS_NEW).json()) == 2


@pytest.mark.parametrize("path", ["/../etc", "/a/../../b", "..", "../x", "/a\\..\\b", "/a\0b", "\ud800"])
def test_a_path_of_a_memory_leads_nowhere_else(client: TestClient, lines: Lines, path: str) -> None:
    content = sealed([{**line, "path": "@"} if line["kind"] == "memory" else line for line in lines])
    written = content.replace(b'"@"', json.dumps(path).encode())
    body = written[: written.rindex(b'{"kind": "footer"')]
    refused(client, written.replace(sha256_of(content), sha256(body).hexdigest().encode()))


def sha256_of(content: bytes) -> bytes:
    return json.loads(content.splitlines()[-1])["sha256"].encode()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../b", "..", "a\\b", "C:\\x", "a\0b", ""])
def test_a_path_of_an_artifact_leads_nowhere_else(client: TestClient, lines: Lines, path: str) -> None:
    of_kind(lines, "artifact")["path"] = path
    assert "path" in refused(client, sealed(lines))["detail"]


def in_tar(build: Callable[[tarfile.TarInfo], None]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        entry = tarfile.TarInfo("archive.jsonl")
        build(entry)
        tar.addfile(entry)
    return packed.getvalue()


def in_zip(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as found:
        found.writestr(name, "{}")
    return packed.getvalue()


def linked(kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def build(entry: tarfile.TarInfo) -> None:
        entry.type, entry.linkname = kind, "/etc/passwd"

    return build


def named(name: str) -> Callable[[tarfile.TarInfo], None]:
    return lambda entry: setattr(entry, "name", name)


@pytest.mark.parametrize(
    "content",
    [
        *(
            in_tar(named("../x")),
            in_tar(named("/etc/x")),
            in_tar(linked(tarfile.SYMTYPE)),
            in_tar(linked(tarfile.LNKTYPE)),
        ),
        *(in_zip("../x"), in_zip("/etc/x")),
    ],
    ids=["tar with ..", "tar with an absolute name", "symbolic link", "hard link", "zip with ..", "zip, absolute"],
)
def test_containers_of_files_are_no_archives(client: TestClient, content: bytes) -> None:
    """Ours is lines of JSON: there are no names in it that could become files."""
    for packed in (True, False):
        assert refused(client, content, packed=packed)["field"] == "line 1"


def test_what_unpacks_to_a_hundred_times_its_size_is_refused(
    client: TestClient, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "FREE_BYTES", 10_000)
    of_kind(lines, "memory")["content"] = "a" * 5_000_000
    assert "100 times" in refused(client, gzip.compress(sealed(lines), 9), packed=True)["detail"]


def test_an_archive_is_counted_and_not_believed(client: TestClient) -> None:
    staging = client.app.state.service.staging  # type: ignore[attr-defined]
    staging.limits = replace(staging.limits, own_bytes=100_000)
    for content in (b"a" * 100_001, iter([b"a" * 60_000, b"a" * 60_000])):
        answer = client.post("/api/import?packed=false", content=content)
        assert (answer.status_code, answer.json()["code"]) == (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large")


ALIASES = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BRACKETS = f"a: {'[' * 2000}{']' * 2000}\n"


@pytest.mark.parametrize("block", [ALIASES, BRACKETS, "a: &a [*a]\n", "a: !!python/name:os.system\n", "a: x\n" * 9000])
def test_front_matter_is_text_and_nothing_is_made_of_it(workspace: Workspace, client: TestClient, block: str) -> None:
    """No route reads YAML: what an organisation is comes as JSON, and a file is kept as it is written."""
    text = f"---\n{block}---\n# Heron\n\nThe heron stands in the shallow lake.\n"
    started = time.process_time()
    answer = client.post("/api/memory/index", json={"path": "docs/heron.md", "content": text})
    assert answer.status_code == HTTPStatus.ACCEPTED
    workspace.run_pending()
    assert client.get(f"/api/events/{answer.json()['id']}").json()["state"] == "done"
    taken = client.post("/api/memory/knowledge/import", json={"text": text, "name": "heron.md", "project": "lake"})
    assert taken.status_code == HTTPStatus.OK, taken.text
    assert time.process_time() - started < QUICK
    found = client.get("/api/memory/search", params={"q": "heron shallow lake"})
    assert "shallow lake" in found.text
