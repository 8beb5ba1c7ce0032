"""The distribution is `mycel-memory`; what is imported and typed is `mycel`, which in the index is another project."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import mycel

ROOT = Path(__file__).resolve().parents[2]
# Text written to be learned from or searched, in which anything may stand.
MATERIAL = ("training/judge/material/", "benchmarks/data/", "tests/hostile/")
FOLDERS = ("src", "tests", "docs", "scripts", "benchmarks", "training", "examples", "deploy", "plugins", "requirements")
KINDS = {".py", ".pyi", ".md", ".toml", ".txt", ".yml", ".yaml", ".json", ".js", ".sh", ".html", ".in"}
NOT_MEMORY = r"mycel(?![\w./-])"
OLD = re.compile(
    "|".join(
        (
            r"(?<![\w.])mycel\\?\[",
            r"\b(?:pip|pipx|uv|uvx)\b[^\n`|]*(?:\b(?:install|inject|run|add)\b|--from|--with)[ ='\"]+(?:-\S+ +)*"
            + NOT_MEMORY,
            rf"\b(?:version|distribution|metadata|requires|files)\(['\"]{NOT_MEMORY}['\"]\)",
            rf"^{NOT_MEMORY} ?[=<>~!]=",
            r"mycel \(pyproject",
            r"\bmycel-\d+\.\d+",
        )
    )
)


def texts() -> list[Path]:
    pages = [path for path in ROOT.iterdir() if path.is_file() and (path.suffix in KINDS or path.name == "Makefile")]
    hidden = [path for folder in (".github", ".ci", ".agents", ".claude-plugin") for path in (ROOT / folder).rglob("*")]
    inner = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    inner += [path for path in (ROOT / "deploy").iterdir() if path not in inner]
    own = Path(__file__).resolve()
    return sorted(
        path
        for path in {*pages, *hidden, *inner}
        if path.is_file() and path != own and not path.relative_to(ROOT).as_posix().startswith(MATERIAL)
    )


def test_nothing_calls_the_distribution_by_the_name_of_another_project() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in texts()
        for line in path.read_text("utf-8", errors="replace").splitlines()
        if "mycel" in line and OLD.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "old",
    [
        ".venv/bin/pip install 'mycel[mount]'",
        "pip install mycel",
        "python -m pip install --upgrade mycel\n",
        "uv tool install mycel",
        "uvx --from mycel mycel serve",
        "pipx install 'mycel[llm]'",
        'version("mycel")',
        "importlib.metadata.distribution('mycel')",
        "mycel==0.1.0",
        "    #   mycel (pyproject.toml)",
        "dist/mycel-0.1.0-py3-none-any.whl",
    ],
)
def test_every_old_spelling_is_recognised(old: str) -> None:
    assert OLD.search(old)


@pytest.mark.parametrize(
    "right",
    [
        "pip install 'mycel-memory[mount]'",
        "uv tool install mycel-memory",
        "uvx --from mycel-memory mycel serve",
        "mycel install claude-code",
        "src/mycel/errors.py",
        "dist/mycel_memory-0.1.0-py3-none-any.whl",
        'version("mycel-memory")',
    ],
)
def test_the_command_and_the_package_keep_their_name(right: str) -> None:
    assert not OLD.search(right)


def test_the_version_is_that_of_the_installed_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "mycel-memory"
    assert project["scripts"] == {"mycel": "mycel.surfaces.entry:main"}
    assert mycel.__version__ == version("mycel-memory") == project["version"]


def test_messages_name_extras_that_there_are() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    named = {extra for text in sources for extra in re.findall(r"install_command\([\"']([\w-]+)[\"']\)", text)}
    # A program of one's own follows spans; nothing in Mycel looks for its exporters.
    assert named == set(extras) - {"dev", "otel"}
