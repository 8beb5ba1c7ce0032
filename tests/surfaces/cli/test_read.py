"""Reading memories from the command line."""

import json
import time
from collections.abc import Callable

import pytest

import mycel as package
from mycel.domain.memory import Memory
from mycel.wire.shapes import to_json

pytestmark = pytest.mark.each_database(slow=True)


TROUBLE = "\x1b]0;owned\x07\x1b[31mred\x9b2J \u202eback [bold]not markup[/bold] :smile:"


def test_a_memory_as_json_has_every_field(mycel) -> None:
    found = mycel.json("get", mycel.save("x"))
    # What stood near it is only in the answer to a save that asked for it.
    assert set(found) == {*Memory.__dataclass_fields__, "project", "repo"} - {"similar", "notices", "embedding"}


def test_get_adds_history_and_links_when_asked(mycel) -> None:
    id = mycel.save("x")
    mycel.ok("update", id, "--title", "y", "--reason", "clearer")
    found = mycel.json("get", id, "--history", "--links")
    assert [version["memory"]["version"] for version in found["history"]] == [1, 2]
    assert found["history"][1]["reason"] == "clearer"
    assert found["links"] == []
    text = mycel.ok("get", id, "--history", "--links")
    assert "by operator: clearer" in text


def test_what_has_expired_and_what_was_archived_is_listed(mycel) -> None:
    short, kept = mycel.save("A heron.", "--ttl", "1s"), mycel.save("A stork.")
    away = mycel.save("An egret.", "--ttl", "1s")
    mycel.ok("update", away, "--status", "archived")
    time.sleep(1.1)

    def listed(*states: str) -> list[str]:
        return [one["id"] for one in mycel.json("list", *(f"--status={state}" for state in states))["items"]]

    assert (listed(), listed("archived"), listed("expired")) == ([kept], [away], [away, short])
    assert mycel.run("list", "--status", "lost").exit_code != 0


def test_get_says_how_fresh_a_memory_is(mycel) -> None:
    id = mycel.save("A heron.")
    assert mycel.json("get", id)["freshness"] == pytest.approx(1.0, abs=0.01)
    assert "freshness     1.00" in mycel.ok("get", id)


def test_the_replay_of_a_search_shows_titles(mycel) -> None:
    mycel.save("Herons are patient.", "--title", "On herons")
    recall = mycel.json("search", "herons")
    assert f"1. On herons [{recall['hits'][0]['memory']['id']}]" in mycel.ok("explain", recall["id"])


def test_get_shows_what_was_believed_then(mycel) -> None:
    id = mycel.save("x", "--title", "before")
    first = mycel.json("get", id)["updated_at"]
    mycel.ok("update", id, "--title", "after")
    assert mycel.json("get", id, "--as-of", first)["title"] == "before"
    assert mycel.run("get", id, "--as-of", "2001-01-01T00:00:00Z").exit_code == 3


def test_what_was_deleted_since_is_shown_as_it_was_believed_then(mycel) -> None:
    id = mycel.save("The heron stands.")
    then = mycel.json("get", id)["created_at"]
    mycel.ok("delete", id)
    assert mycel.run("get", id).exit_code == 3
    assert "The heron stands." in mycel.ok("get", id, "--as-of", then)
    assert "The heron stands." in mycel.ok("search", "heron", "--as-of", then)
    assert [one["id"] for one in mycel.json("list", "--as-of", then)["items"]] == [id]
    assert mycel.json("search", "heron")["hits"] == []


def test_a_path_below_projects_says_the_project(mycel) -> None:
    id = mycel.save("A flat fee per seat.", "--path", "/projects/pricing/decisions")
    found = mycel.json("get", id)
    assert (found["project_id"], found["scope"]) == ("pricing", "project")
    assert "A flat fee per seat." in mycel.ok("context", "--project", "pricing")
    assert "A flat fee per seat." not in mycel.ok("context", "--project", "billing")


def test_get_shows_every_filled_field_to_a_person(mycel) -> None:
    id = mycel.save("The body.\nOf two lines.", "--title", "Head", "--tag", "ci", "--rationale", "because")
    text = mycel.ok("get", id)
    assert text.startswith("Head\n")
    for expected in (f"id            {id}", "tags          ci", "\nThe body.\nOf two lines.\n", "  because"):
        assert expected in text


