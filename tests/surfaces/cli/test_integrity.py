"""`mycel check`, `mycel team reset` and what `mycel doctor` says of damaged stores."""

from pathlib import Path

from tests.reliability.damages import zero_six_pages
from tests.reliability.inspection import team_file

TEAM = "executive"


def damaged(mycel) -> Path:
    for number in range(40):
        mycel.save(f"note {number} " + "word " * 300)
    file = team_file(mycel.data, TEAM)
    zero_six_pages(file)
    return file


def test_sound_stores_are_said_to_be(mycel) -> None:
    mycel.save("a note")
    assert mycel.ok("check") == "Every store is sound.\n"
    assert mycel.json("check") == {"ok": True, "problems": {}}


def test_damage_is_told_by_every_command_until_the_team_starts_afresh(mycel) -> None:
    damaged(mycel)
    checked = mycel.run("check")
    assert checked.exit_code == 1
    assert TEAM in checked.stdout
    assert "docs/guides/damage.md" in checked.stderr
    refused = mycel.run("save", "one more")
    assert refused.exit_code == 12
    assert f"the store of team {TEAM} is damaged and read-only since" in refused.stderr
    found = mycel.run("doctor", "--json")
    assert found.exit_code == 1
    assert "is damaged and read-only" in found.stdout
    assert mycel.run("team", "reset", "nobody", "--yes").exit_code == 2
    mycel.ok("team", "reset", TEAM, "--yes")
    assert mycel.ok("check") == "Every store is sound.\n"
    mycel.save("a first note")
