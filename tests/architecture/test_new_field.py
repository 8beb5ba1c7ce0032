"""A field of a memory is told in one line and one column: what follows from these two is seen on a copy of the package.

The copy has one more line in the table and one more migration, and nothing else.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.domain.memory import FIELDS, WRITTEN, Memory
from mycel.domain.memory_field import TEXTS
from tests.architecture.new_field import SECRET, TEAM

NAME = "moral"
ABOUT = "What it teaches in the end"
LINE = f'    {NAME}: str | None = field(default=None, metadata=said(Holds.NOTE, "{ABOUT}", index=Index.SUMMARY))\n'
BEFORE = "    rationale: str | None = field("
COLUMN = f"ALTER TABLE memories ADD COLUMN {NAME} TEXT;\nALTER TABLE memory_versions ADD COLUMN {NAME} TEXT;\n"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, repository: Path, package: Path) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("new_field")
    copy = folder / "src" / "mycel"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "builtin"))
    # The model of vectors is large, and as it was.
    model = Path("providers") / "embeddings" / "builtin"
    (copy / model).symlink_to(package / model, target_is_directory=True)
    table = copy / "domain" / "memory.py"
    before, line, after = table.read_text("utf-8").partition(BEFORE)
    table.write_text(before + LINE + line + after, encoding="utf-8")
    migrations = copy / "stores" / "sqlite" / "migrations" / "team"
    (migrations / f"{len(list(migrations.glob('*.sql'))) + 1:04}_{NAME}.sql").write_text(COLUMN)
    command = [sys.executable, str(repository / "tests" / "architecture" / "new_field.py"), str(folder / "data"), NAME]
    command.append(str(_archive_without_it(folder)))
    places = os.pathsep.join([str(copy.parent), str(repository)])
    done = subprocess.run(
        command, cwd=repository, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["package"] == str(copy)
    return found


def _archive_without_it(folder: Path) -> Path:
    with open_workspace(folder / "older") as workspace:
        workspace.add_team(TEAM)
        workspace.add_member("swe-1", team=TEAM, role="agent", kind="agent")
        workspace.as_member("swe-1").save("Flamingos stand on one leg.")
        workspace.export(folder / "older.mycel", team=TEAM)
    return folder / "older.mycel"


def test_it_is_saved_changed_and_emptied_everywhere(seen: Mapping[str, Any]) -> None:
    python, http, lines = seen["python"], seen["http"], seen["command_line"]
    assert python["saved"]
    assert python["emptied"]
    assert python["history"] == [
        *("marmalade over everything", "kumquats over everything", None, "kumquats over everything")
    ]
    assert (http["saved"], http["many"], http["changed"]) == ("persimmon words", "medlar words", "quince words")
    assert http["json"] == "quince words"
    assert (lines["changed"], lines["cleared"]) == ("bullace words", None)
    assert seen["knowledge"] == "plum words"


def test_it_is_refused_when_it_is_wrong(seen: Mapping[str, Any]) -> None:
    assert {seen["python"]["refused"], seen["python"]["refused_blank"], seen["http"]["refused"]} == {NAME}


def test_it_is_screened(seen: Mapping[str, Any]) -> None:
    assert SECRET not in seen["python"]["masked"]
    assert seen["python"]["masked"].startswith("use ")
    assert seen["python"]["held"] == seen["mcp"]["held"] == "inbox"


def test_it_is_found_by_its_words(seen: Mapping[str, Any]) -> None:
    assert seen["python"]["found"]
    assert seen["http"]["found"]
    assert seen["python"]["not_found_any_more"] == 0


def test_it_is_shown_to_agents_and_people(seen: Mapping[str, Any]) -> None:
    assert seen["mcp"]["shown"]
    assert seen["command_line"]["shown"]


def test_it_is_exported_and_imported_and_missing_in_older_archives(seen: Mapping[str, Any]) -> None:
    assert seen["archive"] == {"value": "kumquats over everything", "past": 4, "older": None}
    assert seen["member_archive"] == "kumquats over everything"


def test_it_is_in_the_reference_and_every_help(seen: Mapping[str, Any]) -> None:
    assert f"| `{NAME}` | {ABOUT}." in seen["reference"]
    assert seen["mcp"]["help"] == ABOUT
    assert seen["command_line"]["help"]
    assert seen["command_line"]["help_of_knowledge"]
    assert {"Memory", "Knowledge", "NewMemory", "Edits"} <= set(seen["description"])


def test_the_types_and_the_reference_are_what_the_table_makes(repository: Path, package: Path) -> None:
    made = runpy.run_path(str(repository / "scripts" / "memory_fields.py"))
    for file, text in (
        (package / "contracts" / "written_fields.pyi", made["stub"]()),
        (repository / "docs" / "reference" / "fields.md", made["page"]()),
    ):
        assert file.read_text("utf-8") == text, "run: python -m scripts.memory_fields"


def test_every_field_that_can_be_written_or_shown_is_screened() -> None:
    """By construction: the table cannot be made otherwise."""
    assert {row.name for row in FIELDS.values() if row.unscreened} == {"id", "team", "agent_id"}
    assert not [row.name for row in WRITTEN.values() if row.unscreened]
    assert not [row.name for row in FIELDS.values() if row.shown and row.holds in TEXTS and row.unscreened]
    assert set(vars(Memory)["__dataclass_fields__"]) == set(FIELDS)
