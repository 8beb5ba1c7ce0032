"""The pages for people over a large workspace: their size, how long each takes, and what a real browser sees of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import httpx2

from benchmarks.given_vectors import GivenVectors
from benchmarks.report import Figure, show, show_rows
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.contracts.clock import SystemClock
from mycel.contracts.store import Transaction
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import SqliteStores
from mycel.surfaces.web.rendering import static_file
from mycel.surfaces.web.site import PAGES
from tests.serving import served

MEMORIES, LINKS = 100_000, 1_000_000
QUICK_MEMORIES, QUICK_LINKS = 5_000, 20_000
TEAM, LEAD, AGENTS = "bench", "eng-director", ("swe-1", "swe-2", "swe-3")
PART, LINK_PART = 1_000, 20_000
# Of one memory, as of a document that everything refers to.
HUB_LINKS = 2_000
ROUNDS = 5
MOST_BYTES, MOST_BARE_BYTES, MOST_SECONDS = 200_000, 60_000, 0.5
MOST_PAINT_MS, MOST_AFTER_KEY_MS = 500, 150
DEEP_PAGES = 200
_FILES = {"mycel.css": 20_000, "mycel.js": 25_000}
_TYPES = ("lesson", "fact", "decision", "document")


@dataclass(frozen=True, slots=True)
class Filled:
    """What the addresses of single things need."""

    hub: str
    waiting: str
    purged: str
    source: str


def run(folder: Path, *, quick: bool) -> None:
    memories, links = (QUICK_MEMORIES, QUICK_LINKS) if quick else (MEMORIES, LINKS)
    notes = Notes()
    embedder = GivenVectors(notes)
    data = folder / "workspace"
    started = perf_counter()
    filled = fill(data, memories, links, notes=notes, embedder=embedder)
    print(f"filled with {memories:,} memories and {links:,} links in {perf_counter() - started:.0f} s")
    with open_workspace(data, embedder=embedder) as workspace:
        secret = workspace.issue_token(LEAD)
        # What is made anew after a start is made by the first search.
        workspace.as_member(LEAD).search("anything")
        with served(workspace) as url:
            rows, figures = _pages(url, secret, filled)
            figures += [*_bare(workspace, url), *_files(), *_lists(url, secret), *_browser(url, secret, notes)]
    show_rows(f"Pages: {memories:,} memories, {links:,} links", ["page", "KB", "ms, the median"], rows)
    show("Pages", figures)


def fill(data: Path, memories: int, links: int, *, notes: Notes, embedder: GivenVectors) -> Filled:
    random = Random(9)
    with open_workspace(data, embedder=embedder) as workspace:
        workspace.add_team(TEAM)
        workspace.add_member(LEAD, team=TEAM, role="lead", kind="human")
        for agent in AGENTS:
            workspace.add_member(agent, team=TEAM)
        saved: list[Memory] = []
        for number, first in enumerate(range(0, memories, PART)):
            memory = workspace.as_member(AGENTS[number % len(AGENTS)])
            drafts = [_draft(random, notes, first + place) for place in range(min(PART, memories - first))]
            saved += memory.save_many(drafts)
        workspace.embed_pending()
        filled = _work(workspace, [one.id for one in saved[:200]], notes)
    _link(data, saved, links, random)
    # The index and what follows the log catch up with what was written past them, and are kept.
    with open_workspace(data, embedder=embedder) as workspace:
        workspace.embed_pending()
        workspace.as_member(LEAD).search("anything")
    return filled


def _draft(random: Random, notes: Notes, number: int) -> dict[str, object]:
    project = f"project-{number % 20}"
    return {
        "content": notes.text(),
        "type": _TYPES[number % len(_TYPES)],
        "project": project,
        "path": f"/{project}/{number % 50}",
        "tags": [f"tag-{random.randrange(500)}", f"area-{random.randrange(12)}"],
        "needs_review": number % 20 == 0,
    }


def _work(workspace: Workspace, ids: Sequence[str], notes: Notes) -> Filled:
    """Tasks, sessions and what agents were given, as a team leaves them."""
    agent, lead = workspace.as_member("swe-1"), workspace.as_member(LEAD)
    agent.episodes.log_many(
        [
            {"task_id": f"task-{n % 300}", "action": ("completed", "failed")[n % 3 == 0], "approach": f"way {n % 40}"}
            for n in range(1_000)
        ]
    )
    for number in range(20):
        said = [{"role": "user", "content": notes.text()}, {"role": "assistant", "content": notes.text()}]
        agent.capture_session(said, session_id=f"s-{number}", project="project-1")
        told = "\n".join(f"- [m:{id[:13]}] {notes.text()}" for id in ids[number : number + 8])
        agent.activity.report(
            text=told, occasion="prompt", memory_ids=ids[number : number + 8], session_id=f"s-{number}"
        )
    purged = lead.save("a note to be purged")
    lead.purge(purged.id)
    hub = ids[1]
    for number in range(5):
        lead.update(hub, content=f"{notes.text()}\n\n{number}")
    waiting = next(iter(lead.inbox(limit=1))).memory.id
    return Filled(hub, str(waiting), purged.id, next(iter(agent.sources.list(limit=1))).id)


def _link(data: Path, memories: Sequence[Memory], count: int, random: Random) -> None:
    """By the store itself, many in a transaction: over the API each is one of its own."""
    stores = SqliteStores(data / "teams", clock=SystemClock(), disk=Disk())
    relations = (Relation.RELATED_TO, Relation.SUPPORTS)
    with stores.lease(TeamName(TEAM)) as store:
        for first in range(0, count, LINK_PART):

            def work(transaction: Transaction, first: int = first) -> None:
                for number in range(first, min(first + LINK_PART, count)):
                    start = memories[1] if number < HUB_LINKS else random.choice(memories)
                    end = random.choice(memories).id
                    link = Link(start.id, end, relations[number % 2], MemberId(LEAD), transaction.now)
                    transaction.links.add(link, origin=start)

            store.transact(work)
    stores.close()


def _pages(url: str, secret: str, filled: Filled) -> tuple[list[list[str]], list[Figure]]:
    """Every page of the table, the first time and then the median."""
    rows: list[list[str]] = []
    worst, largest = ("", 0.0), ("", 0)
    with httpx2.Client(base_url=url, cookies={"mycel_token": secret}, timeout=60) as client:
        for page in PAGES:
            for address in _addresses(page.address, filled):
                seconds: list[float] = []
                for _ in range(ROUNDS):
                    started = perf_counter()
                    answer = client.get(address)
                    seconds.append(perf_counter() - started)
                    assert answer.status_code == 200, (address, answer.text[:300])
                worst = max(worst, (address, median(seconds)), key=lambda one: one[1])
                largest = max(largest, (address, len(answer.content)), key=lambda one: one[1])
                rows.append([_short(address), f"{len(answer.content) / 1000:.0f}", f"{1000 * median(seconds):.0f}"])
    return rows, [
        Figure(
            "largest page", f"{largest[1] / 1000:.0f} KB", _short(largest[0]), "", "<= 200 KB", largest[1] <= MOST_BYTES
        ),
        Figure("slowest page", _ms(worst[1]), _short(worst[0]), "", "<= 500 ms", worst[1] <= MOST_SECONDS),
    ]


def _addresses(address: str, filled: Filled) -> list[str]:
    if address == "/search":
        return [address, "/search?q=anything&type=lesson"]
    if address == "/browse/all":
        return [
            address,
            "/browse/all?project=project-3&tags=area-3",
            "/browse/all?order=title",
            "/browse/all?order=-updated_at",
        ]
    if address == "/browse":
        return [address, "/browse?path=/project-3/3"]
    known = {
        "/inbox/": filled.waiting,
        "/source/": filled.source,
        "/agents/": "swe-1",
        "/tasks/": "task-1",
    }
    id = next((value for start, value in known.items() if address.startswith(start)), filled.hub)
    return [re.sub(r"\{id(:path)?\}", filled.purged if address.endswith("/receipt") else id, address)]


def _bare(workspace: Workspace, url: str) -> Iterator[Figure]:
    workspace.add_team("empty")
    workspace.add_member("newcomer", team="empty", kind="human", role="admin")
    with httpx2.Client(base_url=url, cookies={"mycel_token": workspace.issue_token("newcomer")}) as client:
        sizes = {page.address: len(client.get(page.address).content) for page in PAGES if "{" not in page.address}
    largest = max(sizes, key=lambda address: sizes[address])
    aim = f"<= {MOST_BARE_BYTES // 1000} KB"
    yield Figure(
        "largest without content",
        f"{sizes[largest] / 1000:.0f} KB",
        largest,
        "",
        aim,
        sizes[largest] <= MOST_BARE_BYTES,
    )


def _files() -> Iterator[Figure]:
    for name, most in _FILES.items():
        size = len(static_file(name))
        yield Figure(name, f"{size / 1000:.1f} KB", "", "", f"<= {most // 1000} KB", size <= most)


def _lists(url: str, secret: str) -> Iterator[Figure]:
    """A list by cursor: its hundredth page takes as long as its first."""
    with httpx2.Client(base_url=url, cookies={"mycel_token": secret}) as client:
        for address in ("/browse/all", "/audit", "/inbox"):
            seconds: list[float] = []
            cursor: str | None = ""
            while cursor is not None and len(seconds) < DEEP_PAGES:
                started = perf_counter()
                answer = client.get(f"{address}.json", params={"cursor": cursor} if cursor else {})
                seconds.append(perf_counter() - started)
                cursor = answer.json()["next_cursor"]
            first, last = median(seconds[:5]), median(seconds[-5:])
            yield Figure(
                f"{address}, page {len(seconds)}", _ms(last), f"the first: {_ms(first)}", f"{last / first:.1f} x",
                "<= 2 x", last <= 2 * first,
            )  # fmt: skip


def _browser(url: str, secret: str, notes: Notes) -> Iterator[Figure]:
    """In Chromium, where there is one: when something first stands on the page, and when hits follow the last key."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        print("No Chromium is installed: the figures of a browser are left out (on Debian: apt-get install chromium).")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
        context = browser.new_context(base_url=url)
        context.add_cookies([{"name": "mycel_token", "value": secret, "url": url}])
        page = context.new_page()
        for address in ("/", "/browse/all", "/inbox"):
            paints: list[float] = []
            for _ in range(ROUNDS):
                page.goto(address)
                paints.append(page.evaluate(_FIRST_PAINT))
            paint = median(paints)
            yield Figure(
                f"first contentful paint of {address}", f"{paint:.0f} ms", "", "", f"<= {MOST_PAINT_MS} ms",
                paint <= MOST_PAINT_MS,
            )  # fmt: skip
        page.goto("/search")
        page.evaluate(_WATCH)
        waits: list[float] = []
        for _ in range(4 * ROUNDS):
            page.locator("#q").fill("")
            page.wait_for_timeout(400)
            page.locator("#q").press_sequentially(" ".join(notes.rare(2)), delay=20)
            waits.append(page.evaluate(_SWAPPED))
        wait = median(waits)
        yield Figure(
            "results after the last key", f"{wait:.0f} ms", f"the slowest: {max(waits):.0f} ms", "",
            f"<= {MOST_AFTER_KEY_MS} ms", wait <= MOST_AFTER_KEY_MS,
        )  # fmt: skip
        browser.close()


_FIRST_PAINT = """() => new Promise((told) => {
  const known = performance.getEntriesByName("first-contentful-paint")[0];
  if (known) { told(known.startTime); return; }
  new PerformanceObserver((list, observer) => {
    const entry = list.getEntriesByName("first-contentful-paint")[0];
    if (entry) { observer.disconnect(); told(entry.startTime); }
  }).observe({ type: "paint", buffered: true });
})"""
_WATCH = """() => {
  window.pressed = window.swapped = 0;
  addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
  new MutationObserver(() => { window.swapped = performance.now(); })
    .observe(document.querySelector("#results").parentNode, { childList: true });
}"""

# Asked again and again by the page itself: its policy lets no text from outside become a script.
_SWAPPED = """() => new Promise((told) => {
  const look = () => {
    const since = window.swapped - window.pressed;
    if (since > 0) told(since); else setTimeout(look, 5);
  };
  look();
})"""


def _short(address: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "{id}", address)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"
