"""What the contracts of the import linter cannot say: no cycles, and no word of one store where there could be any."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

STORE_WORDS = re.compile(r"sqlite|apsw|memory\.vectors", re.IGNORECASE)


def test_no_module_imports_itself_by_way_of_others_not_even_when_first_used() -> None:
    graph = grimp.build_graph("mycel", exclude_type_checking_imports=True)
    found = _find_cycle({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    assert found == [], f"these modules need each other: {' -> '.join(found)}"


def test_a_cycle_is_found() -> None:
    assert set(_find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


@pytest.mark.parametrize("folder", ["access", "embedded", "retrieval", "services"])
def test_nothing_inside_speaks_of_one_store(package: Path, folder: str) -> None:
    """A second store must not have to be told of in the use cases."""
    found = [
        f"{path.relative_to(package)}:{number}: {line.strip()}"
        for path in sorted((package / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if STORE_WORDS.search(line)
    ]
    assert found == []


def _find_cycle(imports: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