def test_content_stands_apart_on_a_terminal_too(mycel, terminal: Callable[[], None]) -> None:
    id = mycel.save("The body.", "--title", "Head")
    terminal()
    assert "\n\nThe body.\n" in mycel.ok("get", id)


def test_search_answers_with_hits_and_reasons(mycel) -> None:
    id = mycel.save("Rotate tokens every thirty days. They leak.")
    mycel.save("Deploys go out on Tuesdays.")
    recall = mycel.json("search", "token rotation")
    assert [hit["memory"]["id"] for hit in recall["hits"]] == [id]
    assert {"id", "query", "results", "hits", "degraded"} == set(recall)
    assert [hit["item"]["id"] for hit in recall["results"]] == [id]
    assert {"score", "relevance", "breakdown", "matched_scope", "snippet", "evidence", "why", "team"} < set(
        recall["hits"][0]
    )
    text = mycel.ok("search", "token rotation")
    assert text.startswith(" 1. ")
    assert id in text
    assert recall["hits"][0]["why"] in text


def test_search_names_the_teams_when_there_are_several(mycel) -> None:
    mycel.ok("team", "add", "platform")
    mycel.ok("member", "add", "eng-director", "--team", "platform", "--role", "lead")
    mycel.save("Rotate tokens monthly")
    mycel.save("Rotate tokens weekly", "--as", "eng-director")
    text = mycel.ok("--as", "eng-director", "search", "rotate tokens")
    assert "team platform" in text
    assert "team executive" in text


def test_search_says_when_there_is_nothing(mycel) -> None:
    result = mycel.run("search", "anything")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing found that answers.\n")


def test_filters_narrow_a_search_and_a_list(mycel) -> None:
    wanted = mycel.save("Rotate tokens", "--type", "decision", "--tag", "a", "--tag", "b", "--project", "apollo")
    mycel.save("Rotate tokens too", "--tag", "a")
    filters = ["--type", "decision", "--tag", "a", "--tag", "b", "--project", "apollo", "--path", "/projects"]
    filters += ["--by", "operator", "--since", "2020-01-01T00:00:00Z", "--until", "2100-01-01T00:00:00Z"]
    assert [hit["memory"]["id"] for hit in mycel.json("search", "rotate", *filters)["hits"]] == [wanted]
    assert [memory["id"] for memory in mycel.json("list", *filters)["items"]] == [wanted]
    assert mycel.json("list", *filters, "--status", "archived")["items"] == []
    assert len(mycel.json("list", "--status", "any")["items"]) == 2
    assert len(mycel.json("list", "--status", "active", "--status", "inbox")["items"]) == 2


def test_a_list_goes_on_page_by_page(mycel) -> None:
    ids = [mycel.save(f"memory {number}") for number in range(3)]
    first = mycel.json("list", "--limit", "2", "--order-by", "created_at")
    assert [memory["id"] for memory in first["items"]] == ids[:2]
    second = mycel.json("list", "--limit", "2", "--order-by", "created_at", "--cursor", first["next_cursor"])
    assert [memory["id"] for memory in second["items"]] == ids[2:]
    assert second["next_cursor"] is None
    assert f"--cursor {first['next_cursor']}" in mycel.run("list", "--limit", "2", "--order-by", "created_at").stderr


def test_recent_shows_the_newest_first(mycel) -> None:
    ids = [mycel.save(f"memory {number}") for number in range(3)]
    assert [memory["id"] for memory in mycel.json("recent", "--limit", "2")["items"]] == [ids[2], ids[1]]
    assert "--cursor" not in mycel.run("recent", "--limit", "2").stderr


def test_a_table_in_a_pipe_is_plain_tabs(mycel) -> None:
    id = mycel.save("Deploys go out on Tuesdays.")
    names, row = mycel.ok("recent").splitlines()
    assert names.split("\t") == ["title", "type", "by", "created", "id", "path"]
    assert row.split("\t")[4:] == [id, "/notes"]


def test_tree_shows_one_level_of_folders(mycel) -> None:
    mycel.save("a", "--path", "/x/y")
    id = mycel.save("b", "--path", "/x", "--title", "here")
    found = mycel.json("tree", "/x")
    assert found["path"] == "/x"
    assert found["subdirs"] == ["/x/y"]
    assert found["folders"] == [{"path": "/x/y", "count": 1}]
    assert [memory["id"] for memory in found["items"]] == [id]
    assert found["next_cursor"] is None
    assert mycel.ok("tree", "/x").splitlines() == ["/x", "  /x/y  1", f"  here  fact  {id}"]
    assert mycel.ok("tree").splitlines() == ["/", "  /x  2"]


