"""The reference of the HTTP API names every route, every error and every limit that there is."""

import re
import runpy
from pathlib import Path
from typing import cast

import pytest
from starlette.routing import Route, WebSocketRoute

from mycel.domain.draft import MAX_CONTENT_BYTES
from mycel.domain.fields import MAX_DEPTH, MAX_ITEMS, MAX_PAGE
from mycel.embedded.workspace import Workspace
from mycel.errors import MycelError
from mycel.retrieval.lexical import MAX_QUESTION_WORDS
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.bodies import MAX_BODY_BYTES, MAX_CAPTURE_BYTES
from mycel.surfaces.http.calls import MAX_QUERY_PAIRS
from mycel.surfaces.http.described_route import PageRoute
from mycel.surfaces.http.feeds import StreamLimits
from mycel.wire.operations import EXPECTED, IDEMPOTENCY, OPERATIONS
from mycel.wire.problems import STATUSES
from mycel.wire.request_schemas import MAX_IN_QUERY

MEBIBYTE = 1024**2


@pytest.fixture(scope="module")
def page() -> str:
    return (Path(__file__).resolve().parents[2] / "docs/reference/http.md").read_text("utf-8")


def section(page: str, title: str) -> str:
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_page_is_what_the_routes_make(repository: Path, page: str) -> None:
    made = runpy.run_path(str(repository / "scripts" / "http_reference.py"))["page"](page)
    assert page == made, "run: python -m scripts.http_reference"


def test_every_route_stands_in_the_reference_once(page: str) -> None:
    listed = re.findall(r"^\| `([A-Z]+ /\S*)` \|", page, flags=re.MULTILINE)
    expected = [f"{operation.method} {operation.path}" for operation in OPERATIONS]
    for route in create_app(cast(Workspace, None)).routes:
        if isinstance(route, PageRoute):
            continue
        if isinstance(route, Route):
            expected += [f"{method} {route.path}" for method in route.methods or () if method != "HEAD"]
        elif isinstance(route, WebSocketRoute):
            expected.append(f"WEBSOCKET {route.path}")
    assert sorted(listed) == sorted(expected)


@pytest.mark.parametrize("error", STATUSES, ids=lambda error: error.__name__)
def test_every_error_stands_in_the_reference_with_its_status(page: str, error: type[MycelError]) -> None:
    rows = [row for row in section(page, "Errors").splitlines() if row.startswith(f"| {int(STATUSES[error])} |")]
    assert any(f"`{error.code}`" in row for row in rows)


@pytest.mark.parametrize(("name", "words"), [(IDEMPOTENCY, "**`Idempotency-Key"), (EXPECTED, "**`If-Match")])
def test_the_routes_that_read_a_header_are_named(page: str, name: str, words: str) -> None:
    said = section(page, "Doing nothing twice").partition(words)[2].partition("\n- ")[0]
    missing = [one.path for one in OPERATIONS if name in one.fields and f"{one.path}`" not in said]
    assert missing == []


@pytest.mark.parametrize(
    "figure",
    [
        *(f"{MAX_BODY_BYTES // MEBIBYTE} MiB", f"{MAX_CAPTURE_BYTES // MEBIBYTE} MiB"),
        *(f"depth of JSON | {MAX_DEPTH} |", f"{MAX_IN_QUERY:,} characters"),
        *(f"{MAX_QUERY_PAIRS} arguments", f"{MAX_CONTENT_BYTES:,} bytes", f"{MAX_ITEMS:,} entries"),
        *(f"{MAX_QUESTION_WORDS} words", f"{StreamLimits().in_total:,} in all"),
        f"{StreamLimits().per_member} for each member",
    ],
)
def test_every_limit_is_the_one_that_holds(page: str, figure: str) -> None:
    assert figure in section(page, "Limits")
    assert f"at most {MAX_PAGE:,}" in section(page, "Pages")
