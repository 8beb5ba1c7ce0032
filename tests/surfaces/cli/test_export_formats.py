"""`mycel export --format`: memories as markdown, CSV and JSON lines."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import CommandLine

pytestmark = pytest.mark.each_database(slow=True)

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "  =1+1", "\t=1", "\uff1d1+1", "%x"]


def exported(mycel: CommandLine, folder: Path, *args: str) -> str:
    mycel.ok("export", str(folder / "out"), *args)
    return (folder / "out").read_text("utf-8")


def test_json_lines_hold_every_memory_that_list_shows(mycel: CommandLine, tmp_path: Path) -> None:
    ids = [json.loads(mycel.ok("save", f"note {number}", "--json"))["id"] for number in range(3)]
    lines = [json.loads(line) for line in exported(mycel, tmp_path, "--format", "ndjson").splitlines()]
    assert [line["id"] for line in lines] == ids
    assert lines[0]["content"] == "note 0"


def test_csv_opens_as_text_whatever_a_memory_begins_with(mycel: CommandLine, tmp_path: Path) -> None:
    for text in FORMULAS:
        mycel.ok("save", "--title", "t", "--", f"{text} heron")
    rows = list(csv.DictReader(exported(mycel, tmp_path, "--format", "csv").splitlines()))
    assert len(rows) == len(FORMULAS)
    for row in rows:
        for cell in row.values():
            assert cell.lstrip()[:1] not in set("=+-@%\uff1d"), cell
    assert {row["content"].lstrip("'").strip() for row in rows} == {f"{text} heron".strip() for text in FORMULAS}


def test_markdown_is_for_reading(mycel: CommandLine, tmp_path: Path) -> None:
    mycel.ok("save", "Herons stand\n\nin the lake.", "--title", "Herons", "--tag", "bird")
    text = exported(mycel, tmp_path, "--format", "markdown")
    assert "## Herons" in text
    assert "Herons stand\n\nin the lake." in text
    assert "#bird" in text


def test_filters_and_a_search_choose(mycel: CommandLine, tmp_path: Path) -> None:
    mycel.ok("save", "a heron", "--tag", "bird")
    mycel.ok("save", "an otter")
    assert exported(mycel, tmp_path, "--format", "ndjson", "--tag", "bird").count("\n") == 1
    [found] = exported(mycel, tmp_path, "--format", "ndjson", "--query", "otter").splitlines()
    assert json.loads(found)["content"] == "an otter"


def test_a_name_that_says_so_is_packed(mycel: CommandLine, tmp_path: Path) -> None:
    mycel.ok("save", "a heron")
    mycel.ok("export", str(tmp_path / "out.gz"), "--format", "ndjson")
    assert b"a heron" in gzip.decompress((tmp_path / "out.gz").read_bytes())


@pytest.mark.parametrize("args", [("--format", "xml"), ("--tag", "bird"), ("--query", "x")])
def test_says_what_does_not_go_together(mycel: CommandLine, tmp_path: Path, args: tuple[str, ...]) -> None:
    mycel.ok("save", "a heron")
    result = mycel.run("export", str(tmp_path / "out"), *args)
    assert result.exit_code != 0
    assert "format" in result.output
    assert not (tmp_path / "out").exists()


def test_a_table_goes_to_standard_output_and_an_archive_does_not(
    mycel: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mycel.ok("save", "a heron")
    assert json.loads(mycel.run("export", "-", "--format", "ndjson").stdout)["content"] == "a heron"
    assert mycel.run("export", "-").exit_code != 0
    assert list(tmp_path.glob("-*")) == []
