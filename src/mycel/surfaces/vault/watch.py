"""Keeping a vault in agreement: files are looked at four times a second, changes in memory come by the live stream."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.change import Change
from mycel.errors import Conflict, MycelError, NotFound, Unavailable
from mycel.surfaces.vault.plan import Problem
from mycel.surfaces.vault.scan import Signature
from mycel.surfaces.vault.sync import Allowed, Vault, VaultReport

POLL_SECONDS = 0.25
# Of one processor: looking at very many files takes its time, and then it is done less often.
MOST_OF_A_PROCESSOR = 0.2
# Time passes for what expires, and no change tells of it.
READ_ANEW_SECONDS = 300.0
RETRY_SECONDS = 2.0


class ChangeStream:
    """Follows the team's changes in a thread of its own, which ends with the process, or after it was told to."""

    def __init__(self, memory: MemoryApi, after: int) -> None:
        self._memory = memory
        self._after = after
        self.is_over = threading.Event()
        self.changes: queue.SimpleQueue[Change] = queue.SimpleQueue()
        self.came = threading.Event()
        threading.Thread(target=self._follow, name="vault changes", daemon=True).start()

    def _follow(self) -> None:
        while not self.is_over.is_set():
            try:
                for change in self._memory.changes(self._after, follow=True):
                    self._after = change.sequence
                    self.changes.put(change)
                    self.came.set()
            except MycelError:
                # A service that is away comes back, and tells from there on.
                self.is_over.wait(RETRY_SECONDS)

    def taken(self) -> list[Change]:
        self.came.clear()
        found: list[Change] = []
        while not self.changes.empty():
            found.append(self.changes.get())
        return found


def watch_vault(
    vault: Vault,
    memory: MemoryApi,
    allowed: Allowed,
    *,
    say: Callable[[str], None],
    poll: float = POLL_SECONDS,
    until: threading.Event | None = None,
) -> Generator[VaultReport]:
    """Reports of the rounds that did something, or met something new; for ever, unless it is told to end."""
    first = vault.sync(allowed)
    yield first
    stream = ChangeStream(memory, vault.view.cursor)
    try:
        yield from _rounds(vault, stream, allowed, first.problems, say=say, poll=poll, until=until or threading.Event())
    finally:
        stream.is_over.set()


def _rounds(
    vault: Vault,
    stream: ChangeStream,
    allowed: Allowed,
    told: tuple[Problem, ...],
    *,
    say: Callable[[str], None],
    poll: float,
    until: threading.Event,
) -> Generator[VaultReport]:
    seen: dict[str, Signature] = {}
    read_at = time.monotonic()
    said = ""
    while not until.is_set():
        began = time.monotonic()
        try:
            looked = vault.look()
            spent = time.monotonic() - began
            is_old = began - read_at > READ_ANEW_SECONDS
            changes = stream.taken()
            if changes:
                vault.view.follow(changes, vault.known_fields())
            if is_old:
                vault.read_anew()
                read_at = began
            if changes or is_old or looked != seen:
                # What is edited during the round is news after it; so is what the round wrote, which is looked at once.
                seen = looked
                report = vault.sync(allowed)
                if not report.is_agreed or report.problems != told:
                    yield report
                told = report.problems
            said = ""
        except (Conflict, Unavailable, NotFound, OSError) as error:
            spent = time.monotonic() - began
            # Once: it stays so until somebody does something about it.
            if str(error) != said:
                say(f"{error} (watching on)")
            said = str(error)
            vault.read_anew()
            time.sleep(RETRY_SECONDS)
        stream.came.wait(max(poll, spent / MOST_OF_A_PROCESSOR))
