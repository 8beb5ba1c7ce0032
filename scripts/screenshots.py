"""Makes the pictures of the pages in the README and the guide: `python -m scripts.screenshots`.

A team of invented roles works in a workspace of its own, and a real Chromium looks at its pages.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from tests.serving import served
from tests.storefront import fill

FOLDER = Path(__file__).parent.parent / "docs" / "images"
READER = "eng-director"
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
        fill(folder)
        with open_workspace(folder) as workspace, served(workspace) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
            for picture in pictures(workspace):
                take(browser, picture, url, workspace.issue_token(READER))
            browser.close()


def pictures(workspace: Workspace) -> list[Picture]:
    lead, agent = workspace.as_member(READER), workspace.as_member("swe-2")
    standing = agent.save("The nightly index is rebuilt at two.", type="fact", project="shop")
    waiting = agent.save("The nightly index is rebuilt at four.", type="fact", project="shop", needs_review=True)
    agent.link(waiting.id, standing.id, "contradicts")
    [lesson] = lead.list(limit=1, tags="retry")
    return [
        Picture("inbox", f"/inbox/{waiting.id}"),
        Picture("search", "/search?q=how+do+we+release", opens="Reasons"),
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
