"""What a workspace promises it promises on both databases: each module of tests runs on Postgres, or says why not."""

from __future__ import annotations

from pathlib import Path

FOLDERS = (
    *("acceptance", "conformance", "services"),
    *(f"surfaces/{name}" for name in ("cli", "hooks", "http", "mcp", "web")),
)
# Marked, on a database of its own, or a suite that is run there as well.
ON_POSTGRES = ("each_database", "tests.postgres", '["postgres"]')
FILES_ALONE = {
    "a module beside it runs the same on Postgres": {
        *("conformance/test_model.py", "conformance/test_remote_memory_api.py"),
        *("conformance/test_sqlite_directory.py", "conformance/test_sqlite_store.py"),
    },
    "it looks into files": {
        *("conformance/test_secrets_kept.py", "services/test_hostile_backups.py"),
        *("surfaces/cli/test_backup.py", "surfaces/cli/test_integrity.py", "surfaces/http/test_ownership.py"),
        "surfaces/cli/test_damaged_rows.py",
    },
    "it is about programs, settings and an installation": {
        *(f"surfaces/cli/test_{name}.py" for name in ("commands", "doctor", "install", "processes", "rooms")),
        *(f"surfaces/hooks/test_{name}.py" for name in ("environment", "opencode_plugin", "place", "transcript")),
    },
    "it is about reading what is given, or writing what is answered": {
        *("surfaces/cli/test_charts.py", "surfaces/cli/test_imports.py"),
        *(f"surfaces/hooks/test_{name}.py" for name in ("odd_payloads", "reflecting")),
        *("conformance/test_short_ids.py", "services/test_team_files.py"),
        *(
            f"surfaces/http/test_{name}.py"
            for name in ("front_page", "json_pieces", "odd_values", "other_names", "sending")
        ),
        *(f"surfaces/web/test_{name}.py" for name in ("rendering", "text_in_its_box")),
    },
    "it is about a process and its connections": {
        *(f"surfaces/http/test_{name}.py" for name in ("activity", "handles", "log_writer", "logs")),
        "surfaces/http/test_stranger_on_the_port.py",
        *(f"surfaces/mcp/test_{name}.py" for name in ("client_log", "conformance", "progress")),
    },
}


def test_every_module_runs_on_postgres_or_says_why_not(repository: Path) -> None:
    tests = repository / "tests"
    found = {
        path.relative_to(tests).as_posix(): any(sign in path.read_text("utf-8") for sign in ON_POSTGRES)
        for folder in FOLDERS
        for path in (tests / folder).glob("test_*.py")
    }
    assert len(found) > 50
    assert {name for name, is_there in found.items() if not is_there} == set().union(*FILES_ALONE.values())
