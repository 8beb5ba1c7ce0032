"""Signing in with a browser: links that work once, and what a browser gets for one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from mycel.services.sign_in_links import MOST_LINKS
from mycel.surfaces.http import browser_login
from tests.asking import ADDRESS, UNKNOWN, asking, bearer, by_cookie
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)


OWN = {"origin": ADDRESS}
WRONG = "the code or token is unknown, used, expired or revoked"


@pytest.fixture
def squad(workspace: Workspace) -> Workspace:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    workspace.add_member("swe-2", team="squad")
    workspace.add_member("admin-1", team="squad", role="admin", kind="human")
    workspace.add_team("other")
    workspace.add_member("swe-9", team="other")
    return workspace


@pytest.fixture
def client(squad: Workspace) -> Iterator[TestClient]:
    with asking(squad) as client:
        yield client


def offered(client: TestClient, secret: str, **given: Any) -> str:
    answer = client.post("/api/sign-in-links", headers=bearer(secret), json=given)
    assert answer.status_code == 201, answer.text
    return answer.json()["url"]


def code_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["code"][0]


def exchanged(client: TestClient, **form: str) -> Any:
    client.cookies.clear()
    answer = client.post("/sign-in", data=form, headers=OWN)
    client.cookies.clear()
    return answer


def cookie_in(answer: Any) -> str:
    found = re.match(r"mycel_token=([^;]+)", answer.headers["set-cookie"])
    assert found is not None
    return found[1]


def test_a_link_signs_a_browser_in_once(squad: Workspace, client: TestClient) -> None:
    url = offered(client, squad.issue_token("swe-1"))
    assert url.startswith(f"{ADDRESS}/sign-in?code=")
    first = exchanged(client, code=code_of(url))
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert client.get(first.headers["location"], headers=by_cookie(cookie_in(first), origin=None)).status_code == 200
    me = client.get("/api/me", headers=by_cookie(cookie_in(first)))
    assert (me.status_code, me.json()["member_id"]) == (200, "swe-1")
    again = exchanged(client, code=code_of(url))
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_the_link_says_how_long_it_works(squad: Workspace, client: TestClient) -> None:
    answer = client.post("/api/sign-in-links", headers=bearer(squad.issue_token("swe-1")))
    left = datetime.fromisoformat(answer.json()["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=9) < left <= timedelta(minutes=10)
    assert set(answer.json()) == {"url", "expires_at"}
    assert answer.headers["cache-control"] == "no-store"


def test_showing_the_page_uses_nothing_up(squad: Workspace, client: TestClient) -> None:
    url = offered(client, squad.issue_token("swe-1"))
    for _ in range(3):
        assert client.get(url).status_code == 200
    assert client.head(url).status_code == 200
    assert exchanged(client, code=code_of(url)).status_code == 303


def test_the_page_runs_nothing_inline_and_sends_its_form_home_alone(squad: Workspace, client: TestClient) -> None:
    page = client.get(offered(client, squad.issue_token("swe-1")))
    policy = page.headers["content-security-policy"]
    assert {"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"} <= set(policy.split("; "))
    assert "unsafe" not in policy
    assert (page.headers["cache-control"], page.headers["x-frame-options"]) == ("no-store", "DENY")
    # Browsers hide the origin of a form under `no-referrer`.
    assert page.headers["referrer-policy"] == "same-origin"
    assert "<script>" not in page.text
    assert "set-cookie" not in page.headers
    assert '<form method="post" action="/sign-in"' in page.text


def test_what_stands_in_the_address_is_text_in_the_page(client: TestClient) -> None:
    page = client.get("/sign-in", params={"code": '"><script>alert(1)</script>'})
    assert page.status_code == 200
    assert "<script>" not in page.text


def test_without_a_code_the_page_asks_for_a_token(squad: Workspace, client: TestClient) -> None:
    assert 'name="token"' in client.get("/sign-in").text
    answer = exchanged(client, token=squad.issue_token("swe-2"))
    assert answer.status_code == 303
    assert client.get("/api/me", headers=by_cookie(cookie_in(answer))).json()["member_id"] == "swe-2"


def test_the_cookie_is_for_this_site_and_not_for_scripts(squad: Workspace, client: TestClient) -> None:
    kept = exchanged(client, token=squad.issue_token("swe-1")).headers["set-cookie"].split("; ")
    assert {part.lower() for part in kept[1:]} == {"httponly", "path=/", "samesite=strict", f"max-age={30 * 86_400}"}


@pytest.mark.parametrize("seen_by", ["service", "browser"])
def test_over_https_the_cookie_is_secure(squad: Workspace, seen_by: str) -> None:
    address = ADDRESS.replace("http:", "https:") if seen_by == "service" else ADDRESS
    with asking(squad, address=address) as client:
        origin = {"origin": ADDRESS.replace("http:", "https:")}
        answer = client.post("/sign-in", data={"token": squad.issue_token("swe-1")}, headers=origin)
    assert "Secure" in answer.headers["set-cookie"].split("; ")


def test_a_browser_has_a_token_of_its_own(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1", label="laptop")
    cookie = cookie_in(exchanged(client, token=secret))
    assert cookie != secret
    [given, browser] = squad.tokens(member_id="swe-1")
    assert (given.label, browser.label) == ("laptop", "browser")
    assert browser.expires_at is not None
    assert timedelta(days=29) < browser.expires_at - datetime.now(UTC) <= timedelta(days=30)
    squad.revoke_token(browser.id)
    time.sleep(1)
    assert client.get("/api/me", headers=by_cookie(cookie)).status_code == 401
    assert client.get("/api/me", headers=bearer(secret)).status_code == 200


def test_signing_out_ends_the_token_of_this_browser_at_once(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1")
    cookie = cookie_in(exchanged(client, token=secret))
    assert client.get("/api/me", headers=by_cookie(cookie)).status_code == 200
    left = client.post("/sign-out", headers={**by_cookie(cookie), "accept": "text/html,*/*"})
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    assert 'mycel_token=""' in left.headers["set-cookie"]
    assert "Max-Age=0" in left.headers["set-cookie"]
    assert client.get("/api/me", headers=by_cookie(cookie)).status_code == 401
    assert [token.revoked_at is None for token in squad.tokens(member_id="swe-1")] == [True, False]
    assert client.post("/sign-out", headers=by_cookie(cookie)).status_code == 204
    assert client.post("/sign-out").status_code == 204


def test_nobody_is_signed_out_by_another_page(squad: Workspace, client: TestClient) -> None:
    cookie = cookie_in(exchanged(client, token=squad.issue_token("swe-1")))
    assert client.post("/sign-out", headers=by_cookie(cookie, origin="http://evil.example")).status_code == 403
    assert client.post("/sign-out", headers=by_cookie(cookie, origin=None)).status_code == 401
    assert client.get("/api/me", headers=by_cookie(cookie)).status_code == 200


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://127.0.0.1:8000"])
def test_nobody_is_signed_in_by_another_page(squad: Workspace, client: TestClient, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    answer = client.post("/sign-in", data={"token": squad.issue_token("swe-1")}, headers=headers)
    assert answer.status_code in {401, 403}
    assert "set-cookie" not in answer.headers


def test_a_form_is_no_json_and_json_no_form(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1")
    assert client.post("/sign-in", json={"token": secret}, headers=OWN).status_code == 415
    assert client.post("/api/sign-in", data={"token": secret}, headers=OWN).status_code == 415


def test_the_web_ui_signs_in_with_json(squad: Workspace, client: TestClient) -> None:
    for given in (
        {"token": squad.issue_token("swe-1")},
        {"code": code_of(offered(client, squad.issue_token("swe-1")))},
    ):
        answer = client.post("/api/sign-in", json=given, headers=OWN)
        assert (answer.status_code, answer.json()["member_id"], answer.json()["team"]) == (200, "swe-1", "squad")
        assert client.get("/api/me", headers=by_cookie(cookie_in(answer))).status_code == 200
        client.cookies.clear()


@pytest.mark.parametrize("given", [{}, {"code": "a", "token": "b"}, {"code": 1}, {"code": None}, {"password": "a"}, []])
def test_anything_else_is_an_error_of_the_request(client: TestClient, given: Any) -> None:
    answer = client.post("/api/sign-in", json=given)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


def test_what_is_wrong_used_over_or_revoked_is_answered_alike(
    squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, doomed = squad.issue_token("swe-1"), squad.issue_token("swe-1")
    used, orphaned = (code_of(offered(client, who)) for who in (secret, doomed))
    monkeypatch.setattr(browser_login, "LINK_LIFETIME", timedelta(milliseconds=1))
    over = code_of(offered(client, secret))
    exchanged(client, code=used)
    squad.revoke_token(doomed)
    time.sleep(0.6)
    tried = [
        {"code": used},
        {"code": orphaned},
        {"code": "x"},
        {"code": "é" * 40},
        {"token": UNKNOWN},
        {"token": doomed},
    ]
    answers = [client.post("/api/sign-in", json=given) for given in tried]
    answers.append(client.post("/api/sign-in", json={"code": over}))
    assert {(answer.status_code, answer.json()["detail"]) for answer in answers} == {(401, WRONG)}
    assert {answer.content for answer in answers} == {answers[0].content}
    assert all("set-cookie" not in answer.headers for answer in answers)


def test_a_link_dies_with_the_member_it_is_for(squad: Workspace, client: TestClient) -> None:
    url = offered(client, squad.issue_token("operator"), member_id="swe-2")
    squad.remove_member("swe-2")
    assert exchanged(client, code=code_of(url)).status_code == 401


def test_many_wrong_codes_are_slowed_and_the_right_one_is_not(squad: Workspace, client: TestClient) -> None:
    url = offered(client, squad.issue_token("swe-1"))
    answers = [client.post("/api/sign-in", json={"code": f"wrong-{number}"}) for number in range(40)]
    assert [answer.status_code for answer in answers[:20]] == [401] * 20
    slowed = answers[-1]
    assert (slowed.status_code, slowed.json()["code"]) == (429, "limit_exceeded")
    assert int(slowed.headers["retry-after"]) >= 1
    page = client.post("/sign-in", data={"code": "wrong"}, headers=OWN)
    assert (page.status_code, page.headers["retry-after"]) == (429, "1")
    assert exchanged(client, code=code_of(url)).status_code == 303


def test_the_operator_offers_links_for_members(squad: Workspace, client: TestClient) -> None:
    url = offered(client, squad.issue_token("operator"), memberId="swe-9")
    cookie = cookie_in(exchanged(client, code=code_of(url)))
    assert client.get("/api/me", headers=by_cookie(cookie)).json()["member_id"] == "swe-9"


@pytest.mark.parametrize("who", ["swe-1", "admin-1"])
def test_others_offer_links_for_themselves_alone(squad: Workspace, client: TestClient, who: str) -> None:
    headers = bearer(squad.issue_token(who))
    mate = client.post("/api/sign-in-links", headers=headers, json={"member_id": "swe-2"})
    assert mate.status_code == 403
    answers = [
        client.post("/api/sign-in-links", headers=headers, json={"member_id": name}) for name in ("swe-9", "swe-0")
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].text.replace("swe-9", "swe-0") == answers[1].text


def test_one_member_cannot_push_out_the_links_of_others(squad: Workspace, client: TestClient) -> None:
    kept = offered(client, squad.issue_token("swe-1"))
    greedy = squad.issue_token("swe-2")
    urls = [offered(client, greedy) for _ in range(MOST_LINKS + 2)]
    assert exchanged(client, code=code_of(kept)).status_code == 303
    states = [exchanged(client, code=code_of(url)).status_code for url in urls]
    assert states == [401] * 2 + [303] * MOST_LINKS


def test_no_secret_is_in_a_log_or_an_error(
    squad: Workspace, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    secret = squad.issue_token("swe-1")
    with served(squad) as url, asking(squad) as client:
        code = code_of(offered(client, secret))
        answers = [
            client.post("/api/sign-in", json={"token": secret, "code": code}),
            client.post("/api/sign-in", json={secret: 1}),
            client.get("/api/memory", headers={"authorization": f"Bearer {secret}x"}),
            client.get(f"/api/memory/{secret}", headers=bearer(secret)),
            client.post("/api/tokens/revoke", json={"token": secret[:-1]}, headers=bearer(secret)),
            client.get(f"{url}/api/me", headers=bearer(secret)),
            client.get(f"{url}/sign-in", params={"code": code}),
        ]
    assert all(secret not in answer.text for answer in answers[:-1])
    # What the client of this test logs is not the service's.
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("http")]
    logged = "".join([*ours, *capfd.readouterr()])
    assert secret not in logged
    assert code not in logged
