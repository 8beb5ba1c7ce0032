"""Everything users touch is documented."""

from __future__ import annotations

import os
import re
import runpy
import tomllib
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.working_memory import WorkingMemory
from mycel.embedded.workspace import Workspace
from mycel.engine.imports.registry import NAMES
from mycel.settings import Settings, variable_of
from mycel.surfaces.cli.main import build
from mycel.surfaces.mcp.tool import Tool
from mycel.surfaces.mcp.tools import TOOLS
from mycel.surfaces.mcp.working_memory_tools import WORKING

ROOT = Path(__file__).resolve().parents[2]
docs_site = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts/docs_site.py")))
COMMAND_LINE = (ROOT / "docs/reference/command-line.md").read_text("utf-8")
PYTHON = (ROOT / "docs/reference/python.md").read_text("utf-8")
MCP = (ROOT / "docs/reference/mcp.md").read_text("utf-8")
SETTINGS = (ROOT / "docs/reference/settings.md").read_text("utf-8")


def commands(command: object, path: str = "mycel") -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield path
    for name, child in (inner or {}).items():
        yield from commands(child, f"{path} {name}")


@pytest.mark.parametrize("command", sorted(commands(typer.main.get_command(build()))))
def test_every_command_is_in_the_reference(command: str) -> None:
    assert f"`{command}" in COMMAND_LINE


@pytest.mark.parametrize("tool", [*TOOLS, *WORKING], ids=lambda tool: tool.name)
def test_every_tool_is_in_the_reference_with_what_it_takes(tool: Tool) -> None:
    (row,) = [line for line in MCP.splitlines() if line.startswith(f"| `{tool.name}` |")]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[1].strip("`") == tool.does
    assert cells[2] == (", ".join(f"**{word}**" if word in tool.needs else word for word in tool.takes) or "nothing")
    assert cells[3] == (", ".join(sorted(tool.sets)) or "full only")


@pytest.mark.parametrize("made", [Workspace, TeamMemory, WorkingMemory])
def test_every_public_method_is_in_the_reference(made: type) -> None:
    shown = {name: f"`{name}`" if isinstance(value, property) else f"`{name}(" for name, value in vars(made).items()}
    missing = [name for name, words in shown.items() if not name.startswith("_") and words not in PYTHON]
    assert [name for name in missing if name not in {"member_id", "team"}] == []


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda setting: setting.name)
def test_every_setting_is_in_the_reference_with_its_default(setting: Field[Any]) -> None:
    (row,) = [line for line in SETTINGS.splitlines() if line.startswith(f"| `{variable_of(setting.name)}` |")]
    told = row.split("|")[2].strip().strip("`")
    match setting.default:
        case float() as number:
            assert float(told) == number
        case str() | int() as value:
            assert told == str(value)
        case _:
            assert told


@pytest.mark.parametrize("form", NAMES)
def test_every_form_of_imports_is_in_the_guide(form: str) -> None:
    assert f"`{form}`" in (ROOT / "docs/guides/importing.md").read_text("utf-8")


def test_every_extra_is_in_the_guide_with_what_it_costs() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    guide = (ROOT / "docs/guides/installing.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| .+ \| (\d+ \| [\d.]+) \|$", guide, re.MULTILINE))
    assert set(rows) == set(extras) - {"dev"}


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs/decisions"
    pages = {page.name for page in folder.glob("0*.md")}
    assert pages == set(re.findall(r"\((0\d+[^)]*\.md)\)", (folder / "README.md").read_text("utf-8")))


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    listed = [page for _, page in docs_site.pages_of(docs_site.navigation())]
    assert sorted(listed) == sorted(docs_site.sources())


def test_every_page_is_in_llms_txt_by_the_address_of_its_markdown() -> None:
    pages = docs_site.sources()
    texts = {page: docs_site.staged_text(page, pages) for page in pages}
    lines = docs_site.llms_text(docs_site.navigation(), texts).splitlines()
    assert sorted(re.findall(r"^- \[[^]]+\]\(([^)]+)\)", "\n".join(lines), re.MULTILINE)) == sorted(pages)
    assert [line for line in lines if line.startswith("- ") and "): " not in line] == []


def test_a_link_of_a_staged_page_leads_to_a_page_of_the_site_or_is_words_alone() -> None:
    pages = docs_site.sources()
    assert "](reference/documents.md)" not in docs_site.staged_text("project/contributing.md", pages)
    assert "](../reference/documents.md)" in docs_site.staged_text("project/contributing.md", pages)
    assert "](orchestrator.py)" not in docs_site.staged_text("project/examples.md", pages)
    broken = [
        f"{page}: {target}"
        for page in pages
        for _, _, target in docs_site.LINK.findall(docs_site.staged_text(page, pages))
        for path in [target.partition("#")[0]]
        if path and "://" not in path
        for led in [Path(os.path.normpath(Path(page).parent / path)).as_posix()]
        if led not in pages and not (ROOT / "docs" / led).is_file()
    ]
    assert broken == []


def test_built_pages_that_lead_nowhere_or_load_from_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h2 id="there">There</h2>')
    page = tmp_path / "index.html"
    page.write_text('<link href="site.css"><a href="other.html#there">x</a><a href="https://example.org">out</a>')
    assert docs_site.problems(tmp_path) == []
    page.write_text(
        '<script src="https://cdn.example/x.js"></script><img src="//cdn.example/x.png"><a href="other.html#gone">x</a>'
        '<a href="gone.html">x</a><p>Two:\n- one</p>'
    )
    assert docs_site.problems(tmp_path) == [
        "index.html loads https://cdn.example/x.js",
        "index.html loads //cdn.example/x.png",
        "index.html has a list with no empty line before it: one",
        "index.html links to other.html#gone",
        "index.html links to gone.html",
    ]


def pages() -> list[Path]:
    return [
        *ROOT.glob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.md"),
    ]


def anchors(page: Path) -> set[str]:
    """As GitHub makes them from headings: no marks, small letters, a dash for each space."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_no_link_in_the_docs_is_broken() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^):]+)\)", page.read_text("utf-8"))
        for path, _, anchor in [target.partition("#")]
        for led in [page.parent / path if path else page]
        if not led.exists() or (anchor and anchor not in anchors(led))
    ]
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    homes = ("src", "tests", "benchmarks", "training", "examples", "scripts")
    known = [str(path) for home in homes for path in (ROOT / home).rglob("*.py")]
    named = re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8"))
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in known)] == []


def test_every_file_that_the_architecture_names_is_there() -> None:
    package = ROOT / "src/mycel"
    known = {path.name for path in package.rglob("*.*")}
    named = re.findall(r"`([\w/]+\.(?:py|js|sql))`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    homes = (package, package / "stores/sqlite", ROOT)
    gone = [
        name
        for name in named
        if not any((home / name).exists() for home in homes) and ("/" in name or name not in known)
    ]
    assert named
    assert gone == []


def test_where_to_change_what_fits_on_one_page() -> None:
    _, _, table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Where do I change X?")
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert 30 < len(rows) <= 45
