"""No module opens and closes the files of a store next to SQLite, which loses its locks by that: `mycel.held_files`."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

# What opens files by name, whatever it is asked of. `open` itself is told apart from the methods of other things below.
OPENERS = {
    "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "touch", "copy2", "copyfile", "copytree",
    "memmap", "fromfile", "ZipFile", "GzipFile", "mmap", "truncate",
}  # fmt: skip
# Methods with these names that open no file.
NOT_FILES = {"webbrowser", "feeds", "staging", "sender", "line", "self", "database", "mycel"}

# Those that may open something in the stores, and what that is.
IN_STORES = {
    "stores/sqlite/file_access.py": "the files of a store, in the ways that leave SQLite its locks",
    "stores/sqlite/damage_marker.py": "the note next to a damaged database",
    "stores/sqlite/write_queue.py": "the empty file in which processes queue, for as long as it has its connection",
    "stores/sqlite/restored.py": "the note that a restored backup is ready",
    "stores/migrate.py": "the statements of migrations",
    "stores/postgres/pool.py": "the pool of connections",
}
# Those elsewhere that open what a user names: each asks `held_files` before.
ASK_FIRST = {
    "client/archives.py",
    "services/archive_files.py",
    "services/backup_files.py",
    "surfaces/cli/material.py",
    "surfaces/importing/places.py",
}
# A file that only they name may be opened plainly. A new module of this list is one that was looked at.
ELSEWHERE = {
    "__init__.py": "the workspace",
    "errors.py": "the note that uv leaves in the environment of an installed tool",
    "durable_file.py": "new files that replace old ones, and folders",
    "held_files.py": "files that nobody here has open",
    "settings.py": "the settings",
    "app.py": "the workspace",
    "restoration.py": "the workspace",
    "storage.py": "the workspace",
    "services/artifact_files.py": "files of the workspace folder, after it has asked `held_files` by their status",
    "services/team_files.py": "the files of an organisation",
    "embedded/working_snapshot.py": "an agent's own snapshot",
    "index/index_file.py": "the file of an index, which SQLite does not know",
    "engine/by_model/prompts/__init__.py": "prompts",
    "retrieval/languages.py": "word lists",
    "engine/executor_process.py": "its pipes",
    "providers/judge/onnx_judge.py": "a model",
    "providers/embeddings/tokens.py": "a tokenizer",
    "providers/judge/shipped.py": "a model",
    "providers/embeddings/shipped.py": "a model",
    "providers/embeddings/card.py": "a model",
    "client/daemon.py": "the log of the service",
    "client/senders.py": "connections",
    "client/changes.py": "connections",
    "wire/daemon_file.py": "how to find the service",
}
# Whole folders that have no store open under them, or know only files of their own.
FOLDERS = (
    *(f"surfaces/{name}/" for name in ("agents", "cli", "hooks", "http", "mcp", "mount", "vault", "web")),
    # Entries of what is imported, which `surfaces/importing/places.py` opens.
    "engine/imports/",
)


def openings(module: Path) -> list[str]:
    """The calls of a module that open files."""
    found: list[str] = []
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        receiver = name.split(".")[-2] if "." in name else ""
        opens = last == "open" and receiver not in NOT_FILES and not name.startswith("self.")
        # A function of another module that has such a name is no method of a path.
        if opens or (last in OPENERS and (receiver or last == "fdopen")):
            found.append(f"{name} (line {node.lineno})")
    return found


def all_openings(modules: list[Path], package: Path) -> dict[str, list[str]]:
    found = {path.relative_to(package).as_posix(): openings(path) for path in modules}
    return {name: calls for name, calls in found.items() if calls}


def test_the_stores_open_files_in_one_module(modules: list[Path], package: Path) -> None:
    found = all_openings(modules, package)
    wrong = {name: calls for name, calls in found.items() if name.startswith("stores/") and name not in IN_STORES}
    assert not wrong, f"read, sync and make the files of a store by `stores/sqlite/file_access.py`: {wrong}"


def test_what_opens_files_elsewhere_was_looked_at(modules: list[Path], package: Path) -> None:
    found = all_openings(modules, package)
    known = {*IN_STORES, *ASK_FIRST, *ELSEWHERE}
    wrong = {name: calls for name, calls in found.items() if name not in known and not name.startswith(FOLDERS)}
    assert not wrong, f"can these be files of a store that is open? See `mycel.held_files`: {wrong}"


def test_what_a_user_names_is_opened_by_way_of_held_files(modules: list[Path], package: Path) -> None:
    found = all_openings(modules, package)
    for name in ASK_FIRST:
        plain = [call for call in found.get(name, []) if call.startswith(("path.open", "file.open", "Path(place)"))]
        assert not plain, f"{name}: use `held_files.open_unheld`: {plain}"
        assert "open_unheld(" in (package / name).read_text("utf-8")


def test_every_connection_to_a_file_counts_as_held(modules: list[Path], package: Path) -> None:
    """Only `StoreConnection` tells `held_files`; one in memory has no file."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in {"apsw.Connection", "Connection"}:
                continue
            if [ast.unparse(argument) for argument in node.args] != ["':memory:'"]:
                found[path.relative_to(package).as_posix()].append(f"line {node.lineno}")
    assert not {name: lines for name, lines in found.items() if name.startswith("stores/sqlite")}


def test_only_one_sqlite_is_in_a_process(modules: list[Path], package: Path) -> None:
    """The one of the standard library would know nothing of the locks of the other."""
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"sqlite3", "pysqlite3"} & {name.split(".")[0] for name in names}, path.relative_to(package)


def test_the_lists_name_no_module_that_is_gone(package: Path) -> None:
    names = {*IN_STORES, *ASK_FIRST, *ELSEWHERE}
    assert not {name for name in names if not (package / name).is_file()}
    assert not {name for name in FOLDERS if not (package / name).is_dir()}


def test_the_walk_sees_a_plain_open(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def read(path):\n    with path.open('rb') as file:\n        return file.read()\n")
    assert openings(module) == ["path.open (line 2)"]
