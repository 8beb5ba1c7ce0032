"""Every page in a real browser: nothing keeps people from using it, nothing stored leaves its box, nothing hangs over.

Light and dark, at the width of a phone and of a desk, with the text of a hostile agent in every place that takes text.
"""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.page import Page as Row
from mycel.surfaces.web.site import PAGES

PHONE, DESK = {"width": 360, "height": 780}, {"width": 1280, "height": 900}
# So little that whatever can be scrolled is.
LITTLE = {"width": 360, "height": 400}
UNFOLD = "document.querySelectorAll('details:not([data-try])').forEach((each) => each.open = true)"
# So low that every page is scrolled through.
LOW = {"width": 1280, "height": 480}
# As by Tab and by Shift+Tab: whatever something else covers at its middle.
HIDDEN_FOCUS = """(others) => {
  const all = [...document.querySelectorAll("main :is(a, button, input, select, textarea, summary)")]
    .filter((each) => !others || !each.matches(others));
  const isHidden = (each) => {
    each.focus();
    const box = each.getClientRects()[0];
    // Of what is nearly as high as the window a part is enough.
    if (document.activeElement !== each || !box || box.height > innerHeight / 2) return false;
    const seen = document.elementFromPoint(box.left + Math.min(box.width / 2, 20), box.top + box.height / 2);
    return !each.contains(seen);
  };
  return [...all.filter(isHidden), ...all.reverse().filter(isHidden)].map((each) => each.outerHTML.slice(0, 120));
}"""
# Tables of ours of which something is out of sight; those that somebody wrote are scrolled.
CUT_TABLES = """() => [...document.querySelectorAll("main table:not(.prose *)")]
  .filter((each) => each.scrollWidth > each.clientWidth).length"""
SEVERE = {"serious", "critical"}
# Whatever asks for it has left its box.
ELSEWHERE = "evil.example"
HOSTILE = (
    f"hostile <script>window.ran = 1</script> <img src=http://{ELSEWHERE}/i onerror='window.ran=1'> "
    f"![i](http://{ELSEWHERE}/m.png) [x](javascript:window.ran=1) <style>main{{display:none}}</style> "
    f"<div style='position:fixed;inset:0'>over</div> red \x1b[31mtext turned \u202ecod.exe <svg onload=window.ran=1> "
    + "a"
    * 400
)
# Marks that pile up, words without an end, lines from the right, and what markdown takes for something.
PILE, RTL = "Zal" + "go\u0301\u0316\u033f" * 3 + "\u0489" * 400, "نص طويل يبدأ من اليمين " * 40
HUGE = (PILE, RTL, "w" * 60_000, "#" * 9_000, "| " * 900)
# Where a text is cut, marks of both of its parts meet.
PILED = re.compile("[\u0300-\u036f\u0489]{16}")
OTHERS = ("/sign-in", "/docs", "/memory/01a1ec7d-4681-7aa8-a04e-d9724d2a8682", "/browse/all?order=x", "/search?q=retry")


@pytest.fixture(scope="module")
def addresses(workspace: Workspace) -> list[str]:
    """Those of the table with something on them, and of what stands in no table."""
    lead = workspace.as_member("eng-director")
    said = [item.memory.id for item in lead.inbox() if item.memory.evidence_ref]
    long = lead.save("\n\n".join(f"See [page {n}](https://example.org/{n}) of it." for n in range(40)), title="long").id
    found = [f"/inbox/{said[0]}", f"/inbox/{said[0]}?edit=1", f"/memory/{long}"]
    return [*(opened(row, workspace) for row in PAGES), *OTHERS, *found]


def opened(row: Row, workspace: Workspace) -> str:
    lead = workspace.as_member("eng-director")
    [memory] = lead.list(limit=1, tags="retry")
    id: str = memory.id
    if row.address.startswith("/inbox/"):
        id = next(iter(lead.inbox())).memory.id
    elif row.address.startswith("/source/"):
        id = next(iter(lead.sources.list())).id
    elif row.address.startswith("/agents/"):
        id = "swe-1"
    elif row.address.endswith("/receipt"):
        id = lead.save("to be purged").id
        lead.purge(id)
    return row.address.replace("{id:path}", "shop-318").replace("{id}", id)


def signed_in(browser: Browser, workspace: Workspace, url: str, **options: object) -> BrowserContext:
    context = browser.new_context(base_url=url, **options)  # pyright: ignore[reportArgumentType]
    context.add_cookies([{"name": "mycel_token", "value": workspace.issue_token("eng-director"), "url": url}])
    return context


