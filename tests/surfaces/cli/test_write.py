"""Writing memories from the command line."""

import json

import pytest
from typer.testing import Result

pytestmark = pytest.mark.each_database(slow=True)


def error_of(result: Result) -> dict[str, str]:
    assert result.stdout == ""
    return json.loads(result.stderr)["error"]


def test_saving_prints_only_the_id_on_standard_output(mycel) -> None:
    result = mycel.run("save", "Deploys go out on Tuesdays.")
    assert result.exit_code == 0
    assert mycel.json("get", result.stdout.strip())["content"] == "Deploys go out on Tuesdays."
    assert result.stderr == "saved as fact in /notes of team executive\n"


def test_a_save_says_what_stands_near_it_and_what_it_replaces(mycel) -> None:
    old = mycel.save("The staging database listens on port 5433.")
    near = mycel.run("save", "On port 5433 the staging database listens.", "--similar")
    assert f"{old} by operator: The staging database listens on port 5433." in near.stderr
    mycel.save("The staging database listens on port 6000.", "--supersedes", old)
    assert mycel.json("get", old)["status"] == "superseded"


def test_every_option_of_save_reaches_its_field(mycel) -> None:
    options = {
        "--type": "decision",
        "--title": "Use SQLite",
        "--summary": "SQLite it is",
        "--category": "storage",
        "--key": "database",
        "--project": "apollo",
        "--repo": "engine",
        "--path": "/decisions/storage",
        "--visibility": "role",
        "--confidence": "0.5",
        "--session": "s-1",
        "--task": "t-1",
        "--rationale": "One file",
        "--idempotency-key": "k-1",
        "--ttl": "7d",
    }
    repeated = ["--tag", "db", "--tag", "Speed", "--role", "lead", "--role", "admin"]
    others = ["--alternative", "Postgres", "--alternative", "files", "--needs-review"]
    flat = [part for pair in options.items() for part in pair]
    saved = mycel.json("save", "We use SQLite.", *flat, *repeated, *others)
    assert saved["type"] == "decision"
    assert saved["title"] == "Use SQLite"
    assert saved["summary"] == "SQLite it is"
    assert (saved["category"], saved["key"]) == ("storage", "database")
    assert (saved["project_id"], saved["repo_id"], saved["scope"]) == ("apollo", "engine", "repo")
    assert saved["path"] == "/decisions/storage"
    assert (saved["visibility"], saved["allowed_roles"]) == ("role", ["lead", "admin"])
    assert saved["tags"] == ["db", "speed"]
    assert saved["confidence"] == 0.5
    assert (saved["session_id"], saved["task_id"]) == ("s-1", "t-1")
    assert (saved["rationale"], saved["alternatives"]) == ("One file", ["Postgres", "files"])
    assert saved["status"] == "inbox"
    assert saved["expires_at"] > saved["created_at"]
    assert saved["created_at"].endswith("+00:00")


def test_a_confidence_of_zero_is_a_confidence(mycel) -> None:
    assert mycel.json("save", "Perhaps.", "--confidence", "0")["confidence"] == 0


def test_a_dash_reads_the_content_from_standard_input(mycel) -> None:
    assert mycel.json("save", "-", input="two\nlines — ✓\n")["content"] == "two\nlines — ✓"


def test_content_that_is_not_utf8_is_refused(mycel) -> None:
    result = mycel.run("save", "-", "--json", input=b"\xff\xfe")
    assert result.exit_code == 2
    assert error_of(result)["field"] == "content"


def test_endless_input_is_refused(mycel) -> None:
    result = mycel.run("save", "-", input=b"a" * (1024 * 1024 + 1))
    assert result.exit_code == 2
    assert result.stderr == "mycel: content: is longer than 1,048,576 bytes\n"


def test_the_same_idempotency_key_saves_once(mycel) -> None:
    first = mycel.save("once", "--idempotency-key", "k")
    assert mycel.save("once", "--idempotency-key", "k") == first
    assert mycel.run("save", "other", "--idempotency-key", "k").exit_code == 5


def test_what_waits_for_review_is_said(mycel) -> None:
    assert "inbox" in mycel.run("save", "perhaps", "--needs-review").stderr


@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["save", ""], "content"),
        (["save", "x", "--type", "nonsense"], "type"),
        (["save", "x", "--confidence", "7"], "confidence"),
        (["save", "x", "--visibility", "role"], "allowed_roles"),
        (["save", "x", "--ttl", "soon"], "ttl"),
        (["save", "x", "--path", "notes"], "path"),
        (["get", "nope"], "id"),
        (["list", "--order-by", "colour"], "order_by"),
        (["list", "--since", "yesterday"], "since"),
        (["list", "--limit", "many"], "limit"),
        (["list", "--cursor", "nope"], "cursor"),
        (["search", "x", "--min-relevance", "2"], "min_relevance"),
        (["tree", "nope"], "path"),
        (["--data", "", "recent"], "data"),
    ],
)
def test_a_wrong_value_is_answered_with_its_field(mycel, args: list[str], field: str) -> None:
    result = mycel.run(*args, "--json")
    assert result.exit_code == 2
    assert error_of(result)["code"] == "invalid_input"
    assert error_of(result)["field"] == field


