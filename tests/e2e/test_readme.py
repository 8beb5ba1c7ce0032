"""The README's examples give the output printed there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.service_process import started_on_demand

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def run(command: list[str], folder: Path, data: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(data), "MYCEL_DATA": str(data / "mycel")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_the_command_line_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (example,) = blocks("console")
    printed: list[str] = []
    with started_on_demand(tmp_path / "mycel"):
        for line in example.splitlines():
            if line.startswith("$ "):
                command = line.removeprefix("$ ").replace(".venv/bin/", f"{Path(sys.executable).parent}/")
                printed += [line, *run(["bash", "-c", command], ROOT, tmp_path).splitlines()]
    assert ID.sub("ID", "\n".join(printed)) == ID.sub("ID", example.strip())


def test_the_python_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (example,), (expected,) = blocks("python"), blocks("text")
    assert run([sys.executable, "-c", example], tmp_path, tmp_path) == expected