def test_stats_counts_by_type_and_status(mycel) -> None:
    mycel.save("a")
    mycel.save("b", "--type", "lesson", "--needs-review")
    found = mycel.json("stats")
    assert found["team"] == "executive"
    assert found["memories"] == 2
    assert found["by_type"] == {"fact": 1, "lesson": 1}
    assert found["by_status"] == {"active": 1, "inbox": 1}
    assert "fact 1, lesson 1" in mycel.ok("stats")


@pytest.mark.parametrize("command", ["recent", "search back", "list", "tree /notes", "get ID --history"])
@pytest.mark.parametrize("on_terminal", [True, False])
def test_stored_text_cannot_steer_the_terminal(
    mycel, terminal: Callable[[], None], command: str, on_terminal: bool
) -> None:
    id = mycel.save(TROUBLE, "--as", "swe-1", "--create")
    mycel.ok("inbox", "approve", id, "--acknowledge-warning")
    if on_terminal:
        terminal()
    text = mycel.ok(*command.replace("ID", id).split())
    assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert "\\x1b]0;owned\\x07\\x1b[31mred\\x9b2J" in text


def test_stored_text_is_never_markup(mycel, terminal: Callable[[], None]) -> None:
    id = mycel.save("[bold]not markup[/bold] [/nonsense] :smile: [link=http://x]y[/link]")
    terminal()
    assert "[bold]not markup[/bold] [/nonsense] :smile: [link=http://x]y[/link]" in mycel.ok("get", id)
    assert "[bold]" in mycel.ok("recent")


def test_json_keeps_the_text_exactly_and_is_still_safe_to_print(mycel) -> None:
    text = f"{TROUBLE}\u2028\U000e0041 \x7f 日本"
    printed = mycel.ok("get", mycel.save(text), "--json")
    assert json.loads(printed)["content"] == text
    assert not set("\x1b\x07\x9b\u202e\u2028\x7f\U000e0041") & set(printed)
    assert "日本" in printed


def test_joined_emoji_stay_whole(mycel) -> None:
    family = "👩\u200d👩\u200d👧"
    assert family in mycel.ok("get", mycel.save(family))


def test_an_id_stays_whole_in_a_narrow_terminal(
    mycel, terminal: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    id = mycel.save("A title that is much longer than this narrow terminal is wide", "--path", "/a/long/path")
    terminal()
    monkeypatch.setenv("COLUMNS", "44")
    text = mycel.ok("recent")
    assert id in text
    assert max(map(len, text.splitlines())) <= 44


def test_a_terminal_gets_a_drawn_tree_and_ages(mycel, terminal: Callable[[], None]) -> None:
    mycel.save("a", "--path", "/x/y")
    terminal()
    assert "└── /x  1" in mycel.ok("tree")
    assert "just now" in mycel.ok("recent")


def test_the_json_of_the_command_line_is_that_of_the_api(mycel) -> None:
    id = mycel.save("A heron stands still.", "--project", "ponds", "--repo", "reeds", "--path", "/birds/still")
    with package.open(mycel.data) as workspace:
        memory = workspace.as_operator()
        values = {
            ("get", id): memory.get(id),
            ("tree", "/birds"): memory.tree("/birds"),
            ("stats",): memory.stats(),
        }
        expected = {words: json.loads(to_json(value)) for words, value in values.items()}
    for words, value in expected.items():
        told = mycel.json(*words)
        assert {name: told[name] for name in value} == value, words
    assert (expected["get", id]["project"], expected["get", id]["repo"]) == ("ponds", "reeds")


def test_a_hit_says_what_contradicts_it(mycel) -> None:
    one, other = (mycel.save(f"The gateway listens on port {port}.") for port in (9000, 9100))
    import mycel as package

    with package.open(mycel.data) as workspace:
        workspace.as_operator().link(other, one, "contradicts")
    found = {hit["memory"]["id"]: hit for hit in mycel.json("search", "gateway port")["hits"]}
    assert found[one]["contested_by"] == 1
    assert found[one]["memory"]["validity"] == "contested"
    assert mycel.ok("search", "gateway port").count("contradicted by 1 other.") == 2
    assert "contested" in mycel.ok("get", one)
