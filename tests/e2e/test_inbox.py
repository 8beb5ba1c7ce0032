"""The inbox in a real browser: by keyboard alone, by two at once, without scripts, and live in seven tabs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from tests.e2e.test_pages import press
from tests.serving import served
from tests.storefront import fill

TABS = 7


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    fill(tmp_path)
    with open_workspace(tmp_path) as opened:
        yield opened


@pytest.fixture
def address(workspace: Workspace) -> Iterator[str]:
    with served(workspace) as url:
        yield url


def signed_in(browser: Browser, workspace: Workspace, address: str, who: str, *, scripts: bool = True) -> Page:
    context = browser.new_context(base_url=address, java_script_enabled=scripts)
    context.add_cookies([{"name": "mycel_token", "value": workspace.issue_token(who), "url": address}])
    return context.new_page()


def decide(page: Page, key: str, *, then: str) -> None:
    """A key, and what the page says once it has done its work."""
    press(page, key)
    page.get_by_role("status").get_by_text(then).wait_for()


def test_five_are_reviewed_by_keyboard_alone(browser: Browser, workspace: Workspace, address: str) -> None:
    agent, lead = workspace.as_member("swe-2"), workspace.as_member("eng-director")
    standing = agent.save("The cache holds sessions for an hour.", project="shop")
    texts = ("The cache holds sessions for one hour.", "to edit", "to reject", "to look at later", "to approve")
    first, *_ = waiting = [agent.save(text, project="shop", needs_review=True) for text in texts]
    agent.link(first.id, standing.id, "related_to")
    page = signed_in(browser, workspace, address, "eng-director")
    page.goto("/")
    press(page, "g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox")
    press(page, "j")
    press(page, "Enter")
    page.get_by_role("button", name="Approve a").wait_for()
    decide(page, "a", then="Approved")
    # Who does not see the page is told what was done and what stands there now.
    assert page.locator("#told").inner_text() == f"Approved: it stands from now on. {page.locator('h1').inner_text()}"
    decide(page, "h", then="Put off")
    decide(page, "z", then="Back")
    decide(page, "h", then="Put off")
    decide(page, "x", then="Rejected")
    press(page, "e")
    page.locator("#content").wait_for()
    press(page, "Control+A")
    page.keyboard.type("a x h m j z edited")
    press(page, "Tab")
    press(page, "Enter")
    page.get_by_role("status").get_by_text("Approved").wait_for()
    decide(page, "m", then="Merged")
    merged, edited, rejected, put_off, approved = (lead.get(one.id) for one in waiting)
    assert [one.status for one in (merged, edited, rejected, put_off, approved)] == [
        *("superseded", "active", "archived", "inbox", "active")
    ]
    assert edited.content == "a x h m j z edited"
    decide(page, "z", then="Taken back")
    assert lead.get(merged.id).status == "inbox"
    page.goto("/inbox/rejected")
    assert "to reject" in page.locator("main").inner_text()
    page.context.close()


def test_two_reviewers_on_one_item_see_each_other_and_what_was_decided(
    browser: Browser, workspace: Workspace, address: str
) -> None:
    waiting = workspace.as_member("swe-2").save("The port is 1.", needs_review=True)
    first = signed_in(browser, workspace, address, "eng-director")
    second = signed_in(browser, workspace, address, "maintainer")
    with first.expect_response("**/claim"):
        first.goto(f"/inbox/{waiting.id}")
    second.goto(f"/inbox/{waiting.id}")
    second.get_by_text("eng-director is looking at it too").wait_for()
    second.locator(".live.on").wait_for()
    first.locator(".live.on").wait_for()
    workspace.as_member("swe-2").update(waiting.id, content="The port is 2.")
    first.get_by_text("Somebody has changed it since you opened it").wait_for()
    press(first, "a")
    first.get_by_role("alert").get_by_text("version 2").wait_for()
    assert "The port is 2." in first.locator(".diff").first.inner_text()
    press(first, "a")
    first.get_by_role("status").get_by_text("Approved").wait_for()
    press(second, "x")
    second.locator("main").get_by_text("Somebody has decided about it already").wait_for()
    assert workspace.as_member("eng-director").get(waiting.id).status == "active"
    for page in (first, second):
        page.context.close()


def test_of_two_that_contradict_each_other_one_is_kept(browser: Browser, workspace: Workspace, address: str) -> None:
    old = workspace.as_member("swe-1").save("The index is rebuilt at night.")
    new = workspace.as_member("swe-2").save("The index is rebuilt every hour.", needs_review=True)
    workspace.as_member("swe-2").link(new.id, old.id, "contradicts")
    page = signed_in(browser, workspace, address, "eng-director")
    page.goto(f"/inbox/{new.id}")
    page.get_by_role("button", name="Keep the candidate").click()
    page.get_by_role("status").get_by_text("Settled").wait_for()
    lead = workspace.as_member("eng-director")
    assert (lead.get(new.id).status, lead.get(old.id).status) == ("active", "contradicted")
    press(page, "z")
    page.get_by_role("status").get_by_text("Taken back").wait_for()
    assert lead.get(old.id).status == "active"
    page.context.close()


def test_what_another_client_writes_arrives_in_seven_tabs_and_a_closed_one_is_followed_by_the_next(
    browser: Browser, workspace: Workspace, address: str
) -> None:
    first = signed_in(browser, workspace, address, "eng-director")
    tabs = [first, *(first.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs:
        tab.goto("/inbox?project=shop")
        tab.locator(".live.on").wait_for()
    agent = workspace.as_member("swe-2")
    agent.save("elsewhere and of no interest here", project="other", needs_review=True)
    agent.save("the first that waits", project="shop", needs_review=True)
    for tab in tabs:
        tab.get_by_role("button", name="1 new", exact=True).wait_for()
    tabs[0].close()
    agent.save("the second that waits", project="shop", needs_review=True)
    for tab in tabs[1:]:
        tab.get_by_role("button", name="2 new", exact=True).wait_for()
    tabs[-1].get_by_role("button", name="2 new").click()
    tabs[-1].get_by_text("the second that waits").first.wait_for()
    tabs[-1].context.close()


def test_everything_in_the_inbox_works_without_scripts(browser: Browser, workspace: Workspace, address: str) -> None:
    lead = workspace.as_member("eng-director")
    page = signed_in(browser, workspace, address, "eng-director", scripts=False)
    page.goto("/inbox")
    before = {item.memory.id for item in lead.inbox()}
    page.get_by_label("Choose: Releases happen on Mondays.").check()
    page.get_by_label("Choose: The checkout page may load fonts").check()
    page.locator("#several").get_by_role("button", name="Reject").click()
    gone = before - {item.memory.id for item in lead.inbox()}
    assert {lead.get(id).status.value for id in gone} == {"archived"}
    page.get_by_role("button", name="Undo").click()
    assert {item.memory.id for item in lead.inbox()} == before
    page.get_by_role("link", name="Check the free space").click()
    page.get_by_title("All that waits from this source").click()
    page.get_by_role("button", name="Approve").last.click()
    assert "Nothing waits" in page.locator("main").inner_text()
    page.context.close()
