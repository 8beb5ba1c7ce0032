"""Transcript files are read in pieces that the service understands one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.engine.transcripts.reading import read_transcript
from mycel.engine.transcripts.session_growth import grown
from mycel.surfaces.hooks import transcript as reading
from mycel.surfaces.hooks.transcript import FileRange, has_words, new_range, read_piece
from tests.surfaces.hooks.hooking import said


def pieces(part: FileRange) -> list[str]:
    found: list[str] = []
    while part.since < part.until:
        piece = read_piece(part)
        assert piece.end > part.since
        part = part._replace(since=piece.end)
        if piece.text:
            found.append(piece.text)
    return found


@pytest.mark.parametrize("size", [1, 200, 1000, 10**6])
def test_pieces_give_the_text_that_the_whole_file_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(reading, "PIECE_BYTES", size)
    lines = [said(role, f"Line {n} of é and 漢字.", id=str(n)) for n, role in enumerate(["user", "assistant"] * 20)]
    file = tmp_path / "t.jsonl"
    file.write_text("".join(lines) + '{"type": "user", "mess')
    part = new_range(file, agent="claude-code", known=0)
    whole = read_transcript("".join(lines))
    so_far = read_transcript("")
    for piece in pieces(part):
        so_far = grown(so_far, read_transcript(piece)) if so_far.text else read_transcript(piece)
    assert so_far.text == whole.text
    assert part.until == len("".join(lines).encode())


def test_one_line_of_codex_is_understood_by_itself(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    file = tmp_path / "rollout.jsonl"
    file.write_text(json.dumps({"type": "response_item", "payload": message}) + "\n")
    (piece,) = pieces(new_range(file, agent="codex", known=0))
    assert read_transcript(piece).text == "assistant: Done."


def test_a_file_that_has_become_shorter_is_another_one(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(said("user", "New.", id="1"))
    assert new_range(file, agent="claude-code", known=10_000).since == 0


def test_a_file_that_is_not_there_yet_says_nothing(tmp_path: Path) -> None:
    assert pieces(new_range(tmp_path / "t.jsonl", agent="claude-code", known=0)) == []


@pytest.mark.parametrize("in_ascii", [True, False])
def test_last_words_are_found_however_they_are_written(tmp_path: Path, in_ascii: bool) -> None:
    file = tmp_path / "t.jsonl"
    words = 'Use "é",\nnot <b>.'
    assert not has_words(file, words)
    file.write_text(json.dumps({"text": words}, ensure_ascii=in_ascii) + "\n")
    assert has_words(file, words)
    assert not has_words(file, "Use something else.")


def test_what_cannot_be_stored_does_not_cost_the_session(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(
        said("user", "Before.", id="1").encode() + b'{"type": "x\0\xff"}\n' + said("user", "After.", id="2").encode()
    )
    (piece,) = pieces(new_range(file, agent="claude-code", known=0))
    assert "\0" not in piece
    assert read_transcript(piece).text == "user: Before.\n\nuser: After."


PRIVATE = "<private>walnut</private>"


@given(
    st.lists(st.sampled_from(["plain", PRIVATE, "<private>walnut", "a </private> b", "<Private >walnut"]), min_size=1)
)
def test_nothing_private_is_left_in_a_piece(parts: list[str]) -> None:
    content = [{"type": "text", "text": part} for part in parts]
    entry = {
        "type": "assistant",
        "uuid": "1",
        "sessionId": "s",
        "message": {"role": "assistant", "content": content},
        "toolUseResult": {"stdout": PRIVATE},
    }
    line = reading._without_private(json.dumps(entry) + "\n" + said("user", "After.", id="2"))
    assert "walnut" not in line
    found = [json.loads(one) for one in line.splitlines()]
    assert [one["type"] for one in found] == ["assistant", "user"]
    assert found[1]["message"]["content"] == "After."


def test_a_broken_line_that_may_be_private_is_left_out() -> None:
    assert reading._without_private('{"text": "<private>walnut"\n') == ""
