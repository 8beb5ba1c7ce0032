"""The real stores on a disk that loses power: what was acknowledged is there, and nothing is broken."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import apsw
import pytest

from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import MycelError, NotFound
from mycel.stores.sqlite import write_queue
from mycel.stores.sqlite.database import Disk
from tests.reliability.inspection import find_damage, find_words, team_file
from tests.reliability.powercut import RecordingDisk, State

TEAM = "builders"
MEMBER = "ada"
THREADS = 4
STEPS_PER_THREAD = 14

_disk_numbers = count()


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller was told: the memory exists at a version with this text, or is deleted, purged, scrubbed."""

    id: str
    version: int
    text: str
    outcome: str = "stored"


Record = RecordingDisk[Told]
Recording = Callable[..., Record]


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Recording]:
    """Runs a workload on a disk of its own and hands back what the disk saw."""
    disks: list[Record] = []

    def run(*, seed: int, synchronous: str = "FULL", steps: int = STEPS_PER_THREAD) -> Record:
        number = next(_disk_numbers)
        root = tmp_path / f"disk{number}"
        root.mkdir()
        disk: Record = RecordingDisk(root, name=f"powercut-store-{number}")
        disks.append(disk)
        with open_workspace(root, disk=Disk(vfs=disk.name, synchronous=synchronous)) as workspace:
            _work(workspace, disk, seed=seed, steps=steps)
        return disk

    yield run
    for disk in disks:
        disk.close()


def _work(workspace: Workspace, disk: Record, *, seed: int, steps: int) -> None:
    workspace.add_team(TEAM)
    workspace.add_member(MEMBER, team=TEAM)
    disk.mark(Told(MEMBER, 0, "", "member"))
    memory = workspace.as_member(MEMBER)
    with ThreadPoolExecutor(THREADS) as pool:
        writers = [
            pool.submit(_write, workspace, memory, disk, Random(f"{seed}/{number}"), steps) for number in range(THREADS)
        ]
        for writer in writers:
            writer.result()


def _write(workspace: Workspace, memory: TeamMemory, disk: Record, random: Random, steps: int) -> None:
    """Each thread changes its own memories only, so the order of what it was told is the order of events."""
    own: dict[str, Told] = {}
    for _ in range(steps):
        chosen = random.choice(list(own)) if own and random.random() < 0.6 else None
        told = _save(memory, random) if chosen is None else _change(memory, own.pop(chosen), random)
        disk.mark(told)
        if told.outcome == "stored":
            own[told.id] = told
        if told.outcome == "purged" and workspace.run_pending():
            disk.mark(Told(told.id, told.version, told.text, "scrubbed"))


def _text(random: Random) -> str:
    word = f"w{random.getrandbits(64):016x}w"
    return f"{word} " + "lorem ipsum " * random.choice((1, 1, 1, 40, 900))


def _save(memory: TeamMemory, random: Random) -> Told:
    text = _text(random)
    return Told(memory.save(text, tags=[f"t{random.randrange(9)}"]).id, 1, text)


def _change(memory: TeamMemory, before: Told, random: Random) -> Told:
    kind = random.choices(("update", "delete", "purge"), weights=(6, 2, 3))[0]
    if kind == "update":
        text = _text(random)
        return Told(before.id, memory.update(before.id, content=text).version, text)
    if kind == "delete":
        memory.delete(before.id)
        return Told(before.id, before.version + 1, before.text, "deleted")
    memory.purge(before.id)
    return Told(before.id, before.version, before.text, "purged")


def find_loss(state: State[Told], folder: Path) -> list[str]:
    """Opens the real workspace on what the cut left; what is lost or broken, in words."""
    state.write_to(folder)
    try:
        with open_workspace(folder, disk=Disk(synchronous="OFF")) as workspace:
            problems = _compare(workspace, folder, state.acknowledged)
    except (MycelError, apsw.Error) as error:
        problems = [f"cannot be used: {error!r}"]
    finally:
        shutil.rmtree(folder)
    return [f"{problem} (cut at {state.position}, seed {state.seed})" for problem in problems]


def _compare(workspace: Workspace, folder: Path, acknowledged: tuple[Told, ...]) -> list[str]:
    last = {told.id: told for told in acknowledged}
    if MEMBER in last and workspace.resolve_team(MEMBER) != TEAM:
        return ["an acknowledged member is lost"]
    last.pop(MEMBER, None)
    if not last:
        return []
    operator = workspace.as_operator(TEAM)
    problems = [found for told in last.values() if (found := _lost(operator, told))]
    problems += [f"{team}: {texts}" for team, texts in workspace.check().items()]
    return problems + find_damage(team_file(folder, TEAM))


def _lost(operator: TeamMemory, told: Told) -> str | None:
    """A later change may have been stored without being acknowledged; an earlier state may not be back."""
    receipt = _or_none(operator.receipt, told.id)
    if told.outcome in {"purged", "scrubbed"}:
        if _or_none(operator.get, told.id) is not None:
            return "a purged memory is back"
        if receipt is None or (told.outcome == "scrubbed" and receipt.scrubbed_at is None):
            return "an acknowledged receipt is lost"
        return None
    if receipt is not None:
        return None
    found = _or_none(operator.get, told.id)
    if told.outcome == "deleted":
        return "a deleted memory is back" if found is not None else None
    if found is None:
        was_deleted = _or_none(operator.restore, told.id) is not None
        return None if was_deleted else "an acknowledged memory is lost"
    if found.version < told.version:
        return f"version {told.version} was acknowledged, version {found.version} is there"
    if found.version == told.version and found.content != told.text:
        return "an acknowledged text is another one"
    return None


