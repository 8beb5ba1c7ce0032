"""Showing and changing a team's policy from the command line."""

import json

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]


def test_the_policy_is_shown_by_the_options_that_change_it(mycel) -> None:
    shown = mycel.ok("policy")
    for words in (
        ["least-trust", "normal"],
        ["promote", "reviewed"],
        ["promote-from", "0.8"],
        ["purge-after", "never"],
        ["life", "3d"],
    ):
        assert any(line.split()[:2] == words for line in shown.splitlines())
    assert mycel.json("policy", "show")["lives"]["session_summary"] == "3d"


def test_every_option_reaches_its_part(mycel) -> None:
    before = mycel.json("policy")
    changed = mycel.json(
        "policy", "set", "--least-trust", "high", "--review", "decision,profile",
        "--promote", "grounded", "--promote-from", "0",
        "--consolidate-every", "never", "--life", "session_summary=5d", "--life", "file_index=never",
        "--inbox-kept", "2w", "--episodes-kept", "36h", "--purge-after", "90d", "--secrets", "refuse",
        "--leads-below", "direct",
        "--decisions-need-rationale",
    )  # fmt: skip
    assert changed == {
        "least_trust": "high",
        "review": ["decision", "profile"],
        "promote": "grounded",
        "promote_from": 0.0,
        "consolidate_every": "never",
        "lives": before["lives"] | {"session_summary": "5d", "file_index": "never"},
        "inbox_kept": "14d",
        "episodes_kept": "36h",
        "purge_after": "90d",
        "secrets": "refuse",
        "leads_below": "direct",
        "decisions_need_rationale": True,
    }
    assert mycel.json("policy") == changed
    assert mycel.json("policy", "set", "--review", "all")["review"] == "all"
    assert mycel.json("policy", "set", "--review", "none")["review"] == "none"
    changed = mycel.json("policy", "set", "--decisions-need-no-rationale")
    assert changed["decisions_need_rationale"] is False


def test_each_team_has_its_own(mycel) -> None:
    mycel.ok("team", "add", "platform")
    result = mycel.run("policy", "set", "--secrets", "refuse", "--team", "platform")
    assert result.stderr == "changed for team platform\n"
    assert mycel.json("policy")["secrets"] == "mask"
    assert mycel.json("policy", "--team", "platform")["secrets"] == "refuse"


def test_leads_change_it_and_agents_do_not(mycel) -> None:
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    mycel.ok("member", "add", "eng-director", "--team", "executive", "--role", "lead")
    assert mycel.run("--as", "swe-1", "policy", "set", "--secrets", "refuse").exit_code == 4
    assert mycel.run("--as", "swe-1", "policy").exit_code == 0
    assert mycel.run("--as", "eng-director", "policy", "set", "--secrets", "refuse").exit_code == 0


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ([], "policy"),
        (["--least-trust", "total"], "least_trust"),
        (["--review", "decision,nonsense"], "review"),
        (["--promote", "all"], "promote"),
        (["--promote-from", "2"], "promote_from"),
        (["--promote-from", "much"], "promote_from"),
        (["--consolidate-every", "often"], "consolidate_every"),
        (["--life", "session_summary"], "life"),
        (["--life", "session_summary=soon"], "life"),
        (["--life", "nobody=3d"], "life"),
        (["--inbox-kept", "0d"], "inbox_kept"),
        (["--episodes-kept", "x"], "episodes_kept"),
        (["--purge-after", "x"], "purge_after"),
        (["--secrets", "print"], "secrets"),
        (["--leads-below", "some"], "leads_below"),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, args: list[str], field: str) -> None:
    result = mycel.run("policy", "set", *args, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"]["field"] == field
