"""Listing, checking and choosing embedders from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.providers.tiny_model import write_model

pytestmark = pytest.mark.each_database(slow=True)


QUESTION = "the lift is broken"
ANSWER = "The elevator on the third floor is out of order."


@pytest.fixture(autouse=True)
def empty_environment(builtin_in_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        is_needed = name == "MYCEL_DAEMON" or name.startswith("MYCEL_DATABASE_")
        if name.startswith(("MYCEL_", "OPENAI_")) and not is_needed:
            monkeypatch.delenv(name)


def file_of(mycel) -> str:
    return (mycel.data / "mycel.toml").read_text("utf-8")


def in_use(mycel) -> list[tuple[str, str]]:
    return [(item["name"], item["origin"]) for item in mycel.json("model", "list")["items"] if item["in_use"]]


def test_the_list_names_what_is_there_and_who_chose(mycel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [item["name"] for item in mycel.json("model", "list")["items"]] == ["builtin", "none"]
    assert in_use(mycel) == [("builtin", "default")]
    tiny = str(write_model(tmp_path / "tiny"))
    (mycel.data / "mycel.toml").write_text(f'embedder = "{tiny}"\n')
    assert in_use(mycel) == [(tiny, "mycel.toml")]
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    assert in_use(mycel) == [("none", "MYCEL_EMBEDDER")]
    assert [item["name"] for item in mycel.json("model", "list")["items"]] == ["builtin", "none"]


def test_the_list_is_a_table(mycel, tmp_path: Path, terminal: Callable[[], None]) -> None:
    tiny = str(write_model(tmp_path / "tiny"))
    (mycel.data / "mycel.toml").write_text(f'embedder = "{tiny}"\n')
    names, *rows = [row.split("\t") for row in mycel.ok("model", "list").splitlines()]
    assert names == ["name", "in use", "kind", "dimensions", "size", "model"]
    assert [row[0] for row in rows] == ["builtin", tiny, "none"]
    assert rows[1][1:4] == ["by mycel.toml", "local", "4"]
    assert rows[1][5:] == ["tiny/4"]
    assert (rows[0][1], rows[0][4][-3:]) == ("", " MB")
    terminal()
    shown = mycel.ok("model", "list")
    assert "by mycel.toml" in shown
    assert " MB" in shown


def test_the_list_shows_a_broken_choice_and_still_works(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_EMBEDDER", "/nowhere")
    result = mycel.run("model", "list")
    assert result.exit_code == 0
    assert "/nowhere\tby MYCEL_EMBEDDER\tlocal" in result.stdout
    assert "/nowhere cannot be used: " in result.stderr


def test_the_check_of_the_built_in_model_ends_well(untouched) -> None:
    lines = untouched.ok("model", "check").splitlines()
    assert lines[0].startswith("builtin  ")
    assert lines[-1] == "usable"
    assert not untouched.data.exists()
    found = untouched.json("model", "check", "builtin")
    assert (found["usable"], {finding["outcome"] for finding in found["findings"]}) == (True, {"good"})
    assert {"model", "dimensions", "load_ms", "text_ms", "background"} < set(found)


def test_the_check_of_a_useless_model_tells_why_and_fails(mycel, tmp_path: Path) -> None:
    tiny = write_model(tmp_path / "tiny")
    result = mycel.run("model", "check", str(tiny))
    assert result.exit_code == 9
    assert result.stdout.endswith("not usable\n")
    assert result.stderr.startswith(f"mycel: {tiny} cannot be used (meaning): ")
    as_json = mycel.run("model", "check", str(tiny), "--json")
    assert as_json.exit_code == 9
    assert json.loads(as_json.stdout)["usable"] is False
    assert json.loads(as_json.stderr)["error"]["code"] == "misconfigured"


def test_the_check_looks_at_the_embedder_in_use(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_EMBEDDER", "/nowhere")
    assert mycel.run("model", "check").exit_code == 9
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    result = mycel.run("model", "check")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "found by their words" in result.stderr


def test_using_none_and_the_built_in_model_again(mycel) -> None:
    id = mycel.save(ANSWER)
    for number in range(3):
        mycel.save(f"Invoice {number} was paid.", "--team", "executive")
    assert mycel.json("search", QUESTION)["hits"][0]["memory"]["id"] == id
    result = mycel.run("model", "use", "none")
    assert (result.exit_code, result.stdout) == (0, "none\n")
    assert file_of(mycel) == 'embedder = "none"\n'
    assert mycel.json("search", QUESTION)["hits"] == []
    # A memory that comes while there is no embedder is all that has to be embedded afterwards.
    mycel.save("Lunch is at noon.")
    result = mycel.run("model", "use", "builtin")
    assert (result.exit_code, result.stdout) == (0, "builtin\n")
    assert "executive: 1 to embed anew\n" in result.stderr
    assert "`mycel embed` does it now" in result.stderr
    assert file_of(mycel) == 'embedder = "builtin"\n'
    assert mycel.json("search", QUESTION)["hits"][0]["memory"]["id"] == id


def test_another_model_has_everything_to_embed(mycel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mycel.ok("team", "add", "engineering")
    mycel.save(ANSWER, "--team", "engineering")
    mycel.save("Lunch is at noon.", "--team", "engineering")
    mycel.save("Tea is at four.")
    mycel.ok("embed")
    write_model(tmp_path / "tiny")
    (mycel.data / "mycel.toml").write_text("# ours\nmax_content_bytes = 2048\n")
    monkeypatch.chdir(tmp_path)
    refused = mycel.run("model", "use", "tiny")
    assert refused.exit_code == 9
    assert "tiny cannot be used (meaning): " in refused.stderr
    assert refused.stderr.endswith("--force uses it all the same\n")
    assert file_of(mycel) == "# ours\nmax_content_bytes = 2048\n"
    answer = mycel.json("model", "use", "tiny", "--force")
    assert answer["embedder"] == str(tmp_path / "tiny")
    assert answer["file"] == str(mycel.data / "mycel.toml")
    assert answer["check"]["usable"] is False
    assert {team: progress["pending"] for team, progress in answer["teams"].items()} == {
        "engineering": 2,
        "executive": 1,
    }
    assert file_of(mycel) == f'# ours\nmax_content_bytes = 2048\nembedder = "{tmp_path / "tiny"}"\n'
    assert "tiny/4" in mycel.ok("embed")


def test_what_no_command_could_work_with_is_never_written(mycel, tmp_path: Path) -> None:
    for args in (["/nowhere"], ["/nowhere", "--force"], ["openai", "--force"], [" "]):
        assert mycel.run("model", "use", *args).exit_code == 9
    assert not (mycel.data / "mycel.toml").exists()
    mycel.ok("recent")


def test_openai_says_what_it_needs(mycel, monkeypatch: pytest.MonkeyPatch) -> None:
    result = mycel.run("model", "use", "openai")
    assert result.exit_code == 9
    for name in ("MYCEL_EMBEDDING_KEY", "OPENAI_API_KEY", "MYCEL_EMBEDDING_URL", "MYCEL_EMBEDDING_DIMENSIONS"):
        assert name in result.stderr
    # Nothing listens there: complete, but down.
    monkeypatch.setenv("MYCEL_EMBEDDING_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MYCEL_EMBEDDING_KEY", "sk-secret")
    result = mycel.run("model", "use", "openai")
    assert result.exit_code == 9
    assert "openai cannot be used (load): the embedding endpoint 127.0.0.1:9 cannot be reached" in result.stderr
    assert not (mycel.data / "mycel.toml").exists()
    result = mycel.run("model", "use", "openai", "--force")
    assert (result.exit_code, result.stdout, file_of(mycel)) == (0, "openai\n", 'embedder = "openai"\n')
    assert "needed wherever Mycel runs: MYCEL_EMBEDDING_URL, MYCEL_EMBEDDING_KEY\n" in result.stderr
    assert "sk-secret" not in result.output + file_of(mycel)


def test_a_variable_that_would_win_stops_it(untouched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    result = untouched.run("model", "use", "builtin")
    assert result.exit_code == 9
    assert result.stderr.startswith("mycel: MYCEL_EMBEDDER is set in the environment and wins over mycel.toml")
    assert not untouched.data.exists()


def test_only_the_operator_chooses(mycel) -> None:
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    assert mycel.run("--as", "swe-1", "model", "use", "none").exit_code == 4
    assert not (mycel.data / "mycel.toml").exists()


def test_a_choice_that_broke_can_be_replaced(mycel) -> None:
    (mycel.data / "mycel.toml").write_text('embedder = "/nowhere"\n')
    assert mycel.run("recent").exit_code == 9
    mycel.ok("model", "use", "builtin")
    mycel.ok("recent")
