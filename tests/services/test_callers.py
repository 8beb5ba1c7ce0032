"""Who is calling: looked up once, and again as soon as anything has changed, by whatever process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.domain.ids import TeamName
from mycel.domain.policy import Policy
from mycel.domain.team import Caller
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, Unauthenticated
from mycel.services.callers import FRESH_SECONDS, Callers, known
from mycel.stores.postgres.database import ORGANISATION, Database
from mycel.stores.postgres.directory import PostgresDirectory
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.directory import SqliteDirectory
from mycel.testing.clock import ManualClock
from tests.postgres import server

pytestmark = pytest.mark.each_database(slow=True)

REVOKING = """
import sys
from mycel.app import open_workspace

with open_workspace(sys.argv[1]) as workspace:
    workspace.revoke_token(sys.argv[2])
"""


class Counting:
    """Counts how often a token is looked up."""

    looked_up = 0

    def find_token(self, secret_hash: str) -> object:
        self.looked_up += 1
        return super().find_token(secret_hash)  # type: ignore[misc]


class CountingFiles(Counting, SqliteDirectory): ...


class CountingPostgres(Counting, PostgresDirectory): ...


CountingDirectory = CountingFiles | CountingPostgres


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "workspace.sqlite"


@pytest.fixture
def squad(workspace: Workspace) -> Workspace:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    return workspace


@pytest.fixture
def directory(squad: Workspace, file: Path, clock: ManualClock, database: str) -> Iterator[CountingDirectory]:
    with closing(opened(file, clock, database)) as directory:
        yield directory


def opened(file: Path, clock: ManualClock, database: str) -> CountingDirectory:
    if database == "files":
        return CountingFiles(file, clock=clock, disk=Disk())
    connections = Database(server().service)
    connections.open()
    return CountingPostgres(connections, clock=clock)


@pytest.fixture
def callers(directory: CountingDirectory, clock: ManualClock) -> Callers:
    return Callers(directory, clock)


def through_the_same_reader(directory: CountingDirectory) -> int:
    return directory.revision()


def through_another_reader(directory: CountingDirectory) -> int:
    """While the reader that was used last is busy."""
    if isinstance(directory, SqliteDirectory):
        return directory._database.read(lambda _: directory.revision())
    return directory._database.read(ORGANISATION, lambda _: directory.revision())


def settle() -> None:
    time.sleep(FRESH_SECONDS * 1.2)


def test_the_revision_stays_while_nothing_changes(directory: CountingDirectory) -> None:
    first = directory.revision()
    directory.list_tokens()
    assert [directory.revision() for _ in range(3)] == [first] * 3


@pytest.mark.parametrize("revision", [through_the_same_reader, through_another_reader], ids=["one", "another"])
def test_the_revision_is_new_after_a_write_of_its_own_and_of_others(
    squad: Workspace, directory: CountingDirectory, revision: Callable[[CountingDirectory], int]
) -> None:
    seen = {directory.revision(), through_another_reader(directory), directory.revision()}
    directory.transact(lambda transaction: transaction.put_policy(TeamName("squad"), Policy()))
    assert revision(directory) not in seen
    seen |= {directory.revision(), through_another_reader(directory)}
    squad.add_member("swe-2", team="squad")
    assert revision(directory) not in seen


@pytest.mark.files_only
def test_the_revision_is_new_when_the_file_comes_to_be(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "workspace.sqlite"
    with closing(SqliteDirectory(path, clock=clock, disk=Disk())) as directory:
        first = directory.revision()
        with closing(SqliteDirectory(path, clock=clock, disk=Disk())) as other:
            other.transact(lambda transaction: transaction.list_tokens())
        assert directory.revision() != first


def test_nobody_is_looked_up_again_while_nothing_changes(
    squad: Workspace, directory: CountingDirectory, callers: Callers
) -> None:
    who = callers.token(squad.issue_token("swe-1"))
    # The first reader of the directory is new to it.
    settle()
    who()
    looked_up = directory.looked_up
    for _ in range(3):
        settle()
        assert who().member_id == "swe-1"
    assert directory.looked_up == looked_up
    squad.add_member("swe-2", team="squad")
    settle()
    who()
    assert directory.looked_up == looked_up + 1


def test_what_another_process_revokes_is_refused_at_once(squad: Workspace, callers: Callers, tmp_path: Path) -> None:
    secret, other = squad.issue_token("swe-1"), squad.issue_token("swe-1")
    revoked, kept = callers.token(secret), callers.token(other)
    command = [sys.executable, "-c", REVOKING, str(tmp_path / "data"), secret]
    subprocess.run(command, check=True, timeout=60)
    settle()
    with pytest.raises(Unauthenticated):
        revoked()
    assert kept().member_id == "swe-1"


def test_a_token_that_expires_while_nothing_changes_is_refused(
    squad: Workspace, callers: Callers, clock: ManualClock
) -> None:
    who = callers.token(squad.issue_token("swe-1", ttl="1h"))
    assert known(who, seconds=60) is not None
    clock.move(timedelta(hours=1))
    assert known(who, seconds=60) is None
    with pytest.raises(Unauthenticated):
        who()


def test_it_is_known_for_as_long_as_somebody_wants_who_is_calling(squad: Workspace, callers: Callers) -> None:
    who = callers.token(squad.issue_token("swe-1"))
    assert known(who, seconds=60) == who()
    settle()
    assert known(who, seconds=FRESH_SECONDS) is None
    who()
    assert known(who, seconds=FRESH_SECONDS) is not None


def test_nothing_is_known_of_whom_is_refused(squad: Workspace, callers: Callers) -> None:
    secret = squad.issue_token("swe-1")
    who = callers.token(secret)
    squad.revoke_token(secret)
    settle()
    # Nobody has asked since.
    assert known(who, seconds=60) is not None
    with pytest.raises(Unauthenticated):
        who()
    assert known(who, seconds=60) is None


def test_who_acts_for_another_is_known_only_while_it_is_the_operator(squad: Workspace, callers: Callers) -> None:
    secret = squad.issue_token("operator")
    given = callers.token(secret)
    acting = callers.acting(given, member="swe-1", team=None)
    found = known(acting, seconds=60)
    assert isinstance(found, Caller)
    assert found.member_id == "swe-1"
    squad.revoke_token(secret)
    settle()
    with pytest.raises(AccessDenied):
        given()
    assert known(acting, seconds=60) is None
    with pytest.raises(AccessDenied):
        acting()
