"""The one rule of the owner's view: what each command reads of which teams, and which team it changes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mycel.surfaces.cli.every_team import REACHES, Reach
from tests.surfaces.cli.conftest import CommandLine
from tests.surfaces.cli.test_commands import ALL

pytestmark = [pytest.mark.usefixtures("words_only", "rooms"), pytest.mark.each_database(slow=True)]

OWN, OTHER = "executive", "sales"
Make = Callable[[CommandLine, str, str], str]


def note(mycel: CommandLine, team: str, words: str) -> str:
    return mycel.save(f"Herons {words}.", "--team", team, "--project", "lake")


def waiting(mycel: CommandLine, team: str, words: str) -> str:
    return mycel.save(f"Herons {words}.", "--team", team, "--needs-review")


def deleted(mycel: CommandLine, team: str, words: str) -> str:
    id = note(mycel, team, words)
    mycel.ok("delete", id, "--team", team)
    return id


def approved(mycel: CommandLine, team: str, words: str) -> str:
    id = waiting(mycel, team, words)
    mycel.ok("inbox", "approve", id, "--team", team)
    return id


def value(mycel: CommandLine, team: str, words: str) -> str:
    return mycel.ok("knowledge", "set", words.replace(" ", "-"), f"Herons {words}.", "--team", team).strip()


def episode(mycel: CommandLine, team: str, words: str) -> str:
    return mycel.ok("episodes", "log", f"Herons {words}.", "--action", "completed", "--team", team).strip()


def artifact(mycel: CommandLine, team: str, words: str) -> str:
    named = ("--content", "Herons.", "--type", "document", "--description", f"Herons {words}.")
    return mycel.ok("artifacts", "register", f"{words.replace(' ', '-')}.md", *named, "--team", team).strip()


# Of each command that an id leads to a memory: what it is done to, and its line with `ID` where the id stands.
BY_ID: dict[str, tuple[Make, str]] = {
    "get": (note, "get ID"),
    "explain": (note, "explain --memory ID"),
    "update": (note, "update ID --tag seen"),
    "delete": (note, "delete ID"),
    "restore": (deleted, "restore ID"),
    "purge": (note, "purge ID --yes"),
    "settle": (note, "settle ID --over BESIDE"),
    "cascade": (note, "cascade ID"),
    "escalate": (note, "escalate ID"),
    "withdraw": (note, "withdraw ID"),
    "consolidate": (note, "consolidate ID --dry-run"),
    "save": (note, "save --supersedes ID newer"),
    "inbox show": (waiting, "inbox show ID"),
    "inbox approve": (waiting, "inbox approve ID"),
    "inbox edit": (waiting, "inbox edit ID --title edited"),
    "inbox merge": (waiting, "inbox merge ID --into BESIDE"),
    "inbox reject": (waiting, "inbox reject ID --reason no"),
    "inbox snooze": (waiting, "inbox snooze ID"),
    "inbox reopen": (approved, "inbox reopen ID"),
    "knowledge history": (value, "knowledge history ID"),
    "knowledge arbitrate": (value, "knowledge arbitrate ID"),
    "knowledge delete": (value, "knowledge delete ID"),
    "episodes get": (episode, "episodes get ID"),
    "artifacts get": (artifact, "artifacts get ID"),
    "artifacts verify": (artifact, "artifacts verify ID"),
    "artifacts delete": (artifact, "artifacts delete ID"),
}
CHANGES = {
    *("update", "delete", "restore", "purge", "settle", "inbox approve", "inbox edit", "inbox reject", "inbox snooze"),
    *("inbox reopen", "knowledge arbitrate", "knowledge delete", "artifacts delete"),
}
# Ids of what is no memory, keys and names.
BY_OTHER_NAMES = {"undo", "events show", "events retry", "knowledge get"}
# An id of a task, a source, a search, a session or a member stands in these, or a memory that the line before covers.
OTHER_IDS = {
    *("inbox list", "capture conversation", "capture thread", "capture session", "capture file", "task brief"),
    *("task complete", "task fail", "episodes list", "episodes log", "episodes rates", "artifacts list"),
    *("artifacts register", "knowledge set", "member add", "member move", "member remove", "member resolve"),
    *("mcp", "token issue"),
}


@pytest.fixture
def rooms(mycel: CommandLine) -> CommandLine:
    mycel.ok("team", "add", OTHER)
    return mycel


def test_it_is_said_of_every_command_how_far_it_reaches() -> None:
    assert set(REACHES) == set(ALL)


def test_every_command_that_takes_an_id_is_walked() -> None:
    def takes_an_id(command: Any) -> bool:
        return any(one.metavar == "ID" and one.name != "session_id" for one in command.params)

    taking = {name for name, command in ALL.items() if takes_an_id(command)}
    by_id = {name for name, reach in REACHES.items() if reach is Reach.WHERE_IT_IS}
    assert taking - BY_ID.keys() - BY_OTHER_NAMES <= OTHER_IDS
    assert by_id == BY_ID.keys() - {"save", "consolidate"} | BY_OTHER_NAMES


def line_of(name: str, id: str, beside: str = "") -> list[str]:
    return [{"ID": id, "BESIDE": beside}.get(word, word) for word in BY_ID[name][1].split()]


def state(mycel: CommandLine, *ids: str) -> list[Any]:
    """Every version of these, whatever team they are of."""
    listed = [
        one
        for more in ([], ["--deleted"])
        for one in mycel.json("list", "--status", "any", *more, "--limit", "100")["items"]
        if one["id"] in ids
    ]
    kept = ("id", "team", "version", "status", "title", "tags", "deleted_at", "content")
    return sorted([one[name] for name in kept] for one in listed)


@pytest.mark.parametrize("name", BY_ID)
def test_a_short_id_of_two_teams_changes_neither_and_lists_both(mycel: CommandLine, name: str) -> None:
    make = BY_ID[name][0]
    for words in ("fish at dawn", "fish at noon"):
        # A second time, should the minute have ended between the two.
        ids = [make(mycel, team, f"{words} in {team}") for team in (OWN, OTHER)]
        if ids[0][:8] == ids[1][:8]:
            break
    before = state(mycel, *ids)
    assert len(before) == 2
    told = mycel.run(*line_of(name, ids[0][:8], ids[0]), "--json")
    assert told.exit_code == 2, told.output
    error = json.loads(told.stderr)["error"]
    assert error["code"] == "ambiguous"
    named = {(one["id"], one["team"]) for one in error["candidates"]}
    assert {(ids[0], OWN), (ids[1], OTHER)} <= named
    assert state(mycel, *ids) == before
    told = mycel.run(*line_of(name, ids[0][:8], ids[0]))
    for id, team in zip(ids, (OWN, OTHER), strict=True):
        assert f"  {id}  team {team}  " in told.stderr
    assert "Herons fish at " in told.stderr or make is artifact
    assert state(mycel, *ids) == before


@pytest.mark.parametrize("name", BY_ID)
def test_a_short_id_is_found_in_the_team_that_has_it(mycel: CommandLine, name: str) -> None:
    make = BY_ID[name][0]
    id = make(mycel, OTHER, "fish at dawn")
    beside = note(mycel, OTHER, "never fish at dawn")
    if name == "withdraw":
        mycel.ok("cascade", id)
    if name == "settle":
        contradict(mycel, id, beside)
    told = mycel.run(*line_of(name, id[-8:], beside[-8:]))
    assert told.exit_code == 0, told.output
    if name in CHANGES:
        assert id in told.stdout or name == "inbox snooze"
        assert f"of team {OTHER}" in told.stderr
        assert "“" in told.stderr


def contradict(mycel: CommandLine, one: str, other: str) -> None:
    import mycel as package

    with package.open(mycel.data) as workspace:
        workspace.as_operator(OTHER).link(one, other, "contradicts")


@pytest.mark.usefixtures("on_files")
def test_the_same_id_in_two_teams_is_asked_about(mycel: CommandLine, tmp_path) -> None:
    id = note(mycel, OWN, "fish at dawn")
    mycel.ok("export", str(tmp_path / "one.jsonl"), "--team", OWN)
    mycel.ok("import", str(tmp_path / "one.jsonl"), "--team", OTHER)
    told = mycel.run("delete", id)
    assert told.exit_code == 2
    assert "--team names one" in told.stderr
    mycel.ok("delete", id, "--team", OTHER)
    assert mycel.json("get", id)["team"] == OWN


def test_memories_of_two_teams_are_not_approved_together(mycel: CommandLine) -> None:
    ids = [waiting(mycel, team, "fish at dawn") for team in (OWN, OTHER)]
    told = mycel.run("inbox", "approve", *ids)
    assert (told.exit_code, "are of several teams, executive, sales" in told.stderr) == (2, True)
    assert {one["memory"]["id"] for one in mycel.json("inbox")["items"]} == set(ids)


def test_what_the_owner_may_not_see_is_no_candidate(mycel: CommandLine) -> None:
    mycel.ok("member", "add", "swe-1", "--team", OTHER)
    for words in ("fish at dawn", "fish at noon"):
        seen = note(mycel, OWN, words)
        hidden = mycel.save(f"Herons {words} secretly.", "--as", "swe-1", "--visibility", "private")
        if seen[:8] == hidden[:8]:
            break
    assert mycel.json("get", seen[:8])["id"] == seen
    assert mycel.run("get", hidden[-8:]).exit_code == 3
    assert mycel.run("get", hidden).exit_code == 3


def events(mycel: CommandLine, team: str) -> str:
    talk = "We decided that herons fish at dawn."
    return mycel.ok("capture", "conversation", "-", "--team", team, input=talk).strip()


def test_reports_events_and_searches_are_found_in_the_team_that_has_them(mycel: CommandLine) -> None:
    event = events(mycel, OTHER)
    assert mycel.json("events", "show", event)["id"] == event
    mycel.ok("events", "retry", event)
    value(mycel, OTHER, "fish at dawn")
    assert mycel.json("knowledge", "get", "fish-at-dawn")["content"] == "Herons fish at dawn."
    report = mycel.json("undo", "--since", "1d", "--yes")[0]
    assert [one["kind"] for one in report["actions"]]
    mycel.ok("undo", report["id"])
    value(mycel, OWN, "fish at dawn")
    told = mycel.run("knowledge", "get", "fish-at-dawn")
    assert (told.exit_code, "--team names one" in told.stderr) == (2, True)


def fill(mycel: CommandLine) -> dict[str, list[str]]:
    """One of each sort in both teams; what is told of a team stands under it."""
    found: dict[str, list[str]] = {}
    for team in (OWN, OTHER):
        words = f"fish at dawn in {team}"
        found[team] = [make(mycel, team, words) for make in (note, waiting, value, episode, artifact)]
        found[team].append(events(mycel, team))
    return found


READS = {
    "search": "search herons",
    "list": "list",
    "recent": "recent",
    "inbox list": "inbox list",
    "knowledge list": "knowledge list",
    "episodes list": "episodes list",
    "episodes similar": "episodes similar herons",
    "artifacts list": "artifacts list",
    "events list": "events list",
    "tree": "tree /projects/lake/facts",
    "context": "context herons",
    "task brief": "task brief herons",
    "watch": "watch --once",
    "export": "export - --format ndjson",
}
# They add up, or have nothing to show before something is done; tested below.
COUNTS = {"stats", "episodes rates", "episodes agents", "consolidate", "reports", "cascades", "knowledge candidates"}


def test_what_reads_every_team_is_walked() -> None:
    assert {name for name, reach in REACHES.items() if reach is Reach.EVERY_TEAM} == READS.keys() | COUNTS


def test_what_reads_tells_of_every_team(mycel: CommandLine) -> None:
    found = fill(mycel)
    for name, line in READS.items():
        told = mycel.ok(*line.split(), *([] if name == "export" else ["--json"]))
        for team, ids in found.items():
            assert any(id in told or id[-8:] in told for id in ids), (name, team)
        alone = mycel.ok(*line.split(), "--team", OTHER, *([] if name == "export" else ["--json"]))
        assert not any(id in alone for id in found[OWN]), name
        assert name == "task brief" or any(id in alone or id[-8:] in alone for id in found[OTHER]), name


def test_what_counts_counts_every_team(mycel: CommandLine) -> None:
    fill(mycel)
    each = {team: mycel.json("stats", "--team", team)["memories"] for team in (OWN, OTHER)}
    whole = mycel.json("stats")
    assert whole["memories"] == sum(each.values())
    assert {team: one["memories"] for team, one in whole["teams"].items()} == each
    assert f"executive {each[OWN]}, sales {each[OTHER]}" in mycel.ok("stats")
    rates = mycel.json("episodes", "rates", "--by", "agent")["items"]
    assert [(one["name"], one["tally"]["completed"]) for one in rates] == [("operator", 2)]
    assert len(mycel.json("episodes", "agents", "herons fish")["items"]) == 2
    id = note(mycel, OTHER, "fish at night")
    mycel.ok("cascade", id)
    assert [one["memory_id"] for one in mycel.json("cascades")["items"]] == [id]


def test_consolidation_runs_in_every_team_and_its_reports_are_listed(mycel: CommandLine) -> None:
    for team in (OWN, OTHER):
        for _ in range(2):
            mycel.save("The gateway of the shop listens on port 9000.", "--team", team, "--needs-review")
    runs = mycel.json("consolidate")["items"]
    assert [run["team"] for run in runs] == [OWN, OTHER]
    reports = {one["id"] for one in mycel.json("reports")["items"]}
    assert reports == {run["id"] for run in runs}


def test_taking_back_since_a_moment_reaches_every_team(mycel: CommandLine) -> None:
    ids = [note(mycel, team, "fish at dawn") for team in (OWN, OTHER)]
    shown = mycel.run("undo", "--since", "1d", "--dry-run")
    assert "Team executive:" in shown.stderr
    assert "Team sales:" in shown.stderr
    mycel.ok("undo", "--since", "1d", "--yes")
    assert [mycel.run("get", id).exit_code for id in ids] == [3, 3]


def test_an_archive_of_one_team_names_it(mycel: CommandLine, tmp_path) -> None:
    told = mycel.run("export", str(tmp_path / "all.jsonl"))
    assert (told.exit_code, "executive, sales" in told.stderr) == (2, True)
    assert not (tmp_path / "all.jsonl").exists()
    mycel.ok("export", str(tmp_path / "all.jsonl"), "--team", OTHER)


def test_watching_from_a_place_in_the_log_takes_a_team(mycel: CommandLine) -> None:
    assert "goes with --team" in mycel.run("watch", "--once", "--after", "1").stderr


def test_the_context_of_many_teams_keeps_to_its_budget(mycel: CommandLine) -> None:
    for team in (OWN, OTHER):
        for number in range(12):
            mycel.save(f"Heron number {number} of {team} fishes at dawn beside the lake. " * 3, "--team", team)
    bundle = mycel.json("context", "herons at the lake", "--budget", "300")
    assert bundle["tokens"] <= 300
    assert {item["memory"]["team"] for items in bundle["sections"].values() for item in items} == {OWN, OTHER}
