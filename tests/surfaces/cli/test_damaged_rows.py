"""What the command line says of a memory that cannot be read, and that it can be got rid of there."""

from typing import Any

import apsw
import pytest

from tests.reliability.inspection import team_file


def damaged(mycel: Any, content: str) -> str:
    id: str = mycel.save(content)
    connection = apsw.Connection(str(team_file(mycel.data, "executive")))
    connection.execute("UPDATE memories SET content = CAST(x'68ff65' AS TEXT) WHERE id = ?", (id,))
    connection.close()
    return id


@pytest.mark.files_only
def test_a_damaged_memory_is_named_and_can_be_deleted_and_purged(mycel: Any) -> None:
    mycel.ok("team", "add", "alpha")
    id, other = damaged(mycel, "Herons rest."), damaged(mycel, "Kestrels do not.")
    assert mycel.run("list").exit_code == 0
    asked = mycel.run("get", id)
    assert asked.exit_code == 13
    assert "is damaged and cannot be read" in asked.stderr
    checked = mycel.run("check")
    assert checked.exit_code == 1
    assert f"memories {id}: content is no UTF-8 text" in checked.stdout
    assert id in mycel.run("export", "--team", "executive", str(mycel.data.parent / "all.jsonl")).stderr
    assert id in mycel.run("backup", "create").stderr
    assert id in mycel.ok("delete", id)
    assert other in mycel.ok("purge", other, "--yes")
    assert mycel.ok("check") == "Every store is sound.\n"
