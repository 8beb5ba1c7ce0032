"""What holds for every page of the table, whatever it shows."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.forms import MAX_FIELDS
from mycel.surfaces.web.page import Form, Page
from mycel.surfaces.web.rendering import STATIC_TYPES, static_file
from mycel.surfaces.web.site import FORMS, PAGES
from tests.asking import ADDRESS as ORIGIN
from tests.asking import asking
from tests.surfaces.web.conftest import Reader

pytestmark = pytest.mark.each_database(slow=True)

MAX_PAGE_BYTES = 60_000
MAX_FILE_BYTES = {"mycel.js": 25_000, "mycel.css": 24_000}
# Pages of what is not there before somebody makes it.
_RECEIPT = "/memory/{id}/receipt"
# What a page lists, by its name among the facts: as many rows in the one as in the other.
_LISTS = {
    "/": "waiting latest",
    "/inbox": "rows",
    "/inbox/snoozed": "rows",
    "/inbox/rejected": "rejected",
    "/inbox/{id}": "rows",
    "/browse": "folders rows",
    "/browse/all": "rows",
    "/browse/archived": "rows",
    "/browse/deleted": "rows",
    "/browse/tags": "by_tag",
    "/tasks": "tasks",
    "/tasks/{id:path}": "episodes",
    "/agents": "members",
    "/audit": "changes",
    "/audit/actions": "actions",
    "/audit/runs": "runs events",
}
_REMOTE = re.compile(r"""(?:src|href|action)=["'](?:https?:)?//""")


A_DAY = "2026-10-20"
ABSENT = "01a1ec7d-4681-7aa8-a04e-d9724d2a8682"


def of_id(page: Page, id: str) -> str:
    return re.sub(r"\{id(:path)?\}", id, page.address)


def opened(page: Page | Form, reader: Reader, workspace: Workspace) -> str:
    """The address of a page with something on it."""
    if page.address == _RECEIPT:
        memory = workspace.as_member("eng-director").save("a note to be purged")
        workspace.as_member("eng-director").purge(memory.id)
        return page.address.replace("{id}", memory.id)
    if page.address.startswith("/agents/"):
        return "/agents/eng-director" if reader.get("/agents/eng-director").status_code == 200 else "/agents/outsider"
    if page.address.startswith("/source/"):
        return page.address.replace("{id}", next(iter(workspace.as_member("eng-director").sources.list())).id)
    if page.address.startswith("/tasks/"):
        return "/tasks/shop-318"
    if "{version}" in page.address:
        [known] = workspace.as_member("eng-director").list(limit=1, tags="retry")
        return page.address.replace("{id}", known.id).replace("{version}", str(known.version))
    [known] = workspace.as_member("swe-1").list(limit=1, tags="payments")
    return page.address.replace("{id}", known.id)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_it_shows_itself_in_its_box(page: Page, lead: Reader, workspace: Workspace) -> None:
    answer = lead.get(opened(page, lead, workspace))
    assert answer.status_code == 200, answer.text[:500]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<style|style=|<script(?! src)|\son\w+=", answer.text)
    assert _REMOTE.search(answer.text) is None
    assert "eng-director" in answer.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_its_json_has_the_same_facts(page: Page, lead: Reader, workspace: Workspace) -> None:
    address = opened(page, lead, workspace)
    behind = page.json_address if "{" not in page.address else f"{address}.json"
    answer = lead.get(behind)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    facts = answer.json()
    shown = lead.get(address).text
    for row in facts.get("rows", []):
        memory = row.get("memory", row)
        assert memory["id"] in shown
    if page.address in _LISTS:
        listed = [len(facts[name]) for name in _LISTS[page.address].split()]
        assert len(re.findall(r"\sdata-row(?!s)", shown)) == sum(listed)


