"""A real browser on the pages of a filled workspace."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from tests.serving import served
from tests.storefront import fill

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
_QUIET = "background-networking component-update sync gpu"
FLAGS = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in _QUIET.split(" "))]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder: Path = tmp_path_factory.mktemp("pages")
    fill(folder)
    with open_workspace(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with served(workspace) as url:
        yield url


# Not for a whole run: its loop would be in the way of tests that have one of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()
