"""Capturing sessions, conversations, threads and files from the command line."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

LESSON = "Lesson learned: never run migrations before the backup has finished."
MESSAGES = [
    {"role": "user", "content": "Please remember that we always deploy the billing service on Tuesdays."},
    {"role": "assistant", "content": f"We decided to use SQLite for the queue because it needs no server. {LESSON}"},
]
TRANSCRIPT = "\n".join(
    json.dumps({"type": message["role"], "uuid": str(number), "sessionId": "s-9", "message": message})
    for number, message in enumerate(MESSAGES)
)


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    file = tmp_path / "session.json"
    file.write_text(json.dumps(MESSAGES), "utf-8")
    return str(file)


def source_text(mycel, event: dict[str, str]) -> str:
    """The evidence of a candidate shows how the material was read."""
    mycel.ok("work", "--once")
    item = mycel.json("inbox", "list", "--limit", "1")["items"][0]
    assert item["evidence"]["source_id"] == event["source_id"]
    return item["evidence"]["before"] + item["evidence"]["quote"] + item["evidence"]["after"]


def test_a_captured_session_prints_its_event_and_what_happens_next(mycel, transcript: str) -> None:
    result = mycel.run("capture", "session", transcript)
    assert (result.exit_code, len(result.stdout.split())) == (0, 1)
    assert "`mycel work --once` does the rest now" in result.stderr
    event = mycel.json("events", "show", result.stdout.strip())
    assert (event["state"], event["steps"], event["trigger"]) == ("pending", ["summarize", "extract"], "session_close")


def test_every_option_of_a_session_reaches_what_is_drawn_from_it(mycel, transcript: str) -> None:
    mycel.ok(
        "capture", "session", transcript, "--session-id", "s-1", "--project", "billing", "--repo", "engine",
        "--task", "t-1", "--title", "Queue talk", "--visibility", "role", "--role", "lead",
    )  # fmt: skip
    mycel.ok("work", "--once")
    drawn = mycel.json("inbox")["items"][0]["memory"]
    assert (drawn["session_id"], drawn["task_id"]) == ("s-1", "t-1")
    assert (drawn["project_id"], drawn["repo_id"]) == ("billing", "engine")
    assert (drawn["visibility"], drawn["allowed_roles"]) == ("role", ["lead"])


@pytest.mark.parametrize("material", [json.dumps(MESSAGES), TRANSCRIPT, f"\ufeff{json.dumps(MESSAGES)}"])
@pytest.mark.parametrize("place", [["-"], []])
def test_messages_and_transcripts_are_told_from_text(mycel, material: str, place: list[str]) -> None:
    event = mycel.json("capture", "session", *place, input=material)
    said = source_text(mycel, event)
    assert "user: Please remember" in said
    assert '"role"' not in said


@pytest.mark.parametrize("text", [f"[10:02] {LESSON}", f"[{LESSON}]", f"# Notes\n\n{LESSON}\n"])
def test_plain_text_stays_as_it_is(mycel, text: str) -> None:
    event = mycel.json("capture", "conversation", "-", input=text)
    assert LESSON in source_text(mycel, event)


def test_an_open_session_waits_and_grows_until_it_is_closed(mycel, transcript: str) -> None:
    result = mycel.run("capture", "session", transcript, "--open", "--session-id", "s-1")
    assert "nothing is drawn from it before it is closed" in result.stderr
    assert mycel.json("work", "--once")["events"] == []
    longer = [*MESSAGES, {"role": "user", "content": "We always tag releases."}]
    closed = mycel.json("capture", "session", "--session", "s-1", input=json.dumps(longer))
    assert closed["id"] == result.stdout.strip()
    assert [event["state"] for event in mycel.json("work", "--once")["events"]] == ["done"]


def test_a_stored_conversation_is_drawn_from_later(mycel, transcript: str) -> None:
    result = mycel.run("capture", "conversation", transcript, "--store")
    assert result.stderr == "captured: stored\n"
    stored = mycel.json("events", "show", result.stdout.strip())
    assert (stored["state"], stored["outcome"]) == ("done", "stored")
    later = mycel.json("capture", "conversation", "--source", stored["source_id"])
    assert (later["source_id"], later["state"], later["steps"]) == (stored["source_id"], "pending", ["extract"])


def test_the_same_material_twice_is_one_event(mycel, transcript: str) -> None:
    first = mycel.json("capture", "conversation", transcript)
    assert mycel.json("capture", "conversation", transcript)["id"] == first["id"]


def test_a_thread_gets_a_summary(mycel, transcript: str) -> None:
    mycel.ok("capture", "thread", transcript, "--thread-id", "42", "--title", "Queue")
    mycel.ok("work", "--once")
    (summary,) = mycel.json("list", "--type", "thread_summary")["items"]
    assert (summary["status"], summary["source_ref"]["thread_id"]) == ("active", "42")
    source = mycel.json("inbox")["items"][0]["evidence"]["source_id"]
    assert mycel.json("capture", "thread", "--source", source)["state"] == "done"


def test_a_file_is_indexed_at_once_under_its_path(mycel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "guide.md"
    file.write_text(f"# Start\n\n{'Run it. ' * 700}\n\n# Stop\n\n{'End it. ' * 700}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    result = mycel.run("capture", "file", "docs/../docs/guide.md", "--project", "apollo")
    assert result.stderr == "indexed: 2 documents\n"
    before = mycel.json("list", "--type", "document")["items"]
    assert {memory["source_ref"]["uri"] for memory in before} == {str(file)}
    assert {memory["project_id"] for memory in before} == {"apollo"}
    file.write_text("# Start\n\nRun it twice.\n", "utf-8")
    mycel.ok("capture", "file", str(file), "--project", "apollo")
    (renewed,) = mycel.json("list", "--type", "document")["items"]
    assert (renewed["version"], "twice" in renewed["content"]) == (2, True)
    assert renewed["id"] in {memory["id"] for memory in before}


def test_a_file_can_have_another_name_and_give_candidates(mycel, tmp_path: Path) -> None:
    event = mycel.json("capture", "file", "-", "--name", "handbook/deploys.md", "--extract", input=LESSON)
    assert event["steps"] == ["extract"]
    (indexed,) = mycel.json("list", "--type", "document")["items"]
    assert indexed["source_ref"]["uri"] == "handbook/deploys.md"


def test_a_file_of_the_personal_folder_is_private_by_whatever_link_it_is_reached(
    mycel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "personal"
    folder.mkdir()
    (folder / "diary.md").write_text("Slept badly.", "utf-8")
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("MYCEL_PERSONAL_MEMORY_FOLDER", str(folder))
    monkeypatch.chdir(tmp_path)
    mycel.ok("capture", "file", "link/diary.md", "--as", "swe-1", "--create")
    (note,) = mycel.json("list", "--type", "document", "--as", "swe-1")["items"]
    assert (note["visibility"], note["source_ref"]["uri"]) == ("private", str(folder / "diary.md"))
    assert mycel.json("list", "--type", "document")["items"] == []


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["session", "/nowhere/at/all"], "file"),
        (["session", "/"], "file"),
        (["session", "a\0b"], "file"),
        (["session", "-"], "file"),
        (["session", "FILE", "--visibility", "nobody"], "visibility"),
        (["session", "FILE", "--project", "a/b"], "project"),
        (["session", "FILE", "--task", ""], "task"),
        (["session", "FILE", "--session-id", ""], "session_id"),
        (["conversation", "FILE", "--source", "x"], "source"),
        (["conversation", "--source", "x"], "source"),
        (["thread", "/nowhere"], "file"),
        (["file", "/nowhere"], "path"),
        (["file", "-"], "name"),
        (["file", "FILE", "--name", ""], "name"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, transcript: str, args: list[str], field: str) -> None:
    line = [transcript if arg == "FILE" else arg for arg in args]
    result = mycel.run("capture", *line, "--json", input="")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"]["field"] == field


def test_a_wrong_message_is_named_by_its_place(mycel) -> None:
    result = mycel.run("capture", "session", "--json", input=json.dumps([*MESSAGES, {"content": "who?"}]))
    assert result.exit_code == 2
    assert json.loads(result.stderr)["error"]["field"] == "messages[2].role"


def test_what_is_not_text_is_refused(mycel, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\x89PNG\xff\xfe")
    result = mycel.run("capture", "session", str(tmp_path / "image"))
    assert (result.exit_code, result.stderr) == (2, "mycel: file: is not UTF-8 text\n")


def test_a_source_that_is_not_there_is_not_found(mycel) -> None:
    unknown = "019a0000-0000-7000-8000-000000000000"
    assert mycel.run("capture", "conversation", "--source", unknown).exit_code == 3
