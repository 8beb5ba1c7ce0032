"""The service in this process: health, hosts, and errors as problem+json."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from mycel import __version__, errors
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from mycel.wire.proof import proof_of

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def app(workspace: Workspace) -> Starlette:
    return create_app(workspace)


@pytest.fixture
def client(app: Starlette) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1:7077", raise_server_exceptions=False)


def test_health_tells_status_and_version_and_nothing_else(client: TestClient) -> None:
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": __version__})


def test_health_proves_what_it_knows_to_whoever_asks(workspace: Workspace) -> None:
    challenge = "0123456789abcdef" * 4
    proofs: list[str] = []
    for secret in ("one", "one", "two"):
        client = TestClient(create_app(workspace, secret=secret), base_url="http://127.0.0.1:7077")
        proofs.append(client.get("/health", params={"challenge": challenge}).json()["proof"])
    assert proofs == [proof_of(secret, challenge, ("127.0.0.1", 7077)) for secret in ("one", "one", "two")]
    elsewhere = [proof_of("one", challenge, address) for address in (("127.0.0.1", 7078), ("::1", 7077))]
    assert len({*proofs, *elsewhere}) == 4


@pytest.mark.parametrize("challenge", ["", "abc", "x" * 64, "0" * 129, "é" * 40, "0" * 31])
def test_what_is_no_challenge_is_refused(client: TestClient, challenge: str) -> None:
    answer = client.get("/health", params={"challenge": challenge})
    assert (answer.status_code, answer.json()["field"]) == (422, "challenge")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:7077", "[::1]", "[::1]:9"])
def test_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7077", "0.0.0.0", "[::2]", "10.0.0.1"]
)
@pytest.mark.parametrize("path", ["/health", "/nowhere"])
def test_other_names_are_refused_on_every_path(client: TestClient, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert "MYCEL_ALLOWED_HOSTS" in answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unknown_host"


@pytest.mark.parametrize("host", ["", "localhost:port", "localhost/health", "a@localhost", "[::1", "localhost:7077 x"])
def test_a_malformed_host_is_a_bad_request(client: TestClient, host: str) -> None:
    answer = client.get("/health", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_host")


def test_two_hosts_are_a_bad_request(client: TestClient) -> None:
    answer = client.get("/health", headers=[("Host", "localhost"), ("Host", "evil.example")])
    assert answer.status_code == 400


@pytest.mark.parametrize(("bound", "named"), [("192.168.1.5", "192.168.1.5:7077"), ("::2", "[::2]:1")])
def test_the_bind_host_is_answered(workspace: Workspace, bound: str, named: str) -> None:
    assert TestClient(create_app(workspace, host=bound)).get("/health", headers={"Host": named}).status_code == 200


def test_a_websocket_from_another_name_is_closed(app: Starlette) -> None:
    client = TestClient(app, base_url="http://evil.example")
    with pytest.raises(WebSocketDisconnect) as closed, client.websocket_connect("/health"):
        pass
    assert closed.value.code == 1008


def test_what_is_not_there_and_not_allowed_are_problems(client: TestClient) -> None:
    for answer, status, code in (
        (client.get("/nowhere"), 404, "not_found"),
        (client.post("/health"), 405, "method_not_allowed"),
    ):
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["status"], answer.json()["code"]) == (status, status, code)
    assert client.get("/nowhere").json()["detail"] == "there is no such route; /docs shows them all"


@pytest.mark.parametrize(
    ("raised", "status", "expected"),
    [
        (errors.InvalidInput("is wrong", field="title"), 422, {"field": "title", "detail": "title: is wrong"}),
        (errors.NotFound("no memory"), 404, {"detail": "no memory", "title": "Not Found"}),
        (errors.AccessDenied("not yours"), 403, {"code": "access_denied"}),
        (errors.Conflict("moved on"), 409, {"code": "conflict"}),
        (errors.LimitExceeded("too many"), 429, {"code": "limit_exceeded"}),
        (errors.Unavailable("busy", retry_after=1.2), 503, {"code": "unavailable"}),
        (errors.StorageFull("full"), 507, {"code": "storage_full"}),
    ],
)
def test_an_error_is_answered_as_a_problem(
    app: Starlette, client: TestClient, raised: Exception, status: int, expected: dict[str, str]
) -> None:
    def fail(_request: Request) -> Response:
        raise raised

    app.add_route("/fail", fail)
    answer = client.get("/fail")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() | expected == answer.json()
    assert answer.headers.get("retry-after") == {503: "2", 507: "1"}.get(status)


@pytest.mark.parametrize("raised", [errors.Misconfigured("secret /path"), RuntimeError("secret /path")])
def test_what_only_the_operator_should_know_is_not_told(app: Starlette, client: TestClient, raised: Exception) -> None:
    def fail(_request: Request) -> Response:
        raise raised

    app.add_route("/fail", fail)
    answer = client.get("/fail")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text


def test_figures_are_for_the_operator_and_name_routes_by_their_template(
    workspace: Workspace, client: TestClient
) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    operator, agent = ({"Authorization": f"Bearer {workspace.issue_token(id)}"} for id in ("operator", "swe-1"))
    saved = client.post("/api/memory", json={"content": "Deploys go out on Tuesdays."}, headers=agent).json()
    assert client.get(f"/api/memory/{saved['id']}", headers=agent).status_code == 200
    assert client.get("/api/memory/nowhere/at/all", headers=agent).status_code == 404
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=agent).status_code == 403
    told = client.get("/metrics", headers=operator)
    assert told.headers["content-type"].startswith("text/plain")
    assert 'mycel_requests_total{method="GET",route="/api/memory/{id}",status="200"} 1.0' in told.text
    assert 'route="other",status="404"} 1.0' in told.text
    assert saved["id"] not in told.text
    assert "nowhere" not in told.text