# What a page shows, by the operations that answer it.
_SHOWS = {
    "/": "stats memory/recent",
    "/inbox": "inbox",
    "/inbox/snoozed": "inbox?snoozed=true",
    "/inbox/rejected": "memory?status=archived",
    "/inbox/{id}": "inbox/{id}",
    "/search": "memory/search?q=payments",
    "/browse": "memory/tree?path=/",
    "/browse/all": "memory",
    "/browse/knowledge": "memory/knowledge",
    "/browse/types": "stats",
    "/browse/tags": "stats?with_tags=true",
    "/browse/archived": "memory?status=archived",
    "/browse/deleted": "memory?deleted=true",
    "/new": "projects",
    "/memory/{id}/edit": "memory/{id}",
    "/memory/{id}/supersede": "memory/{id}",
    "/memory/{id}/purge": "memory/{id}",
    "/memory/{id}/receipt": "memory/{id}/receipt",
    "/memory/{id}": "memory/{id} memory/{id}/history memory/{id}/links memory/{id}/given",
    "/tasks": "memory/episodes",
    "/tasks/{id:path}": "memory/episodes?task_id={id} memory/artifacts?task_id={id}",
    "/agents": "members activity",
    "/agents/{id}": "members activity",
    "/source/{id}": "sources/{id}",
    "/audit": "audit",
    "/audit/actions": "audit/actions",
    "/audit/runs": "reports events",
    "/teams": "members policy cascades events tokens?member_id={me}",
    "/teams/issued": "tokens?member_id={me}",
}
_ROLES = ("agent", "member", "lead", "orchestrator", "admin")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_a_page_is_open_to_whoever_may_ask_for_the_same(
    page: Page, workspace: Workspace, client: TestClient, lead: Reader
) -> None:
    address = opened(page, lead, workspace)
    id = address.removeprefix(page.address.partition("{")[0]).partition("/")[0]
    if page.address == "/inbox/{id}":
        id = workspace.as_member("swe-1").save("The moon is a server.", needs_review=True).id
        address = f"/inbox/{id}"
    for role in _ROLES:
        # Nothing else is said of a person than its role.
        me = workspace.add_member(f"one-{role}", team=workspace.resolve_team("swe-1"), role=role).id
        reader = Reader(client, workspace.issue_token(me))
        asked = [f"/api/{one}".format(id=id, me=me) for one in _SHOWS[page.address].split()]
        answers = [client.get(one, headers={"authorization": f"Bearer {reader.secret}"}).status_code for one in asked]
        assert reader.get(address).status_code == max(answers), (role, asked, answers)
        behind = page.json_address if "{" not in page.address else f"{address}.json"
        assert reader.get(behind).status_code == max(answers), role


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_whoever_is_not_signed_in_is_asked_to_and_led_back(page: Page, lead: Reader) -> None:
    address = of_id(page, ABSENT)
    answer = lead.client.get(address)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    assert lead.client.get(page.json_address).status_code == 401


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_hidden_equals_absent(page: Page, agent: Reader, workspace: Workspace) -> None:
    hidden = workspace.as_member("swe-2").save("quokkasecret stands here", visibility="private", tags=["quokkasecret"])
    absent = agent.get(of_id(page, ABSENT))
    answer = agent.get(of_id(page, hidden.id))
    assert "quokkasecret" not in answer.text
    assert answer.status_code == absent.status_code
    if "{" in page.address:
        assert answer.text.replace(hidden.id, "ID") == absent.text.replace(ABSENT, "ID")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.address)
def test_a_member_of_another_team_finds_nothing_of_this_one(
    page: Page, workspace: Workspace, client: TestClient
) -> None:
    workspace.add_team("elsewhere")
    workspace.add_member("outsider", team="elsewhere", kind="human", role="lead")
    outsider = Reader(client, workspace.issue_token("outsider"))
    answer = outsider.get(opened(page, outsider, workspace))
    assert answer.status_code in {200, 404}
    for word in ("idempotency", "swe-1", "storefront", "catalogue"):
        assert word not in answer.text


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.address)
def test_a_form_without_its_token_changes_nothing(form: Form, lead: Reader, workspace: Workspace) -> None:
    address = opened(form, lead, workspace)
    before = list(workspace.as_member("eng-director").changes())
    for token in ("", "0" * 32):
        assert lead.post(address, token=token, content="changed").status_code == 403
    assert lead.post(address, origin="https://evil.example").status_code == 403
    answer = lead.client.post(address, headers={"cookie": f"mycel_token={lead.secret}"}, data={})
    assert answer.status_code in {401, 403}
    assert list(workspace.as_member("eng-director").changes()) == before


@pytest.mark.parametrize("address", [*(form.address for form in FORMS), "/sign-in"])
def test_a_form_with_more_fields_than_any_has_is_refused(address: str, lead: Reader) -> None:
    many = {f"field-{number}": "1" for number in range(MAX_FIELDS + 1)}
    assert lead.post(address.replace("{id}", ABSENT).replace("{version}", "1"), **many).status_code == 422


def test_pages_and_files_are_small(workspace: Workspace) -> None:
    for name in STATIC_TYPES:
        assert len(static_file(name)) <= MAX_FILE_BYTES.get(name, 4000), name
    workspace.add_team("empty")
    workspace.add_member("newcomer", team="empty", kind="human")
    with asking(workspace) as client:
        newcomer = Reader(client, workspace.issue_token("newcomer"))
        sizes = {page.address: len(newcomer.get(page.address).content) for page in PAGES if "{" not in page.address}
    assert {address: size for address, size in sizes.items() if size > MAX_PAGE_BYTES} == {}


