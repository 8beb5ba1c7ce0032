"""Every promise of a store is looked at by the suite that every store has to pass."""

import ast
import inspect
from pathlib import Path
from typing import get_type_hints

import pytest

from mycel.contracts.store import Store, Transaction

WHOLE = {"store": Store, "transaction": Transaction}


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


def promises() -> list[str]:
    return sorted(
        {
            f"{part}.{method}"
            for owner in WHOLE.values()
            for part, kind in parts_of(owner).items()
            for method in methods_of(kind)
        }
    )


@pytest.fixture(scope="module")
def asked(package: Path) -> set[str]:
    """What the suite asks a part for: `store.memories.find` is `memories.find`."""
    found: set[str] = set()
    for path in (package / "testing").glob("store_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                found.add(f"{node.value.attr}.{node.attr}")
    return found


def test_the_suite_asks_for_every_promise(asked: set[str]) -> None:
    missing = [promise for promise in promises() if promise not in asked]
    assert missing == [], f"no suite of mycel.testing calls {missing}"
