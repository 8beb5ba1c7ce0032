"""The plugin folders say what installing says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path


def test_the_plugins_are_what_the_table_makes(repository: Path) -> None:
    made = runpy.run_path(str(repository / "scripts" / "plugins.py"))["plugin_files"]()
    found = {name: (repository / name).read_text("utf-8") for name in made}
    assert found == made, "run: python -m scripts.plugins"
    kept = {path.relative_to(repository).as_posix() for path in (repository / "plugins").rglob("*") if path.is_file()}
    assert kept == {name for name in made if name.startswith("plugins/")}


def test_what_the_markets_list_is_there(repository: Path) -> None:
    claude = json.loads((repository / ".claude-plugin/marketplace.json").read_text("utf-8"))["plugins"]
    codex = json.loads((repository / ".agents/plugins/marketplace.json").read_text("utf-8"))["plugins"]
    assert [(repository / one["source"] / ".claude-plugin/plugin.json").is_file() for one in claude] == [True]
    assert [(repository / one["source"]["path"] / ".codex-plugin/plugin.json").is_file() for one in codex] == [True]
