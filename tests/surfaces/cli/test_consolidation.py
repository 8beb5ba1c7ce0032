"""Consolidation and contradictions from the command line."""

import json
from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

UNKNOWN = "019a0000-0000-7000-8000-000000000000"
SAID = "Lesson learned: never run migrations before the backup has finished."


@pytest.fixture
def candidate(mycel) -> str:
    """Well enough grounded to become active by itself, where the policy lets it."""
    mycel.ok("policy", "set", "--promote", "grounded")
    mycel.ok("capture", "conversation", "-", input=SAID)
    mycel.ok("work", "--once")
    (item,) = mycel.json("inbox")["items"]
    assert item["memory"]["confidence"] >= 0.8
    return item["memory"]["id"]


def test_a_run_says_how_much_is_left_to_a_person_and_how_to_approve_it(mycel) -> None:
    assert mycel.json("policy")["promote"] == "reviewed"
    assert mycel.run("consolidate").stderr == "Nothing to do.\n"
    mycel.ok("capture", "conversation", "-", input=SAID)
    mycel.ok("work", "--once")
    result = mycel.run("consolidate")
    waits = "1 waits in the inbox for a person: `mycel inbox` lists, `mycel inbox approve ID` approves.\n"
    assert (result.stdout, result.stderr) == ("", f"Nothing to do.\n{waits}")
    assert "mycel inbox approve ID makes one active" in mycel.run("inbox").stderr
    (item,) = mycel.json("inbox")["items"]
    mycel.ok("inbox", "approve", item["memory"]["id"])
    assert mycel.json("get", item["memory"]["id"])["status"] == "active"
    assert mycel.run("consolidate").stderr == "Nothing to do.\n"


def test_a_suggestion_is_listed_shown_and_decided(mycel) -> None:
    for name in ("swe-1", "swe-2"):
        mycel.ok("member", "add", name, "--team", "executive")
    old = mycel.save("The gateway listens on port 8080.", "--as", "swe-1")
    new = mycel.save("The gateway no longer listens on port 8080, it moved from 8080 to 9090.", "--as", "swe-2")
    assert [action["kind"] for action in mycel.json("consolidate")["actions"]] == ["suggest"]
    shown = mycel.ok("inbox", "show", new)
    assert "replaces another memory that stands, or repeats it" in shown
    assert f"supersedes → The gateway listens on port 8080.  {old}" in shown
    mycel.ok("inbox", "approve", new)
    assert mycel.json("get", old)["status"] == "superseded"
    assert mycel.json("list", "--status", "superseded")["items"][0]["id"] == old


def test_a_dry_run_shows_what_would_be_done(mycel, candidate: str) -> None:
    result = mycel.run("consolidate", "--dry-run")
    names, row = [line.split("\t") for line in result.stdout.splitlines()]
    assert names == ["memory", "action", "other", "why"]
    assert row[:3] == ["Never run migrations before the backup has finished", "promote", ""]
    assert result.stderr.startswith("Would do: 1 promote. Nothing was done.\n")
    assert "id" not in mycel.json("consolidate", "--dry-run")
    assert mycel.json("get", candidate)["status"] == "inbox"
    assert mycel.json("reports")["items"] == []


def test_a_run_is_reported_and_can_be_undone(mycel, candidate: str) -> None:
    report = mycel.json("consolidate")
    assert [(action["kind"], action["memory_id"]) for action in report["actions"]] == [("promote", candidate)]
    assert mycel.json("get", candidate)["status"] == "active"
    names, row = [line.split("\t") for line in mycel.ok("reports").splitlines()]
    assert names == ["actions", "by", "made", "undone", "id"]
    assert (row[0], row[1], row[3], row[4]) == ("1 promote", "operator", "", report["id"])
    result = mycel.run("undo", report["id"])
    assert (result.stdout, result.stderr) == (f"{report['id']}\n", "undone: 1 promote\n")
    assert mycel.json("get", candidate)["status"] == "inbox"
    assert "by operator" in mycel.ok("reports")


