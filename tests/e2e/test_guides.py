"""What the guides show is what their examples print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
# Each is one program from top to bottom; what a block prints stands right below it.
PAGES = (
    "agents",
    "capturing",
    "reviewing",
    "between-teams",
    "episodes",
    "working-memory",
    "knowledge",
    "artifacts",
    "orchestrating",
    "frameworks",
    "moving",
    "embeddings",
)
# What these print depends on the embedding model, which other tests do without.
BY_MEANING = frozenset({"episodes", "orchestrating"})
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


# A test of its own follows it, since it needs a service; and a list of calls that prints nothing.
ELSEWHERE = frozenset({"following", "finding"})


def test_every_guide_with_an_example_is_run() -> None:
    shown = {page.stem for page in GUIDES.glob("*.md") if BLOCK.search(page.read_text("utf-8"))}
    assert shown == {*PAGES, *ELSEWHERE}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("with_judge")
def test_a_guide_prints_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page in BY_MEANING:
        monkeypatch.delenv("MYCEL_EMBEDDER", raising=False)
    names: dict[str, Any] = {}
    blocks = BLOCK.findall((GUIDES / f"{page}.md").read_text("utf-8"))
    assert blocks
    try:
        for code, shown in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page, "exec"), names)
            assert printed.getvalue() == shown, code
    finally:
        for value in list(names.values()):
            if type(value).__name__ == "Workspace":
                value.close()
