"""From a clone and an empty home: what the guide of Postgres shows starts one, and finds by meaning on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import psutil
import pytest

from tests.postgres import MEMORY
from tests.service_process import STOP_SECONDS, eventually

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guides/postgres.md").read_text("utf-8")
[START, *COMMANDS] = re.findall(r"```\n(make serve-postgres\n.*?)```", GUIDE, re.DOTALL)[0].splitlines()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below the folder of the tests: the server runs as a user of its own where they run as root."""
    made = Path(mkdtemp(prefix="mycel-clone-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def variables(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def installed(line: str, folder: Path) -> str:
    """With the programs of these tests, and with a folder of their own."""
    here = line.replace(".venv/bin/", f"{Path(sys.executable).parent}/")
    return here.replace(" .postgres", f" {folder / 'postgres'}")


def recipe(folder: Path) -> str:
    """What `make` runs, without installing anything."""
    options = f"ARGS={folder / 'postgres'} --port 0 --json"
    command = [*START.split(), "--dry-run", options]
    told = subprocess.run(command, cwd=ROOT, env=variables(folder), capture_output=True, text=True, check=True)
    return installed(told.stdout.splitlines()[-1], folder)


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with (folder / "log").open("wb") as log:
        line = ["bash", "-c", f"exec {recipe(folder)}"]
        started = subprocess.Popen(line, cwd=ROOT, env=variables(folder), stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert started.stdout
        first = started.stdout.readline()
        assert first, (folder / "log").read_text()
        yield json.loads(first)["url"]
    finally:
        started.terminate()
        assert started.stdout
        started.stdout.close()
        ended = started.wait(STOP_SECONDS)
    assert ended == 0
    eventually(lambda: not [one for one in psutil.process_iter(["cmdline"]) if str(folder) in str(one.info["cmdline"])])


def test_what_is_saved_is_found_by_meaning_on_a_postgres_started_for_it(folder: Path, url: str) -> None:
    def run(line: str) -> str:
        command, environment = ["bash", "-c", installed(line, folder)], variables(folder)
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    save, search = COMMANDS
    run(save)
    text = save.split('"')[1]
    assert text in run(search)
    assert not {*re.findall(r"\w+", text.lower())} & {*re.findall(r"\w+", search.split('"')[1].lower())} - {"the"}
    doctor = run(".venv/bin/mycel --data .postgres/data doctor --json")
    states = {one["name"]: one["state"] for one in json.loads(doctor)["checks"]}
    assert {states[name] for name in ("database", "schema", "login", "service", "index")} == {"ok"}
    assert url in doctor
