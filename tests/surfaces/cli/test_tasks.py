"""Saying what a task came to."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]


def test_a_finished_task_is_found_at_once(mycel) -> None:
    result = mycel.run("task", "complete", "t-1", "--output", "Pinned the clock.", "--title", "Flaky test")
    assert (result.exit_code, len(result.stdout.split())) == (0, 1)
    assert result.stderr.startswith("saved: ")
    (episode,) = mycel.json("list", "--type", "episode")["items"]
    assert (episode["title"], episode["content"]) == ("Completed: Flaky test", "Pinned the clock.")
    assert (episode["task_id"], episode["metadata"]["outcome"]) == ("t-1", "completed")


def test_the_output_comes_from_a_file_or_standard_input(mycel, tmp_path: Path) -> None:
    file = tmp_path / "output.txt"
    file.write_text("From a file.", "utf-8")
    mycel.ok("task", "complete", "t-1", "--output-file", str(file))
    mycel.ok("task", "complete", "t-2", "--output", "-", input="From standard input.\n")
    found = {memory["task_id"]: memory["content"].strip() for memory in mycel.json("list")["items"]}
    assert found == {"t-1": "From a file.", "t-2": "From standard input."}


def test_a_failed_task_says_what_went_wrong(mycel) -> None:
    event = mycel.json(
        "task", "fail", "t-1", "--wrong", "It ran out of memory.", "--output", "Killed.", "--project", "apollo",
        "--repo", "engine", "--session-id", "s-1",
    )  # fmt: skip
    assert event["steps"] == ["extract"]
    (episode,) = mycel.json("list")["items"]
    assert episode["content"] == "What went wrong: It ran out of memory.\n\nKilled."
    assert (episode["project_id"], episode["repo_id"], episode["session_id"]) == ("apollo", "engine", "s-1")
    assert episode["metadata"]["outcome"] == "failed"


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["complete", "t-1"], "output"),
        (["complete", "t-1", "--output", " "], "output"),
        (["complete", "t-1", "--output", "x", "--output-file", "y"], "output_file"),
        (["complete", "t-1", "--output-file", "/nowhere"], "output_file"),
        (["complete", "", "--output", "x"], "id"),
        (["fail", "t-1"], "wrong"),
        (["fail", "t-1", "--wrong", ""], "wrong"),
        (["fail", "t-1", "--wrong", "x", "--visibility", "nobody"], "visibility"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, args: list[str], field: str) -> None:
    result = mycel.run("task", *args, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"]["field"] == field


def test_a_briefing_does_not_warn_of_what_has_proved_itself_since(mycel) -> None:
    mycel.ok("task", "fail", "t-1", "--approach", "raise the pool size", "--wrong", "It was refused.")
    assert "do not repeat" in mycel.ok("task", "brief", "pool size")
    for number in range(2, 6):
        mycel.ok("task", "complete", f"t-{number}", "--approach", "raise the pool size", "--output", f"Held {number}.")
    text = mycel.ok("task", "brief", "pool size")
    assert "do not repeat" not in text
    assert "raise the pool size -> Held" in text


def test_a_task_without_an_approach_is_told_once_and_in_no_rate(mycel) -> None:
    mycel.ok("task", "fail", "t-1", "--wrong", "The disk was full.")
    assert mycel.ok("task", "brief", "disk").count("The disk was full.") == 1
    assert "Failed" not in mycel.ok("episodes", "rates")