def _or_none(call: Callable[[str], object], id: str) -> object:
    try:
        return call(id)
    except NotFound:
        return None


def find_losses(disk: Record, folder: Path, *, states: int, seed: int) -> list[str]:
    return [
        problem
        for state in disk.states(count=states, random=Random(seed))
        for problem in find_loss(state, folder / "recovered")
    ]


@pytest.mark.parametrize("seed", range(2))
def test_a_power_cut_loses_nothing_that_was_acknowledged(record: Recording, tmp_path: Path, seed: int) -> None:
    assert find_losses(record(seed=seed), tmp_path, states=60, seed=seed) == []


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(100, 120))
def test_ten_thousand_power_cuts_lose_nothing(record: Recording, tmp_path: Path, seed: int) -> None:
    assert find_losses(record(seed=seed, steps=30), tmp_path, states=500, seed=seed) == []


def test_the_simulator_sees_what_an_unsynced_store_loses(record: Recording, tmp_path: Path) -> None:
    disk = record(seed=5, synchronous="OFF")
    assert find_losses(disk, tmp_path, states=40, seed=5) != []


def test_scrubbed_text_does_not_come_back_with_a_power_cut(record: Recording, tmp_path: Path) -> None:
    checked = 0
    for state in record(seed=6, steps=24).states(count=60, random=Random(6)):
        words = {told.text.split()[0] for told in state.acknowledged if told.outcome == "scrubbed"}
        folder = tmp_path / "cut"
        state.write_to(folder)
        assert find_words(folder, words) == {}, state
        shutil.rmtree(folder)
        checked += len(words)
    assert checked > 0


class FolderLog:
    """What was made and which folders were synced, in order, as seen from Python."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, Path]] = []
        self._paths: dict[int, Path] = {}
        self._lock = threading.Lock()
        real = {"open": os.open, "fsync": os.fsync, "mkdir": os.mkdir}

        def spy_open(path: str | Path, flags: int, *rest: int, **more: int) -> int:
            handle = real["open"](path, flags, *rest, **more)
            with self._lock:
                self._paths[handle] = Path(path)
                if flags & os.O_CREAT:
                    self.events.append(("made", Path(path)))
            return handle

        def spy_fsync(handle: int) -> None:
            real["fsync"](handle)
            with self._lock:
                self.events.append(("synced", self._paths[handle]))

        def spy_mkdir(path: str | Path, *rest: int, **more: int) -> None:
            real["mkdir"](path, *rest, **more)
            with self._lock:
                self.events.append(("made", Path(path)))

        monkeypatch.setattr(os, "open", spy_open)
        monkeypatch.setattr(os, "fsync", spy_fsync)
        monkeypatch.setattr(os, "mkdir", spy_mkdir)

    def told(self) -> None:
        self.events.append(("told", Path()))

    def unsynced_names(self, *, within: Path) -> list[Path]:
        """What was made before the caller was told, in a folder that was not synced between the two.

        The file in which processes queue holds nothing, and is made again where it is missing.
        """
        told = self.events.index(("told", Path()))
        return [
            path
            for position, (event, path) in enumerate(self.events[:told])
            if event == "made" and path.is_relative_to(within) and not path.name.endswith(write_queue.ENDING)
            if ("synced", path.parent) not in self.events[position:told]
        ]

    def synced_folders(self) -> set[Path]:
        told = self.events.index(("told", Path()))
        return {path for event, path in self.events[:told] if event == "synced"}


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> FolderLog:
    return FolderLog(monkeypatch)


def test_the_folders_of_a_new_workspace_are_synced_before_it_can_be_used(folders: FolderLog, tmp_path: Path) -> None:
    data = tmp_path / "new" / "deep" / "data"
    folders.events.clear()
    with open_workspace(data) as workspace:
        workspace.add_team(TEAM)
        folders.told()
    assert folders.unsynced_names(within=tmp_path) == []
    assert {data, data.parent, data.parent.parent, tmp_path} <= folders.synced_folders()


def test_the_folders_of_a_new_store_are_synced_before_the_first_acknowledgement(
    folders: FolderLog, tmp_path: Path
) -> None:
    with open_workspace(tmp_path) as workspace:
        workspace.add_team(TEAM)
        memory = workspace.as_operator(TEAM)
        folders.events.clear()
        memory.save("the first memory of this team")
        folders.told()
    assert ("made", team_file(tmp_path, TEAM)) in folders.events
    assert folders.unsynced_names(within=tmp_path) == []
    assert {tmp_path / "teams" / TEAM, tmp_path / "teams", tmp_path} <= folders.synced_folders()


@pytest.mark.parametrize("left_behind", ["teams", f"teams/{TEAM}", f"teams/{TEAM}/memory.sqlite"])
def test_folders_that_another_process_made_are_synced_all_the_same(
    folders: FolderLog, tmp_path: Path, left_behind: str
) -> None:
    """Whoever made them may have died before it synced them, or may not have got that far yet."""
    with open_workspace(tmp_path) as workspace:
        workspace.add_team(TEAM)
        memory = workspace.as_operator(TEAM)
        made = tmp_path / left_behind
        folder = made.parent if made.suffix else made
        folder.mkdir(parents=True)
        if made.suffix:
            made.touch()
        folders.events.clear()
        memory.save("the first memory of this team")
        folders.told()
    assert {tmp_path / "teams" / TEAM, tmp_path / "teams", tmp_path} <= folders.synced_folders()
