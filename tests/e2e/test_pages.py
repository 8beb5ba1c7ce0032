"""The pages in a real browser: signing in, searching, editing with a conflict, undoing, and seeing changes arrive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from mycel.embedded.workspace import Workspace
from tests.proxy import proxied
from tests.service_process import eventually

# A browser drops the keys that come before its first picture of a page.
_A_PICTURE = "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"


def press(page: Page, key: str) -> None:
    page.evaluate(_A_PICTURE)
    page.keyboard.press(key)


@pytest.fixture
def page(browser: Browser, address: str, workspace: Workspace) -> Iterator[Page]:
    context = browser.new_context(base_url=address)
    context.add_cookies([{"name": "mycel_token", "value": workspace.issue_token("eng-director"), "url": address}])
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    # Of an answer that is an error, as a conflict is, and of none at all the browser tells by itself.
    expected = ("409 (Conflict)", "401 (Unauthorized)", "net::ERR_FAILED")
    assert [one for one in complaints if not any(known in one for known in expected)] == []


def test_a_person_signs_in_by_a_token_and_out_again(browser: Browser, address: str, workspace: Workspace) -> None:
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.goto("/browse/all?type=lesson")
    page.get_by_label("Token").fill(workspace.issue_token("maintainer"))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/browse/all?type=lesson")
    page.locator("details.account summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    context.close()


def test_hits_come_while_somebody_types_with_their_reasons(page: Page) -> None:
    page.goto("/search")
    page.locator("#q").press_sequentially("how do we release")
    # Hits of the first words may stand there before those of all of them.
    first = page.locator(".hits .memory:first-child").filter(has_text="Tuesdays")
    first.locator(".why").wait_for()
    first.get_by_text("Reasons").click()
    assert first.locator(".bars li").count() > 0
    assert "q=how+do+we+release" in page.url


def test_escape_takes_the_words_off_and_what_they_found(page: Page) -> None:
    page.goto("/search?q=how+do+we+release")
    page.locator(".hits").wait_for()
    page.locator("#q").focus()
    press(page, "Escape")
    page.get_by_role("heading", name="Ask as you would ask a colleague").wait_for()
    assert page.locator("#q").input_value() == ""
    assert page.locator(".hits").count() == 0
    assert "q=" not in page.url
    page.locator("#q").press_sequentially("how do we release")
    page.locator(".hits").wait_for()
    # How many there are is told to whom does not see them, and not the whole list.
    soon(page, "/^\\d+ hits?/.test(document.getElementById('told').textContent)")
    assert page.locator("[aria-live]").count() == 0


def test_e_opens_the_form_with_the_focus_in_its_text(page: Page, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("the lamp is off", title="a lamp")
    page.goto(f"/memory/{memory.id}")
    for key in ("e", "r"):
        press(page, key)
        page.locator("#content").wait_for()
        soon(page, "document.activeElement.id === 'content'")
        page.go_back()
        page.get_by_role("link", name="Edit", exact=True).wait_for()


def test_an_edit_that_comes_too_late_shows_both(page: Page, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("the port is 1", title="a port")
    page.goto(f"/memory/{memory.id}/edit")
    workspace.as_member("swe-1").update(memory.id, content="the port is 2")
    page.locator("#content").fill("the port is 3")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("has changed it since you began").wait_for()
    assert "the port is 2" in page.locator("main").inner_text()
    page.get_by_role("button", name="Replace theirs").click()
    page.get_by_text("Saved as a new version").wait_for()
    assert workspace.as_member("swe-1").get(memory.id).content == "the port is 3"


def test_a_delete_is_undone_by_one_key(page: Page, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("to be deleted and brought back")
    page.goto(f"/memory/{memory.id}")
    press(page, "#")
    page.get_by_text("Deleted.").wait_for()
    press(page, "z")
    page.get_by_text("Restored.").wait_for()


def test_the_sheet_of_keys_says_what_the_page_takes(page: Page) -> None:
    page.goto("/browse/all")
    press(page, "?")
    sheet = page.get_by_role("dialog")
    assert "Go to Search" in sheet.inner_text()
    press(page, "Escape")
    press(page, "g")
    page.keyboard.press("s")
    page.wait_for_url("**/search")


def test_a_memory_is_written_down_by_keyboard_alone_and_searched_as_of_a_day(page: Page, workspace: Workspace) -> None:
    page.goto("/")
    press(page, "c")
    page.locator("#content").wait_for()
    page.keyboard.type("The quokkaport is 5433, as c and z say.")
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("Written down").wait_for()
    page.goto("/search?q=quokkaport")
    page.locator(".hits").wait_for()
    page.get_by_label("As of").fill("2020-02-20")
    page.get_by_role("heading", name="Nothing that is likely to help").wait_for()
    page.get_by_label("As of").fill("")
    page.locator(".hits").wait_for()


def test_another_clients_write_arrives_in_every_tab_and_a_seventh_still_loads(page: Page, workspace: Workspace) -> None:
    tabs = [page, *(page.context.new_page() for _ in range(6))]
    for tab in tabs:
        tab.goto("/browse/all")
    tabs[0].locator(".live.on").wait_for()
    workspace.as_member("swe-2").save("something new arrives while you look")
    for tab in tabs:
        tab.get_by_role("button", name="1 new").wait_for()
    tabs[-1].get_by_role("button", name="1 new").click()
    tabs[-1].get_by_text("something new arrives").first.wait_for()


def test_what_is_written_before_anybody_listens_is_told_as_well(page: Page, workspace: Workspace) -> None:
    def late(route: Route) -> None:
        workspace.as_member("swe-2").save("written between the page and its stream")
        route.continue_()

    page.route("**/live/changes*", late)
    page.goto("/browse/all")
    page.get_by_role("button", name="1 new").click()
    page.get_by_text("written between the page").first.wait_for()


def test_everything_but_the_live_works_without_scripts(browser: Browser, address: str, workspace: Workspace) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    context.add_cookies([{"name": "mycel_token", "value": workspace.issue_token("eng-director"), "url": address}])
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Search").fill("idempotency")
    page.keyboard.press("Enter")
    page.locator(".hits a.title").first.click()
    page.get_by_role("link", name="Edit").click()
    page.locator("#title").fill("Charges")
    page.get_by_role("button", name="Save").click()
    assert "Saved as a new version" in page.locator("main").inner_text()
    context.close()


def test_a_task_is_followed_from_the_list_to_its_briefing(page: Page, workspace: Workspace) -> None:
    agent = workspace.as_member("swe-1")
    agent.fail_task(task_id="shop-500", what_went_wrong="It locked the table.", approach="plain CREATE INDEX")
    agent.complete_task(task_id="shop-500", output="Done without a lock.", approach="CREATE INDEX CONCURRENTLY")
    workspace.run_pending()
    page.goto("/")
    press(page, "g")
    page.keyboard.press("t")
    page.wait_for_url("**/tasks")
    page.get_by_role("link", name="shop-500").click()
    shown = page.locator("main").inner_text()
    assert shown.index("CREATE INDEX CONCURRENTLY") < shown.index("plain CREATE INDEX")
    assert page.locator("svg.timeline rect").count() == 2
    assert "It locked the table" in page.locator("pre.as-written").inner_text()
    workspace.as_member("swe-2").episodes.log(task_id="shop-500", action="failed", approach="by hand, at night")
    page.get_by_role("button", name="1 new").click()
    page.get_by_text("by hand, at night").first.wait_for()


def test_an_outsider_sees_nothing(browser: Browser, address: str, workspace: Workspace) -> None:
    known = workspace.as_member("swe-1").save("The vault code is quokkasecret.", tags=["quokkasecret"])
    workspace.add_team("elsewhere")
    workspace.add_member("outsider", team="elsewhere", kind="human", role="lead")
    context = browser.new_context(base_url=address)
    context.add_cookies([{"name": "mycel_token", "value": workspace.issue_token("outsider"), "url": address}])
    page = context.new_page()
    for one in (
        "/",
        "/inbox",
        "/search?q=vault+code",
        "/browse/all",
        "/browse/tags",
        "/audit",
        "/audit/actions",
        "/agents",
    ):
        page.goto(one)
        assert "quokkasecret" not in page.content(), one
        assert "swe-1" not in page.content(), one
    page.goto(f"/memory/{known.id}")
    page.get_by_role("heading", name="Nothing here").wait_for()
    page.goto("/")
    page.locator(".live.on").wait_for()
    workspace.as_member("swe-1").update(known.id, content="The vault code is quokkasecret again.")
    workspace.as_member("outsider").save("a note of the outsider")
    page.get_by_role("button", name="1 new").wait_for()
    context.close()


def test_a_decision_shows_at_once_and_rolls_back_where_the_service_does_not_answer(
    page: Page, workspace: Workspace
) -> None:
    waiting = workspace.as_member("swe-2").save("The lamp is green.", needs_review=True)
    page.goto(f"/inbox/{waiting.id}")
    page.route("**/approve", lambda route: route.abort())
    press(page, "a")
    page.get_by_role("alert").get_by_text("nothing was decided").wait_for()
    assert page.locator(".leaving").count() == 0
    page.unroute("**/approve")
    press(page, "a")
    page.get_by_role("status").get_by_text("Approved").wait_for()
    assert "last=" in page.url
    assert workspace.as_member("eng-director").get(waiting.id).status == "active"


def test_whoever_is_signed_out_meanwhile_is_led_to_sign_in_and_back(page: Page, workspace: Workspace) -> None:
    waiting = workspace.as_member("swe-2").save("The lamp is blue.", needs_review=True)
    page.goto(f"/inbox/{waiting.id}")
    [cookie] = [one for one in page.context.cookies() if one["name"] == "mycel_token"]
    page.context.clear_cookies()
    press(page, "a")
    page.get_by_label("Token").fill(cookie["value"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Approve a").wait_for()
    assert page.url.endswith(f"/inbox/{waiting.id}")


def test_a_call_of_the_api_is_tried_with_the_readers_own_session(page: Page) -> None:
    page.goto("/docs")
    call = page.locator("details.call").filter(has=page.get_by_text("/api/me", exact=True)).first
    call.locator("summary").click()
    call.get_by_role("button", name="Send GET as eng-director").click()
    call.locator("pre").get_by_text("{").or_(call.locator("pre").get_by_text("Error")).wait_for()
    told = call.locator("pre").inner_text()
    assert told.startswith("200")
    assert "eng-director" in told


def test_every_page_works_under_a_path_behind_a_proxy(browser: Browser, workspace: Workspace) -> None:
    with proxied(workspace, prefix="/mycel") as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address}/mycel/browse/all?type=lesson")
        page.get_by_label("Token").fill(workspace.issue_token("eng-director"))
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/mycel/browse/all?type=lesson")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.locator(".memory a.title").first.click()
        page.get_by_role("link", name="Edit").click()
        page.locator("#title").fill("Behind a proxy")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved as a new version").wait_for()
        page.locator(".live.on").wait_for()
        page.goto(f"{address}/mycel/search")
        page.locator("#q").press_sequentially("release")
        page.locator(".hits .memory").first.wait_for()
        assert [url for url in asked if not url.startswith(f"{address}/mycel/")] == []
        context.close()


def soon(page: Page, truth: str) -> None:
    """Wait until an expression holds; Playwright's own waiting would ask the page to run text."""
    eventually(lambda: page.evaluate(truth))


