"""The README's examples give the output printed there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from mycel.client.daemon import find_daemon
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


def test_the_http_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    commands, example = blocks("console")
    asked = [line.removeprefix("$ ") for line in example.splitlines() if line.startswith("$ ")]
    made = [line.removeprefix("$ ") for line in commands.splitlines() if " add " in line]
    with started_on_demand(tmp_path / "mycel"):
        for line in made:
            run(["bash", "-c", here(line)], ROOT, tmp_path)
        daemon = find_daemon(tmp_path / "mycel")
        assert daemon is not None
        # One shell, since the token is kept in it; what it prints for each command ends with a line of its own.
        script = "\n".join(f"{here(line)}\nprintf '\\nEND\\n'" for line in asked)
        printed = run(["bash", "-c", script.replace("http://127.0.0.1:7077", daemon.url)], ROOT, tmp_path)
    shown = [part.strip() for part in printed.split("\nEND\n")[: len(asked)]]
    lines = [text for line, told in zip(asked, shown, strict=True) for text in (f"$ {line}", told) if text]
    assert "\n".join(lines) == example.strip()


def here(line: str) -> str:
    return line.replace(".venv/bin/", f"{Path(sys.executable).parent}/")


def test_the_command_line_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    example = blocks("console")[0]
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
