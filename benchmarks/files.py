"""Memory as files: how soon an edit in a vault is found, and how long it takes to read a note in a mount."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter

import mycel
from benchmarks.report import Figure, show
from benchmarks.texts import Notes
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import Misconfigured
from mycel.surfaces.mount.mounting import require_fuse
from mycel.surfaces.vault.agreement import KnownVaults
from mycel.surfaces.vault.sync import Allowed, Vault
from mycel.surfaces.vault.watch import watch_vault

MOST_FOUND_SECONDS, MOST_CAT_MS = 1.0, 5.0
EDITS, CATS = 20, 300
_COMMAND = "from mycel.surfaces.entry import main; main()"


def run(folder: Path, *, quick: bool) -> None:
    count = 1_000 if quick else 10_000
    with mycel.open(folder / "data") as workspace:
        memory = workspace.as_operator()
        notes = Notes()
        for start in range(0, count, 500):
            memory.save_many(
                [{"content": notes.text(), "path": f"/notes/{number % 40}"} for number in range(start, start + 500)]
            )
        figures = [*_vault(folder, memory, count)]
    try:
        require_fuse()
        figures += _mount(folder, count)
    except Misconfigured as error:
        print(f"No mount: {error}")
    show("Memory as files", figures)


def _vault(folder: Path, memory: TeamMemory, count: int) -> list[Figure]:
    vault = Vault(folder / "vault", memory, known=KnownVaults(folder / "known"))
    is_over, is_ready = threading.Event(), threading.Event()

    def watch() -> None:
        with vault.opened():
            for _ in watch_vault(vault, memory, Allowed(), say=print, until=is_over):
                is_ready.set()

    watching = threading.Thread(target=watch)
    started = perf_counter()
    watching.start()
    is_ready.wait()
    first = perf_counter() - started
    files = sorted(path for path in (folder / "vault").rglob("*.md"))
    waits: list[float] = []
    for path in Random(1).sample(files, EDITS):
        time.sleep(0.3)
        text = path.read_text()
        id = text.partition("id: ")[2].partition("\n")[0]
        mark = f"Edited at {time.time_ns()}."
        path.write_text(f"{text}{mark}\n")
        waits.append(_until(lambda id=id, mark=mark: mark in memory.get(id).content))
    is_over.set()
    watching.join()
    slowest = max(waits)
    return [
        Figure(f"first sync of {count:,} notes", f"{first:.1f} s", "", ""),
        Figure(
            "an edit in a watched vault is found",
            f"{median(waits) * 1000:.0f} ms, the slowest of {EDITS} {slowest * 1000:.0f} ms",
            "",
            "",
            "within 1 s",
            slowest <= MOST_FOUND_SECONDS,
        ),
    ]


def _mount(folder: Path, count: int) -> list[Figure]:
    found: list[Figure] = []
    for way in ("off", "auto"):
        with _mounted(folder, way) as root:
            files = sorted(str(path) for path in (root / "notes").rglob("*.md"))
            assert len(files) == count
            chosen = Random(2).choices(files, k=CATS)
            read = [_ms(lambda one=one: Path(one).read_bytes()) for one in chosen]
            cat = [_ms(lambda one=one: _cat(one)) for one in chosen]
            plain = folder / "plain.md"
            plain.write_bytes(Path(chosen[0]).read_bytes())
            beside = [_ms(lambda one=plain: _cat(one)) for _ in chosen]
        where = "on local files" if way == "off" else "over a service"
        p95 = quantiles(cat, n=20)[-1]
        told = f"{median(cat):.1f} ms, p95 {p95:.1f} ms (without the process {median(read):.2f} ms)"
        beside_told = f"{median(beside):.1f} ms for a plain file"
        ratio = f"{median(cat) / median(beside):.1f}"
        found.append(Figure(f"`cat` in a mount {where}", told, beside_told, ratio, "at most 5 ms", p95 <= MOST_CAT_MS))
    return found


@contextmanager
def _mounted(folder: Path, way: str) -> Generator[Path]:
    root = folder / f"mount-{way}"
    environment = {**os.environ, "MYCEL_DATA": str(folder / "data"), "MYCEL_DAEMON": way}
    line = [sys.executable, "-c", _COMMAND]
    process = subprocess.Popen([*line, "mount", str(root)], env=environment)
    try:
        _until(lambda: root.is_dir() and (root / "recent").is_dir())
        yield root
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        subprocess.run([*line, "stop"], env=environment, check=True)


def _until(condition: Callable[[], bool]) -> float:
    started = perf_counter()
    while not condition():
        time.sleep(0.002)
    return perf_counter() - started


def _cat(file: str | Path) -> None:
    subprocess.run(["cat", file], check=True, capture_output=True)


def _ms(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return (perf_counter() - started) * 1000