def drafts_in(page: Page) -> list[str]:
    return page.evaluate("Object.keys(localStorage).filter((one) => one.startsWith('mycel draft'))")


def test_text_of_a_closed_page_is_back_until_it_is_saved(page: Page) -> None:
    page.goto("/new")
    page.locator("#content").fill("The quokkadraft is half")
    page.close(run_before_unload=False)
    again = page.context.new_page()
    again.goto("/new")
    again.get_by_role("status").get_by_text("did not save is back").wait_for()
    assert again.locator("#content").input_value() == "The quokkadraft is half"
    again.locator("#content").press_sequentially(" and whole")
    again.get_by_role("button", name="Save").click()
    again.get_by_role("status").get_by_text("Written down").wait_for()
    assert drafts_in(again) == []
    again.goto("/new")
    assert again.locator("#content").input_value() == ""
    again.locator("#content").fill("not wanted")
    again.reload()
    again.get_by_role("button", name="Leave it out").click()
    assert (again.locator("#content").input_value(), drafts_in(again)) == ("", [])


def test_whoever_is_signed_out_while_writing_signs_in_right_there(page: Page, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("the quokkagate is shut", title="a gate")
    page.goto(f"/memory/{memory.id}/edit")
    page.locator("#content").fill("the quokkagate is open")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    sheet = page.get_by_role("dialog")
    sheet.get_by_label("Token").fill("mycel_wrong")
    sheet.get_by_role("button", name="Sign in and send").click()
    sheet.get_by_text("This did not work").wait_for()
    sheet.get_by_label("Token").fill(workspace.issue_token("eng-director"))
    sheet.get_by_role("button", name="Sign in and send").click()
    page.get_by_text("Saved as a new version").wait_for()
    assert workspace.as_member("swe-1").get(memory.id).content == "the quokkagate is open"
    assert drafts_in(page) == []


def test_a_draft_meets_what_others_have_written_meanwhile(page: Page, workspace: Workspace) -> None:
    memory = workspace.as_member("swe-1").save("the quokkaport is 1", title="a quokkaport")
    page.goto(f"/memory/{memory.id}/edit")
    page.locator("#content").fill("the quokkaport is 3")
    page.goto("/")
    workspace.as_member("swe-1").update(memory.id, content="the quokkaport is 2")
    page.goto(f"/memory/{memory.id}/edit")
    assert page.locator("#content").input_value() == "the quokkaport is 3"
    page.get_by_role("button", name="Save").click()
    page.get_by_text("has changed it since you began").wait_for()
    page.goto(f"/memory/{memory.id}/edit")
    assert page.locator("#content").input_value() == "the quokkaport is 3"
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved as a new version").wait_for()
    assert drafts_in(page) == []


def test_a_draft_is_for_its_member_alone_and_goes_when_that_one_signs_out(
    browser: Browser, address: str, workspace: Workspace
) -> None:
    context = browser.new_context(base_url=address)
    page = context.new_page()

    def sign_in(who: str) -> None:
        page.goto("/sign-in?next=/new")
        page.get_by_label("Token").fill(workspace.issue_token(who))
        page.get_by_role("button", name="Sign in").click()
        page.locator("#content").wait_for()

    sign_in("eng-director")
    page.locator("#content").fill("for nobody else")
    context.clear_cookies()
    sign_in("maintainer")
    assert page.locator("#content").input_value() == ""
    assert drafts_in(page) == []
    page.locator("#content").fill("x" * 300)
    soon(page, "Object.keys(localStorage).length > 0")
    page.locator("details.account summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    assert page.evaluate("localStorage.length") == 0
    context.close()


def test_drafts_are_bounded(page: Page) -> None:
    page.goto("/new")
    for number in range(60):
        key = f"mycel draft  eng-director storefront /memory/{number}/edit x"
        page.evaluate("([key, at]) => localStorage.setItem(key, JSON.stringify({at, fields: {}}))", [key, number])
    page.locator("#content").fill("w" * 300_000)
    page.reload()
    assert page.locator("#content").input_value() == ""
    page.locator("#content").fill("short enough")
    soon(page, "Object.keys(localStorage).filter((one) => one.includes('/new ')).length === 1")
    assert len(drafts_in(page)) <= 20
    page.evaluate("localStorage.clear()")


def test_stored_markup_runs_nothing_and_asks_nobody(page: Page, workspace: Workspace, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    memory = workspace.as_member("swe-1").save(
        "x <script>window.ran = 1</script> ![i](http://evil.example/i.png) "
        "<img src=http://evil.example/j onerror='ran=1'>"
    )
    page.goto(f"/memory/{memory.id}")
    assert page.evaluate("window.ran") is None
    assert [url for url in asked if not url.startswith(address)] == []
