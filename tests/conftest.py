"""What all tests share: memories are found by their words unless a test asks for the model that users get."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from mycel.settings import Settings

# Of properties that name no number of their own; what takes long on a busy machine is no failure.
settings.register_profile("suite", max_examples=40, deadline=None)
settings.register_profile("proof", max_examples=1000, deadline=None)

# A file system in memory, where there is one, and what has to be free in it.
MEMORY = Path("/dev/shm")
ROOM = 4 * 1024**3


def pytest_configure(config: pytest.Config) -> None:
    keep_bytecode(config.rootpath / ".pytest_cache" / "bytecode")
    if has_room(MEMORY):
        # Thousands of data directories are made and synced; what a disk keeps is tested on one that forgets.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: looking through it for garbage took a twentieth of a run."""
    gc.collect()
    gc.freeze()


# Tests that passed, gathered by the process that sees the reports of all workers.
passed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        passed.add(report.nodeid.partition("[")[0])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a green run of everything in which a test named by `docs/reference/documents.md` was left out."""
    chosen = session.config.option
    everything = session.config.args == session.config.getini("testpaths") and chosen.markexpr == "not proof"
    if not everything or exitstatus or chosen.keyword or chosen.collectonly or hasattr(session.config, "workerinput"):
        return
    from tests.documents_page import list_unproved

    if unproved := list_unproved(passed):
        sys.stderr.write("\n  ".join(["\nNot proved, by docs/reference/documents.md:", *unproved]) + "\n")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def keep_bytecode(folder: Path) -> None:
    """Hundreds of tests start a program: it is compiled once for all, and the sources stay as they are."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder)


def has_room(folder: Path) -> bool:
    """For what a run leaves, programs included."""
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is marked so holds on files and on Postgres; a `slow` one is run on the second by `make proof` alone."""
    asked = metafunc.definition.get_closest_marker("each_database")
    if asked is not None and metafunc.definition.get_closest_marker("files_only") is None:
        slow = [pytest.mark.proof] if asked.kwargs.get("slow") else []
        metafunc.parametrize("database", ["files", pytest.param("postgres", marks=slow)], indirect=True, scope="module")


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> str:
    """Where workspaces are kept: `files` or `postgres`."""
    return getattr(request, "param", "files")


@pytest.fixture(autouse=True, scope="module")
def files_are_left_alone(database: str) -> Iterator[None]:
    """What is said to run on Postgres opens no workspace on files, whose settings were made without the environment."""
    if database == "files":
        yield
        return
    from mycel import app, storage

    def open_stores(settings: Settings, **given: Any) -> Any:
        assert settings.database_url, f"on Postgres, and opens {settings.data}: see tests.template.settings_of"
        return storage.open_stores(settings, **given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "open_stores", open_stores)
        yield


@pytest.fixture(autouse=True)
def on_database(database: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings name a database with nothing in it, for whatever the test opens and starts, or that of its service."""
    if "database_variables" in request.fixturenames:
        variables: dict[str, str] = request.getfixturevalue("database_variables")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
    elif database == "postgres":
        from tests.postgres import as_url, emptied, server

        emptied()
        monkeypatch.setenv("MYCEL_DATABASE_URL", as_url(server().service))


@pytest.fixture(scope="module")
def database_variables(database: str) -> dict[str, str]:
    """For a service that serves a whole module of tests: a database of its own."""
    if database == "files":
        return {}
    from tests.postgres import another, as_url

    return {"MYCEL_DATABASE_URL": as_url(another().service)}


@pytest.fixture(scope="module")
def kept_for_the_module(database_variables: dict[str, str]) -> Iterator[None]:
    """For workspaces that are opened once for a whole module, before any of its tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in database_variables.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True, scope="session")
def words_alone() -> Iterator[None]:
    """Loading the built-in models costs more than most tests; processes they start inherit most of this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYCEL_EMBEDDER", "none")
        # What the judge makes of a sentence may change with every lesson; tests that are about it ask for it.
        patch.setattr("mycel.app._judge", lambda: None)
        # A service for each of hundreds of commands would cost more still; those that are about it ask for one.
        patch.setenv("MYCEL_DAEMON", "off")
        yield


SETTLING_SECONDS = 20.0


def _data_of(process_id: int) -> list[str]:
    """What it serves, which names the test."""
    told = [*Path(f"/proc/{process_id}/cmdline").read_text().split("\0")]
    told += [each for each in Path(f"/proc/{process_id}/environ").read_text().split("\0") if each.startswith("MYCEL_")]
    return told


@pytest.fixture(autouse=True, scope="session")
def no_service_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One that a test started on demand would stay for a quarter of an hour."""
    from tests.service_process import services_below

    yield
    # That of the last test may still be on its way out.
    deadline = time.monotonic() + SETTLING_SECONDS
    while (left := services_below(tmp_path_factory.getbasetemp())) and time.monotonic() < deadline:
        time.sleep(0.2)
    serving = {process_id: _data_of(process_id) for process_id in left}
    for process_id in left:
        os.kill(process_id, signal.SIGTERM)
    assert not serving, f"a test left a service behind: {serving}"


@pytest.fixture(scope="session")
def builtin_in_memory() -> Iterator[None]:
    """Kept for as long as the tests run: whoever opens a workspace meanwhile shares it instead of loading it again."""
    from mycel.providers.embeddings.shipped import builtin_embedder

    embedder = builtin_embedder()
    embedder.embed_query("ready")
    yield
    embedder.close()


@pytest.fixture
def with_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Talk is read by the judge that users get."""
    from mycel.providers.judge.shipped import builtin_judge

    monkeypatch.setattr("mycel.app._judge", builtin_judge)


@pytest.fixture
def real_defaults(builtin_in_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder is what it is for whoever has set nothing."""
    monkeypatch.delenv("MYCEL_EMBEDDER")
