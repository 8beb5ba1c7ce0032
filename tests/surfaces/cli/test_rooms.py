"""Who acts, in which room, and what the owner of the files sees of all of them."""

import json
import sys
from pathlib import Path

import pytest

from mycel.surfaces.cli.invocation import FIRST_COMMANDS
from mycel.surfaces.mcp.command import run as run_mcp
from tests.surfaces.cli.test_commands import ALL

pytestmark = pytest.mark.usefixtures("words_only")

UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
# The least that each command has to be told beside its name.
ARGUMENTS = {
    "search": ["x"], "get": [UNKNOWN_ID], "watch": ["--once"], "save": ["x"], "update": [UNKNOWN_ID, "--title", "x"],
    "delete": [UNKNOWN_ID], "restore": [UNKNOWN_ID], "purge": [UNKNOWN_ID, "--yes"], "explain": [UNKNOWN_ID],
    "learn": ["swe-1", "x", "--category", "x"], "profile set": ["x", "x"], "knowledge get": ["x"],
    "knowledge set": ["x", "x"], "knowledge history": [UNKNOWN_ID], "knowledge import": ["nothing.md"],
    "knowledge arbitrate": [UNKNOWN_ID, "--reason", "x"], "knowledge delete": [UNKNOWN_ID],
    "capture session": ["-"], "capture conversation": ["-"], "capture thread": ["-"],
    "capture file": ["-", "--name", "/x"], "task brief": ["x"], "task complete": ["x", "--output", "x"],
    "task fail": ["x", "--wrong", "x"], "episodes log": ["x", "--action", "failed"], "episodes agents": ["x"],
    "episodes get": [UNKNOWN_ID], "episodes similar": ["x"],
    "artifacts register": ["x", "--content", "x"], "artifacts get": [UNKNOWN_ID], "artifacts verify": [UNKNOWN_ID],
    "artifacts delete": [UNKNOWN_ID], "inbox show": [UNKNOWN_ID], "inbox approve": [UNKNOWN_ID],
    "inbox edit": [UNKNOWN_ID, "--title", "x"], "inbox reject": [UNKNOWN_ID, "--reason", "x"],
    "inbox merge": [UNKNOWN_ID, "--into", UNKNOWN_ID], "inbox snooze": [UNKNOWN_ID], "inbox reopen": [UNKNOWN_ID],
    "undo": [UNKNOWN_ID], "vault sync": ["x"], "vault status": ["x"], "vault watch": ["x"], "mount": ["x"],
    "backup create": ["x"], "backup verify": ["x"], "backup restore": ["x", "--yes"],
    "settle": [UNKNOWN_ID, "--over", UNKNOWN_ID], "cascade": [UNKNOWN_ID], "escalate": [UNKNOWN_ID],
    "withdraw": [UNKNOWN_ID], "export": ["out.jsonl"], "import": ["in.jsonl"], "team add": ["x"],
    "team load": ["org"], "team reset": ["x", "--yes"], "member add": ["x", "--team", "executive"],
    "member move": ["x", "--team", "executive"],
    "member remove": ["x", "--yes"], "member resolve": ["x"], "token issue": ["operator"],
    "token revoke": ["x", "--yes"], "policy set": ["--inbox-kept", "7d"], "work": ["--once"],
    "events show": [UNKNOWN_ID], "events retry": [UNKNOWN_ID], "model use": ["none"],
    "install": ["claude-code", "--dry-run"], "uninstall": ["claude-code"],
}  # fmt: skip
# A service is nobody's, and a hook keeps quiet whatever happens.
ANYBODYS = {"serve", "hook", "demo"}
# What looks at models and at agents' settings needs no memory.
WITHOUT_MEMORY = {"model list", "model check", "uninstall", "demo"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MYCEL_URL", "MYCEL_TOKEN", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home")


def line_of(name: str) -> list[str]:
    return [*name.split(), *ARGUMENTS.get(name, [])]


def test_a_command_that_may_be_the_first_is_one() -> None:
    assert set(ALL) >= FIRST_COMMANDS
    assert set(ARGUMENTS) <= set(ALL)


