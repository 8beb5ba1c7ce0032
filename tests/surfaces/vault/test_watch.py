"""Both sides stay in agreement while somebody watches."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import mycel
from mycel.client.workspace import RemoteWorkspace
from mycel.contracts.memory_api import MemoryApi
from mycel.embedded.workspace import Workspace
from mycel.surfaces.vault.agreement import KnownVaults
from mycel.surfaces.vault.sync import Allowed, Progress, Vault, VaultReport
from mycel.surfaces.vault.watch import watch_vault
from tests.serving import served
from tests.surfaces.vault.bench import Bench

PATIENCE = 30.0


@contextmanager
def watched(
    root: Path, memory: MemoryApi, known: Path, kind: type[Vault] = Vault
) -> Iterator[Callable[[], VaultReport]]:
    """What comes next of a watch; the first round is over."""
    reports: queue.Queue[VaultReport] = queue.Queue()
    is_over = threading.Event()
    vault = kind(root, memory, known=KnownVaults(known), settle=0.02)

    def watch() -> None:
        with vault.opened():
            for report in watch_vault(vault, memory, Allowed(), say=lambda _: None, poll=0.02, until=is_over):
                reports.put(report)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        reports.get(timeout=PATIENCE)
        yield lambda: reports.get(timeout=PATIENCE)
    finally:
        is_over.set()
        thread.join(PATIENCE)


def test_edits_of_files_and_changes_in_memory_are_found_by_themselves(lead: Bench) -> None:
    saved = lead.save("Deploys happen on Tuesdays.")
    with watched(lead.root, lead.memory, lead.known) as following:
        path = lead.root / "notes/Deploys happen on Tuesdays.md"
        new = path.with_suffix(".tmp")
        new.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
        new.replace(path)
        assert following().updated == ("notes/Deploys happen on Tuesdays.md",)
        assert lead.memory.get(saved.id).content == "Deploys happen on Wednesdays."
        other = lead.save("Found by itself.")
        assert following().written == ("notes/Found by itself.md",)
        lead.memory.delete(other.id)
        assert following().removed == ("notes/Found by itself.md",)


def test_an_edit_at_the_end_of_a_round_is_found_by_the_next(lead: Bench) -> None:
    """When the files have been looked at, and the round is not over yet."""
    saved = lead.save("Deploys happen on Tuesdays.")

    is_due = threading.Event()
    path = lead.root / "notes/Deploys happen on Tuesdays.md"

    class Interrupted(Vault):
        def sync(self, allowed: Allowed, progress: Progress | None = None) -> VaultReport:
            report = super().sync(allowed, progress)
            if is_due.is_set():
                is_due.clear()
                path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
            return report

    with watched(lead.root, lead.memory, lead.known, Interrupted) as following:
        is_due.set()
        os.utime(path)
        assert following().updated == ("notes/Deploys happen on Tuesdays.md",)
        assert lead.memory.get(saved.id).content == "Deploys happen on Wednesdays."


def test_two_watches_over_a_service_carry_an_edit_from_one_folder_to_the_other(
    workspace: Workspace, lead: Bench, tmp_path: Path
) -> None:
    tokens = {id: workspace.issue_token(id) for id in ("lead-1", "lead-2")}
    lead.save("Deploys happen on Tuesdays.")
    with served(workspace) as url:
        one, other = (mycel.connect(url, token=tokens[id]) for id in tokens)
        roots = tmp_path / "one", tmp_path / "other"
        with (
            one,
            other,
            watched(roots[0], one.me(), tmp_path / "known") as first,
            watched(roots[1], other.me(), tmp_path / "known") as second,
        ):
            path = roots[0] / "notes/Deploys happen on Tuesdays.md"
            path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
            assert first().updated
            assert second().written == ("notes/Deploys happen on Tuesdays.md",)
            assert (roots[1] / "notes/Deploys happen on Tuesdays.md").read_text().endswith("Wednesdays.\n")
            (roots[1] / "notes/new.md").write_text("By the other.\n")
            assert second().saved == ("notes/new.md",)
            assert first().written == ("notes/new.md",)


class Elsewhere(NamedTuple):
    """A service of the same data, on another port each time."""

    url: str
    secret: None = None


def test_a_watch_goes_on_with_the_service_that_took_the_place_of_its_own(
    workspace: Workspace, lead: Bench, tmp_path: Path
) -> None:
    token = workspace.issue_token("lead-2")
    lead.save("Deploys happen on Tuesdays.")
    runs: list[Elsewhere] = []
    root, known = tmp_path / "one", tmp_path / "known"
    with ExitStack() as services, ExitStack() as watching:
        runs.append(Elsewhere(services.enter_context(served(workspace))))
        client = RemoteWorkspace.lasting(runs[0], token=token, locate=lambda: runs[-1])
        watching.enter_context(client)
        report = watching.enter_context(watched(root, client.me(), known))
        services.close()
        path = root / "notes/Deploys happen on Tuesdays.md"
        path.write_text(path.read_text().replace("Tuesdays.\n", "Wednesdays.\n"))
        with served(workspace) as url:
            runs.append(Elsewhere(url))
            assert report().updated
            lead.save("Said after it.")
            assert report().written == ("notes/Said after it.md",)
            watching.close()
