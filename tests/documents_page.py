"""The page of the five documents: its rows, and whether each test that it names has passed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/documents.md"
VERDICTS = ("as written", "in another form", "no")
_ROW = re.compile(r"\| (?P<number>[TMLRS]\d+) \| (?P<need>.+?) \| (?P<verdict>.+?) \| (?P<test>.+?) \|")


@dataclass(frozen=True)
class Requirement:
    """A row: the document's letter and a running number, its verdict with the reason, and the test that runs it."""

    number: str
    verdict: str
    test: str

    @property
    def kind(self) -> str:
        return self.verdict.partition(":")[0]


def read_requirements() -> list[Requirement]:
    rows = [_ROW.fullmatch(line) for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| [TMLRS]\d", line)]
    assert all(rows), "a row of the five documents is not four cells"
    return [Requirement(row["number"], row["verdict"], row["test"].strip("`")) for row in rows if row]


def list_unproved(passed: set[str]) -> list[str]:
    """Return a line for each requirement whose test is not among those that passed (node ids without parameters)."""
    return [f"{row.number}: {row.test}" for row in read_requirements() if f"tests/{row.test}" not in passed]
