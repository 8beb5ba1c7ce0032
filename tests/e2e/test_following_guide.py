"""What the guide to following shows is what a service tells."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service_process import environment, service

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs the commands of a shell")

GUIDE = (Path(__file__).parents[2] / "docs/guides/following.md").read_text("utf-8")
BLOCK = re.compile(r"```(console|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
ADDRESS = "127.0.0.1:7077"
# These go on for ever: they are interrupted when they have told as much as the guide shows, and had time for more.
ENDLESS = re.compile(r"^(curl -N|mycel .*watch)")
UNTIL_TOLD = """
set -m
until_told() {
  local lines=$1 told="$MYCEL_DATA.told" asked
  shift
  "$@" > "$told" & asked=$!
  for _ in $(seq 300); do [ "$(grep -c . "$told")" -ge "$lines" ] && break; sleep 0.1; done
  sleep 0.3
  kill -INT "$asked"; wait "$asked"
  cat "$told"
}
"""
VARIES = [
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+\+00:00"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
]


def test_the_guide_shows_what_is_told(tmp_path: Path) -> None:
    """One shell from top to bottom: tokens and ids are kept in it."""
    script = [UNTIL_TOLD]
    expected: list[str] = []
    for asked, answer in examples():
        lines = sum(bool(line.strip()) for line in answer.splitlines())
        endless = f"until_told {lines} " if ENDLESS.match(asked) else ""
        # What is printed for each ends with a line of its own.
        script += [endless + asked, "printf '\\nEND\\n'"]
        expected.append(answer.strip())
    with service(tmp_path / "data") as running:
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        told = subprocess.run(
            ["bash", "-uc", "\n".join(script).replace(ADDRESS, running.url.removeprefix("http://"))],
            env=environment(MYCEL_DATA=str(running.data), PATH=programs),
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            # Whoever runs the tests beside something else may ignore it, and so would the shell.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    found = [part.strip() for part in told.stdout.split("\nEND\n")[: len(expected)]]
    assert [settled(text) for text in found] == [settled(text) for text in expected]


def examples() -> Iterator[tuple[str, str]]:
    """Each command or program, and what is shown below it."""
    for language, code, shown in BLOCK.findall(GUIDE):
        if language == "python":
            yield f"python - <<'PROGRAM'\n{code}PROGRAM", shown
            continue
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            asked, _, answer = part.partition("\n")
            yield asked, answer


def settled(text: str) -> str:
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return text
