"""`/`, where a browser comes first, and after it has signed in."""

import re

from mycel import __version__
from mycel.embedded.workspace import Workspace
from tests.asking import asking


def test_it_says_what_this_is_and_where_to_go_on(workspace: Workspace) -> None:
    with asking(workspace) as client:
        page = client.get("/")
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert f"Mycel {__version__}" in page.text
        links = re.findall(r'href="([^"]+)"', page.text)
        assert links == ["/docs", "/openapi.json", "/sign-in"]
        assert [client.get(link).status_code for link in links] == [200, 200, 200]


def test_it_runs_nothing_and_needs_nothing_from_elsewhere(workspace: Workspace) -> None:
    with asking(workspace) as client:
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert "<script" not in page.text
        assert "src=" not in page.text


def test_it_stands_for_no_other_path(workspace: Workspace) -> None:
    with asking(workspace) as client:
        assert client.get("/index.html").status_code == 404
        assert client.post("/").status_code == 405
