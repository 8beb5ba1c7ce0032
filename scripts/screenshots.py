"""Makes the pictures of the pages in the README and the guide: `python -m scripts.screenshots`.

A team of invented roles works in a workspace of its own, and a real Chromium looks at its pages.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from tests.serving import served
from tests.storefront import fill

FOLDER = Path(__file__).parent.parent / "docs" / "images"
READER = "eng-director"
DAYS = 30
AGENTS = ("swe-1", "swe-2", "reviewer-1")
PARTS = ("orders", "catalogue", "billing", "gateway", "mailer", "inventory")
TEXTS = (
    ("Calls of {part} need a timeout of {number} seconds. Without one a slow answer holds the whole page.", "lesson"),
    ("The {part} service keeps its logs for {number} days; older ones are in the cold bucket.", "fact"),
    (
        "The tests of {part} share one database. Give each worker a schema of its own, or {number} of them fail.",
        "lesson",
    ),
    ("Changes of {part} are shown to a tenth of the customers for {number} hours before all see them.", "decision"),
)
QUESTIONS = ("timeout of calls", "where are the logs", "tests fail together", "how do we release")
WIDTH, HEIGHT = 1200, 720
QUALITY = 70
MAX_BYTES = 150_000


class Picture(NamedTuple):
    """`opens` is the text of what is unfolded before."""

    name: str
    address: str
    colours: str = "light"
    opens: str | None = None


def main() -> None:
    found = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("No Chromium is installed; on Debian: apt-get install chromium")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        clock = ManualClock(datetime.now(UTC) - timedelta(days=DAYS))
        fill(folder, clock=clock)
        live_on(folder, clock)
        with open_workspace(folder) as workspace, served(workspace) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
            for picture in pictures(workspace):
                take(browser, picture, url, workspace.issue_token(READER))
            browser.close()


def live_on(folder: str, clock: ManualClock) -> None:
    """The weeks until today, in which agents write, search, rate and finish tasks."""
    random = Random(3)  # noqa: S311 - pictures, no keys
    with open_workspace(folder, clock=clock) as workspace:
        for day in range(DAYS - 1):
            clock.move(timedelta(days=1))
            for part in random.sample(PARTS, random.randrange(4)):
                text, kind = random.choice(TEXTS)
                author = workspace.as_member(random.choice(AGENTS))
                author.save(text.format(part=part, number=2 * day + 3), type=kind, project="shop", tags=[part])
            asking = workspace.as_member(random.choice(AGENTS))
            for hit in asking.search(random.choice(QUESTIONS)).hits[:2]:
                asking.rate(hit.memory.id, useful=random.random() < 0.8)
        workspace.run_pending()


def pictures(workspace: Workspace) -> list[Picture]:
    lead, agent = workspace.as_member(READER), workspace.as_member("swe-2")
    standing = agent.save("The nightly index is rebuilt at two.", type="fact", project="shop")
    waiting = agent.save("The nightly index is rebuilt at four.", type="fact", project="shop", needs_review=True)
    agent.link(waiting.id, standing.id, "contradicts")
    [lesson] = lead.list(limit=1, tags="retry")
    return [
        Picture("inbox", f"/inbox/{waiting.id}"),
        Picture("search", "/search?q=which+calls+need+a+timeout", opens="Reasons"),
        Picture("memory", f"/memory/{lesson.id}", colours="dark"),
        Picture("home", "/"),
    ]


def take(browser: Browser, picture: Picture, url: str, secret: str) -> None:
    context = browser.new_context(
        base_url=url, viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=picture.colours
    )  # fmt: skip
    context.add_cookies([{"name": "mycel_token", "value": secret, "url": url}])
    page = context.new_page()
    page.goto(picture.address)
    page.locator(".live.on").wait_for()
    if picture.opens:
        page.get_by_text(picture.opens).first.click()
    file = FOLDER / f"{picture.name}.jpg"
    page.screenshot(path=file, type="jpeg", quality=QUALITY)
    context.close()
    if file.stat().st_size > MAX_BYTES:
        sys.exit(f"{file.name} is larger than {MAX_BYTES:,} bytes")


if __name__ == "__main__":
    main()