@pytest.mark.usefixtures("on_files")
@pytest.mark.parametrize("name", sorted(set(ALL) - FIRST_COMMANDS - WITHOUT_MEMORY - {"doctor"}))
def test_a_command_that_finds_no_data_says_how_to_begin_and_makes_none(untouched, name: str) -> None:
    told = untouched.run(*line_of(name), input="x")
    assert told.exit_code == 3, told.output
    assert f"there is nothing in {untouched.data} yet" in told.stderr
    assert "mycel save" in told.stderr
    assert not untouched.data.exists()


@pytest.mark.usefixtures("on_files")
def test_a_mount_without_data_says_so_even_where_fuse_is_missing(untouched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mfusepy", None)
    answered = untouched.run("mount", "notes")
    assert answered.exit_code == 3, answered.output
    assert f"there is nothing in {untouched.data} yet" in answered.stderr


@pytest.mark.usefixtures("on_files")
@pytest.mark.parametrize("name", sorted(WITHOUT_MEMORY | {"doctor"}))
def test_what_only_looks_makes_no_data_either(untouched, name: str) -> None:
    untouched.run(*line_of(name))
    assert not untouched.data.exists()


@pytest.mark.usefixtures("on_files")
@pytest.mark.parametrize("name", ["save", "team add", "member add", "capture conversation", "knowledge set"])
def test_what_brings_something_in_can_be_the_first_command(untouched, name: str) -> None:
    untouched.ok(*line_of(name), input="We decided to ship on Tuesdays.")
    untouched.ok("list")


@pytest.mark.usefixtures("on_files")
def test_every_command_refuses_a_name_that_nobody_has_and_tells_the_near_ones(mycel) -> None:
    for member in ("swe-1", "eng-director"):
        mycel.ok("member", "add", member, "--team", "executive")
    for name in sorted(set(ALL) - ANYBODYS):
        told = mycel.run(*line_of(name), "--as", "swe1", input="x")
        assert told.exit_code, (name, told.output)
        assert "there is no member swe1" in told.output, name
        assert "did you mean swe-1?" in told.output, name
        assert "--create adds it" in told.output, name
        members = [one["id"] for one in mycel.json("member", "list")["items"]]
        assert members == ["eng-director", "operator", "swe-1"], name


def test_a_name_on_the_line_is_looked_at_before_an_agent_is_served() -> None:
    assert run_mcp(["--as", "swe-1"]) is False


@pytest.mark.usefixtures("on_files")
def test_a_service_is_nobodys(mycel) -> None:
    assert "only the operator" in mycel.run("serve", "--as", "swe-1").stderr


@pytest.mark.usefixtures("on_files")
def test_a_name_that_nobody_has_begins_no_data_directory(untouched) -> None:
    assert untouched.run("--as", "swe-1", "save", "x").exit_code == 3
    assert not untouched.data.exists()


@pytest.mark.parametrize("place", [["--as", "swe-9", "--create", "save", "x"], ["save", "x", "--as=swe-9", "--create"]])
def test_a_new_name_can_be_meant(mycel, place: list[str]) -> None:
    mycel.ok("team", "add", "platform")
    saved = mycel.json(*place, "--team", "platform")
    assert (saved["agent_id"], saved["team"]) == ("swe-9", "platform")
    # It is known from now on, and creating it again changes nothing.
    mycel.ok("--as", "swe-9", "save", "y")
    mycel.ok(*place)
    elsewhere = mycel.run(*place, "--team", "executive")
    assert elsewhere.exit_code == 5
    assert "swe-9 is a member of platform" in elsewhere.stderr


def test_creating_nobody_is_refused(mycel) -> None:
    told = mycel.run("--create", "save", "x")
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith("mycel: create: goes with --as")


@pytest.fixture
def rooms(mycel):
    """Two teams with a memory each about the same matter, and one that waits in each."""
    mycel.ok("team", "add", "engineering")
    mycel.ok("member", "add", "swe-1", "--team", "engineering")
    mycel.save("The cache of the shop is warmed at noon.", "--as", "swe-1")
    mycel.save("The cache of the office is a drawer.")
    mycel.save("The cache may be too small.", "--as", "swe-1", "--needs-review")
    mycel.save("The drawer may be too small.", "--needs-review")
    return mycel


def test_the_owner_finds_what_every_team_has_with_its_name(rooms) -> None:
    hits = rooms.json("search", "cache")["hits"]
    assert {(hit["team"], hit["memory"]["team"]) for hit in hits} == {("engineering",) * 2, ("executive",) * 2}
    relevance = [hit["relevance"] for hit in hits]
    assert relevance == sorted(relevance, reverse=True)
    shown = rooms.ok("search", "cache")
    assert "· team engineering" in shown
    assert "· team executive" in shown
    # Also where all of it is of one team.
    assert "· team engineering" in rooms.ok("search", "shop warmed noon", "--limit", "1")
    assert len(rooms.json("search", "cache", "--limit", "1")["hits"]) == 1


@pytest.mark.parametrize("named", [["--as", "operator"], ["--team", "executive"]])
def test_the_owner_can_look_into_one_room_only(rooms, named: list[str]) -> None:
    assert {hit["team"] for hit in rooms.json("search", "cache", *named)["hits"]} == {"executive"}
    assert {one["team"] for one in rooms.json("list", *named)["items"]} == {"executive"}
    assert {one["memory"]["team"] for one in rooms.json("inbox", *named)["items"]} == {"executive"}


def test_a_member_sees_its_own_room(rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {hit["team"] for hit in rooms.json("search", "cache", "--as", "swe-1")["hits"]} == {"engineering"}
    monkeypatch.setenv("MYCEL_AGENT", "swe-1")
    assert {one["team"] for one in rooms.json("list")["items"]} == {"engineering"}


@pytest.mark.parametrize("command", ["list", "recent", "inbox"])
def test_the_owner_lists_every_team_the_newest_first(rooms, command: str) -> None:
    items = [one.get("memory", one) for one in rooms.json(command)["items"]]
    assert [one["team"] for one in items] == ["executive", "engineering"]
    names, *rows = [row.split("\t") for row in rooms.ok(command).splitlines()]
    assert names[-1] == "team"
    assert [row[-1] for row in rows] == ["executive", "engineering"]


@pytest.mark.parametrize("order", ["-created_at", "created_at", "title", "-title", "path"])
def test_pages_of_every_team_are_one_list(mycel, order: str) -> None:
    for team in ("engineering", "marketing", "silent"):
        mycel.ok("team", "add", team)
    for number in range(7):
        team = ("engineering", "executive", "engineering", "marketing")[number % 4]
        mycel.save(f"Note {number * 5 % 7}.", "--team", team)
    whole = [one["id"] for one in mycel.json("list", "--order-by", order)["items"]]
    assert len(whole) == 7
    seen: list[str] = []
    cursor: list[str] = []
    for _ in range(4):
        page = mycel.json("list", "--order-by", order, "--limit", "2", *cursor)
        seen += [one["id"] for one in page["items"]]
        cursor = ["--cursor", page["next_cursor"]] if page["next_cursor"] else []
    assert (seen, cursor) == (whole, [])
    titles = [one["title"] for one in mycel.json("list", "--order-by", "title")["items"]]
    assert titles == sorted(titles)
    of_one = mycel.json("list", "--team", "engineering", "--limit", "1")["next_cursor"]
    assert "--team names" in mycel.run("list", "--cursor", of_one).stderr


def test_what_the_owner_was_shown_can_be_acted_on_by_its_id(rooms) -> None:
    waiting = next(one["memory"] for one in rooms.json("inbox")["items"] if one["memory"]["team"] == "engineering")
    id = waiting["id"]
    assert "engineering" in rooms.ok("inbox", "show", id)
    rooms.ok("inbox", "approve", id)
    assert rooms.json("get", id, "--history")["status"] == "active"
    assert rooms.run("inbox", "show", id).stderr == "mycel: this memory is active and no longer in the inbox\n"
    assert rooms.json("update", id, "--title", "Small cache")["version"] == 3
    rooms.ok("delete", id)
    assert rooms.run("get", id).exit_code == 3
    rooms.ok("restore", id)
    recall = rooms.json("search", "shop warmed noon")["id"]
    assert recall in json.dumps(rooms.json("explain", recall))
    rooms.ok("purge", id, "--yes")
    assert rooms.run("get", id).exit_code == 3
