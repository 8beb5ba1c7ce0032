"""The commands of the tutorial, and the mistakes of the page on troubleshooting, print what the pages show."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal import Shell

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = Path(__file__).parents[2] / "src" / "mycel"
BLOCK = re.compile(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
END_OF_ID = re.compile(r"(?<![0-9a-f-])[0-9a-f]{8}(?![0-9a-f-])")
TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\dZ)?|just now|today|http://127\.0\.0\.1:\d+, process \d+")


class Reader:
    """Types what a page shows, with the ids of its own screen in place of those on the page."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._own: dict[str, str] = {}

    def follow(self, script: str, shown: str) -> None:
        """Run a block of a page, and compare what the terminal shows where the page shows something."""
        printed = self._shell.run(self.translate(script))
        if not shown:
            return
        for there, here in zip(ID.findall(shown), ID.findall(printed), strict=False):
            self._own.setdefault(there, here)
        assert TIME.sub("TIME", printed) == TIME.sub("TIME", self.translate(shown.rstrip("\n"))), script

    def translate(self, text: str) -> str:
        """Replace ids of the page, whole or by their ends, by those of this run."""
        text = ID.sub(lambda match: self._own.get(match[0], match[0]), text)
        ends = {there[-8:]: here[-8:] for there, here in self._own.items()}
        return END_OF_ID.sub(lambda match: ends.get(match[0], match[0]), text)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, PATH=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    yield shell
    shell.run('[ -z "$MYCEL_DATA" ] || [ ! -e "$MYCEL_DATA" ] || mycel stop')


def blocks(page: str) -> list[tuple[str, str]]:
    found = BLOCK.findall((DOCS / page).read_text("utf-8"))
    assert found
    return found


def test_the_tutorial_prints_what_it_shows(shell: Shell, tmp_path: Path) -> None:
    reader = Reader(shell)
    for script, shown in blocks("tutorial.md"):
        reader.follow(script, shown)
    assert not (tmp_path / "mycel-tutorial").exists()
