"""What `make serve` and `make test` install, and that they say so."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("Makefile", "pyproject.toml", "requirements", "scripts/set_up.py")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    for name in FILES:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    return tmp_path


def names(requirements: Iterable[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9._-]+", line) for line in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


def pinned(list_name: str) -> set[str]:
    return names((ROOT / "requirements" / list_name).read_text("utf-8").splitlines())


def planned(clone: Path, target: str) -> str:
    return subprocess.run(["make", "-n", target], cwd=clone, capture_output=True, text=True, check=True).stdout


def test_serving_installs_what_mycel_needs_and_no_package_of_development() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed, building = names(project["project"]["dependencies"]), names(project["dependency-groups"]["build"])
    assert needed <= pinned("run.txt")
    assert building <= pinned("build.txt")
    assert not (names(project["project"]["optional-dependencies"]["dev"]) - needed | building) & pinned("run.txt")
    assert pinned("run.txt") < pinned("dev.txt")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize(("target", "kind"), [("demo", "run"), ("serve", "run"), ("test", "dev"), ("docs", "docs")])
def test_a_target_sets_up_what_it_needs(clone: Path, target: str, kind: str) -> None:
    assert f"scripts/set_up.py {kind}\n" in planned(clone, target)


def test_only_the_documentation_has_the_generator_of_its_site() -> None:
    assert "zensical" in pinned("docs.txt")
    for name in ("constraints.txt", "run.txt", "dev.txt", "service.txt", "build.txt"):
        assert "zensical" not in pinned(name)


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_whoever_has_set_up_the_tests_can_serve_at_once(clone: Path) -> None:
    (clone / ".venv").mkdir()
    for stamp in (".ready", ".installed"):
        (clone / ".venv" / stamp).touch()
    assert "set_up.py" not in planned(clone, "serve")


def test_set_up_says_what_it_does_and_why_it_failed(clone: Path) -> None:
    (clone / "requirements" / "run.txt").write_text("no-such-package==1 --hash=sha256:" + "0" * 64 + "\n")
    command = [sys.executable, "scripts/set_up.py", "run"]
    offline = {"PIP_NO_INDEX": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, env=offline)
    assert done.returncode == 1
    assert "Setting up Mycel in .venv" in done.stdout
    assert "No matching distribution" in done.stderr
    assert "The packages of requirements/run.txt could not be installed" in done.stderr
