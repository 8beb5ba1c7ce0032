"""How a missing extra is added, by the tool that made the environment."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from mycel.errors import install_command


def test_pip_adds_an_extra_where_the_environment_has_pip() -> None:
    assert install_command("llm") == f"{sys.executable} -m pip install 'mycel-memory[llm]'"


def test_uv_adds_an_extra_where_the_environment_has_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert install_command("llm") == f"uv pip install --python {sys.executable} 'mycel-memory[llm]'"


@pytest.mark.parametrize(
    ("requirement", "wanted"),
    [
        ('{ name = "mycel-memory" }', "mycel-memory[mount]"),
        ('{ name = "mycel-memory", extras = ["postgres", "llm"] }', "mycel-memory[llm,mount,postgres]"),
        ('{ name = "other", extras = ["llm"] }', "mycel-memory[mount]"),
    ],
)
def test_a_tool_of_uv_keeps_the_extras_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requirement: str, wanted: str
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{requirement}]\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install_command("mount") == f"uv tool install '{wanted}'"
