"""An archive that is cut short, altered, foreign or made to do harm is refused before anything of it is stored."""

import gzip
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.archive import Taken
from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidInput, NotFound
from mycel.services import archive_files
from mycel.stores.sqlite.database import Disk
from tests.template import copy_template, make_tables

pytestmark = pytest.mark.each_database(slow=True)

Lines = list[dict[str, Any]]


def make_teams(data: Path) -> None:
    with open_workspace(data, disk=Disk(synchronous="OFF")) as opened:
        for team in ("old", "new"):
            opened.add_team(team)
        opened.add_member("swe-1", team="old")
        member = opened.as_member("swe-1")
        first = member.save("alpha heron", tags=["bird"], metadata={"a": [1]})
        member.update(first.id, content="alpha heron again")
        second = member.save("beta heron")
        member.link(first.id, second.id, "supports")
        member.episodes.log(task_id="T-1", action="failed", approach="look at the lake", outcome="no heron")
        member.capture_session("user: We decided to count herons at the lake.", session_id="s-1")
        make_tables(opened.as_operator("new"))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    copy_template(make_teams, tmp_path / "data")
    with open_workspace(tmp_path / "data", disk=Disk(synchronous="OFF")) as opened:
        yield opened


@pytest.fixture
def archive(workspace: Workspace, tmp_path: Path) -> Path:
    file = tmp_path / "old.jsonl"
    workspace.export(file, team="old")
    return file


def refused(workspace: Workspace, file: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        workspace.import_(file, team="new")
    assert list(workspace.as_operator("new").list(status="any")) == []
    assert list(workspace.as_operator("new").sources.list()) == []
    return str(caught.value)


def sealed(lines: Lines) -> bytes:
    """With a footer that fits, as somebody would write it who means harm."""
    body = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    counts: dict[str, int] = {}
    for line in lines[1:]:
        counts[line["kind"]] = counts.get(line["kind"], 0) + 1
    footer = {"kind": "footer", "counts": counts, "sha256": sha256(body).hexdigest()}
    return body + json.dumps(footer).encode() + b"\n"


def lines_in(file: Path) -> Lines:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()][:-1]


def test_a_file_cut_at_any_line_is_refused(workspace: Workspace, archive: Path) -> None:
    whole = archive.read_bytes()
    ends = [index + 1 for index, letter in enumerate(whole) if letter == ord("\n")][:-1]
    for end in [0, *ends, ends[2] + 7, len(whole) - 1]:
        archive.write_bytes(whole[:end])
        assert "line" in refused(workspace, archive)


def test_a_packed_file_cut_anywhere_is_refused(workspace: Workspace, archive: Path, tmp_path: Path) -> None:
    whole = gzip.compress(archive.read_bytes())
    file = tmp_path / "old.jsonl.gz"
    for end in (3, 40, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:end])
        refused(workspace, file)


def test_one_altered_letter_is_noticed(workspace: Workspace, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes().replace(b"beta heron", b"best heron", 1))
    assert "altered or damaged" in refused(workspace, archive)


