"""The suite that every directory of teams and members, and the stores of its teams, must pass.

    class TestMyWorkspace(DirectoryConformance):
        @pytest.fixture
        def directory(self, tmp_path, clock): ...
        @pytest.fixture
        def second(self, directory, tmp_path, clock): ...
        @pytest.fixture
        def stores(self, tmp_path, clock): ...

`directory` is empty; `second` is another client of it, as another process would have; `stores` are those of its teams,
none of which has one yet.
"""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from mycel.contracts.directory import Directory, DirectoryTransaction
from mycel.contracts.store import Stores
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.policy import Policy, changed_policy
from mycel.domain.team import Kind, Member, Role, Team, Token, Trust
from mycel.errors import Conflict
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import START, purge, put

SQUAD, OTHER = TeamName("squad"), TeamName("other")
SOON_SECONDS = 5.0


def a_member(id: str = "swe-1", team: TeamName = SQUAD, role: Role = Role.AGENT) -> Member:
    return Member(MemberId(id), team, role, Kind.AGENT, Trust.NORMAL, START)


def a_token(id: str = "t-1", member_id: str = "swe-1", parent_id: str | None = None) -> Token:
    return Token(id, MemberId(member_id), "laptop", START, parent_id=parent_id)


def fill(directory: Directory) -> None:
    def work(transaction: DirectoryTransaction) -> None:
        transaction.put_team(Team(SQUAD, None, START))
        transaction.put_team(Team(OTHER, SQUAD, START))
        transaction.put_member(a_member())
        transaction.put_member(a_member("swe-2", OTHER))

    directory.transact(work)


