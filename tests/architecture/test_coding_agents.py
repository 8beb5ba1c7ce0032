"""What is special about a coding agent stands in the one file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from mycel.surfaces import agents
from mycel.surfaces.agents.registry import AGENTS

FOLDER = Path(agents.__file__).parent
FILES = {name: f"{name.replace('-', '_')}.py" for name in AGENTS}
# It lists them.
TABLE = "registry.py"


@pytest.mark.parametrize("name", AGENTS)
def test_each_agent_has_a_file(name: str) -> None:
    assert (FOLDER / FILES[name]).is_file()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_no_other_file_names_an_agent(path: Path) -> None:
    own = {name for name, file in FILES.items() if file == path.name}
    text = "" if path.name == TABLE else path.read_text("utf-8").lower()
    others = {word for name in AGENTS.keys() - own for word in (name, name.replace("-", "_")) if word in text}
    assert others == set()