def test_lines_after_the_end_are_refused(workspace: Workspace, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes() + b'{"kind":"memory"}\n')
    assert "after the end" in refused(workspace, archive)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hello\n", b"[1]\n", b"\xff\xfe\n", b'{"kind":"header","format":"other"}\n', b"[" * 99_999]
)
def test_a_foreign_file_is_refused(workspace: Workspace, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "foreign.jsonl"
    file.write_bytes(content)
    refused(workspace, file)


def test_a_later_format_is_refused(workspace: Workspace, archive: Path) -> None:
    lines = lines_in(archive)
    lines[0]["version"] = 3
    archive.write_bytes(sealed(lines))
    assert "must be 1 or 2; this archive is newer" in refused(workspace, archive)


def test_the_first_format_is_read_with_its_words_for_when_something_was_believed(
    workspace: Workspace, archive: Path
) -> None:
    lines = lines_in(archive)
    lines[0]["version"] = 1
    old = {"believed_from": "valid_from", "believed_until": "valid_to"}
    for line in lines:
        if line["kind"] in {"memory", "version"}:
            del line["valid_from"], line["valid_until"]
            for name, before in old.items():
                if name in line:
                    line[before] = line.pop(name)
    archive.write_bytes(sealed(lines))
    workspace.import_(archive, team="new")
    memory = workspace.as_operator("new")
    first, *later = memory.history(memory.list(status="any")[0].id)
    assert first.believed_from <= (later[0].believed_from if later else first.believed_from)
    assert (first.memory.valid_from, first.memory.valid_until) == (None, None)


def test_an_end_before_the_beginning_is_refused(workspace: Workspace, archive: Path) -> None:
    lines = lines_in(archive)
    memory = of_kind(lines, "memory")
    memory |= {"valid_from": "2027-01-02T00:00:00+00:00", "valid_until": "2026-12-20T00:00:00+00:00"}
    archive.write_bytes(sealed(lines))
    assert "valid_until" in refused(workspace, archive)


def of_kind(lines: Lines, kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


HARM: dict[str, Callable[[Lines], object]] = {
    "version": lambda lines: of_kind(lines, "memory").update(version=0),
    "confidence": lambda lines: of_kind(lines, "memory").update(confidence=7),
    "metadata": lambda lines: of_kind(lines, "memory").update(metadata={"deep": nested(50)}),
    "path": lambda lines: of_kind(lines, "memory").update(path="/../etc"),
    "id": lambda lines: of_kind(lines, "memory").update(id="../../x"),
    "title": lambda lines: of_kind(lines, "memory").update(title="a\0b"),
    "content": lambda lines: of_kind(lines, "memory").pop("content"),
    "made_up": lambda lines: of_kind(lines, "memory").update(made_up=1),
    "created_at": lambda lines: of_kind(lines, "memory").update(created_at="2026-01-01T00:00:00"),
    "allowed_roles": lambda lines: of_kind(lines, "memory").update(allowed_roles=["king"]),
    "to_id": lambda lines: of_kind(lines, "link").update(to_id="019a0000-0000-7000-8000-000000000000"),
    "source_id": lambda lines: of_kind(lines, "event").update(source_id="019a0000-0000-7000-8000-000000000000"),
    "approach_end": lambda lines: of_kind(lines, "episode").update(approach_end=10**6),
    "memory_id": lambda lines: of_kind(lines, "episode").update(memory_id="019a0000-0000-7000-8000-000000000000"),
    "kind": lambda lines: lines.append(of_kind(lines, "source")),
    "turns.start": lambda lines: of_kind(lines, "source")["turns"][0].update(start=-1),
}


@pytest.mark.parametrize("field", HARM)
def test_a_wrong_field_is_named_with_its_line(workspace: Workspace, archive: Path, field: str) -> None:
    lines = lines_in(archive)
    HARM[field](lines)
    archive.write_bytes(sealed(lines))
    said = refused(workspace, archive)
    assert said.startswith("line ")
    assert field in said


def test_the_same_memory_twice_is_refused(workspace: Workspace, archive: Path) -> None:
    lines = lines_in(archive)
    place = next(index for index, line in enumerate(lines) if line["kind"] == "link")
    archive.write_bytes(sealed([*lines[:place], of_kind(lines, "memory"), *lines[place:]]))
    assert "twice" in refused(workspace, archive)


def test_a_name_twice_in_one_line_is_refused(workspace: Workspace, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes().replace(b'"kind":"memory",', b'"kind":"memory","kind":"memory",', 1))
    assert "not a JSON object" in refused(workspace, archive)


def test_what_unpacks_to_a_hundred_times_its_size_is_refused(
    workspace: Workspace, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "FREE_BYTES", 10_000)
    lines = lines_in(archive)
    of_kind(lines, "memory")["content"] = "a" * 5_000_000
    file = tmp_path / "bomb.jsonl.gz"
    file.write_bytes(gzip.compress(sealed(lines), 9))
    assert "100 times" in refused(workspace, file)


def test_a_line_without_end_is_not_read_into_memory(
    workspace: Workspace, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "MAX_LINE_BYTES", 200)
    assert "longer than 200 bytes" in refused(workspace, archive)


def test_a_member_s_archive_is_not_taken_for_a_whole_team(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    workspace.as_member("swe-1").export(file)
    assert "what one member saw" in refused(workspace, file)


def test_a_file_that_is_not_there_or_is_a_folder(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        workspace.import_(tmp_path / "none.jsonl", team="new")
    with pytest.raises(InvalidInput):
        workspace.import_(tmp_path, team="new")
    with pytest.raises(NotFound):
        workspace.export(tmp_path / "no-folder" / "x.jsonl", team="old")


def test_what_one_archive_says_twice_in_different_ways_is_decided_by_what_came_first(
    workspace: Workspace, archive: Path, tmp_path: Path
) -> None:
    """A receipt with the memory it is of, and two memories under one key, all in one batch."""
    lines = lines_in(archive)
    memory = next(line for line in lines if line["kind"] == "memory" and line["content"] == "beta heron")
    receipt = {
        **{"kind": "receipt", "memory_id": memory["id"], "id": "01980000-0000-7000-8000-000000000001"},
        **{"purged_by": "swe-1", "purged_at": memory["updated_at"], "memory_created_at": memory["created_at"]},
        "scrubbed_at": None,
    }
    twins = [
        {**memory, "id": f"01980000-0000-7000-8000-00000000000{number}", "key": "heron", "content": f"value {number}"}
        for number in (2, 3)
    ]
    kept = [line for line in lines if line["kind"] not in {"link", "receipt"}]
    at = kept.index(memory)
    file = tmp_path / "twice.jsonl"
    file.write_bytes(sealed([kept[0], receipt, *kept[1:at], memory, *twins, *kept[at + 1 :]]))
    taken = workspace.import_(file, team="new").counts["memory"]
    assert (taken[Taken.PURGED], taken[Taken.KEY]) == (1, 1)
    found = [one.content for one in workspace.as_operator("new").list(status="any", limit=100)]
    assert "beta heron" not in found
    assert [content for content in found if content.startswith("value")] == ["value 2"]
    assert workspace.check() == {}
