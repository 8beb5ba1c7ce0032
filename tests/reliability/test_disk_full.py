"""No room, an interrupted statement, a COMMIT that fails: every caller hears the truth about its own write."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import apsw
import pytest

from mycel.domain.memory import Memory
from mycel.errors import Conflict, MycelError, StorageFull, Unavailable
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.transaction import SqliteTransaction
from tests.reliability.crowd import Crowd
from tests.reliability.inspection import find_damage

BIG = "too big for the room there is " * 2000
PLENTY_OF_PAGES = 1_000_000

_vfs_numbers = count()


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path)
    yield crowd
    crowd.close()


def limit_pages(crowd: Crowd, *, free: int) -> None:
    def limit(connection: apsw.Connection) -> None:
        connection.pragma("max_page_count", connection.pragma("page_count") + free)

    crowd.on_writer(limit)


def make_room(crowd: Crowd) -> None:
    crowd.on_writer(lambda connection: connection.pragma("max_page_count", PLENTY_OF_PAGES))


def stored(outcomes: list[object]) -> list[str]:
    return sorted(outcome.content for outcome in outcomes if isinstance(outcome, Memory))


# With few pages left the record itself does not fit; with more, only its words do not, which the word index
# writes when the savepoint is released or the transaction committed.
@pytest.mark.parametrize("free", [12, 16, 24])
@pytest.mark.parametrize("place", [0, 7, 20], ids=["first", "in the middle", "last"])
def test_one_write_without_room_costs_the_others_nothing(crowd: Crowd, place: int, free: int) -> None:
    crowd.save("here before")
    limit_pages(crowd, free=free)
    calls = [partial(crowd.save, f"small {number}") for number in range(20)]
    calls.insert(place, partial(crowd.save, BIG))
    outcomes = crowd.together(calls)
    refused = [outcome for outcome in outcomes if not isinstance(outcome, Memory)]
    assert {type(error) for error in refused} <= {StorageFull}
    assert crowd.contents() == sorted(["here before", *stored(outcomes)])
    if isinstance(outcomes[place], StorageFull):
        assert len(refused) == 1, "the small ones would have fitted"
    make_room(crowd)
    assert crowd.save(BIG).content in crowd.contents()
    assert find_damage(crowd.file) == []


def test_a_store_filled_to_the_brim_holds_exactly_what_was_acknowledged(crowd: Crowd) -> None:
    crowd.save("here before")
    limit_pages(crowd, free=25)

    def save(number: int) -> Memory | Exception:
        try:
            return crowd.save(f"number {number} " + "word " * (number % 7) * 60)
        except MycelError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(save, range(200)))
    refused = [outcome for outcome in outcomes if not isinstance(outcome, Memory)]
    assert refused
    assert {type(error) for error in refused} == {StorageFull}
    assert crowd.contents() == sorted(["here before", *stored(outcomes)])
    make_room(crowd)
    crowd.save("room again")
    assert find_damage(crowd.file) == []


def test_an_interrupted_statement_costs_nobody_a_write(crowd: Crowd) -> None:
    runs: list[str] = []

    def interrupted_once(transaction: SqliteTransaction) -> str:
        runs.append("marked")
        if runs.count("marked") == 1:
            write_interrupted(transaction)
        return "done in the end"

    outcomes = crowd.together(
        [
            *(partial(crowd.save, f"before {number}") for number in range(5)),
            lambda: crowd.store.transact(interrupted_once),
            *(partial(crowd.save, f"after {number}") for number in range(5)),
        ]
    )
    assert outcomes[5] == "done in the end"
    assert runs.count("marked") == 2
    assert stored(outcomes) == crowd.contents()
    assert len(crowd.contents()) == 10
    assert find_damage(crowd.file) == []


def test_after_an_interruption_each_caller_gets_its_own_outcome(crowd: Crowd) -> None:
    memory = crowd.save("a memory that stands")
    saved_once = crowd.save("said once", idempotency_key="once")
    outcomes = crowd.together(
        [
            partial(crowd.save, "new"),
            lambda: crowd.writing.update(crowd.caller, memory.id, {"content": "x", "expected_version": 9}),
            lambda: crowd.store.transact(write_interrupted),
            lambda: crowd.writing.update(crowd.caller, memory.id, {"content": "changed"}),
            partial(crowd.save, "said once", idempotency_key="once"),
        ]
    )
    new, conflict, interrupted, changed, again = outcomes
    assert isinstance(conflict, Conflict)
    assert isinstance(interrupted, Unavailable)
    assert isinstance(changed, Memory)
    assert (changed.version, again) == (2, saved_once)
    assert isinstance(new, Memory)
    assert crowd.contents() == ["changed", "new", "said once"]
    assert find_damage(crowd.file) == []


def write_interrupted(transaction: SqliteTransaction) -> None:
    connection = transaction.connection
    connection.set_progress_handler(lambda: True, 1)
    try:
        connection.execute("UPDATE memories SET title = title || '!'")
    finally:
        connection.set_progress_handler(None)


def test_an_operation_that_fails_leaves_nothing_in_the_batch_it_shared(crowd: Crowd) -> None:
    def save_then_fail(transaction: SqliteTransaction) -> None:
        transaction.connection.execute("INSERT INTO memory_terms (number, terms) VALUES (77, x'00')")
        raise Conflict("after writing")

    outcomes = crowd.together(
        [
            partial(crowd.save, "before"),
            lambda: crowd.store.transact(save_then_fail),
            partial(crowd.save, "after"),
        ]
    )
    assert isinstance(outcomes[1], Conflict)
    assert crowd.contents() == stored(outcomes) == ["after", "before"]
    assert find_damage(crowd.file) == []


@pytest.mark.parametrize("failure", [apsw.IOError, apsw.BusyError, apsw.InterruptError])
def test_a_commit_that_fails_is_the_outcome_of_everyone_in_it(crowd: Crowd, failure: type[apsw.Error]) -> None:
    memory = crowd.save("here before")
    sequence = crowd.store.log.last_sequence()

    def fail() -> bool:
        raise failure("as if the disk had failed")

    crowd.on_writer(lambda connection: connection.set_commit_hook(_after(2, fail)))
    outcomes = crowd.together(
        [
            *(partial(crowd.save, f"lost {number}") for number in range(8)),
            lambda: crowd.writing.update(crowd.caller, memory.id, {"content": "x", "expected_version": 9}),
        ]
    )
    assert all(isinstance(outcome, Unavailable) for outcome in outcomes), outcomes
    assert crowd.store.log.last_sequence() == sequence
    crowd.on_writer(lambda connection: connection.set_commit_hook(None))
    crowd.save("works again")
    assert crowd.contents() == ["here before", "works again"]
    assert find_damage(crowd.file) == []


def _after(calls: int, hook):
    """The first commit is that of the caller who held the others up."""
    seen = count(1)
    return lambda: hook() if next(seen) >= calls else False


class SmallDisk(apsw.VFS):
    """Files of a store together may take no more than `room` bytes; what exceeds it fails as a full disk does."""

    def __init__(self) -> None:
        self.name = f"small-disk-{next(_vfs_numbers)}"
        self.room = 1 << 40
        self.sizes: dict[str, int] = {}
        super().__init__(self.name, "")

    def xOpen(self, name, flags):  # noqa: N802 (SQLite names the methods of a VFS)
        return _SmallDiskFile(self, name, flags)


class _SmallDiskFile(apsw.VFSFile):
    def __init__(self, disk: SmallDisk, name, flags) -> None:
        self._disk = disk
        self._path = name if isinstance(name, str) else name.filename() if name else ""
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        sizes = self._disk.sizes
        size = max(sizes.get(self._path, 0), offset + len(data))
        if sum(sizes.values()) - sizes.get(self._path, 0) + size > self._disk.room:
            raise apsw.FullError("as if the disk were full")
        sizes[self._path] = size
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.sizes[self._path] = newsize
        super().xTruncate(newsize)


def test_a_full_disk_refuses_writes_serves_reads_and_recovers_by_itself(tmp_path: Path) -> None:
    disk = SmallDisk()
    crowd = Crowd(tmp_path, disk=Disk(vfs=disk.name))
    try:
        first = crowd.save("here before")
        disk.room = sum(disk.sizes.values()) + 300_000
        with ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(crowd.save, f"number {number} " + "word " * 900) for number in range(150)]
            outcomes = [call.exception() or call.result() for call in calls]
        refused = [outcome for outcome in outcomes if not isinstance(outcome, Memory)]
        assert refused
        assert {type(error) for error in refused} == {StorageFull}
        assert crowd.contents() == sorted([first.content, *stored(outcomes)])
        disk.room = 1 << 40
        crowd.save("room again")
        assert "room again" in crowd.contents()
    finally:
        crowd.close()
    assert find_damage(crowd.file) == []
    disk.unregister()


def test_a_new_store_on_a_full_disk_is_refused_and_made_once_there_is_room(tmp_path: Path) -> None:
    disk = SmallDisk()
    crowd = Crowd(tmp_path, disk=Disk(vfs=disk.name))
    try:
        for room in range(0, 800_000, 40_000):
            disk.room = room
            try:
                crowd.save("not yet")
            except StorageFull:
                assert crowd.contents() == []
                continue
            break
        assert room > 0
        assert crowd.contents() == ["not yet"]
    finally:
        crowd.close()
    assert find_damage(crowd.file) == []
    disk.unregister()


@pytest.fixture
def small_mount(tmp_path: Path) -> Iterator[Path | None]:
    """A real file system of one megabyte, where the system lets us make one."""
    folder = tmp_path / "mount"
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0 or not _mount(folder, "size=1m"):
        yield None
        return
    yield folder
    subprocess.run(["umount", folder], check=True)


def _mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def test_a_full_file_system_refuses_writes_serves_reads_and_recovers_once_grown(
    small_mount: Path | None,
) -> None:
    if small_mount is None:
        return  # The simulated disk above proves the same wherever nothing can be mounted.
    crowd = Crowd(small_mount)
    try:
        outcomes: list[object] = []
        with ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(crowd.save, f"number {number} " + "word " * 2000) for number in range(200)]
            outcomes = [call.exception() or call.result() for call in calls]
        refused = [outcome for outcome in outcomes if not isinstance(outcome, Memory)]
        assert refused
        assert {type(error) for error in refused} == {StorageFull}
        assert crowd.contents() == stored(outcomes)
        assert _mount(small_mount, "remount,size=16m")
        crowd.save("room again")
        assert "room again" in crowd.contents()
    finally:
        crowd.close()
    assert find_damage(crowd.file) == []