def hangs_over(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize(("colours", "size"), [("light", DESK), ("dark", LITTLE)])
def test_nothing_keeps_people_from_using_it(
    browser: Browser, workspace: Workspace, address: str, addresses: list[str], colours: str, size: dict[str, int]
) -> None:
    context = signed_in(browser, workspace, address, viewport=size, color_scheme=colours, bypass_csp=True)
    page = context.new_page()
    found: dict[str, list[str]] = {}
    for one in addresses:
        answer = page.goto(one)
        assert one in OTHERS or (answer and answer.ok), f"{one}: how is it opened with something on it?"
        page.evaluate(UNFOLD)
        # The size of what a finger has to hit is off by default.
        options = {"rules": {"target-size": {"enabled": True}}}
        broken = [rule for rule in Axe().run(page, options=options).response["violations"] if rule["impact"] in SEVERE]
        if broken:
            found[one] = [f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in broken]
    context.close()
    assert found == {}


def test_nothing_hangs_over_on_a_phone(
    browser: Browser, workspace: Workspace, address: str, addresses: list[str]
) -> None:
    context = signed_in(browser, workspace, address, viewport=PHONE)
    page = context.new_page()
    found: dict[str, int] = {}
    for one in addresses:
        page.goto(one)
        if over := hangs_over(page) or page.evaluate(CUT_TABLES):
            found[one] = over
    context.close()
    assert found == {}


# On a phone tabs are moved sideways, and a browser is content with a part of the one that has the focus.
@pytest.mark.parametrize(("size", "others"), [(LOW, ""), (LITTLE, ".tabs a")])
def test_what_has_the_focus_is_never_behind_what_stays_in_its_place(
    browser: Browser, workspace: Workspace, address: str, addresses: list[str], size: dict[str, int], others: str
) -> None:
    context = signed_in(browser, workspace, address, viewport=size)
    page = context.new_page()
    found: dict[str, list[str]] = {}
    for one in addresses:
        page.goto(one)
        if hidden := page.evaluate(HIDDEN_FOCUS, others):
            found[one] = hidden
    context.close()
    assert found == {}


def test_hostile_text_stays_in_its_box_on_every_page(browser: Browser, address: str, workspace: Workspace) -> None:
    made = poison(workspace)
    context = signed_in(browser, workspace, address, viewport=PHONE)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for one in [*(opened(row, workspace) for row in PAGES), *made]:
        page.goto(one)
        assert page.evaluate("window.ran") is None, one
        assert hangs_over(page) == 0, one
        assert page.locator("main").is_visible(), one
        assert not page.locator("main script, main style, main [style], main iframe").count(), one
        shown = page.locator("main").inner_text()
        assert "\x1b" not in shown, one
        assert "\u202e" not in shown, one
        assert not PILED.search(shown), one
    context.close()
    assert [url for url in asked if not url.startswith(address)] == []


def poison(workspace: Workspace) -> list[str]:
    """Hostile text in whatever an agent can fill; the addresses that show it alone."""
    agent, lead = workspace.as_member("swe-2"), workspace.as_member("eng-director")
    plain = HOSTILE.replace("\x1b", "").replace("\u202e", "")
    memory = agent.save(HOSTILE, title=plain[:80], tags=["<b>bold</b>"], rationale=HOSTILE, alternatives=[HOSTILE])
    agent.update(memory.id, content=f"{HOSTILE} again", reason=plain[:100])
    waiting = agent.save(f"{HOSTILE} waits", needs_review=True)
    agent.link(waiting.id, memory.id, "contradicts")
    agent.knowledge.upsert(key="hostile", value=HOSTILE)
    task = "<img src=x onerror=window.ran=1>"
    agent.fail_task(task_id=task, what_went_wrong=HOSTILE, approach=plain)
    agent.activity.report(text=HOSTILE, occasion="prompt", session_id="<script>window.ran=1</script>")
    said = [{"role": "user", "content": HOSTILE}]
    source = agent.capture_session(said, session_id="<script>s</script>", title=plain[:80]).source_id
    rejected = agent.save(f"{HOSTILE} rejected", needs_review=True)
    lead.reject(rejected.id, plain[:150])
    lead.delete(agent.save(f"{HOSTILE} deleted").id)
    huge: list[str] = []
    for number, text in enumerate(HUGE):
        short = text.strip()[:60]
        one = agent.save(text, title=short, rationale=text[:2_000], project=f"p{number}", tags=[short.split()[0][:30]])
        agent.update(one.id, content=f"{text} again", reason=short)
        other = agent.save(f"{text} waits", needs_review=True)
        agent.link(other.id, one.id, "contradicts")
        agent.knowledge.upsert(key=f"huge-{number}", value=text)
        agent.fail_task(task_id=short, what_went_wrong=text[:5_000], approach=short)
        agent.activity.report(text=text, occasion="prompt", session_id=short)
        huge += [
            f"/memory/{one.id}",
            f"/memory/{one.id}/edit",
            f"/inbox/{other.id}",
            f"/search?q={quote(text[:2_000])}",
        ]
    workspace.run_pending()
    return [
        *huge,
        *(f"/memory/{memory.id}", f"/memory/{memory.id}?view=raw", f"/memory/{memory.id}/edit"),
        *(f"/memory/{memory.id}/purge", f"/memory/{memory.id}/supersede", f"/inbox/{waiting.id}", f"/source/{source}"),
        *("/agents/swe-2", "/tasks/%3Cimg%20src=x%20onerror=window.ran=1%3E", "/search?q=hostile"),
        "/search?q=%3Cscript%3Ewindow.ran=1%3C/script%3E",
    ]
