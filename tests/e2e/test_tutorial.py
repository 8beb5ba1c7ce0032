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
    shell.run("mycel stop", may_fail=True)


def blocks(page: str, begins: str = "", ends: str = "\0") -> list[tuple[str, str]]:
    """Return the commands of a page, each with what it prints where that is shown, from one heading to another."""
    text = (DOCS / page).read_text("utf-8").partition(begins)[2] if begins else (DOCS / page).read_text("utf-8")
    found = BLOCK.findall(text.partition(ends)[0])
    assert found
    return found


def test_the_tutorial_prints_what_it_shows(shell: Shell, tmp_path: Path) -> None:
    reader = Reader(shell)
    for script, shown in blocks("tutorial.md"):
        reader.follow(script, shown)
    assert not (tmp_path / "mycel-tutorial").exists()


def test_the_first_memory_is_saved_and_found_as_the_page_on_installing_shows(shell: Shell, tmp_path: Path) -> None:
    reader = Reader(shell)
    first, second, third = blocks("install.md", "## Save a first memory", "## Connect your coding agent")
    reader.follow(*first)
    reader.follow(*second)
    printed = shell.run(third[0])
    assert "The service runs at " in printed
    assert "connect one: mycel install" in " ".join(printed.split())
    assert (tmp_path / ".local/share/mycel/workspace.sqlite").exists() or sys.platform != "linux"


def test_the_mistakes_that_the_page_on_troubleshooting_shows_are_answered_so(shell: Shell, tmp_path: Path) -> None:
    tried = [(script, shown) for script, shown in blocks("troubleshooting.md") if shown]
    assert len(tried) >= 10
    for script, shown in tried:
        printed = shell.run(script, may_fail=True)
        assert printed.replace(str(tmp_path), "/home/you") == shown.rstrip("\n"), script
        # The first of them needs a folder with nothing in it, the others one with something.
        shell.run("mycel team add engineering >/dev/null 2>&1")


def test_every_other_message_there_is_one_that_mycel_has() -> None:
    """Word for word but for what `…` stands for, as the source has it between its quotes."""
    page = (DOCS / "troubleshooting.md").read_text("utf-8")
    texts = [path.read_text("utf-8") for path in SOURCE.rglob("*.py")]
    # Texts that go on in the next line, names of values, and marks that a Python text needs.
    known = re.sub(r"\{[^{}]*\}", "…", re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts)))
    shown = {block.strip() for block in re.findall(r"(?<!```\n\n)```text\n(mycel: .*?|this .*?)\n```", page)}
    missing = [text for text in shown if not re.search(pattern(text), known)]
    assert missing == []
    assert len(shown) >= 15


def pattern(message: str) -> str:
    words = re.sub(r"^mycel: (?:[a-z_]+: )?", "", message)
    # A command line shows an address and a port where the source names them.
    words = re.sub(r"127\.0\.0\.1, port 7077: Address already in use", "…", words)
    return ".{0,60}".join(re.escape(part.strip()) for part in words.split("…") if part.strip())
