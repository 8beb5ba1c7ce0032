"""Files of artifacts are read as they are, and nothing outside the workspace folders ever is."""

import contextlib
import hashlib
import os
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from mycel.domain.artifact import ArtifactDetail, ArtifactType, FileState
from mycel.domain.ids import MemberId
from mycel.errors import InvalidInput
from mycel.services import artifact_files
from mycel.services.artifact_files import FileBusy, FileRefused, Measured, Placed, WorkspaceFiles

pytestmark = pytest.mark.each_database(slow=True)


SECRET = b"outside"


@pytest.fixture(params=["handles", "names"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """By handles of folders, and as on a system that has none."""
    monkeypatch.setattr(artifact_files, "HAS_FOLDER_HANDLES", request.param == "handles")
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (tmp_path / "outside.txt").write_bytes(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_bytes(SECRET)
    return folder


@pytest.fixture
def files(root: Path, way: str) -> WorkspaceFiles:
    return WorkspaceFiles([root])


def measure(files: WorkspaceFiles, path: str, *, start: int = 0) -> Measured | None:
    return files.measure(files.place(path), start=start)


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def detail(path: str, content: bytes | None) -> ArtifactDetail:
    checksum = None if content is None else sha(content)
    return ArtifactDetail(agent_id=MemberId("swe-1"), type=ArtifactType.FILE, path=path, checksum=checksum)


@pytest.mark.parametrize("content", [b"", b"one\n", b"\x00\xff" * 3000, b"x" * 2_500_000])
def test_size_checksum_and_beginning(files: WorkspaceFiles, root: Path, content: bytes) -> None:
    (root / "src").mkdir()
    (root / "src" / "a.bin").write_bytes(content)
    assert measure(files, "src/a.bin", start=4) == Measured(len(content), sha(content), content[:4])


@pytest.mark.parametrize("name", ["ä b.py", "日本語.md", "e\u0301.txt", "a\u202fb.png", "-rf", "*", "a:b", "🜨"])
def test_names_of_any_script(files: WorkspaceFiles, root: Path, name: str) -> None:
    (root / name).write_bytes(b"1")
    placed = files.place(name)
    assert (placed.path, files.measure(placed)) == (name, Measured(1, sha(b"1"), b""))


@pytest.mark.parametrize(
    ("given", "path"), [("./src/a.py", "src/a.py"), ("src//a.py", "src/a.py"), ("src/./a.py", "src/a.py")]
)
def test_a_path_has_one_form(files: WorkspaceFiles, given: str, path: str) -> None:
    assert files.place(given).path == path


@pytest.mark.parametrize(
    "path",
    [
        "..", "../outside.txt", "a/../../outside.txt", "a/..", "/etc/passwd", "/", "", " ", ".", "./", "src/",
        "a\0b", "a\\b", "..\\outside.txt", "a\nb", "\x1b[31m", "\ud800", "a/" * 70 + "b", "x" * 1025, None, 7, b"a",
    ],
)  # fmt: skip
def test_path_tricks_are_refused(files: WorkspaceFiles, path: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        files.place(path)
    assert caught.value.field == "path"


def test_an_absolute_path_becomes_a_relative_one(files: WorkspaceFiles, root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_bytes(b"1")
    placed = files.place(str(root / "a.txt"))
    assert placed == Placed("a.txt", (root,))
    assert files.measure(placed) == Measured(1, sha(b"1"), b"")
    for outside in (tmp_path / "outside.txt", tmp_path / "root-evil" / "a", tmp_path, root, f"{root}/", f"{root}/../x"):
        with pytest.raises(InvalidInput):
            files.place(str(outside))


def test_an_absolute_path_through_a_link_to_the_root(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_bytes(b"1")
    (tmp_path / "link").symlink_to(root)
    files = WorkspaceFiles([tmp_path / "link"])
    for given in (tmp_path / "link" / "a.txt", root / "a.txt"):
        assert measure(files, str(given)) == Measured(1, sha(b"1"), b"")


def test_a_link_inside_is_followed(files: WorkspaceFiles, root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "a.txt").write_bytes(b"1")
    (root / "link").symlink_to("real")
    (root / "b.txt").symlink_to(root / "link" / "a.txt")
    for path in ("link/a.txt", "b.txt"):
        assert measure(files, path) == Measured(1, sha(b"1"), b"")


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("a.txt", "../outside.txt", "a.txt"),
        ("a.txt", "../absent.txt", "a.txt"),
        ("folder", "../elsewhere", "folder/a.txt"),
        ("folder", "../elsewhere", "folder/absent.txt"),
        ("folder", "..", "folder/outside.txt"),
        ("folder", "/", "folder/etc/passwd"),
    ],
)
def test_a_link_that_leads_out_is_refused_whatever_is_there(
    files: WorkspaceFiles, root: Path, link: str, target: str, path: str
) -> None:
    (root / link).symlink_to(target)
    with pytest.raises(FileRefused, match=r"^leads out of the workspace folder$"):
        measure(files, path)


@pytest.mark.parametrize("swapped", ["file", "folder", "root"])
def test_what_is_swapped_after_the_check_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    (root / "src").mkdir()
    (root / "src" / "a.txt").write_bytes(b"inside")
    files = WorkspaceFiles([root])
    real: Callable[..., tuple[str, ...]] = files._parts

    def swap(*args: object) -> tuple[str, ...]:
        parts = real(*args)
        place = {"file": root / "src" / "a.txt", "folder": root / "src", "root": root}[swapped]
        target = {
            "file": tmp_path / "elsewhere" / "a.txt",
            "folder": tmp_path / "elsewhere",
            "root": tmp_path / "other",
        }
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "src").symlink_to(tmp_path / "elsewhere")
        place.rename(tmp_path / "moved")
        place.symlink_to(target[swapped])
        return parts

    monkeypatch.setattr(files, "_parts", swap)
    opened: list[bytes] = []
    real_read = os.read
    monkeypatch.setattr(os, "read", lambda *args: opened.append(real_read(*args)) or opened[-1])
    with contextlib.suppress(FileRefused):
        assert measure(files, "src/a.txt") is None
    assert opened == []


def test_a_file_swapped_by_name_is_noticed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no handles, between the look and the opening."""
    monkeypatch.setattr(artifact_files, "HAS_FOLDER_HANDLES", False)
    (root / "a.txt").write_bytes(b"inside")
    files, real_open = WorkspaceFiles([root]), os.open

    def swap(name: object, flags: int) -> int:
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(tmp_path / "outside.txt")
        return real_open(str(name), flags & ~os.O_NOFOLLOW)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(FileRefused):
        measure(files, "a.txt")


def test_folders_pipes_and_devices_are_refused_without_waiting(files: WorkspaceFiles, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    (root / "socket-like").symlink_to("pipe")
    (root / "here").symlink_to(".")
    for path, why in (("folder", "is a folder"), ("here", "is a folder"), ("pipe", "is not a regular file")):
        with pytest.raises(FileRefused, match=why):
            measure(files, path)
    with pytest.raises(FileRefused, match="is not a regular file"):
        measure(files, "socket-like")


def test_a_pipe_that_takes_the_place_of_a_file_hangs_nobody(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.txt").write_bytes(b"1")
    checked: list[os.stat_result] = []

    def swap(found: os.stat_result) -> None:
        if not checked:
            (root / "a.txt").unlink()
            os.mkfifo(root / "a.txt")
        checked.append(found)
        real(found)

    real = artifact_files._require_regular
    monkeypatch.setattr(artifact_files, "_require_regular", swap)
    with pytest.raises(FileRefused, match="is not a regular file"):
        measure(WorkspaceFiles([root]), "a.txt")
    assert len(checked) == 2


@pytest.mark.parametrize("path", ["absent", "a.txt/b", "absent/a.txt", "dangling", "x" * 300])
def test_what_is_not_there_is_absent(files: WorkspaceFiles, root: Path, path: str) -> None:
    (root / "a.txt").write_bytes(b"1")
    (root / "dangling").symlink_to("nowhere")
    assert measure(files, path) is None


def test_links_in_a_circle_are_refused(files: WorkspaceFiles, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    with pytest.raises(FileRefused, match="is not a regular file"):
        measure(files, "a")


def test_what_may_not_be_read_says_so(files: WorkspaceFiles, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.txt").write_bytes(b"1")
    (root / "a.txt").chmod(0)

    def refuse(*_args: object, **_settings: object) -> int:
        raise PermissionError(13, "Permission denied")

    if os.geteuid() == 0:
        # Nothing is closed to the superuser.
        monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(FileRefused, match="cannot be read: Permission denied"):
        measure(files, "a.txt")
    assert files.verify(detail("a.txt", b"1")).state is FileState.UNKNOWN


@pytest.mark.parametrize("change", ["grows", "shrinks", "is rewritten"])
def test_a_file_that_changes_while_it_is_read_is_noticed(
    files: WorkspaceFiles, root: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    file = root / "a.txt"
    file.write_bytes(b"x" * 300_000)
    os.utime(file, ns=(1, 1))
    monkeypatch.setattr(artifact_files, "CHUNK_BYTES", 100_000)
    real_read, reads = os.read, iter(range(1000))

    def read(handle: int, size: int) -> bytes:
        if next(reads) == 1:
            if change == "grows":
                with file.open("ab") as more:
                    more.write(b"y" * 10_000_000)
            elif change == "shrinks":
                os.truncate(file, 150_000)
            else:
                file.write_bytes(b"z" * 300_000)
        return real_read(handle, size)

    monkeypatch.setattr(os, "read", read)
    with pytest.raises(FileBusy):
        measure(files, "a.txt")
    # A file that grows for ever is not followed for ever.
    assert next(reads) < 10


def test_a_file_above_the_bound_is_refused_unread(files: WorkspaceFiles, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(artifact_files.MAX_FILE_BYTES + 1)
    with pytest.raises(FileRefused, match="larger than 2 GiB"):
        measure(files, "huge")


def test_a_large_file_takes_little_memory(files: WorkspaceFiles, root: Path) -> None:
    with (root / "large").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    tracemalloc.start()
    try:
        found = measure(files, "large", start=10)
        assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024
    finally:
        tracemalloc.stop()
    assert found is not None
    assert found.size_bytes == 200 * 1024 * 1024


def test_no_handle_is_left_open(files: WorkspaceFiles, root: Path) -> None:
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "a.txt").write_bytes(b"1")
    os.mkfifo(root / "deep" / "pipe")
    handles = Path("/proc/self/fd")
    before = len(list(handles.iterdir())) if handles.exists() else None
    for path in ("deep/er/a.txt", "deep/er/b.txt", "deep/no/a.txt", "deep/pipe", "deep"):
        with contextlib.suppress(FileRefused):
            measure(files, path)
    if before is not None:
        assert len(list(handles.iterdir())) == before


def test_own_files_are_off_limits(root: Path) -> None:
    (root / "teams").mkdir()
    (root / "teams" / "memory.sqlite").write_bytes(b"1")
    (root / "link").symlink_to("teams")
    files = WorkspaceFiles([root], off_limits=[root / "teams"])
    for path in ("teams/memory.sqlite", "link/memory.sqlite", "teams/absent"):
        with pytest.raises(FileRefused, match="own files"):
            measure(files, path)


def test_several_folders_are_looked_through_in_their_order(root: Path, tmp_path: Path) -> None:
    (root / "b.txt").write_bytes(b"first")
    (tmp_path / "elsewhere" / "b.txt").write_bytes(b"second")
    files = WorkspaceFiles([root, tmp_path / "elsewhere", tmp_path / "not made yet"])
    assert measure(files, "a.txt") == Measured(len(SECRET), sha(SECRET), b"")
    assert measure(files, "b.txt") == Measured(5, sha(b"first"), b"")
    assert measure(files, str(tmp_path / "elsewhere" / "b.txt")) == Measured(6, sha(b"second"), b"")
    assert files.verify(detail("b.txt", b"second")).state is FileState.UNCHANGED
    assert files.verify(detail("b.txt", b"neither")).state is FileState.CHANGED


def test_verification_tells_what_became_of_a_file(files: WorkspaceFiles, root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_bytes(b"1")
    assert files.verify(detail("a.txt", b"1")).state is FileState.UNCHANGED
    changed = files.verify(detail("a.txt", b"2"))
    assert (changed.state, changed.size_bytes, changed.checksum) == (FileState.CHANGED, 1, sha(b"1"))
    gone = files.verify(detail("b.txt", b"1"))
    assert (gone.state, gone.size_bytes, gone.checksum) == (FileState.GONE, None, None)
    (root / "b.txt").mkdir()
    assert files.verify(detail("b.txt", b"1")).state is FileState.CHANGED
    (root / "c.txt").symlink_to(tmp_path / "outside.txt")
    assert files.verify(detail("c.txt", SECRET)).state is FileState.UNKNOWN
    assert files.verify(detail("a.txt", None)).state is FileState.UNKNOWN
    assert WorkspaceFiles([]).verify(detail("a.txt", b"1")).state is FileState.UNKNOWN


def test_many_threads_measure_at_once(files: WorkspaceFiles, root: Path) -> None:
    for number in range(8):
        (root / f"{number}").write_bytes(bytes([number]) * 500_000)
    found: dict[int, Measured | None] = {}
    threads = [
        threading.Thread(target=lambda number=number: found.update({number: measure(files, f"{number}")}))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: Measured(500_000, sha(bytes([n]) * 500_000), b"") for n in range(8)}
