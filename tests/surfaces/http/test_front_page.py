"""`/`, where a browser comes first, and after it has signed in."""

from mycel.embedded.workspace import Workspace
from tests.asking import asking, by_cookie


def test_whoever_is_not_signed_in_is_asked_to(workspace: Workspace) -> None:
    with asking(workspace) as client:
        page = client.get("/")
        assert (page.status_code, page.headers["location"]) == (303, "/sign-in")
        shown = client.get(page.headers["location"])
        assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "mycel open" in shown.text
        assert 'href="/docs"' in shown.text


def test_whoever_is_signed_in_is_at_home(workspace: Workspace) -> None:
    with asking(workspace) as client:
        page = client.get("/", headers=by_cookie(workspace.issue_token("operator"), origin=None))
        assert page.status_code == 200
        assert "operator" in page.text


def test_it_stands_for_no_other_path(workspace: Workspace) -> None:
    with asking(workspace) as client:
        assert client.get("/index.html").status_code == 404
        assert client.post("/").status_code == 405
