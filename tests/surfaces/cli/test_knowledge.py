"""Knowledge from the command line."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

NOTES = "# Conventions\n- **imports**: node: prefix\n\n# Empty\n\n# Deploy\nBuild, then ship.\n"


@pytest.fixture
def ids(mycel) -> tuple[str, str]:
    """The id of the value that stands, and of one that waits against it."""
    mycel.ok("member", "add", "lead-1", "--team", "executive", "--role", "lead")
    for name in ("swe-1", "swe-2"):
        mycel.ok("member", "add", name, "--team", "executive")
    stands = mycel.ok("knowledge", "set", "port", "Port 80.", "--project", "web", "--as", "swe-1").strip()
    result = mycel.run(
        "knowledge", "set", "port", "Port 81.", "--project", "web", "--confidence", "0.5", "--as", "swe-2"
    )
    assert "waiting in the inbox" in result.stderr
    assert "not applied: Port 80. of swe-1 stands (1 sure" in result.stderr
    assert "decided by: orchestrator, lead, admin" in result.stderr
    return stands, result.stdout.strip()


def test_a_value_is_set_listed_and_shown(mycel, ids: tuple[str, str]) -> None:
    found = mycel.json("knowledge", "get", "port", "--project", "web")
    assert (found["id"], found["content"], found["category"]) == (ids[0], "Port 80.", "fact")
    assert "Port 80." in mycel.ok("knowledge", "get", "port", "--project", "web")
    assert mycel.run("knowledge", "get", "port").exit_code == 3
    mycel.ok("save", "A note.")
    assert [item["id"] for item in mycel.json("knowledge")["items"]] == [ids[0]]
    names, row = [line.split("\t") for line in mycel.ok("knowledge", "list", "--key", "port").splitlines()]
    assert names == ["key", "category", "project", "confidence", "confirmed", "by", "updated", "id", "value"]
    assert (row[0], row[3], row[4], row[5], row[8]) == ("port", "1", "", "swe-1", "Port 80.")
    assert mycel.run("knowledge", "list", "--category", "decision").stderr == "No knowledge.\n"


def test_an_equal_value_confirms_and_what_waits_is_answered_so(mycel, ids: tuple[str, str]) -> None:
    said = ("knowledge", "set", "port", "--project", "web", "--as", "swe-2")
    confirmed = mycel.json(*said, "Port 80.")
    assert (confirmed["id"], confirmed["applied"], confirmed["confirmations"]) == (ids[0], True, 1)
    waits = mycel.json(*said, "Port 82.")
    assert (waits["applied"], waits["decided_by"]) == (False, ["orchestrator", "lead", "admin"])
    assert (waits["standing"]["id"], waits["standing"]["value"]) == (ids[0], "Port 80.")


def test_a_value_is_found_by_its_key_and_printed_with_it(mycel) -> None:
    id = mycel.ok("knowledge", "set", "metrics-port", "9090", "--category", "architecture").strip()
    found = mycel.ok("search", "metrics port")
    assert "  metrics-port: 9090\n" in found
    assert f"{id}  fact (architecture) · " in found
    assert mycel.ok("get", id).startswith("metrics-port: 9090\n")
    assert "metrics-port: 9090" in mycel.ok("list")
    assert "metrics-port: 9090" in mycel.ok("tree", "/notes")
    assert "operator today fact (architecture): metrics-port: 9090" in mycel.ok("context")
    assert "metrics-port: 9090" in mycel.ok("context")


def test_a_stale_version_is_a_conflict(mycel, ids: tuple[str, str]) -> None:
    args = ("knowledge", "set", "port", "Port 82.", "--project", "web", "--as", "swe-1")
    assert mycel.run(*args, "--expected-version", "0").exit_code == 5
    assert mycel.json(*args, "--expected-version", "1")["version"] == 2
    history = mycel.json("knowledge", "history", ids[0])["items"]
    assert [version["memory"]["content"] for version in history] == ["Port 80.", "Port 82."]
    assert len(mycel.ok("knowledge", "history", ids[0]).splitlines()) == 3


def test_an_arbiter_decides_what_holds(mycel, ids: tuple[str, str]) -> None:
    assert [item["id"] for item in mycel.json("knowledge", "candidates", "--project", "web")["items"]] == [ids[1]]
    assert mycel.run("knowledge", "arbitrate", ids[1], "--as", "swe-2").exit_code == 4
    result = mycel.run("knowledge", "arbitrate", ids[1], "--reason", "measured", "--as", "lead-1")
    assert (result.exit_code, result.stdout) == (0, f"{ids[1]}\n")
    assert mycel.json("knowledge", "get", "port", "--project", "web")["content"] == "Port 81."
    assert mycel.run("knowledge", "candidates").stderr == "Nothing waits.\n"
    assert "measured" in mycel.ok("knowledge", "history", ids[0])


def test_a_value_is_deleted_and_only_a_value(mycel, ids: tuple[str, str]) -> None:
    note = mycel.save("A note.")
    assert mycel.run("knowledge", "delete", note).exit_code == 3
    assert mycel.json("knowledge", "delete", ids[0], "--as", "swe-1") == {
        **{"id": ids[0], "deleted": True},
        **{"title": "Port 80.", "team": "executive"},
    }
    assert mycel.run("knowledge", "get", "port", "--project", "web").exit_code == 3


def test_shared_markdown_is_imported_once(mycel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("CONTEXT.md").write_text(NOTES, "utf-8")
    dry = mycel.run("knowledge", "import", "CONTEXT.md", "--dry-run")
    assert "CONTEXT.md: would be 2 created" in dry.stderr
    assert mycel.json("knowledge")["items"] == []
    result = mycel.run("knowledge", "import", "CONTEXT.md")
    assert "CONTEXT.md:5: left out Empty: has no text" in result.stderr
    rows = [line.split("\t")[:3] for line in result.stdout.splitlines()]
    assert rows == [
        ["key", "category", "outcome"],
        ["imports", "convention", "created"],
        ["deploy", "fact", "created"],
    ]
    [again] = mycel.json("knowledge", "import", "CONTEXT.md")["items"]
    assert {entry["outcome"] for entry in again["entries"]} == {"unchanged"}
    [piped] = mycel.json("knowledge", "import", "-", "--name", "CONTEXT.md", input="# Deploy\nShip.\n")["items"]
    assert [entry["outcome"] for entry in piped["entries"]] == ["updated"]
    assert [entry["key"] for entry in piped["missing"]] == ["imports"]


@pytest.mark.parametrize("args", [["-"], ["absent.md"], ["a.md", "b.md", "--name", "x"]])
def test_what_cannot_be_imported_is_a_usage_error(mycel, args: list[str]) -> None:
    assert mycel.run("knowledge", "import", *args).exit_code == 2
