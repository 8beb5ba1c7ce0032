"""Every promise of a store is looked at by the suite that every store has to pass."""

import ast
import inspect
from pathlib import Path
from typing import get_type_hints

import pytest

from mycel.contracts.directory import Directory, DirectoryTransaction
from mycel.contracts.store import Store, Stores, Transaction, Watch

# What is asked directly, and what is asked by way of a part.
WHOLE = (Directory, DirectoryTransaction, Stores, Watch, Store, Transaction)


def parts_of(owner: type) -> dict[str, type]:
    """The small protocols a store is made of, by the names they go by."""
    found = {
        name: get_type_hints(value.fget)["return"]
        for name, value in inspect.getmembers(owner)
        if isinstance(value, property) and value.fget is not None
    }
    return {name: kind for name, kind in found.items() if getattr(kind, "_is_protocol", False)}


def methods_of(protocol: type) -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(protocol)
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }


def promises() -> set[str]:
    found = {
        f"{part}.{method}" for owner in WHOLE for part, kind in parts_of(owner).items() for method in methods_of(kind)
    }
    return found | {method for owner in WHOLE for method in methods_of(owner) - set(parts_of(owner))}


@pytest.fixture(scope="module")
def asked(package: Path) -> set[str]:
    """What the suites ask for: `directory.find_team` is `find_team`, `store.memories.find` is `memories.find`."""
    found: set[str] = set()
    for path in (package / "testing").glob("*.py"):
        if path.name.startswith(("store_", "directory_")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute):
                    found |= (
                        {node.attr} if not isinstance(node.value, ast.Attribute) else {f"{node.value.attr}.{node.attr}"}
                    )
    return found


def test_the_suite_asks_for_every_promise(asked: set[str]) -> None:
    missing = sorted(promises() - asked)
    assert missing == [], f"no suite of mycel.testing calls {missing}"