def test_files_may_be_kept_for_ever_under_their_version(lead: Reader) -> None:
    linked = re.findall(r'"(/static/[^"]+)"', lead.get("/").text)
    assert {address.partition("?")[0].rpartition("/")[2] for address in linked} == set(STATIC_TYPES)
    for address in linked:
        answer = lead.client.get(address)
        assert "immutable" in answer.headers["cache-control"]
        again = lead.client.get(address, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
    assert lead.client.get("/static/layout.html").status_code == 404
    assert lead.client.get("/static/..%2Ftemplates%2Flayout.html").status_code == 404


def test_every_address_stands_once() -> None:
    addresses = [page.address for page in PAGES]
    assert len(set(addresses)) == len(addresses)
    keys = [page.key for page in PAGES if page.key]
    assert len(set(keys)) == len(keys)


def offered(html: str) -> list[tuple[str, str, str]]:
    """Address, name and value of whatever the filters of a page let somebody choose."""
    found: list[tuple[str, str, str]] = []
    for address, form in re.findall(r'<form(?![^>]*method)[^>]* action="([^"]+)"[^>]*>(.*?)</form>', html, re.DOTALL):
        found += [(address, name, A_DAY) for name in re.findall(r'<input name="(\w+)" type="date"', form)]
        for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form, re.DOTALL):
            found += [(address, name, value) for value in re.findall(r"<option[^>]*>([^<]+)<", options)]
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if "{" not in page.address], ids=lambda page: page.address)
def test_what_a_filter_offers_is_answered(page: Page, lead: Reader) -> None:
    for address, name, value in offered(lead.get(page.address).text):
        if value not in {"any", "anything"}:
            assert lead.get(address, params={"q": "release", name: value}).status_code == 200, (address, name, value)


def test_a_day_of_a_calendar_is_all_of_that_day(lead: Reader, workspace: Workspace) -> None:
    made = workspace.as_member("swe-1").save("a quokkaport of today")
    day, before = made.created_at.date().isoformat(), (made.created_at - timedelta(days=1)).date().isoformat()
    address = "/search.json"
    assert lead.get(address, params={"q": "quokkaport", "as_of": day}).json()["hits"]
    assert not lead.get(address, params={"q": "quokkaport", "as_of": before}).json()["hits"]
    for name, given, there in (("since", day, True), ("until", day, True), ("until", before, False)):
        rows = lead.get("/audit.json", params={name: given}).json()["changes"]
        assert (made.id in {row["change"]["memory_id"] for row in rows}) is there
        listed = lead.get("/browse/all.json", params={name: given}).json()["rows"]
        assert (made.id in {row["id"] for row in listed}) is there


def test_a_search_that_found_as_many_as_it_shows_offers_more(lead: Reader, workspace: Workspace) -> None:
    workspace.as_member("swe-1").save_many([{"content": f"quokkaport number {n} of many"} for n in range(30)])
    for limit, more in (("10", "25"), ("25", "50"), ("50", None)):
        answer = lead.get("/search", params={"q": "quokkaport", "limit": limit}).text
        assert re.findall(r"Show (\d+)<", answer) == ([more] if more else [])


def test_no_list_shows_a_filter_that_it_does_not_keep_to(lead: Reader, workspace: Workspace) -> None:
    mine = workspace.as_member("eng-director")
    for kind in ("fact", "decision"):
        mine.delete(mine.save(f"a deleted {kind}", type=kind).id)
        mine.update(mine.save(f"an archived {kind}", type=kind).id, status="archived")
        mine.save(f"a standing {kind}", type=kind, path="/kept")
    for address in ("/browse?path=/kept&type=fact", "/browse/archived?type=fact", "/browse/deleted?type=fact"):
        rows = lead.get(address.replace("?", ".json?")).json()["rows"]
        assert {row["type"] for row in rows} == {"fact"}, address


def test_a_filter_keeps_what_the_address_says_besides(lead: Reader) -> None:
    shown = lead.get("/browse/all?order=title&path=/projects&type=lesson").text
    assert '<input type="hidden" name="order" value="title">' in shown
    assert '<input type="hidden" name="path" value="/projects">' in shown
    assert "<option selected>lesson<" in shown


@pytest.mark.parametrize("given", ["queue stands still", "{id}", "http://127.0.0.1:7077/memory/{id}?as_of=2026-01-01"])
def test_a_memory_that_somebody_misses_is_named_by_its_address_or_its_words(
    given: str, lead: Reader, workspace: Workspace
) -> None:
    [runbook] = workspace.as_member("eng-director").list(limit=1, tags="operations")
    missing = given.format(id=runbook.id)
    answer = lead.get("/search.json", params={"q": "prices are integers", "missing": missing}).json()
    assert answer["missing"]["memory"]["id"] == runbook.id
    lost = lead.get("/search.json", params={"q": "prices are integers", "missing": "zeppelinquokka"}).json()
    assert lost["missing"] == "No memory has these words."


