"""Authority from authority: whatever a token can be turned into ends with it, by its time or by a revocation."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from mycel.access.token_secret import hash_secret
from mycel.app import open_workspace
from mycel.domain.team import IssuedToken, Role, Token
from mycel.embedded.workspace import Workspace
from mycel.errors import Unauthenticated
from mycel.surfaces.http.browser_login import LIFETIME
from mycel.surfaces.http.described_route import DescribedRoute
from mycel.wire.operations import OPERATIONS
from tests.asking import ADDRESS, asking, bearer
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


# Every member is tried as itself; the operator also for and as another.
ROLES = {role.value: f"{role.value}-1" for role in Role}
OTHER = ROLES["agent"]
SHORT = "60s"
SOON = 1.0


class Door:
    """A service, and every way in which a secret gets another one out of it."""

    def __init__(self, client: TestClient, workspace: Workspace) -> None:
        self.client = client
        self.workspace = workspace

    def api(self, secret: str, owner: str, **fields: Any) -> str:
        answer = self.post("/api/tokens", secret, member_id=owner, **fields)
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    def as_another(self, secret: str, owner: str) -> str:
        """The operator as a member, which then issues for itself."""
        answer = self.post("/api/tokens", secret, headers={"mycel-as": OTHER}, member_id=OTHER)
        return answer.json()["token"]

    def for_another(self, secret: str, owner: str) -> str:
        return self.api(secret, OTHER)

    def files(self, secret: str, owner: str) -> str:
        return self.workspace.sign_in(secret).workspace.issue_token(owner)

    def cookie(self, secret: str, owner: str) -> str:
        return self.in_cookie(self.post("/api/sign-in", None, token=secret))

    def form(self, secret: str, owner: str) -> str:
        return self.in_cookie(self.client.post("/sign-in", data={"token": secret}, headers={"origin": ADDRESS}))

    def link(self, secret: str, owner: str) -> str:
        return self.in_cookie(self.post("/api/sign-in", None, code=self.code(secret)))

    def link_by_form(self, secret: str, owner: str) -> str:
        form = {"code": self.code(secret)}
        return self.in_cookie(self.client.post("/sign-in", data=form, headers={"origin": ADDRESS}))

    def link_for_another(self, secret: str, owner: str) -> str:
        return self.in_cookie(self.post("/api/sign-in", None, code=self.code(secret, member_id=OTHER)))

    def code(self, secret: str, **fields: Any) -> str:
        answer = self.post("/api/sign-in-links", secret, **fields)
        assert answer.status_code == 201, answer.text
        return parse_qs(urlsplit(answer.json()["url"]).query)["code"][0]

    def in_cookie(self, answer: Any) -> str:
        self.client.cookies.clear()
        found = re.match(r"mycel_token=([^;]+)", answer.headers.get("set-cookie", ""))
        assert found is not None, answer.text
        return found[1]

    def post(self, path: str, secret: str | None, *, headers: dict[str, str] | None = None, **body: Any) -> Any:
        shown = {} if secret is None else bearer(secret)
        return self.client.post(path, headers={**shown, **(headers or {})}, json=body)

    def works(self, secret: str) -> bool:
        return self.client.get("/api/me", headers=bearer(secret)).status_code == 200

    def token(self, secret: str) -> Token:
        return self.workspace.sign_in(secret).token


Way = Callable[[Door, str, str], str]
OWN_WAYS: list[Way] = [Door.api, Door.files, Door.cookie, Door.form, Door.link, Door.link_by_form]
OPERATORS_WAYS: list[Way] = [*OWN_WAYS, Door.as_another, Door.for_another, Door.link_for_another]
CASES = [
    *((member, way) for member in ROLES.values() for way in OWN_WAYS),
    *(("operator", way) for way in OPERATORS_WAYS),
]


def named(value: object) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", "")


every_way = pytest.mark.parametrize(("member", "way"), CASES, ids=named)


@pytest.fixture(scope="module")
def door(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    settings = settings_of(tmp_path_factory.mktemp("trees"))
    with open_workspace(settings=settings) as workspace:
        workspace.add_team("squad")
        for role, member in ROLES.items():
            workspace.add_member(member, team="squad", role=role)
        with asking(workspace) as client:
            yield Door(client, workspace)


def test_every_way_out_of_the_service_is_tried(door: Door) -> None:
    """What answers with a secret, by its description; the form and the link are pages of the same exchange."""
    operations = {operation.path for operation in OPERATIONS if operation.answers is IssuedToken}
    routes = [route for route in door.client.app.routes if isinstance(route, Route)]  # type: ignore[attr-defined]
    cookies = {
        route.path
        for route in routes
        if isinstance(route, DescribedRoute) and any("Set-Cookie" in about.headers for about in route.about.values())
    }
    pages = {route.path for route in routes if "sign" in route.path and not isinstance(route, DescribedRoute)}
    assert (operations, cookies) == ({"/api/tokens"}, {"/api/sign-in"})
    assert pages == {"/sign-in", "/sign-out"}


@every_way
def test_nothing_outlives_the_token_it_came_from(door: Door, member: str, way: Way) -> None:
    secret = door.workspace.issue_token(member, ttl=SHORT)
    parent, child = door.token(secret), door.token(way(door, secret, member))
    assert child.parent_id == parent.id
    assert child.expires_at is not None
    assert parent.expires_at is not None
    assert child.expires_at <= parent.expires_at


@every_way
def test_a_token_without_end_gives_what_it_always_gave(door: Door, member: str, way: Way) -> None:
    secret = door.workspace.issue_token(member)
    child = door.token(way(door, secret, member))
    browsers = {Door.cookie, Door.form, Door.link, Door.link_by_form, Door.link_for_another}
    assert child.expires_at == (child.created_at + LIFETIME if way in browsers else None)


@pytest.mark.parametrize("revoked", range(4))
def test_a_revocation_takes_everything_below_and_nothing_beside(door: Door, revoked: int) -> None:
    """In a chain of four by each way, each link of it."""
    chains = {(member, named(way)): chain_by(door, member, way) for member, way in CASES}
    beside = [door.workspace.issue_token(member) for member in ROLES.values()]
    assert all(door.works(secret) for chain in (beside, *chains.values()) for secret in chain)
    for chain in chains.values():
        door.workspace.revoke_token(chain[revoked])
    time.sleep(SOON)
    wanted = [place < revoked for place in range(4)]
    assert [case for case, chain in chains.items() if list(map(door.works, chain)) != wanted] == []
    assert all(map(door.works, beside))


def chain_by(door: Door, member: str, way: Way) -> list[str]:
    root = door.workspace.issue_token(member)
    child = way(door, root, member)
    grandchild = door.cookie(child, member)
    return [root, child, grandchild, door.api(grandchild, door.token(grandchild).member_id)]


@pytest.mark.parametrize("member", [*ROLES.values(), "operator"])
def test_a_longer_lifetime_is_refused_and_a_shorter_one_kept(door: Door, member: str) -> None:
    secret = door.workspace.issue_token(member, ttl=SHORT)
    refused = door.post("/api/tokens", secret, member_id=member, ttl="1h")
    assert (refused.status_code, refused.json()["field"]) == (409, "ttl")
    child = door.token(door.api(secret, member, ttl="5s"))
    assert child.expires_at == child.created_at + timedelta(seconds=5)


def test_a_link_says_that_it_ends_with_its_token(door: Door) -> None:
    secret = door.workspace.issue_token(OTHER, ttl=SHORT)
    answer = door.post("/api/sign-in-links", secret)
    assert datetime.fromisoformat(answer.json()["expires_at"]) == door.token(secret).expires_at


def test_a_link_of_a_revoked_token_opens_nothing(door: Door) -> None:
    root = door.workspace.issue_token("operator")
    child = door.api(root, "operator")
    codes = [door.code(child), door.code(child, member_id=OTHER)]
    door.workspace.revoke_token(root)
    time.sleep(SOON)
    assert [door.post("/api/sign-in", None, code=code).status_code for code in codes] == [401, 401]


def test_the_cookie_lasts_no_longer_in_the_browser(door: Door) -> None:
    secret = door.workspace.issue_token(OTHER, ttl=SHORT)
    answer = door.post("/api/sign-in", None, token=secret)
    door.client.cookies.clear()
    found = re.search(r"max-age=(\d+)", answer.headers["set-cookie"], re.IGNORECASE)
    assert found is not None
    assert int(found[1]) <= 60


def test_a_tree_that_has_just_ended_gets_no_new_leaf(door: Door) -> None:
    """Whoever was let in before the revocation still ends up with nothing."""
    secret = door.workspace.issue_token(OTHER)
    visit = door.workspace.sign_in(secret)
    parent = visit.token
    door.workspace.revoke_token(secret)
    tokens = door.workspace._do.tokens  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Unauthenticated):
        tokens.issue(door.workspace.who_am_i(), OTHER, parent=parent)


def test_removing_a_member_ends_what_its_tokens_issued_to_whomever(door: Door) -> None:
    workspace = door.workspace
    workspace.add_member("leaver", team="squad")
    secret = workspace.issue_token("leaver")
    cookie = door.cookie(secret, "leaver")
    tokens = workspace._do.tokens  # pyright: ignore[reportPrivateUsage]
    given = tokens.issue(workspace.who_am_i(), OTHER, parent=door.token(secret)).secret
    workspace.remove_member("leaver")
    time.sleep(SOON)
    assert [door.works(one) for one in (secret, cookie, given)] == [False] * 3
    workspace.add_member("leaver", team="squad")
    time.sleep(SOON)
    assert [door.works(one) for one in (secret, cookie, given)] == [False] * 3


def test_requests_are_counted_by_member_whatever_its_tokens(door: Door) -> None:
    with asking(door.workspace, requests_per_second=5) as client:
        counted = Door(client, door.workspace)
        secret = door.workspace.issue_token(OTHER)
        children = [door.workspace.sign_in(secret).workspace.issue_token(OTHER) for _ in range(20)]
        assert [counted.works(child) for child in children].count(True) <= 12
        assert counted.works(door.workspace.issue_token(ROLES["lead"]))


def test_lists_say_what_a_token_was_issued_with(door: Door) -> None:
    secret = door.workspace.issue_token(OTHER)
    child = door.api(secret, OTHER)
    listed = door.client.get("/api/tokens", headers=bearer(secret)).json()
    assert {one["id"]: one["parent_id"] for one in listed}[door.token(child).id] == door.token(secret).id
    assert hash_secret(child) not in str(listed)
