"""Who comes in: tokens, cookies, on whose behalf, how often, and what a flood of guesses costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http import authentication, rate_limit
from mycel.testing.clock import ManualClock
from tests.asking import ADDRESS, UNKNOWN, asking, bearer, by_cookie

pytestmark = pytest.mark.each_database(slow=True)

REFUSED = "the token is unknown, expired or revoked"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def squad(tmp_path: Any, clock: ManualClock) -> Iterator[Workspace]:
    with open_workspace(tmp_path, clock=clock) as workspace:
        workspace.add_team("squad")
        workspace.add_member("swe-1", team="squad")
        workspace.add_member("lead-1", team="squad", role="lead")
        workspace.add_member("admin-1", team="squad", role="admin", kind="human")
        yield workspace


@pytest.fixture
def client(squad: Workspace) -> Iterator[TestClient]:
    with asking(squad) as client:
        yield client


def looked_up(squad: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills while secrets are looked up in the directory."""
    seen: list[str] = []
    sign_in = squad.sign_in

    def counted(secret: str, **named: Any) -> Any:
        seen.append(secret)
        return sign_in(secret, **named)

    monkeypatch.setattr(squad, "sign_in", counted)
    return seen


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Basic b3BlcmF0b3I6b3BlcmF0b3I="},
        {"authorization": "Bearer swe-1"},
        {"authorization": f"Bearer {UNKNOWN}"},
        {"authorization": f"Bearer {UNKNOWN} x"},
        {"authorization": "Bearer mycel_é"},
        {"cookie": "mycel_token="},
        {"cookie": f"mycel_token={UNKNOWN}"},
        {"cookie": f"x; ; =; mycel_token; mycel_token={UNKNOWN}; a=b=c"},
        {"mycel-as": "operator"},
        {"mycel-team": "squad"},
        {"x-forwarded-user": "operator"},
    ],
)
def test_nobody_comes_in_without_a_token_of_ours(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.get("/api/me", headers={name: value.encode() for name, value in headers.items()})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_token_comes_in_however_bearer_is_written(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1")
    for given in (f"Bearer {secret}", f"bearer {secret}", f"BEARER   {secret} "):
        assert client.get("/api/me", headers={"authorization": given}).json()["member_id"] == "swe-1"


def test_two_authorization_headers_are_refused_whichever_is_true(squad: Workspace, client: TestClient) -> None:
    true, other = bearer(squad.issue_token("swe-1")), bearer(UNKNOWN)
    for first, second in ((true, other), (other, true), (true, true)):
        answer = client.get("/api/me", headers=[*first.items(), *second.items()])
        assert answer.status_code == 401


def test_the_header_counts_before_the_cookie(squad: Workspace, client: TestClient) -> None:
    swe, lead = squad.issue_token("swe-1"), squad.issue_token("lead-1")
    answer = client.get("/api/me", headers={**by_cookie(lead), **bearer(swe)})
    assert answer.json()["member_id"] == "swe-1"
    # A wrong header is wrong, whoever the cookie is of.
    assert client.get("/api/me", headers={**by_cookie(lead), **bearer(UNKNOWN)}).status_code == 401


def test_two_cookies_that_differ_are_refused(squad: Workspace, client: TestClient) -> None:
    """Also when both are true: another port of this host may have set the first."""
    secret, other = squad.issue_token("swe-1"), squad.issue_token("lead-1")
    cookies = f"mycel_token={secret}; a=b; mycel_token={other}"
    assert client.get("/api/me", headers={"cookie": cookies}).status_code == 401
    pairs = [("cookie", f"mycel_token={secret}"), ("cookie", f"mycel_token={other}")]
    assert client.get("/api/me", headers=pairs).status_code == 401
    twice = f'a="; mycel_token={secret}"; mycel_token={secret}'
    assert client.get("/api/me", headers={"cookie": twice}).status_code == 200


@pytest.mark.parametrize("name", ["mycel_token2", "Mycel_Token", "xmycel_token", "mycel_token ", "mycel_token=x"])
def test_other_cookies_are_nobodys_token(squad: Workspace, client: TestClient, name: str) -> None:
    answer = client.get("/api/me", headers={"cookie": f"{name}={squad.issue_token('swe-1')}"})
    assert answer.status_code == 401


def test_a_cookie_changes_nothing_without_an_origin(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1")
    saving = {"url": "/api/memory", "json": {"content": "by a page"}}
    assert client.post(**saving, headers=by_cookie(secret, origin=None)).status_code == 401
    assert client.post(**saving, headers=by_cookie(secret, origin="http://evil.example")).status_code == 403
    assert client.post(**saving, headers=by_cookie(secret)).status_code == 201
    # A program sends its token itself: no page could have made it do that.
    assert client.post(**saving, headers=bearer(secret)).status_code == 201


@pytest.mark.parametrize(
    ("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401)]
)
def test_a_cookie_reads_nothing_for_pages_of_other_ports(
    squad: Workspace, client: TestClient, site: str, status: int
) -> None:
    headers = {**by_cookie(squad.issue_token("swe-1"), origin=None), "sec-fetch-site": site}
    assert client.get("/api/memory", headers=headers).status_code == status


def test_an_expired_token_is_refused(squad: Workspace, client: TestClient, clock: ManualClock) -> None:
    headers = bearer(squad.issue_token("swe-1", ttl="1h"))
    assert client.get("/api/me", headers=headers).status_code == 200
    clock.move(timedelta(hours=1))
    time.sleep(1)
    answer = client.get("/api/me", headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (401, REFUSED)


@pytest.mark.parametrize("acting", [{}, {"mycel-as": "lead-1"}, {"mycel-team": "squad"}])
def test_a_revoked_token_is_refused_within_a_second(
    squad: Workspace, client: TestClient, acting: dict[str, str]
) -> None:
    secret = squad.issue_token("operator")
    headers = {**bearer(secret), **acting}
    assert client.get("/api/me", headers=headers).status_code == 200
    squad.revoke_token(secret)
    ends = time.monotonic() + 0.95
    while time.monotonic() < ends:
        client.get("/api/me", headers=headers)
        time.sleep(0.02)
    answer = client.get("/api/me", headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (401, REFUSED)


def test_a_removed_member_is_refused_like_anybody(squad: Workspace, client: TestClient) -> None:
    headers = bearer(squad.issue_token("swe-1"))
    assert client.get("/api/me", headers=headers).status_code == 200
    squad.remove_member("swe-1")
    time.sleep(1)
    answer = client.get("/api/me", headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (401, REFUSED)


def test_a_changed_role_counts_within_a_second(squad: Workspace, client: TestClient) -> None:
    headers = bearer(squad.issue_token("lead-1"))
    assert client.put("/api/policy", json={"promote_from": 0.9}, headers=headers).status_code == 200
    squad.update_member("lead-1", role="agent")
    time.sleep(1)
    assert client.put("/api/policy", json={"promote_from": 0.8}, headers=headers).status_code == 403


def test_the_operator_acts_as_members_and_in_teams(squad: Workspace, client: TestClient) -> None:
    headers = bearer(squad.issue_token("operator"))
    saved = client.post("/api/memory", json={"content": "for swe-1"}, headers={**headers, "mycel-as": "swe-1"})
    assert (saved.status_code, saved.json()["agent_id"], saved.json()["team"]) == (201, "swe-1", "squad")
    me = client.get("/api/me", headers={**headers, "Mycel-Team": "squad"}).json()
    assert (me["member_id"], me["team"], me["is_operator"]) == ("operator", "squad", True)
    as_swe = client.get("/api/me", headers={**headers, "mycel-as": "swe-1"}).json()
    assert (as_swe["member_id"], as_swe["is_operator"]) == ("swe-1", False)
    # As a member it may what the member may.
    refused = client.post("/api/teams", json={"name": "new"}, headers={**headers, "mycel-as": "swe-1"})
    assert refused.status_code == 403


@pytest.mark.parametrize("who", ["swe-1", "lead-1", "admin-1"])
@pytest.mark.parametrize("header", ["mycel-as", "mycel-team"])
def test_nobody_else_acts_for_others(squad: Workspace, client: TestClient, who: str, header: str) -> None:
    names = ["swe-1", "operator", "nobody", who] if header == "mycel-as" else ["squad", "executive", "nowhere"]
    headers = bearer(squad.issue_token(who))
    answers = [client.get("/api/memory", headers={**headers, header: name}) for name in names]
    assert {(answer.status_code, answer.text) for answer in answers} == {(403, answers[0].text)}


@pytest.mark.parametrize(
    ("named", "status"),
    [
        ([("mycel-as", "")], 422),
        ([("mycel-team", "")], 422),
        ([("mycel-as", "two words")], 422),
        ([("mycel-as", "swe-1"), ("mycel-as", "lead-1")], 422),
        ([("mycel-team", "squad"), ("mycel-team", "executive")], 422),
        ([("mycel-as", "swe-1"), ("mycel-team", "executive")], 409),
        ([("mycel-team", "nowhere")], 404),
    ],
)
def test_acting_for_nobody_in_particular_is_an_error(
    squad: Workspace, client: TestClient, named: list[tuple[str, str]], status: int
) -> None:
    headers = [*bearer(squad.issue_token("operator")).items(), *named]
    assert client.get("/api/me", headers=headers).status_code == status


def test_whoever_asks_too_often_waits(squad: Workspace) -> None:
    with asking(squad, requests_per_second=5) as client:
        headers, other = bearer(squad.issue_token("swe-1")), bearer(squad.issue_token("lead-1"))
        # On a busy machine some of what was used up has come back before the next request.
        answers = [client.get("/api/me", headers=headers)]
        while answers[-1].status_code == 200 and len(answers) < 500:
            answers.append(client.get("/api/me", headers=headers))
        slowed = answers.pop()
        assert len(answers) >= 10
        assert (slowed.status_code, slowed.json()["code"]) == (429, "limit_exceeded")
        assert int(slowed.headers["retry-after"]) >= 1
        assert client.get("/api/me", headers=other).status_code == 200
        time.sleep(float(slowed.headers["retry-after"]))
        assert client.get("/api/me", headers=headers).status_code == 200


def test_acting_for_others_does_not_buy_more_requests(squad: Workspace) -> None:
    with asking(squad, requests_per_second=2) as client:
        headers = bearer(squad.issue_token("operator"))
        states = [
            client.get("/api/me", headers={**headers, "mycel-as": f"agent-{number}"}).status_code
            for number in range(20)
        ]
        assert states.count(429) >= 8
        agent = bearer(squad.issue_token("swe-1"))
        refused = [
            client.get("/api/me", headers={**agent, "mycel-as": f"agent-{number}"}).status_code for number in range(20)
        ]
        assert refused.count(429) >= 8
        by_page = [client.get("/api/me", headers=by_cookie(agent["authorization"][7:])).status_code for _ in range(3)]
        assert 200 not in by_page


def test_guessing_does_not_keep_the_directory_busy(
    squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = squad.issue_token("swe-1")
    seen = looked_up(squad, monkeypatch)
    strangers = client.app.state.service.visitors._strangers  # type: ignore[attr-defined]
    monkeypatch.setattr(strangers, "_all", rate_limit.Allowance(0.5, at_once=10))
    assert client.get("/api/me", headers=bearer(secret)).status_code == 200
    guesses = [f"mycel_{number:043}" for number in range(50)]
    answers = [client.get("/api/me", headers=bearer(guess)) for guess in guesses]
    assert [answer.status_code for answer in answers[:10]] == [401] * 10
    assert (answers[-1].status_code, answers[-1].headers["retry-after"]) == (503, "2")
    assert len(seen) < 15
    # Whoever is known goes on as if nothing were the matter.
    assert client.get("/api/me", headers=bearer(secret)).status_code == 200


def test_one_address_cannot_guess_for_all(
    squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "STRANGERS_AT_ONCE", 5.0)
    monkeypatch.setattr(rate_limit, "STRANGERS_PER_SECOND", 0.5)
    states = [client.get("/api/me", headers=bearer(f"mycel_{number:043}")).status_code for number in range(10)]
    assert states == [401] * 5 + [429] * 5
    elsewhere = TestClient(client.app, base_url=ADDRESS, client=("10.0.0.9", 1))
    assert elsewhere.get("/api/me", headers=bearer(squad.issue_token("swe-1"))).status_code == 200


def test_what_is_no_token_is_not_looked_up(
    squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = looked_up(squad, monkeypatch)
    for given in ("x", "mycel_", UNKNOWN[:-1], f"{UNKNOWN}a", f"Mycel_{'a' * 43}", "mycel_" + "a" * 42 + "/"):
        assert client.get("/api/me", headers=bearer(given)).status_code == 401
    assert seen == []


def test_true_tokens_cost_nothing_of_what_strangers_have(squad: Workspace, client: TestClient) -> None:
    strangers = client.app.state.service.visitors._strangers  # type: ignore[attr-defined]
    before = strangers._all._left
    for _ in range(5):
        assert client.get("/api/me", headers=bearer(squad.issue_token("swe-1"))).status_code == 200
    assert strangers._all._left == before


def test_visitors_are_forgotten_when_there_are_many(
    squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((authentication, "MAX_VISITORS"), (rate_limit, "MAX_ADDRESSES")):
        monkeypatch.setattr(module, name, 4)
    known = client.app.state.service.visitors  # type: ignore[attr-defined]
    operator = bearer(squad.issue_token("operator"))
    for number in range(10):
        assert client.get("/api/me", headers=bearer(squad.issue_token("swe-1"))).status_code == 200
        client.get("/api/me", headers={**operator, "mycel-as": f"agent-{number}"})
        guest = TestClient(client.app, base_url=ADDRESS, client=(f"10.0.0.{number}", 1))
        guest.get("/api/me", headers=bearer(UNKNOWN))
    assert len(known._bearers) == len(known._acting) == len(known._strangers._by_address) == 4


def test_no_secret_stands_in_the_memory_of_the_door(squad: Workspace, client: TestClient) -> None:
    secret = squad.issue_token("swe-1")
    assert client.get("/api/me", headers=bearer(secret)).status_code == 200
    known = client.app.state.service.visitors  # type: ignore[attr-defined]
    assert secret not in repr((known._bearers, known._acting))
