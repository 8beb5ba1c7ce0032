"""The power-cut simulator itself, on plain SQLite: it must spare what is promised and take what is not."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import apsw
import pytest

from tests.reliability.powercut import RecordingDisk, State

TRANSACTIONS = 250
ROWS_EACH = 3
STATES = 150


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[RecordingDisk[int]]:
    (tmp_path / "store").mkdir()
    with RecordingDisk[int](tmp_path / "store", sync_seconds=0) as disk:
        yield disk


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store" / "memories.db"


def open_through(disk: RecordingDisk[int], store: Path, *, journal: str, synchronous: str) -> apsw.Connection:
    connection = apsw.Connection(str(store), vfs=disk.name)
    connection.pragma("journal_mode", journal)
    connection.pragma("synchronous", synchronous)
    return connection


def open_raw(disk: RecordingDisk[int], store: Path) -> apsw.VFSFile:
    flags = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_READWRITE
    return apsw.VFSFile(disk.name, str(store), [flags, 0])


def create_tables(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE memory (batch INTEGER, part INTEGER, text TEXT, PRIMARY KEY (batch, part))")
    # A second tree, so that a half-written state shows as an index that disagrees with its table.
    connection.execute("CREATE INDEX memory_by_text ON memory (text)")


def write_batch(connection: apsw.Connection, batch: int, random: Random) -> None:
    rows = [(batch, part, f"{random.random()} " * random.randrange(1, 40)) for part in range(ROWS_EACH)]
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO memory VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")


def record(disk: RecordingDisk[int], store: Path, *, synchronous: str, journal: str = "wal") -> None:
    """A few hundred acknowledged transactions, with checkpoints of every kind and reopenings in between."""
    random = Random(1)
    connection = open_through(disk, store, journal=journal, synchronous=synchronous)
    create_tables(connection)
    for batch in range(TRANSACTIONS):
        write_batch(connection, batch, random)
        disk.mark(batch)
        if batch % 23 == 11:
            kind = random.choice(("PASSIVE", "FULL", "RESTART", "TRUNCATE"))
            connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
        if batch % 97 == 50:
            connection.close()
            connection = open_through(disk, store, journal=journal, synchronous=synchronous)
    connection.close()


def verdict(state: State[int], folder: Path) -> str:
    """Let ordinary SQLite recover the state: fine, lost (an acknowledged batch is gone) or corrupt."""
    state.write_to(folder)
    try:
        connection = apsw.Connection(str(folder / "memories.db"))
        try:
            connection.pragma("synchronous", "OFF")
            return judge(connection, state)
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError):
        return "corrupt"
    finally:
        shutil.rmtree(folder)


def judge(connection: apsw.Connection, state: State[int]) -> str:
    if connection.pragma("integrity_check") != "ok":
        return "corrupt"
    if not connection.table_exists("main", "memory"):
        return "lost" if state.acknowledged else "fine"
    parts = dict(connection.execute("SELECT batch, count(*) FROM memory GROUP BY batch ORDER BY batch"))
    in_order = list(parts) == list(range(len(parts)))
    if not in_order or any(count != ROWS_EACH for count in parts.values()):
        return "corrupt"
    return "fine" if set(state.acknowledged) <= parts.keys() else "lost"


def verdicts(disk: RecordingDisk[int], folder: Path, *, count: int = STATES) -> Counter[str]:
    return Counter(verdict(state, folder / "state") for state in disk.states(count=count, random=Random(7)))


def test_full_loses_and_corrupts_nothing(disk: RecordingDisk[int], store: Path, tmp_path: Path) -> None:
    record(disk, store, synchronous="FULL")

    assert verdicts(disk, tmp_path) == {"fine": STATES}


def test_normal_loses_acknowledged_rows_but_corrupts_nothing(
    disk: RecordingDisk[int], store: Path, tmp_path: Path
) -> None:
    record(disk, store, synchronous="NORMAL")

    found = verdicts(disk, tmp_path)

    assert found["lost"] > STATES // 10
    assert found["corrupt"] == 0


def test_off_corrupts(disk: RecordingDisk[int], store: Path, tmp_path: Path) -> None:
    record(disk, store, synchronous="OFF")

    found = verdicts(disk, tmp_path)

    assert found["corrupt"] > STATES // 10
    assert found["lost"] > 0


def test_a_rollback_journal_may_come_back_unless_its_deletion_is_synced(
    disk: RecordingDisk[int], store: Path, tmp_path: Path
) -> None:
    record(disk, store, synchronous="FULL", journal="delete")

    found = verdicts(disk, tmp_path)

    assert found["lost"] > 0
    assert found["corrupt"] == 0


def test_extra_syncs_the_deletion_of_the_rollback_journal(
    disk: RecordingDisk[int], store: Path, tmp_path: Path
) -> None:
    record(disk, store, synchronous="EXTRA", journal="delete")

    assert verdicts(disk, tmp_path) == {"fine": STATES}


def test_readers_and_checkpoints_of_other_threads_run_beside_the_writer(store: Path, tmp_path: Path) -> None:
    store.parent.mkdir()
    done = threading.Event()

    def read_and_checkpoint() -> None:
        reader = open_through(disk, store, journal="wal", synchronous="FULL")
        while not done.is_set():
            reader.execute("SELECT count(*) FROM memory").fetchall()
            reader.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        reader.close()

    # Syncs that take time let a checkpoint's sync of the WAL overlap the writer's next append.
    with RecordingDisk[int](store.parent, name="powercut-threads", sync_seconds=0.0003) as disk:
        writer = open_through(disk, store, journal="wal", synchronous="FULL")
        create_tables(writer)
        with ThreadPoolExecutor() as pool:
            readers = [pool.submit(read_and_checkpoint) for _ in range(3)]
            for batch in range(TRANSACTIONS):
                write_batch(writer, batch, Random(batch))
                disk.mark(batch)
            done.set()
            for reader in readers:
                reader.result()
        writer.close()

    assert verdicts(disk, tmp_path) == {"fine": STATES}


def test_an_acknowledgement_before_the_commit_is_caught(disk: RecordingDisk[int], store: Path, tmp_path: Path) -> None:
    connection = open_through(disk, store, journal="wal", synchronous="FULL")
    create_tables(connection)
    for batch in range(TRANSACTIONS):
        disk.mark(batch)
        write_batch(connection, batch, Random(batch))
    connection.close()

    assert verdicts(disk, tmp_path)["lost"] > 0


def test_the_end_of_the_log_holds_everything_that_was_synced(disk: RecordingDisk[int], store: Path) -> None:
    connection = open_through(disk, store, journal="wal", synchronous="FULL")
    create_tables(connection)
    write_batch(connection, 0, Random(0))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute("DELETE FROM memory WHERE part = 0")
    on_disk = {path.name: path.read_bytes() for path in store.parent.iterdir() if path.suffix != ".db-shm"}

    states = [disk.cut(at=disk.end, seed=seed).contents for seed in range(20)]

    assert states == [on_disk] * 20


def test_a_truncate_may_not_have_happened(disk: RecordingDisk[int], store: Path) -> None:
    connection = open_through(disk, store, journal="wal", synchronous="FULL")
    create_tables(connection)
    before = store.with_name("memories.db-wal").read_bytes()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    wals = {bytes(disk.cut(at=disk.end, seed=seed).contents["memories.db-wal"]) for seed in range(50)}

    assert wals == {before, b""}


def test_closes_what_a_failed_test_left_open(store: Path) -> None:
    store.parent.mkdir()
    with RecordingDisk[int](store.parent, name="powercut-left-open") as disk:
        connection = open_through(disk, store, journal="wal", synchronous="FULL")

    with pytest.raises(apsw.ConnectionClosedError):
        connection.pragma("user_version")


def test_a_cut_keeps_none_all_or_some_sectors_of_an_unsynced_write_and_may_tear_one(
    disk: RecordingDisk[int], store: Path
) -> None:
    wal = open_raw(disk, store)
    wal.xWrite(b"o" * 4096, 0)
    wal.xSync(apsw.SQLITE_SYNC_NORMAL)
    wal.xWrite(b"n" * 4096, 0)
    wal.xClose()

    ends = [bytes(disk.cut(at=disk.end, seed=seed).contents[store.name]) for seed in range(300)]

    assert {b"o" * 4096, b"n" * 4096} <= set(ends)
    assert any(end.startswith(b"o" * 512) and b"n" * 512 in end for end in ends)
    sectors = {end[start : start + 512] for end in ends for start in range(0, 4096, 512)}
    assert any(set(sector) == set(b"no") and sector.startswith(b"n") for sector in sectors)
    assert any(set(sector) > set(b"no") for sector in sectors)


def test_a_sync_does_not_cover_what_was_written_while_it_ran(store: Path) -> None:
    store.parent.mkdir()
    with RecordingDisk[int](store.parent, name="powercut-slow", sync_seconds=0.2) as disk:
        wal = open_raw(disk, store)
        wal.xWrite(b"before", 0)
        with ThreadPoolExecutor() as pool:
            sync = pool.submit(wal.xSync, apsw.SQLITE_SYNC_NORMAL)
            time.sleep(0.05)
            assert not sync.done()
            wal.xWrite(b"during", 6)
        sync.result()
        wal.xClose()

    ends = {bytes(disk.cut(at=disk.end, seed=seed).contents[store.name]) for seed in range(50)}

    assert {b"before", b"beforeduring"} <= ends
    assert all(end.startswith(b"before") for end in ends)


def test_a_new_file_may_be_missing_until_its_folder_is_synced(disk: RecordingDisk[int], store: Path) -> None:
    connection = open_through(disk, store, journal="delete", synchronous="OFF")
    create_tables(connection)
    unsynced = {"memories.db" in disk.cut(at=disk.end, seed=seed).contents for seed in range(50)}
    connection.pragma("synchronous", "FULL")
    write_batch(connection, 0, Random(0))
    synced = {"memories.db" in disk.cut(at=disk.end, seed=seed).contents for seed in range(50)}
    connection.close()

    assert unsynced == {True, False}
    assert synced == {True}


def test_a_store_that_was_there_before_is_durable_from_the_start(disk: RecordingDisk[int], store: Path) -> None:
    earlier = apsw.Connection(str(store))
    create_tables(earlier)
    earlier.close()
    content = store.read_bytes()

    connection = open_through(disk, store, journal="wal", synchronous="FULL")
    write_batch(connection, 0, Random(0))
    connection.close()

    assert disk.cut(at=0, seed=0).contents == {"memories.db": content}


def test_a_store_put_in_place_of_another_is_durable_once_opened(disk: RecordingDisk[int], store: Path) -> None:
    record(disk, store, synchronous="FULL")
    restored = apsw.Connection(str(store.with_name("restored.db")))
    create_tables(restored)
    restored.close()
    store.with_name("restored.db").replace(store)
    content = store.read_bytes()

    connection = apsw.Connection(str(store), vfs=disk.name)
    connection.pragma("user_version")
    states = [disk.cut(at=disk.end, seed=seed).contents for seed in range(20)]
    connection.close()

    assert states == [{"memories.db": content}] * 20


def test_a_state_can_be_made_again_from_its_position_and_seed(disk: RecordingDisk[int], store: Path) -> None:
    record(disk, store, synchronous="NORMAL")

    for state in disk.states(count=20, random=Random(3)):
        assert disk.cut(at=state.position, seed=state.seed) == state


def test_refuses_files_outside_the_recorded_folder(disk: RecordingDisk[int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="outside the recorded folder"):
        apsw.Connection(str(tmp_path / "elsewhere.db"), vfs=disk.name)


def test_refuses_to_mix_a_state_with_other_files(disk: RecordingDisk[int], store: Path, tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "memories.db-wal").write_bytes(b"stale")

    with pytest.raises(FileExistsError, match="not empty"):
        disk.cut(at=0, seed=0).write_to(tmp_path / "used")