def test_undoing_leaves_what_somebody_has_changed_since(mycel, candidate: str) -> None:
    report = mycel.json("consolidate")
    mycel.ok("update", candidate, "--title", "Backups first")
    result = mycel.run("undo", report["id"])
    assert result.stdout == f"{report['id']}\n  {candidate}\n"
    assert "Left as they are" in result.stderr


def test_undoing_a_writer_can_be_tried_first(mycel) -> None:
    id = mycel.save("Deploy on Fridays.", "--title", "Fridays")
    result = mycel.run("undo", "--since", "1h", "--dry-run")
    assert result.stdout.splitlines()[1].startswith("Fridays\twithdraw")
    assert "Nothing was done" in result.stderr
    assert [one["kind"] for one in mycel.json("undo", "--since", "1h", "--dry-run")[0]["actions"]] == ["withdraw"]
    assert mycel.json("get", id)["status"] == "active"
    refused = mycel.run("undo", UNKNOWN, "--dry-run")
    assert "goes with --since" in refused.stderr


def test_only_the_memories_named_are_looked_at(mycel, candidate: str) -> None:
    other = mycel.save("Unrelated.")
    assert mycel.json("consolidate", other, "--dry-run")["actions"] == []
    assert mycel.run("consolidate", other).stderr.startswith("Nothing to do.\n")
    assert len(mycel.json("consolidate", other, candidate, "--dry-run")["actions"]) == 1


def test_a_merge_names_both_memories(mycel) -> None:
    mycel.save("The nightly backup of the billing database runs at three o'clock.", "--title", "Backup at three")
    mycel.save("The nightly backup of the billing database runs at three o'clock.", "--title", "Backups, when")
    row = mycel.ok("consolidate", "--dry-run").splitlines()[1].split("\t")
    assert {row[0], row[2]} == {"Backup at three", "Backups, when"}
    assert row[1] == "merge"


def test_a_terminal_shows_the_reason_below(mycel, candidate: str, terminal: Callable[[], None]) -> None:
    terminal()
    lines = mycel.ok("consolidate", "--dry-run").splitlines()
    assert lines[2].startswith("Never run migrations")
    assert "promote" in lines[2]
    assert lines[3].strip()
    assert max(map(len, lines)) <= 80


def test_settling_decides_a_contradiction(mycel) -> None:
    holds, lost, replaced = (mycel.save(f"The gateway listens on port {port}.") for port in (9000, 8000, 7000))
    mycel.ok("consolidate")
    result = mycel.run("settle", holds, "--over", lost, "--reason", "measured")
    assert (result.stdout, result.stderr) == (
        f"{holds}\n",
        "“The gateway listens on port 9000.” of team executive holds over 1 now contradicted\n",
    )
    assert mycel.json("get", lost)["status"] == "contradicted"
    assert mycel.json("get", lost, "--history")["history"][-1]["reason"] == "measured"
    assert mycel.json("settle", holds, "--over", replaced, "--over", lost, "--superseded")["id"] == holds
    assert mycel.json("get", replaced)["status"] == "superseded"


def test_an_agent_decides_nothing(mycel, candidate: str) -> None:
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    other = mycel.save("x")
    for args in (["consolidate"], ["undo", UNKNOWN], ["settle", candidate, "--over", other]):
        assert mycel.run("--as", "swe-1", *args).exit_code == 4


def test_what_is_not_there_is_not_found(mycel) -> None:
    id = mycel.save("x")
    for args in (["undo", UNKNOWN], ["consolidate", UNKNOWN], ["settle", id, "--over", UNKNOWN]):
        assert mycel.run(*args).exit_code == 3


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["undo", "nope"], "report"),
        (["consolidate", "nope"], "id"),
        (["settle", UNKNOWN], "over"),
        (["settle", "nope", "--over", UNKNOWN], "id"),
        (["settle", UNKNOWN, "--over", "nope"], "over"),
        (["settle", UNKNOWN, "--over", UNKNOWN], "over"),
        (["settle", UNKNOWN, "--over", UNKNOWN, "--reason", ""], "over"),
        (["reports", "--cursor", "nope"], "cursor"),
        (["reports", "--limit", "5000"], "limit"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, args: list[str], field: str) -> None:
    result = mycel.run(*args, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"]["field"] == field
