"""Files, folders and packed folders as readers see them: hostile ones cost nobody anything."""

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from mycel.engine.imports.material import Entry, Unreadable, text_of
from mycel.engine.imports.registry import recognise
from mycel.errors import InvalidInput, NotFound
from mycel.surfaces.importing import places
from mycel.surfaces.importing.places import Place

HOSTILE = ["../../evil.md", "/etc/evil.md", "a/../../evil.md", "..\\evil.md", "C:\\evil.md", "a//b.md", "./x.md"]


def problems(path: Path) -> dict[str, str | None]:
    with Place(path) as place:
        return {entry.name: entry.problem for entry in place.entries()}


def test_names_in_a_zip_lead_nowhere(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as packed:
        for name in HOSTILE:
            packed.writestr(name, "evil")
    before = set(tmp_path.rglob("*"))
    with Place(tmp_path / "in.zip") as place:
        form = recognise(place)
        assert form is not None
        list(form.read(place))
    assert set(tmp_path.rglob("*")) == before
    assert problems(tmp_path / "in.zip")["../../evil.md"] is not None


def test_a_zip_that_unpacks_to_far_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "FREE_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bomb.md", "x" * 1_000_000)
        packed.writestr("other.md", os.urandom(10_000))
    with Place(tmp_path / "in.zip") as place, pytest.raises(Unreadable, match="times its size"):
        text_of(place.entries()[0])


def test_a_zip_made_to_unpack_to_a_thousand_times_its_size_is_named_at_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(3):
            packed.writestr(f"{number}.json", b"[" + b" " * 40_000_000 + b"]")
    began = time.process_time()
    with Place(tmp_path / "in.zip") as place, pytest.raises(InvalidInput, match="more than 200 times its size"):
        recognise(place)
    assert time.process_time() - began < 1


def test_no_more_than_the_beginning_of_files_is_read_to_recognise_them(tmp_path: Path) -> None:
    """Also where each file by itself packs no better than text: all forms together look at it once."""
    read = 0

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            part = super().read(size)
            read += len(part)
            return part

    class Material:
        name, is_folder = "many", True

        def entries(self) -> list[Entry]:
            text = b'[{"a": "' + b"x" * 20_000_000 + b'"}]'
            return [Entry(f"{number}.json", len(text), lambda: Counting(text)) for number in range(20)]

        def tables(self) -> None:
            return None

    assert recognise(Material()) is None
    # The heads, which some forms look at alone, come to 64 kB for each look.
    assert read < 80 * 1024 * 1024


def test_a_damaged_zip_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "in.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with Place(tmp_path / "in.zip") as place, pytest.raises(InvalidInput, match="zip"):
        place.entries()


def test_links_are_not_followed_and_pipes_not_opened(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (folder / "good.md").write_text("good")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    found = problems(folder)
    assert found["good.md"] is None
    assert all(found[name] for name in ("out.md", "loop", "pipe.md"))


def test_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    for name in (".git", ".obsidian", "node_modules"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text("x")
    assert problems(tmp_path) == {}


def test_what_is_not_there_or_no_file_is_a_clear_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotFound):
        Place(tmp_path / "gone")
    with pytest.raises(InvalidInput, match="file or a folder"):
        Place(tmp_path / "pipe")


def test_a_damaged_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    with Place(tmp_path / "x.db") as place, pytest.raises(InvalidInput, match="database"):
        recognise(place)
