"""Importing from other systems by the command line, on the files and through a service."""

import json
from pathlib import Path

import pytest

from mycel.engine.imports.registry import FORMS
from mycel.errors import Unavailable
from mycel.surfaces.importing import run

pytestmark = [pytest.mark.usefixtures("words_only")]
ENTITIES = [
    {"type": "entity", "name": "billing", "entityType": "service", "observations": ["uses Postgres 16"]},
    {"type": "entity", "name": "checkout", "entityType": "service", "observations": ["calls billing"]},
    {"type": "relation", "from": "checkout", "to": "billing", "relationType": "depends on"},
]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in ENTITIES))
    return path


def adds_up(report) -> bool:
    counted = sum(one["count"] for one in report["counts"])
    return report["read"] == report["taken"] + report["skipped"] + report["refused"] == counted


def test_a_dry_run_tells_what_would_become_what_and_stores_nothing(mycel, graph: Path) -> None:
    result = mycel.run("import", str(graph), "--dry-run")
    assert result.stdout.splitlines() == [
        "record\tbecomes\tnumber\toutcome\tsuch as",
        "entity\tcontext\t2\ttaken\t",
        "observation\tfact\t2\ttaken\t",
        "subject\tlink applies_to\t2\ttaken\t",
        "relation\tlink related_to\t1\ttaken\t",
    ]
    assert "memory.jsonl is the official MCP memory server's file (mcp-memory)." in result.stderr
    assert "7 read: 7 would be taken, 0 skipped, 0 refused." in result.stderr
    assert mycel.json("inbox")["items"] == []


def test_everything_is_taken_once_and_accounted_for(mycel, graph: Path) -> None:
    with graph.open("a") as file:
        file.write("\nnot json\n")
    first = mycel.json("import", str(graph))
    assert (first["form"], first["taken"], first["refused"]) == ("mcp-memory", 7, 1)
    assert adds_up(first)
    assert len(mycel.json("inbox")["items"]) == 4
    again = mycel.json("import", str(graph))
    assert (again["taken"], again["skipped"], again["refused"]) == (0, 7, 1)
    assert adds_up(again)


def test_a_record_that_cannot_even_be_sent_stops_no_other(mycel, tmp_path: Path) -> None:
    """A service refuses a whole request for a NUL or for what is nested too deep."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(9):
        (notes / f"note {number}.md").write_text(f"Note {number} of the folder.")
    (notes / "zero.md").write_bytes(b"A note with \0 in it.")
    report = mycel.json("import", str(notes))
    assert (report["taken"], report["refused"]) == (9, 1)
    assert adds_up(report)
    (reason,) = [one["reason"] for one in report["counts"] if one["outcome"] == "refused"]
    assert reason == "content: holds a NUL character"
    deep = "[" * 60 + "]" * 60
    records = ",".join(f'{{"id": "{number}", "memory": "fact {number}"}}' for number in range(9))
    listed = tmp_path / "memories.json"
    listed.write_text(f'{{"results": [{{"id": "d", "memory": "deep", "metadata": {{"a": {deep}}}}}, {records}]}}')
    report = mycel.json("import", str(listed))
    assert (report["taken"], report["refused"]) == (9, 1)
    assert adds_up(report)


def test_trust_and_project_are_said_for_all_of_it(mycel, graph: Path) -> None:
    mycel.ok("import", str(graph), "--trust", "normal", "--project", "shop")
    found = mycel.json("search", "postgres", "--project", "shop")["hits"]
    assert [hit["memory"]["content"] for hit in found] == ["billing: uses Postgres 16"]
    assert found[0]["memory"]["project_id"] == "shop"


def test_the_origin_keeps_two_files_of_the_same_names_apart(mycel, graph: Path) -> None:
    mycel.ok("import", str(graph))
    assert mycel.json("import", str(graph), "--origin", "other")["taken"] == 7


def test_an_import_that_was_stopped_goes_on(mycel, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "BATCH_RECORDS", 2)
    sent = 0
    whole = run._Sending._take

    def breaking(self, batch):
        nonlocal sent
        sent += 1
        if sent == 2:
            raise Unavailable("the service went away")
        return whole(self, batch)

    monkeypatch.setattr(run._Sending, "_take", breaking)
    assert mycel.run("import", str(graph)).exit_code != 0
    report = mycel.json("import", str(graph))
    assert (report["taken"], report["skipped"]) == (5, 2)


def test_a_file_that_looks_cut_is_warned_of(mycel, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"results": [{"id": str(one), "memory": f"fact {one}"} for one in range(20)]}))
    assert "Warning: m.json holds exactly 20" in mycel.run("import", str(path)).stderr


def test_a_form_can_be_named_and_what_is_unknown_is_told(mycel, tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "CLAUDE.md").write_text("# Rules\nBe brief.\n")
    assert mycel.json("import", str(tmp_path / "v"), "--dry-run")["form"] == "agent-files"
    assert mycel.json("import", str(tmp_path / "v"), "--form", "markdown", "--dry-run")["form"] == "markdown"
    wrong = mycel.run("import", str(tmp_path / "v"), "--form", "diary")
    assert wrong.exit_code == 2
    assert all(form.name in wrong.stderr for form in FORMS)
    (tmp_path / "x.bin").write_bytes(b"\0")
    assert "name it by --form" in mycel.run("import", str(tmp_path / "x.bin")).stderr
    assert mycel.run("import", str(tmp_path / "gone")).exit_code != 0
    assert "trust" in mycel.run("import", str(tmp_path / "v"), "--trust", "total").stderr


def test_what_was_purged_stays_purged(mycel, graph: Path) -> None:
    mycel.ok("import", str(graph))
    for one in mycel.json("inbox")["items"]:
        mycel.ok("purge", one["memory"]["id"], "--yes")
    report = mycel.json("import", str(graph))
    assert report["taken"] == 0
    assert {one["reason"] for one in report["counts"] if one["kind"] == "entity"} == {"it was purged here"}


def test_notes_of_a_vault_bring_back_nothing_and_double_nothing(mycel, tmp_path: Path) -> None:
    gone, stays = (mycel.json("save", text)["id"] for text in ("Prices are gross.", "Prices are rounded."))
    mycel.ok("vault", "sync", str(tmp_path / "vault"))
    # As a clone in git has them.
    notes = (tmp_path / "vault").rename(tmp_path / "notes")
    mycel.ok("purge", gone, "--yes")
    report = mycel.json("import", str(notes), "--form", "markdown")
    assert {one["reason"] for one in report["counts"]} == {"it was purged here", "it is here already"}
    assert [one["id"] for one in mycel.json("list", "--status", "any")["items"]] == [stays]


def test_a_conversation_stays_raw_unless_it_is_to_be_drawn_from(mycel, tmp_path: Path) -> None:
    said = {"sender": "human", "text": "We decided to keep every time in UTC because clocks drift."}
    talk = {"uuid": "c-1", "name": "Clocks", "chat_messages": [said]}
    (tmp_path / "conversations.json").write_text(json.dumps([talk]))
    mycel.ok("import", str(tmp_path / "conversations.json"))
    mycel.ok("work", "--once")
    assert mycel.json("inbox")["items"] == []
    mycel.ok("import", str(tmp_path / "conversations.json"), "--extract")
    mycel.ok("work", "--once")
    assert mycel.json("inbox")["items"]
