"""Sending memories between teams, and teaching members, from the command line."""

import json

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

UNKNOWN = "019a0000-0000-7000-8000-000000000000"


@pytest.fixture
def platform(mycel):
    mycel.ok("team", "add", "platform")
    mycel.ok("member", "add", "swe-1", "--team", "platform")
    mycel.ok("member", "add", "eng-director", "--team", "platform", "--kind", "human", "--role", "lead")
    return mycel


def titles(mycel, team: str) -> list[str]:
    return [memory["title"] for memory in mycel.json("list", "--team", team)["items"]]


def test_a_cascaded_memory_reaches_the_teams_below_until_it_is_withdrawn(platform) -> None:
    id = platform.save("Releases are frozen in December.")
    result = platform.run("cascade", id)
    assert result.stderr.startswith(
        "“Releases are frozen in December.” of team executive sent to the teams below: `mycel"
    )
    platform.ok("work", "--once")
    assert titles(platform, "platform") == ["Releases are frozen in December."]
    names, row = [line.split("\t") for line in platform.ok("cascades").splitlines()]
    assert names == ["memory", "sent", "by", "started", "id"]
    assert (row[0], row[1], row[4]) == ("Releases are frozen in December.", "down", id)
    assert platform.json("withdraw", id)["id"] == result.stdout.strip()
    platform.ok("work", "--once")
    assert titles(platform, "platform") == []
    assert platform.json("cascades") == {"items": [], "next_cursor": None}
    assert platform.run("cascades").stderr == "No memory of this team is shared with others.\n"


def test_what_is_sent_is_listed_page_by_page(platform) -> None:
    ids = [platform.save(f"Rule {number} of all teams.") for number in range(3)]
    for id in ids:
        platform.ok("cascade", id)
    first = platform.json("cascades", "--limit", "2")
    assert platform.run("cascades", "--limit", "2").stderr == f"There are more: --cursor {first['next_cursor']}\n"
    rest = platform.json("cascades", "--limit", "2", "--cursor", first["next_cursor"])
    assert [one["memory_id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next_cursor"] is None


def test_a_lead_escalates_to_the_parent_team(platform) -> None:
    id = platform.save("Builds need 16 GB.", "--as", "eng-director")
    result = platform.run("escalate", id, "--as", "eng-director")
    assert result.stderr.startswith("“Builds need 16 GB.” of team platform sent to the parent team: ")
    platform.ok("work", "--once")
    assert titles(platform, "executive") == ["Builds need 16 GB."]
    (sent,) = platform.json("cascades", "--as", "eng-director")["items"]
    assert (sent["memory_id"], sent["direction"], sent["withdrawn_at"]) == (id, "up", None)


def test_an_agent_sends_nothing(platform) -> None:
    id = platform.save("Builds need 16 GB.", "--as", "swe-1")
    for command in ("cascade", "escalate", "withdraw"):
        assert platform.run(command, id, "--as", "swe-1").exit_code == 4


@pytest.mark.parametrize("command", ["cascade", "escalate", "withdraw"])
def test_what_is_not_there_is_not_found(platform, command: str) -> None:
    assert platform.run(command, UNKNOWN, "--as", "eng-director").exit_code == 3
    result = platform.run(command, "nope", "--as", "eng-director", "--json")
    assert (result.exit_code, json.loads(result.stderr)["error"]["field"]) == (2, "id")


def test_the_highest_team_has_nobody_to_escalate_to(platform) -> None:
    assert platform.run("escalate", platform.save("x")).exit_code == 2


def test_a_lead_teaches_the_team_or_one_member(platform) -> None:
    taught = platform.json("learn", "swe-1", "Pin the clock.", "--category", "mistake-pattern", "--as", "eng-director")
    assert (taught["type"], taught["category"], taught["visibility"]) == ("lesson", "mistake-pattern", "team")
    assert (taught["metadata"]["for"], taught["made_by"]) == ("swe-1", "inject_learning")
    id = platform.ok(
        "learn", "swe-1", "-", "--category", "preference", "--private", "--as", "eng-director", input="Be brief.\n"
    )
    assert platform.json("get", id.strip(), "--as", "swe-1")["content"] == "Be brief."
    assert platform.run("get", id.strip(), "--as", "eng-director").exit_code == 3


def test_a_person_sets_facts_about_itself(platform) -> None:
    first = platform.run("profile", "set", "editor", "vim", "--as", "eng-director")
    assert first.stderr == "saved as profile in /context of team platform\n"
    again = platform.json("profile", "set", "editor", "emacs", "--as", "eng-director")
    assert (again["id"], again["version"], again["content"]) == (first.stdout.strip(), 2, "emacs")


def test_a_fact_about_somebody_else_waits_unless_an_admin_confirms_it(platform) -> None:
    said = ["profile", "set", "editor", "vim", "--about", "eng-director"]
    assert "waiting in the inbox" in platform.run(*said, "--as", "swe-1").stderr
    assert platform.run(*said, "--confirmed", "--as", "swe-1").exit_code == 4
    assert platform.json(*said, "--confirmed", "--team", "platform")["status"] == "active"


@pytest.mark.parametrize(
    ("args", "exit_code", "field"),
    [
        (["learn", "swe-1", "x"], 2, "category"),
        (["learn", "swe-1", " ", "--category", "best-practice"], 2, "text"),
        (["learn", "Not A Member", "x", "--category", "best-practice"], 2, "agent"),
        (["learn", "stranger", "x", "--category", "best-practice"], 3, None),
        (["profile", "set", "editor", ""], 2, "value"),
        (["profile", "set", "", "vim"], 2, "key"),
        (["profile", "set", "editor", "vim", "--about", "swe-1"], 2, "about"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(
    platform, args: list[str], exit_code: int, field: str | None
) -> None:
    result = platform.run(*args, "--as", "eng-director", "--json")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert json.loads(result.stderr)["error"]["field"] == field