class DirectoryConformance:
    """Every promise of `contracts.directory` and of `contracts.store.Stores`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    def test_it_says_whether_it_can_be_read(self, directory: Directory) -> None:
        directory.require_ready()

    def test_the_requests_of_other_nodes_are_told_to_none_of_them_twice(self, directory: Directory) -> None:
        """Where one service owns a workspace, there are no others."""
        busy = MemberId("swe-1")
        assert directory.share_requests("one", {busy: 100}) == {}
        assert directory.share_requests("other", {busy: 40}) in ({}, {busy: 100})
        assert directory.share_requests("one", {busy: 7}) in ({}, {busy: 40})

    def test_teams_and_members_are_found_by_everybody_who_has_it_open(
        self, directory: Directory, second: Directory
    ) -> None:
        fill(directory)
        for client in (directory, second):
            assert client.find_team(OTHER) == Team(OTHER, SQUAD, START)
            assert client.find_team(TeamName("nobody")) is None
            assert [team.name for team in client.list_teams()] == [OTHER, SQUAD]
            assert client.find_member(MemberId("swe-2")) == a_member("swe-2", OTHER)
            assert client.list_members() == [a_member("swe-2", OTHER), a_member()]
            assert client.list_members(SQUAD) == [a_member()]

    def test_a_transaction_is_stored_as_a_whole_and_sees_its_own_writes(self, directory: Directory) -> None:
        def work(transaction: DirectoryTransaction) -> None:
            transaction.put_team(Team(SQUAD, None, transaction.now))
            assert transaction.find_team(SQUAD) == Team(SQUAD, None, transaction.now)
            raise Conflict("something was wrong")

        with pytest.raises(Conflict):
            directory.transact(work)
        assert directory.list_teams() == []

    def test_a_removed_member_is_found_and_not_listed(self, directory: Directory) -> None:
        fill(directory)
        removed = replace(a_member(), removed_at=START)
        directory.transact(lambda transaction: transaction.put_member(removed))
        assert directory.find_member(removed.id) == removed
        assert directory.list_members(SQUAD) == []

    def test_what_was_done_is_listed_newest_first_for_one_team_or_all(self, directory: Directory) -> None:
        for number, team in enumerate((SQUAD, OTHER)):
            directory.transact(
                lambda transaction, number=number, team=team: transaction.note(
                    "add_member", by=MemberId("boss"), team=team, subject=f"member-{number}", after={"role": "agent"}
                )
            )
        both = directory.list_actions(None, limit=9)
        assert [one.subject for one in both] == ["member-1", "member-0"]
        assert both[0].after == {"role": "agent"}
        assert [one.subject for one in directory.list_actions(SQUAD, by=MemberId("boss"), limit=9)] == ["member-0"]
        assert directory.list_actions(None, before=both[1].id, limit=9) == []

    def test_a_team_has_the_usual_policy_until_it_decides(self, directory: Directory) -> None:
        fill(directory)
        assert directory.find_policy(SQUAD) == directory.find_policy(TeamName("nobody")) == Policy()
        strict = changed_policy(Policy(), {"purge_after": "1d"})
        directory.transact(lambda transaction: transaction.put_policy(SQUAD, strict))
        assert directory.find_policy(SQUAD) == strict
        directory.transact(lambda transaction: transaction.put_team(Team(SQUAD, OTHER, START)))
        assert directory.find_policy(SQUAD) == strict

    def test_a_token_is_known_by_its_hash_and_revoked_with_those_below(
        self, directory: Directory, clock: ManualClock
    ) -> None:
        fill(directory)
        tokens = [a_token(), a_token("t-2", parent_id="t-1"), a_token("t-3", "swe-2", parent_id="t-2")]
        tokens.append(a_token("t-4", "swe-2"))

        def issue(transaction: DirectoryTransaction) -> None:
            for token in tokens:
                transaction.add_token(token, f"hash of {token.id}")

        directory.transact(issue)
        assert directory.find_token("hash of t-2") == directory.find_token_by_id("t-2") == tokens[1]
        assert directory.find_token("t-2") is directory.find_token_by_id("none") is None
        assert directory.list_tokens() == tokens
        assert directory.list_tokens(MemberId("swe-2")) == tokens[2:]
        assert directory.transact(lambda transaction: transaction.revoke_tokens(token_id=tokens[0].id)) == 3
        assert [token.revoked_at for token in directory.list_tokens()] == [*[clock.now()] * 3, None]
        by_member = MemberId("swe-2")
        assert directory.transact(lambda transaction: transaction.revoke_tokens(member_id=by_member)) == 1

    def test_the_revision_is_another_after_a_change_of_anybody(self, directory: Directory, second: Directory) -> None:
        fill(directory)
        known = second.revision()
        directory.transact(lambda transaction: transaction.put_member(a_member("swe-3")))
        assert second.revision() != known

    def test_a_sound_directory_finds_nothing_wrong_with_itself(self, directory: Directory) -> None:
        fill(directory)
        assert directory.files.name
        assert directory.files.check() == []
        assert directory.files.damage() is None

    def test_stores_are_those_of_teams_that_have_written(self, directory: Directory, stores: Stores) -> None:
        fill(directory)
        assert stores.teams_with_store() == []
        with stores.lease(OTHER) as store:
            assert store.log.last_sequence() == 0
        with stores.lease(SQUAD) as store:
            memory = put(store)
            assert store.team == SQUAD
        before = stores.written()
        assert (list(before), stores.teams_with_store()) == ([SQUAD], [SQUAD])
        with stores.lease(SQUAD) as store:
            assert store.log.last_sequence() == 1
            assert store.memories.find_receipt(memory.id) is None
        assert stores.damages() == []
        assert not stores.is_damaged(SQUAD)
        assert not stores.has_damaged_rows(SQUAD)

    def test_a_store_that_was_reset_begins_anew(self, directory: Directory, stores: Stores) -> None:
        fill(directory)
        with stores.lease(SQUAD) as store:
            put(store)
        stores.reset(SQUAD)
        with stores.lease(SQUAD) as store:
            assert store.log.last_sequence() == 0

    def test_a_watch_tells_of_a_write_and_can_be_ended(self, directory: Directory, stores: Stores) -> None:
        fill(directory)
        watch = stores.watch(SQUAD)
        while watch.wait(0.0):
            pass
        with stores.lease(SQUAD) as store:
            put(store)
        assert watch.wait(SOON_SECONDS)
        while watch.wait(0.1):
            pass
        threading.Timer(0.05, watch.wake).start()
        assert watch.wait(SOON_SECONDS)
        watch.close()

    def test_listeners_hear_of_a_transaction_before_its_caller_goes_on(
        self, directory: Directory, stores: Stores
    ) -> None:
        fill(directory)
        heard: list[TeamName] = []
        stores.listen(heard.append)
        with stores.lease(SQUAD) as store:
            memory = put(store)
            assert heard.pop() == SQUAD
            heard.clear()
            purge(store, memory.id)
            assert heard.pop() == SQUAD


class DirectoryFiles:
    """What a directory on files promises beside; needs the fixture `directory`."""

    def test_a_backup_holds_what_stood(self, directory: Directory, tmp_path: Path) -> None:
        fill(directory)
        copy = directory.files.backup(tmp_path / "copies")
        assert copy.parent == tmp_path / "copies"
        assert copy.name == directory.files.name
