"""Whatever a process does with a workspace that it has open, it keeps the locks that SQLite holds on the files.

Without them another process believes itself alone and cuts the shared index, and this one dies with SIGBUS.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mycel
from mycel import held_files
from mycel.errors import MycelError
from mycel.stores.sqlite import connection as connections
from mycel.stores.sqlite.condition import find_file_problem
from mycel.stores.sqlite.file_access import make_empty, read_left_index, read_start, sync
from mycel.stores.sqlite.repair import make_anew
from tests.reliability.inspection import team_file
from tests.reliability.locks import Lock, locks_of, needs_locks

pytestmark = needs_locks

TEAM = "executive"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def opened(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[mycel.Workspace]:
    """A workspace in the folder that the process works in, whose files a caller can therefore name."""
    monkeypatch.chdir(data.parent)
    with mycel.open(data) as workspace:
        workspace.as_operator().save("The bakery opens at seven.")
        workspace.as_operator().search("bakery")
        yield workspace


def kept(data: Path) -> set[Lock]:
    """The locks that stay for as long as anybody has the files open."""
    return {
        Lock("database", "READ", "1073741826"),
        Lock("database-shm", "READ", "128"),
    } & locks_of(team_file(data, TEAM))


def open_again(workspace: mycel.Workspace, data: Path) -> None:
    """The first write looks at the log before it opens its own connection."""
    with mycel.open(data) as other:
        other.as_operator().search("bakery")
        other.as_operator().save("The bakery closes at six.")
        assert other.damages() == []


def open_by_another_name(workspace: mycel.Workspace, data: Path) -> None:
    link = data.parent / "link"
    link.symlink_to(data, target_is_directory=True)
    open_again(workspace, link)


def look_from_outside(workspace: mycel.Workspace, data: Path) -> None:
    """As a workspace does that knows the team and has its store not open."""
    with mycel.open(data) as other:
        assert other.damages() == []
    assert find_file_problem(team_file(data, TEAM), None, was_made=True) is None


def check(workspace: mycel.Workspace, data: Path) -> None:
    assert not any(workspace.check().values())


def back_up(workspace: mycel.Workspace, data: Path) -> None:
    made = workspace.create_backup()
    assert workspace.check_backup(made.folder).is_sound


def purge_and_scrub(workspace: mycel.Workspace, data: Path) -> None:
    memory = workspace.as_operator()
    memory.purge(memory.save("Not for long.").id)
    workspace.scrub()


def capture_own_file(workspace: mycel.Workspace, data: Path) -> None:
    from mycel.surfaces.cli.material import read_material

    for ending in ("", "-shm"):
        with pytest.raises(MycelError, match="in use"):
            read_material(f"{team_file(data, TEAM)}{ending}")


def import_own_folder(workspace: mycel.Workspace, data: Path) -> None:
    from mycel.surfaces.importing.places import Place

    for place in (team_file(data, TEAM).parent, team_file(data, TEAM), Path(f"{team_file(data, TEAM)}-shm")):
        with contextlib.suppress(MycelError):
            found = Place(place)
            for entry in found.entries():
                with contextlib.suppress(OSError), entry.open() as file:
                    file.read(10)
            if (tables := found.tables()) is not None:
                assert tables.columns("memories")


def import_own_file_as_archive(workspace: mycel.Workspace, data: Path) -> None:
    for ending in ("", "-shm", "-wal"):
        with pytest.raises(MycelError):
            workspace.as_operator().import_(Path(f"{team_file(data, TEAM)}{ending}"))


def register_own_file(workspace: mycel.Workspace, data: Path) -> None:
    """Through another workspace, to which this file is one of the folder that the process works in."""
    with mycel.open(data.parent / "another") as another:
        for ending in ("", "-shm"):
            with pytest.raises(MycelError, match="in use"):
                another.as_operator().artifacts.register(path=f"data/teams/{TEAM}/memory.sqlite{ending}")


def repair(workspace: mycel.Workspace, data: Path) -> None:
    import apsw

    with pytest.raises(apsw.BusyError):
        make_anew(team_file(data, TEAM))


def use_the_files_directly(workspace: mycel.Workspace, data: Path) -> None:
    database = team_file(data, TEAM)
    assert read_start(database, 6) == b"SQLite"
    assert read_left_index(database) is None
    for file in database.parent.iterdir():
        sync(file)
    with pytest.raises(FileExistsError):
        make_empty(database)


WAYS: list[Callable[[mycel.Workspace, Path], None]] = [
    open_again,
    open_by_another_name,
    look_from_outside,
    check,
    back_up,
    purge_and_scrub,
    capture_own_file,
    import_own_folder,
    import_own_file_as_archive,
    register_own_file,
    repair,
    use_the_files_directly,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_process_keeps_the_locks_on_its_open_files(
    opened: mycel.Workspace, data: Path, way: Callable[[mycel.Workspace, Path], None]
) -> None:
    before = kept(data)
    assert len(before) == 2
    way(opened, data)
    assert kept(data) == before
    opened.as_operator().save("And life goes on.")


def test_a_plain_read_loses_the_lock(opened: mycel.Workspace, data: Path) -> None:
    """The control: this is what the tests above would see."""
    Path(f"{team_file(data, TEAM)}-shm").read_bytes()
    assert kept(data) == {Lock("database", "READ", "1073741826")}


def test_a_database_counts_as_held_until_its_last_connection_was_closed(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    first, second = connections.open_writer(file), connections.open_reader(file)
    for connection in (first, second):
        with held_files.nobody_opens(file) as is_free:
            assert not is_free
        assert held_files.is_held(file.stat())
        connection.close()
    with held_files.nobody_opens(file) as is_free:
        assert is_free
    assert not held_files.is_held(file.stat())
