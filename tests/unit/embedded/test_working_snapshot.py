"""A working memory comes back exactly as it was, or not at all: its file is whole, its own and nobody else's."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel import Misconfigured, StorageFull, WorkingMemory
from mycel.domain.working_memory import MAX_TOTAL_BYTES

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def saved(data: Path, *, agent: str = "swe-1", session: str = "default") -> Path:
    memory = WorkingMemory(agent, session_id=session, data=data, fresh=True)
    memory.current_plan = f"the plan of {agent}"
    memory.close()
    return memory_file(memory)


def note_and_fail(data: Path, text: str) -> None:
    with WorkingMemory("swe-1", data=data) as memory:
        memory.note(text)
        raise RuntimeError


def memory_file(memory: WorkingMemory) -> Path:
    return memory._snapshot.path  # pyright: ignore[reportPrivateUsage]


def content_of(memory: WorkingMemory) -> tuple[object, ...]:
    return (
        memory.current_plan,
        memory.active_constraints,
        json.dumps(dict(memory.task_context)),
        memory.scratchpad,
        memory.updated_at,
    )


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda text: bool(text.strip())
)
KEYS = TEXTS.filter(str.isprintable)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(
    session=KEYS,
    plan=st.none() | TEXTS,
    constraints=st.lists(TEXTS, max_size=5),
    context=st.dictionaries(KEYS, VALUES, max_size=5),
    notes=st.lists(TEXTS, max_size=5),
)
def test_a_restart_gives_back_exactly_what_was_there(
    session: str, plan: str | None, constraints: list[str], context: dict[str, Any], notes: list[str]
) -> None:
    with TemporaryDirectory() as data:
        with WorkingMemory("swe-1", session_id=session, data=data) as memory:
            memory.current_plan = plan
            for constraint in constraints:
                memory.add_constraint(constraint)
            for key, value in context.items():
                memory.set_context(key, value)
            for note in notes:
                memory.note(note)
        again = WorkingMemory("swe-1", session_id=session, data=data)
        assert (again.restored, again.problem) == (True, None)
        assert content_of(again) == content_of(memory)


def test_a_full_one_comes_back(tmp_path: Path) -> None:
    with WorkingMemory("swe-1", data=tmp_path) as memory:
        for number in range(3):
            memory.set_context(str(number), ["\x01" * (MAX_TOTAL_BYTES // 20)])
        for _ in range(1000):
            memory.note("\n" * 3 + "n")
    again = WorkingMemory("swe-1", data=tmp_path)
    assert again.problem is None
    assert content_of(again) == content_of(memory)


def test_a_restored_one_goes_on_within_its_bounds(tmp_path: Path) -> None:
    with WorkingMemory("swe-1", data=tmp_path) as memory:
        memory.current_plan = "plan"
        memory.set_context("a", {"b": 1})
    again = WorkingMemory("swe-1", data=tmp_path)
    size = again._state.size_bytes  # pyright: ignore[reportPrivateUsage]
    assert size == memory._state.size_bytes > 0  # pyright: ignore[reportPrivateUsage]


def test_a_block_that_fails_is_saved_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        note_and_fail(tmp_path, "so far")
    assert WorkingMemory("swe-1", data=tmp_path).scratchpad == ("so far",)


def test_a_fresh_one_leaves_the_snapshot_until_it_takes_its_own(tmp_path: Path) -> None:
    saved(tmp_path)
    fresh = WorkingMemory("swe-1", data=tmp_path, fresh=True)
    assert (fresh.restored, fresh.current_plan) == (False, None)
    assert WorkingMemory("swe-1", data=tmp_path).current_plan == "the plan of swe-1"
    fresh.close()
    assert WorkingMemory("swe-1", data=tmp_path).current_plan is None


def test_opening_makes_nothing(tmp_path: Path) -> None:
    WorkingMemory("swe-1", data=tmp_path / "data")
    assert list(tmp_path.iterdir()) == []


def test_the_settings_say_where_it_is_and_leaving_the_folder_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYCEL_DATA", "data")
    monkeypatch.chdir(tmp_path)
    memory = WorkingMemory("swe-1")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert memory.snapshot().is_relative_to(tmp_path / "data" / "working")


def test_discard_removes_it_and_closing_brings_back_only_what_came_after(tmp_path: Path) -> None:
    with WorkingMemory("swe-1", data=tmp_path) as memory:
        memory.note("one")
        path = memory.snapshot()
        unfinished = path.with_name(f".{path.name}.0123abcd")
        unfinished.write_text("one")
        memory.discard()
        memory.discard()
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    with WorkingMemory("swe-1", data=tmp_path) as memory:
        memory.discard()
        memory.note("two")
    assert WorkingMemory("swe-1", data=tmp_path).scratchpad == ("two",)
    memory.discard()
    assert not WorkingMemory("swe-1", data=tmp_path).restored


IDS = ["swe-1", "SWE-1", "swe-1.", "swe.1", "swe:1", "con", "a" * 128, "a" * 127 + "b"]
SESSIONS = ["default", "Default", "..", "../../x", "a/b", "a\\b", "con", "é", "e\u0301", "x" * 200, "会話 7", "*?"]


def test_no_two_ids_share_a_file_whatever_the_file_system(tmp_path: Path) -> None:
    files = [
        WorkingMemory(agent, session_id=session, data=tmp_path, fresh=True).snapshot()
        for agent in IDS
        for session in SESSIONS
    ]
    relative = [file.relative_to(tmp_path / "working") for file in files]
    assert len({str(file).casefold() for file in relative}) == len(IDS) * len(SESSIONS)
    assert {len(file.parts) for file in relative} == {2}
    assert all(part.isascii() and len(part) < 100 for file in relative for part in file.parts)
    assert len({file.parts[0] for file in relative}) == len(IDS)


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_the_owner_reads_folders_and_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = saved(tmp_path / "data")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    path.chmod(0o666)
    path.parent.chmod(0o777)
    memory = WorkingMemory("swe-1", data=tmp_path / "data", fresh=True)
    memory.snapshot()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent)] == [0o600, 0o700]


def rewritten(path: Path, **changed: object) -> bytes:
    """The same file with other content and a checksum that fits."""
    first, second = path.read_bytes().splitlines()
    about, content = json.loads(first), json.loads(second)
    about.update({key: value for key, value in changed.items() if key in about})
    content.update({key: value for key, value in changed.items() if key not in about})
    line = json.dumps(content).encode()
    return json.dumps({**about, "sha256": hashlib.sha256(line).hexdigest()}).encode() + b"\n" + line + b"\n"


def replaced(path: Path, old: bytes, new: bytes) -> bytes:
    content = path.read_bytes()
    assert old in content
    return content.replace(old, new)


DEEP = b"[" * 100_000
DAMAGE: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "empty": (lambda path: b"", "damaged"),
    "cut short": (lambda path: path.read_bytes()[:-20], "damaged"),
    "zeros": (lambda path: b"\0" * 4096, "damaged"),
    "another text": (lambda path: replaced(path, b"the plan", b"The plan"), "damaged"),
    "not UTF-8": (lambda path: b"\xff\xfe\n\xff", "damaged"),
    "too deep": (lambda path: DEEP + b"\n" + DEEP, "damaged"),
    "another format": (lambda path: rewritten(path, format="x"), "not a snapshot"),
    "no version": (lambda path: rewritten(path, version="1"), "not a snapshot"),
    "version zero": (lambda path: rewritten(path, version=0), "not a snapshot"),
    "too new": (lambda path: rewritten(path, version=2), "newer version"),
    "too large": (lambda path: path.read_bytes() + b"\n" * 2 * MAX_TOTAL_BYTES, "larger than"),
    "another agent": (lambda path: rewritten(path, agent_id="swe-2"), "another agent or session"),
    "another session": (lambda path: rewritten(path, session_id="x"), "another agent or session"),
    "a list": (lambda path: b"[]\n[]\n", "damaged"),
    "a number for a plan": (lambda path: rewritten(path, current_plan=7), "current_plan"),
    "text for a list": (lambda path: rewritten(path, scratchpad="abc"), "scratchpad"),
    "a list for an object": (lambda path: rewritten(path, task_context=[]), "task_context"),
    "a key that is none": (lambda path: rewritten(path, task_context={"a\nb": 1}), "key"),
    "not a number": (lambda path: rewritten(path, task_context={"a": float("nan")}), "task_context"),
    "too many": (lambda path: rewritten(path, scratchpad=["n"] * 1001), "scratchpad"),
    "no time": (lambda path: rewritten(path, updated_at=None), "updated_at"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_cannot_be_trusted_is_kept_aside_and_not_loaded(tmp_path: Path, damage: str) -> None:
    make, why = DAMAGE[damage]
    path = saved(tmp_path)
    content = make(path)
    path.write_bytes(content)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert (memory.restored, memory.current_plan) == (False, None)
    assert memory.problem is not None
    assert why in memory.problem
    [aside] = path.parent.iterdir()
    assert aside.name in memory.problem
    assert aside.read_bytes() == content
    memory.close()
    again = WorkingMemory("swe-1", data=tmp_path)
    assert (again.restored, again.problem) == (True, None)
    assert aside.read_bytes() == content


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        memory = WorkingMemory("swe-1", data=tmp_path)
        # White space between the names of the first line says nothing.
        assert not memory.restored or memory.current_plan == "the plan of swe-1"
        assert memory.restored or memory.problem


def test_the_file_of_another_agent_in_its_place_is_not_read(tmp_path: Path) -> None:
    other = saved(tmp_path, agent="swe-2")
    path = saved(tmp_path)
    path.write_bytes(other.read_bytes())
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert memory.current_plan is None
    assert "another agent" in str(memory.problem)
    assert "swe-2" not in str(memory.problem)


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610])
def test_a_file_that_others_may_touch_is_not_loaded(tmp_path: Path, mode: int) -> None:
    path = saved(tmp_path)
    path.chmod(mode)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert not memory.restored
    assert "lets others" in str(memory.problem)
    assert not path.exists()


@posix
def test_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    path = saved(tmp_path)
    target = tmp_path / "target"
    path.rename(target)
    before = target.read_bytes()
    path.symlink_to(target)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert not memory.restored
    assert "it is a symbolic link" in str(memory.problem)
    path.symlink_to(target)
    memory.note("mine")
    memory.snapshot()
    assert target.read_bytes() == before
    assert not path.is_symlink()


@posix
def test_a_link_that_comes_between_the_look_and_the_open_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    path.rename(tmp_path / "target")
    path.symlink_to(tmp_path / "target")
    monkeypatch.setattr(Path, "is_symlink", lambda self: False)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert (memory.restored, memory.problem is None) == (False, False)


@posix
@pytest.mark.parametrize("level", [0, 1])
def test_a_link_in_place_of_a_folder_is_not_followed(tmp_path: Path, level: int) -> None:
    path = saved(tmp_path)
    folder = path.parents[level]
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved", target_is_directory=True)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert not memory.restored
    assert "symbolic link" in str(memory.problem)
    for write in (memory.snapshot, memory.discard):
        with pytest.raises(Misconfigured, match="symbolic link"):
            write()
    assert path.exists()


@posix
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_not_a_file_is_moved_aside(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = saved(tmp_path)
    path.unlink()
    make(path)
    memory = WorkingMemory("swe-1", data=tmp_path)
    assert "not a plain file" in str(memory.problem)
    memory.close()
    assert WorkingMemory("swe-1", data=tmp_path).restored


def test_a_data_folder_that_is_a_file_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    memory = WorkingMemory("swe-1", data=tmp_path / "data")
    assert not memory.restored
    with pytest.raises(Misconfigured, match="cannot be written"):
        memory.close()


@posix
def test_the_file_reaches_the_disk_before_its_name_and_every_new_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = WorkingMemory("swe-1", data=tmp_path / "data")
    path, synced = memory_file(memory), list[tuple[int, bool]]()
    fsync = os.fsync

    def note(handle: int) -> None:
        synced.append((os.fstat(handle).st_ino, path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    memory.snapshot()
    inode = [one.stat().st_ino for one in (path, path.parent, *path.parents[1:4])]
    assert synced[-2:] == [(inode[0], False), (inode[1], True)]
    assert {place for place, _ in synced[:-2]} == set(inode[2:])
    assert path.parents[3] == tmp_path


def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    path = saved(tmp_path)
    old, new = (path.with_name(f".{path.name}.{ending}") for ending in ("0123abcd", "4567cdef"))
    for file in (old, new):
        file.write_text("half")
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    assert WorkingMemory("swe-1", data=tmp_path).restored
    assert (old.exists(), new.exists()) == (False, True)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)


def test_a_full_disk_leaves_the_old_snapshot_and_the_memory_open(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    memory = WorkingMemory("swe-1", data=tmp_path)
    memory.note("more")
    request.getfixturevalue("full_disk")
    with pytest.raises(StorageFull):
        memory.close()
    assert list(path.parent.iterdir()) == [path]
    memory.note("and more")
    monkeypatch.undo()
    memory.close()
    assert WorkingMemory("swe-1", data=tmp_path).scratchpad == ("more", "and more")


@pytest.mark.usefixtures("full_disk")
def test_a_block_that_fails_keeps_its_own_error_when_saving_fails_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as raised:
        note_and_fail(tmp_path, "lost")
    assert ["not saved" in note for note in raised.value.__notes__] == [True]