@pytest.mark.parametrize(
    ("address", "status"), [("/nothing", 404), ("/memory/a/b", 404), (f"/inbox/{ABSENT}/approve", 405)]
)
def test_an_address_that_is_no_page_is_told_in_the_dress_of_the_others(
    address: str, status: int, lead: Reader, client: TestClient
) -> None:
    answer = lead.get(address, accept="text/html,*/*")
    assert answer.status_code == status
    assert "Nothing here" in answer.text
    assert "eng-director" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    signed_out = client.get(address, headers={"accept": "text/html"})
    assert (signed_out.status_code, "eng-director" in signed_out.text) == (status, False)
    for headers, path in (({}, address), ({"accept": "text/html"}, f"/api{address}")):
        assert lead.get(path, **headers).headers["content-type"] == "application/problem+json"


def test_whoever_sends_a_form_too_late_is_told_what_to_do(lead: Reader, workspace: Workspace) -> None:
    address = opened(next(form for form in FORMS if form.address.endswith("/edit")), lead, workspace)
    signed_out = lead.client.post(address, data={"content": "changed"}, headers={"origin": ORIGIN})
    assert signed_out.status_code == 401
    assert 'href="/sign-in"' in signed_out.text
    origin, form = {"origin": ORIGIN}, f"{ORIGIN}/new?type=fact"
    led_back = lead.client.post("/new", data={"content": "kept"}, headers={**origin, "referer": form})
    assert 'href="/sign-in?next=%2Fnew%3Ftype%3Dfact"' in led_back.text
    elsewhere = lead.client.post(
        "/new", data={"content": "kept"}, headers={**origin, "referer": "http://evil.example/x"}
    )
    assert 'href="/sign-in"' in elsewhere.text
    assert "Bearer" not in signed_out.text
    other_session = lead.post(address, token="0" * 32).text
    assert "load the page again" in other_session
    assert "An admin" not in other_session


def test_every_page_has_a_title_of_its_own(lead: Reader, workspace: Workspace) -> None:
    assert len({page.title for page in PAGES}) == len(PAGES)
    found: dict[str, str] = {}
    for page in PAGES:
        shown = lead.get(opened(page, lead, workspace)).text
        [title] = re.findall(r"<title>([^<]+) · Mycel</title>", shown)
        assert title not in found, (page.address, found.get(title))
        found[title] = page.address
        [heading] = re.findall(r"<h1[^>]*>(.*?)</h1>", shown)
        assert re.sub(r"<[^>]+>", "", heading).strip(), page.address
    refused = lead.get("/memory/01a1ec7d-4681-7aa8-a04e-d9724d2a8682").text
    assert re.findall(r"<title>([^<]+) ·", refused) == re.findall(r"<h1>([^<]+)</h1>", refused) == ["Nothing here"]


def test_pages_are_packed_for_the_reader_alone_and_files_for_everybody(lead: Reader) -> None:
    takes = {"accept-encoding": "gzip, br"}
    for address in ("/", "/docs", "/browse/all"):
        plain = lead.ask(address, {"accept-encoding": "identity", "sec-fetch-site": "same-origin"})
        packed = lead.ask(address, {**takes, "sec-fetch-site": "same-origin"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in packed.headers["vary"]
        assert int(packed.headers["content-length"]) < len(plain.content) / 2.5, address
        assert packed.text == plain.text
        # Another page that has the browser ask learns nothing by how long the answer is.
        for site in ("cross-site", "same-site"):
            assert "content-encoding" not in lead.ask(address, {**takes, "sec-fetch-site": site}).headers
        assert "content-encoding" not in lead.ask(address, takes).headers
    for name in ("mycel.css", "mycel.js"):
        answer = lead.client.get(f"/static/{name}", headers=takes)
        assert answer.headers["content-encoding"] == "gzip"
        again = lead.client.get(f"/static/{name}", headers={**takes, "if-none-match": answer.headers["etag"]})
        assert (again.status_code, "content-encoding" in again.headers) == (304, False)
    assert lead.client.get("/openapi.json", headers=takes).headers["content-encoding"] == "gzip"
    refused = lead.client.get("/openapi.json", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers


def test_a_fault_of_the_service_is_a_page_in_a_browser(lead: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise RuntimeError("quokkasecret")

    monkeypatch.setattr("mycel.surfaces.web.routes._shared", fail)
    shown = lead.get("/browse/all", accept="text/html,*/*")
    assert (shown.status_code, shown.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "Something went wrong" in shown.text
    assert "quokkasecret" not in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert lead.get("/browse/all").headers["content-type"] == "application/problem+json"