def test_a_failure_is_one_line_on_standard_error(mycel) -> None:
    result = mycel.run("save", "x", "--type", "nonsense")
    assert result.stdout == ""
    assert result.stderr.startswith("mycel: type: 'nonsense' is not one of: fact,")
    assert result.stderr.count("\n") == 1


def test_updating_changes_what_is_named_and_keeps_the_rest(mycel) -> None:
    id = mycel.save("Deploys go out on Tuesdays.", "--tag", "ci", "--project", "apollo")
    changed = mycel.json("update", id, "--content", "Deploys go out on Mondays.", "--reason", "it moved")
    assert changed["title"] == "Deploys go out on Mondays."
    assert (changed["tags"], changed["project_id"], changed["version"]) == (["ci"], "apollo", 2)
    cleared = mycel.json("update", id, "--clear", "tag", "--clear", "project", "--status", "archived")
    assert (cleared["tags"], cleared["project_id"], cleared["status"]) == ([], None, "archived")


def test_a_field_cannot_be_set_and_cleared_at_once(mycel) -> None:
    id = mycel.save("x")
    assert mycel.run("update", id, "--tag", "a", "--clear", "tag").exit_code == 2


def test_an_update_of_an_old_version_is_a_conflict(mycel) -> None:
    id = mycel.save("x")
    mycel.ok("update", id, "--title", "y", "--expected-version", "1")
    result = mycel.run("update", id, "--title", "z", "--expected-version", "1", "--json")
    assert result.exit_code == 5
    assert error_of(result)["code"] == "conflict"


def test_a_deleted_memory_can_be_listed_and_restored(mycel) -> None:
    id = mycel.save("x")
    assert mycel.json("delete", id) == {"id": id, "deleted": True, "title": "x", "team": "executive"}
    assert mycel.run("get", id).exit_code == 3
    assert [memory["id"] for memory in mycel.json("list", "--deleted")["items"]] == [id]
    assert mycel.json("restore", id)["deleted_at"] is None
    assert mycel.json("get", id)["id"] == id


def test_purging_asks_first(mycel) -> None:
    id = mycel.save("x")
    assert mycel.run("purge", id, input="n\n").exit_code == 1
    assert mycel.run("purge", id, input="").exit_code == 2
    assert mycel.json("get", id)["id"] == id
    assert mycel.ok("purge", id, input="y\n") == f"{id}\n"
    assert mycel.run("get", id).exit_code == 3


@pytest.mark.files_only
def test_purging_as_json_needs_a_yes_and_gives_a_receipt(mycel) -> None:
    id = mycel.save("x")
    result = mycel.run("purge", id, "--json")
    assert (result.exit_code, error_of(result)["field"]) == (2, "yes")
    receipt = mycel.json("purge", id, "--yes")
    assert (receipt["memory_id"], receipt["state"]) == (id, "scrubbed")


def test_masked_secrets_and_replaced_tags_are_said(mycel) -> None:
    saved = mycel.run("save", "password=hunter2aX9kkw, ghp_abcdefghijklmnopqrstuvwxyz0123456789", "--tag", "door")
    assert "2 secrets masked (password, github token)\n" in saved.stderr
    id = saved.stdout.strip()
    assert "tag door taken off: the tags given replace those before\n" in mycel.run("update", id, "--tag", "key").stderr
    assert mycel.json("update", id, "--content", "password=hunter2aX9kkw")["notices"] == ["1 secret masked (password)"]


def test_a_purge_says_what_it_erases_and_needs_yes_where_nobody_answers(mycel) -> None:
    id = mycel.save("Herons fish at dawn.")
    told = mycel.run("purge", id[-8:], input="")
    assert told.exit_code == 2
    assert "Erase “Herons fish at dawn.” of team executive for good?" in told.stderr
    assert "yes: is needed where nobody answers" in told.stderr
    assert mycel.run("purge", id, input="n\n").exit_code == 1
    assert mycel.json("get", id)["id"] == id
    done = mycel.run("purge", id[-8:], "--yes")
    assert (done.exit_code, done.stdout) == (0, f"{id}\n")
    assert "“Herons fish at dawn.” of team executive" in done.stderr
    assert mycel.run("get", id).exit_code == 3
