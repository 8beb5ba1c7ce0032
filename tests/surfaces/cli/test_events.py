"""Looking into the engine's queue from the command line."""

import json
from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

UNKNOWN = "019a0000-0000-7000-8000-000000000000"


def capture(mycel, text: str) -> str:
    return mycel.ok("capture", "conversation", "-", input=text).strip()


@pytest.fixture
def broken_extraction(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_settings: object) -> None:
        raise RuntimeError("the text of a memory")

    monkeypatch.setattr("mycel.engine.extraction.extract.extract", fail)


def test_events_are_listed_by_state_and_in_pages(mycel) -> None:
    first, second = capture(mycel, "one"), capture(mycel, "two")
    assert [event["id"] for event in mycel.json("events")["items"]] == [second, first]
    assert mycel.json("events", "list", "--state", "done")["items"] == []
    page = mycel.json("events", "--state", "pending", "--limit", "1")
    assert mycel.json("events", "--limit", "1", "--cursor", page["next_cursor"])["items"][0]["id"] == first
    names, row, _ = [line.split("\t") for line in mycel.ok("events").splitlines()]
    assert names == ["work", "state", "by", "created", "id", "outcome"]
    assert row[:3] == ["extract", "pending", "operator"]


def test_without_events_the_list_says_so(mycel) -> None:
    assert mycel.run("events").stderr == "No events.\n"


def test_an_event_is_shown_with_what_came_of_it(mycel) -> None:
    id = capture(mycel, "one")
    mycel.ok("work", "--once")
    shown = mycel.ok("events", "show", id)
    assert shown.startswith("extract  done\n")
    assert mycel.json("events", "show", id)["outcome"] in shown


@pytest.mark.files_only
def test_a_failed_event_says_why_and_is_tried_again(
    mycel, broken_extraction: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = capture(mycel, "one")
    mycel.ok("work", "--once")
    (failed,) = mycel.json("events", "--state", "failed")["items"]
    assert (failed["id"], failed["error"], failed["tries"]) == (id, "RuntimeError", 1)
    assert "RuntimeError" in mycel.ok("events")
    monkeypatch.undo()
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    result = mycel.run("events", "retry", id)
    assert (result.stdout, result.stderr[:9]) == (f"{id}\n", "pending: ")
    assert mycel.json("work", "--once")["failed"] == 0
    assert mycel.json("events", "retry", id)["state"] == "done"


def test_a_terminal_shows_the_outcome_below_the_id(mycel, terminal: Callable[[], None]) -> None:
    id = capture(mycel, "one")
    mycel.ok("work", "--once")
    terminal()
    lines = mycel.ok("events").splitlines()
    assert lines[3].startswith(id)
    assert lines[4].startswith("0 candidates")


@pytest.mark.parametrize("command", ["show", "retry"])
def test_what_is_not_there_is_not_found(mycel, command: str) -> None:
    assert mycel.run("events", command, UNKNOWN).exit_code == 3


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["--state", "asleep"], "state"),
        (["--limit", "5000"], "limit"),
        (["--cursor", "x"], "cursor"),
        (["show", "x"], "id"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, args: list[str], field: str) -> None:
    result = mycel.run("events", *args, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stderr)["error"]["field"] == field
