"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

VAGUE_NAMES = {"utils", "helpers", "common", "base", "manager", "misc", "core"}
ENVIRONMENT_NAMES = {"environ", "environb", "getenv", "getenvb"}
# The second reads the same settings for hooks, which the first would make slow; a test holds the two together.
ENVIRONMENT_READERS = {"settings.py", "surfaces/hooks/environment.py"}

# Put together from pieces so that this file does not find itself.
FORBIDDEN_TEXTS = ("/" + "root/", "index" + "-url")


def test_no_module_has_a_vague_name(modules: list[Path], package: Path) -> None:
    relative = [path.relative_to(package) for path in modules]
    vague = [str(path) for path in relative if VAGUE_NAMES & {part.strip("_") for part in path.with_suffix("").parts}]
    assert not vague, f"name these modules by what is in them: {vague}"


def test_every_module_says_what_it_is_for(modules: list[Path], package: Path) -> None:
    silent = [str(path.relative_to(package)) for path in modules if not ast.get_docstring(_parse(path))]
    assert not silent, f"these modules have no docstring: {silent}"


def test_only_settings_reads_the_environment(modules: list[Path], package: Path) -> None:
    readers = [
        f"{path.relative_to(package)}:{line}"
        for path in modules
        if path.relative_to(package).as_posix() not in ENVIRONMENT_READERS
        for line in _environment_reads(_parse(path))
    ]
    assert not readers, f"read the environment in settings.py and pass values on: {readers}"


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.environ['A']",
        "import os as system\nsystem.getenv('A')",
        "from os import environ",
        "from pydantic_settings import BaseSettings",
        "import pydantic_settings",
        "import typer\ntyper.Option(envvar='A')",
    ],
)
def test_every_way_to_read_the_environment_is_recognised(source: str) -> None:
    assert list(_environment_reads(ast.parse(source)))


def test_no_file_names_a_place_of_one_machine(repository: Path) -> None:
    if not (repository / ".git").exists():
        pytest.skip("not a git checkout, so build outputs cannot be told from files of the project")
    forbidden = (*FORBIDDEN_TEXTS, str(repository))
    offenders = [
        f"{path.relative_to(repository)}: {text}"
        for path in _project_files(repository)
        for text in forbidden
        if text.encode() in path.read_bytes()
    ]
    assert not offenders, f"these files hold addresses or paths of one machine: {offenders}"


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def _environment_reads(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in ENVIRONMENT_NAMES:
                yield node.lineno
            case ast.ImportFrom(module="os", names=names) if ENVIRONMENT_NAMES & {n.name for n in names}:
                yield node.lineno
            case ast.ImportFrom(module="pydantic_settings"):
                yield node.lineno
            case ast.Import(names=names) if any(n.name == "pydantic_settings" for n in names):
                yield node.lineno
            # typer reads the environment on its own for such an option.
            case ast.keyword(arg="envvar"):
                yield node.lineno
            case _:
                pass


def _project_files(repository: Path) -> list[Path]:
    """Tracked files and those about to be: a slip is found before it is committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = [repository / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_pattern_repeats_a_group_possessively(modules: list[Path], package: Path) -> None:
    """Python before 3.11.5 matches too little by such a group where it holds alternatives; an atomic group is right."""
    possessive = re.compile(r"\)(?:[*+?]|\{+[0-9,]+\}+)\+(?=[^ \n])")
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in modules
        for line in path.read_text("utf-8").splitlines()
        if possessive.search(line)
    ]
    assert found == []
