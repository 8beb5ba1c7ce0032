"""Writes the types of the async client: the methods of the contracts, each awaited. `python -m scripts.async_stub`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "mycel"
STUB = PACKAGE / "client" / "async_api.pyi"
CONTRACTS = ("activity_api", "parts_api", "imports_api", "memory_api", "workspace_api")
# What the classes of the contracts are called in `client/async_api.py`; the others are parts of a memory.
NAMES = {"MemoryApi": "AsyncRemoteMemory", "WorkspaceApi": "AsyncOperations"}
OWN = {
    "AsyncRemoteMemory": "def __init__(self, caller: remote.Caller, **streams: Any) -> None: ...",
    "AsyncOperations": "def __init__(self, caller: remote.Caller) -> None: ...",
}
HEAD = '''"""Made by `python -m scripts.async_stub` from the contracts; change those."""

import builtins
from collections.abc import Awaitable

from mycel.client import remote
from mycel.client.changes import AsyncChangeIterator
'''


def main() -> None:
    STUB.write_text(stub(), encoding="utf-8")


def stub() -> str:
    trees = {name: ast.parse((PACKAGE / "contracts" / f"{name}.py").read_text("utf-8")) for name in CONTRACTS}
    imports: dict[str, set[str]] = {}
    classes: list[ast.ClassDef] = []
    for name, tree in trees.items():
        for module, imported in _imports(name, tree):
            imports.setdefault(module, set()).add(imported)
        classes += [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_protocol(node)]
    body = "\n\n".join(ast.unparse(ast.fix_missing_locations(_awaited(node))) for node in classes)
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = [
        f"from {module} import {', '.join(sorted(found & used))}" for module, found in imports.items() if found & used
    ]
    return _formatted("\n".join([HEAD, *lines, "", body]))


def _imports(name: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Where each name comes from; what a contract defines besides its protocols is imported from it."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            yield from ((node.module, alias.name) for alias in node.names if not alias.name.endswith("Api"))
        elif isinstance(node, ast.ClassDef) and not _is_protocol(node):
            yield f"mycel.contracts.{name}", node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield f"mycel.contracts.{name}", node.targets[0].id


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "Protocol" for one in node.bases)


def _renamed(name: str) -> str:
    return NAMES.get(name, f"_Async{name.removesuffix('Api')}")


def _awaited(node: ast.ClassDef) -> ast.ClassDef:
    name = _renamed(node.name)
    own = ast.parse(OWN[name]).body if name in OWN else []
    methods = [_method(one) if isinstance(one, ast.FunctionDef) else one for one in node.body]
    docs = methods[:1] if isinstance(methods[0], ast.Expr) else []
    found = ast.ClassDef(name, [], [], [*docs, *own, *methods[len(docs) :]], [], type_params=[])
    return _Annotations().visit(found)


def _method(node: ast.FunctionDef) -> ast.stmt:
    returned = node.returns
    if node.decorator_list:
        if isinstance(returned, ast.Name) and returned.id == "str":
            node.returns = ast.parse("Awaitable[str]", mode="eval").body
        return node
    if node.name == "changes":
        node.returns = ast.Name("AsyncChangeIterator")
        return node
    fields = {name: getattr(node, name, None) for name in ast.AsyncFunctionDef._fields}
    return ast.AsyncFunctionDef(**{**fields, "lineno": node.lineno})


class _Annotations(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "list":
            # In these classes it is a method.
            return ast.parse("builtins.list", mode="eval").body
        return ast.Name(_renamed(node.id)) if node.id.endswith("Api") else node


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff"]
    for step in (["check", "--fix-only", "--select", "I,F401", "--quiet"], ["format", "--quiet"]):
        arguments = [*command, *step, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    main()
