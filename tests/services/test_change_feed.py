"""Many readers follow the logs of many teams: each is told its part, once, in order, and soon."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mycel.access.scope import read_scope
from mycel.domain.change import Change, ChangeFilter, Operation
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.memory import Memory, MemoryType, Visibility
from mycel.domain.team import Caller, Role
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput, NotFound, Unavailable
from mycel.services.change_feed import Follower, Following
from mycel.services.log_tail import told_of
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import SqliteStores
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import AUTHOR, EVERY_CHANGE, TEAM, TEAMMATE, change, put
from tests.patience import ends

pytestmark = pytest.mark.each_database(slow=True)


PATIENCE = 20.0
SETTLED_SECONDS = 0.6


def caller(id: str = TEAMMATE, role: Role = Role.AGENT, *, team: str = TEAM) -> Caller:
    return Caller(MemberId(id), TeamName(team), role)


@dataclass
class Reader:
    """Takes whatever it is woken for."""

    follower: Follower
    woken: threading.Event
    told: list[Change] = field(default_factory=list)
    reached: int = 0

    def take_all(self, limit: int = 100) -> None:
        while True:
            found, reached = self.follower.take(limit)
            self.told += found
            if reached == self.reached:
                return
            self.reached = reached

    def wait_for(self, sequence: int) -> None:
        """Until it was told of everything up to this sequence."""
        deadline = time.monotonic() + PATIENCE
        while self.reached < sequence:
            assert time.monotonic() < deadline, f"only reached {self.reached} of {sequence}"
            # The last entries may not concern it, and then nobody wakes it for them.
            is_woken, known = self.woken.wait(2), len(self.told)
            self.woken.clear()
            self.take_all()
            assert is_woken or len(self.told) == known or self.woken.wait(PATIENCE), "it was not woken"


class Feed:
    """Stores and those who follow them."""

    def __init__(self, folder: Path, *, kept: int = 2000, linger: float = 0.2, limit: int | None = None) -> None:
        self.folder = folder
        self.stores = SqliteStores(folder, clock=ManualClock(), disk=Disk(synchronous="OFF"), limit=limit)
        self.following = Following(self.stores, kept=kept, linger=linger)

    def close(self) -> None:
        self.following.close()
        self.stores.close()

    def reader(self, who: Caller | Callable[[], Caller] | None = None, **wanted: Any) -> Reader:
        asked = who if callable(who) else lambda: who or caller()
        woken = threading.Event()
        return Reader(self.following.follow(asked, wake=woken.set, **wanted), woken)

    def wait_for_tail(self, sequence: int) -> None:
        """Who reads from the store may be ahead of it."""
        assert eventually(lambda: self.following._tails[TEAM]._recent.last == sequence)

    def do(self, work: Callable[..., Any], *args: Any, team: str = TEAM, **fields: Any) -> Any:
        with self.stores.lease(TeamName(team)) as store:
            return work(store, *args, **fields)

    def read(self, who: Caller, *, after: int = 0, wanted: ChangeFilter = EVERY_CHANGE) -> list[Change]:
        """What a plain reading of the log tells."""
        with self.stores.lease(who.team) as store:
            found: list[Change] = []
            while True:
                page, reached = store.log.changes(read_scope(who), after=after, wanted=wanted, limit=500)
                found += page
                if reached == after:
                    return found
                after = reached


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[Feed]:
    with closing(Feed(tmp_path)) as feed:
        yield feed


def tails() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("mycel-tail")}


def eventually(holds: Callable[[], bool], *, seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_follower_is_told_what_comes_from_now_on(feed: Feed) -> None:
    feed.do(put, "before")
    reader = feed.reader()
    assert reader.follower.take() == ([], 1)
    memory = feed.do(put, "after")
    feed.do(put, "not for you", visibility=Visibility.PRIVATE)
    reader.wait_for(3)
    assert [(one.sequence, one.operation, one.memory_id) for one in reader.told] == [(2, Operation.CREATE, memory.id)]


def test_a_team_never_written_to_can_be_followed(feed: Feed) -> None:
    reader = feed.reader()
    assert reader.follower.take() == ([], 0)
    assert not (feed.folder / TEAM).exists()
    feed.do(put)
    reader.wait_for(1)
    assert len(reader.told) == 1


def test_a_write_of_this_process_is_told_though_nobody_looks_for_it(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mycel.stores.sqlite.watch.POLL_SECONDS", 10 * PATIENCE)
    monkeypatch.setattr("mycel.services.log_tail.WAIT_SECONDS", 10 * PATIENCE)
    reader = feed.reader()
    for number in range(1, 6):
        feed.do(put)
        reader.wait_for(number)
    assert [one.sequence for one in reader.told] == [1, 2, 3, 4, 5]


def test_writes_of_another_process_are_noticed(feed: Feed) -> None:
    reader = feed.reader()
    other = SqliteStores(feed.folder, clock=ManualClock(), disk=Disk(synchronous="OFF"))
    with closing(other):
        for number in range(1, 6):
            with other.lease(TEAM) as store:
                put(store)
            assert reader.woken.wait(PATIENCE)
            reader.wait_for(number)
    assert [one.sequence for one in reader.told] == [1, 2, 3, 4, 5]


def test_a_follower_goes_on_from_any_cursor_whatever_is_kept(tmp_path: Path) -> None:
    with closing(Feed(tmp_path, kept=8)) as feed:
        first = feed.reader()
        for number in range(30):
            feed.do(put, visibility=Visibility.PRIVATE if number % 3 == 0 else Visibility.TEAM)
        first.wait_for(30)
        feed.wait_for_tail(30)
        for after in range(33):
            reader = feed.reader(after=after)
            reader.reached = after
            reader.take_all(limit=3)
            assert reader.told == feed.read(caller(), after=after)
        assert first.told == feed.read(caller())


def test_only_what_was_asked_for_is_told_and_leaving_it_is_a_removal(feed: Feed) -> None:
    by_path, by_project = feed.reader(path="/a"), feed.reader(project="web")
    by_type, by_all = feed.reader(type=["lesson", "note"]), feed.reader(path="/a", project="web", type="lesson")
    memory = feed.do(put, path="/a", project_id="web", type=MemoryType.LESSON)
    feed.do(change, memory.id, path="/b")
    feed.do(change, memory.id, project_id=None)
    feed.do(change, memory.id, type=MemoryType.FACT)
    feed.do(change, memory.id, path="/a/b", project_id="web", type=MemoryType.LESSON)
    expected = {
        "path": (by_path, [(1, "create"), (2, "remove"), (5, "update")]),
        "project": (by_project, [(1, "create"), (2, "update"), (3, "remove"), (5, "update")]),
        "type": (by_type, [(1, "create"), (2, "update"), (3, "update"), (4, "remove"), (5, "update")]),
        "all": (by_all, [(1, "create"), (2, "remove"), (5, "update")]),
    }
    for reader, told in expected.values():
        reader.wait_for(5)
        assert [(one.sequence, one.operation.value) for one in reader.told] == told


def test_whoever_is_not_concerned_is_not_woken_and_moves_on(feed: Feed) -> None:
    concerned, other = feed.reader(), feed.reader(project="billing")
    for _ in range(5):
        feed.do(put, project_id="web")
    concerned.wait_for(5)
    assert not other.woken.is_set()
    assert other.follower.take() == ([], 5)
    feed.do(put, project_id="billing")
    other.wait_for(6)
    assert [one.sequence for one in other.told] == [6]


def test_a_slow_follower_reads_from_the_store_and_holds_up_nobody(tmp_path: Path) -> None:
    with closing(Feed(tmp_path, kept=10)) as feed:
        slow, quick = feed.reader(), feed.reader()
        free, stuck = threading.Event(), threading.Event()
        free.set()

        def held_caller() -> Caller:
            stuck.set()
            assert free.wait(PATIENCE)
            return caller()

        # It is stopped in the middle of taking, when it asks who is calling.
        stopped = feed.reader(held_caller)
        free.clear()
        stuck.clear()
        taking = threading.Thread(target=stopped.take_all)
        taking.start()
        assert stuck.wait(PATIENCE)
        for _ in range(60):
            feed.do(put)
        quick.wait_for(60)
        assert len(quick.told) == 60
        assert len(feed.following._tails[TEAM]._recent) <= 13
        assert slow.woken.is_set()
        slow.wait_for(60)
        assert slow.told == quick.told
        free.set()
        taking.join(PATIENCE)
        stopped.wait_for(60)
        assert stopped.told == quick.told


def test_a_late_taker_is_not_told_of_what_has_been_hidden_since(feed: Feed) -> None:
    reader, quick = feed.reader(), feed.reader(caller(AUTHOR))
    memory = feed.do(put)
    feed.do(change, memory.id, content="A secret.")
    feed.do(change, memory.id, visibility=Visibility.PRIVATE)
    quick.wait_for(3)
    reader.take_all()
    assert [(one.sequence, one.operation) for one in reader.told] == [(3, Operation.REMOVE)]


def test_a_role_that_is_lost_narrows_what_is_told(feed: Feed) -> None:
    who = [caller("lead-1", Role.LEAD)]
    reader = feed.reader(lambda: who[0])
    for_leads = {"visibility": Visibility.ROLE, "allowed_roles": (Role.LEAD,)}
    feed.do(put, **for_leads)
    reader.wait_for(1)
    who[0] = caller("lead-1", Role.AGENT)
    feed.do(put, **for_leads)
    feed.do(put)
    reader.wait_for(3)
    assert [one.sequence for one in reader.told] == [1, 3]


def test_whoever_moves_to_another_team_follows_neither(feed: Feed) -> None:
    who = [caller()]
    reader = feed.reader(lambda: who[0])
    feed.do(put)
    who[0] = caller(team="crew")
    with pytest.raises(NotFound):
        reader.follower.take()


def test_whoever_reads_on_in_python_is_not_led_into_another_team_either(workspace: Workspace) -> None:
    for team in ("squad", "crew"):
        workspace.add_team(team)
        workspace.as_operator(team).save("one")
        workspace.as_operator(team).save("two")
    workspace.add_member("swe-1", team="squad")
    following = workspace.as_member("swe-1").changes(after=1, follow=True)
    assert next(following).sequence == 2
    workspace.update_member("swe-1", team="crew")
    workspace.as_operator("crew").save("three")
    time.sleep(SETTLED_SECONDS)
    with pytest.raises(NotFound):
        next(following)


def test_a_revoked_token_ends_it(workspace: Workspace) -> None:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    secret, woken = workspace.issue_token("swe-1"), threading.Event()
    do = workspace._do
    follower = do.member.following.follow(do.callers.token(secret), wake=woken.set)
    workspace.as_operator("squad").save("a")
    assert woken.wait(PATIENCE)
    assert len(follower.take()[0]) == 1
    workspace.revoke_token(secret)
    time.sleep(SETTLED_SECONDS)
    workspace.as_operator("squad").save("b")
    with pytest.raises(AccessDenied):
        follower.take()


def test_a_lead_follows_the_teams_above_and_others_do_not(feed: Feed) -> None:
    lead = Caller(MemberId("child-lead"), TeamName("crew"), Role.LEAD, reads_above=(TeamName(TEAM),))
    reader = feed.reader(lead, team=TEAM)
    feed.do(put)
    feed.do(put, visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,))
    reader.wait_for(2)
    assert [one.sequence for one in reader.told] == [1]
    with pytest.raises(NotFound):
        feed.reader(caller(team="crew"), team=TEAM)


@pytest.mark.parametrize(
    "wrong", [{"after": -1}, {"after": "1"}, {"path": "a"}, {"project": ""}, {"type": "song"}, {"after": True}]
)
def test_what_is_wrong_is_named(feed: Feed, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as error:
        feed.reader(**wrong)
    assert error.value.field == next(iter(wrong))
    with pytest.raises(InvalidInput):
        feed.reader().follower.take(0)


def test_a_follower_that_cannot_be_woken_keeps_nobody_from_it(feed: Feed) -> None:
    def fail() -> None:
        raise RuntimeError

    first = feed.following.follow(caller, wake=fail)
    reader = feed.reader()
    for number in (1, 2):
        feed.do(put)
        reader.wait_for(number)
    assert [one.sequence for one in first.take()[0]] == [1, 2]


def test_a_tail_ends_some_time_after_its_last_follower(feed: Feed) -> None:
    assert tails() == set()
    readers = [feed.reader(caller(team=team), team=team) for team in ("one", "two", "one")]
    assert tails() == {"mycel-tail-one", "mycel-tail-two"}
    for reader in readers[:2]:
        reader.follower.close()
    assert eventually(lambda: tails() == {"mycel-tail-one"})
    readers[2].follower.close()
    readers[2].follower.close()
    assert eventually(lambda: tails() == set())
    assert feed.following._tails == {}
    assert feed.stores._watches == {}
    again = feed.reader(caller(team="one"))
    feed.do(put, team="one")
    again.wait_for(1)
    assert len(again.told) == 1


def test_closing_ends_every_tail_and_tells_the_followers(feed: Feed) -> None:
    reader = feed.reader()
    feed.following.close()
    assert tails() == set()
    assert reader.woken.is_set()
    with pytest.raises(Unavailable):
        reader.follower.take()
    with pytest.raises(Unavailable):
        feed.reader()


def test_a_store_that_cannot_be_read_for_a_while_makes_nobody_miss_anything(
    feed: Feed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from mycel.stores.sql.log import SqlLog

    monkeypatch.setattr("mycel.services.log_tail.RETRY_SECONDS", 0.05)
    reader = feed.reader()
    with monkeypatch.context() as patch:

        def fail(*_: Any, **__: Any) -> Any:
            raise Unavailable("the disk is busy")

        patch.setattr(SqlLog, "read", fail)
        feed.do(put)
        # Longer than a write is looked for again.
        assert eventually(lambda: caplog.text.count("the disk is busy") > 10)
    reader.wait_for(1)
    assert len(reader.told) == 1


def test_teams_beyond_the_open_stores_are_followed_without_keeping_any_open(tmp_path: Path) -> None:
    teams = [f"team-{number}" for number in range(8)]
    with closing(Feed(tmp_path, limit=2)) as feed:
        readers = {team: feed.reader(caller(team=team)) for team in teams}
        for _ in range(3):
            for team in teams:
                ends(lambda team=team: feed.do(put, team=team))
        for reader in readers.values():
            reader.wait_for(3)
            assert len(reader.told) == 3
        assert len(feed.stores._open) <= 2


def scenario(feed: Feed, team: str, *, writes: int, seed: int) -> None:
    """Changes of place, project and type; who may read a memory stays, so that a plain reading tells the same later."""
    chance = random.Random(seed)
    ids: list[MemoryId] = []
    audiences: list[dict[str, Any]] = [
        {},
        {"visibility": Visibility.PRIVATE, "agent_id": AUTHOR},
        {"visibility": Visibility.ROLE, "allowed_roles": (Role.LEAD,), "agent_id": AUTHOR},
    ]
    for _ in range(writes):
        place: dict[str, Any] = {
            "path": chance.choice(["/a", "/a/b", "/b"]),
            "project_id": chance.choice([None, "web", "billing"]),
            "type": chance.choice([MemoryType.FACT, MemoryType.LESSON]),
        }
        if ids and chance.random() < 0.6:
            feed.do(change, chance.choice(ids), team=team, **place)
        else:
            memory: Memory = feed.do(put, team=team, **place, **chance.choice(audiences))
            ids.append(memory.id)


WANTED: list[dict[str, Any]] = [{}, {"path": "/a"}, {"project": "web"}, {"type": "lesson"}]


def plain(wanted: dict[str, Any]) -> ChangeFilter:
    types = (MemoryType(wanted["type"]),) if "type" in wanted else ()
    return ChangeFilter(path=wanted.get("path", "/"), project_id=wanted.get("project"), types=types)


@pytest.mark.parametrize("kept", [4, 2000])
def test_many_followers_of_many_teams_are_told_exactly_what_a_plain_reading_tells(tmp_path: Path, kept: int) -> None:
    teams = [f"team-{number}" for number in range(4)]
    members = [(str(AUTHOR), Role.AGENT), (str(TEAMMATE), Role.AGENT), ("lead-1", Role.LEAD)]
    writers, writes = 2, 60
    with closing(Feed(tmp_path, kept=kept)) as feed, ThreadPoolExecutor(12) as pool:
        readers = [
            (caller(id, role, team=team), wanted, feed.reader(caller(id, role, team=team), **wanted))
            for team in teams
            for id, role in members
            for wanted in WANTED
        ]
        writing = [
            pool.submit(scenario, feed, team, writes=writes, seed=writer) for team in teams for writer in range(writers)
        ]
        # Each thread serves several followers, as the service does.
        taking = [
            pool.submit(lambda some=readers[start::4]: [one.wait_for(writers * writes) for *_, one in some])
            for start in range(4)
        ]
        for outcome in (*writing, *taking):
            outcome.result(PATIENCE * 2)
        for who, wanted, reader in readers:
            assert reader.told == feed.read(who, wanted=plain(wanted))
            sequences = [one.sequence for one in reader.told]
            assert sequences == sorted(set(sequences))


def test_the_last_sequence_is_where_a_reader_begins(workspace: Workspace) -> None:
    changes, callers = workspace._do.member.changes, workspace._do.callers
    workspace.add_member("swe-1", team="executive")
    workspace.as_member("swe-1").save("a")
    workspace.as_member("swe-1").save("b", visibility="private")
    who = callers.member(MemberId("swe-2"))
    assert changes.last_sequence(who()) == 2
    with pytest.raises(NotFound):
        changes.last_sequence(who(), team="squad")


def test_whoever_follows_while_others_come_and_go_misses_nothing(tmp_path: Path) -> None:
    """Tails end and begin all the time here."""
    with closing(Feed(tmp_path, linger=0.0)) as feed:
        done = threading.Event()

        def come_and_go() -> None:
            while not done.is_set():
                feed.reader().follower.close()
                time.sleep(0.002)

        other = threading.Thread(target=come_and_go)
        other.start()
        after, told = 0, []
        try:
            for number in range(1, 61):
                feed.do(put)
                reader = feed.reader(after=after)
                reader.reached = after
                reader.take_all()
                reader.wait_for(number)
                reader.follower.close()
                after, told = reader.reached, told + reader.told
        finally:
            done.set()
            other.join()
        assert [one.sequence for one in told] == list(range(1, 61))
        assert eventually(lambda: tails() == set())


def test_one_follower_may_be_asked_by_several_threads(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    def told_slowly(*args: Any, **limits: Any) -> Any:
        time.sleep(0.01)
        return told_of(*args, **limits)

    monkeypatch.setattr("mycel.services.change_feed.told_of", told_slowly)
    reader = feed.reader()
    for _ in range(50):
        feed.do(put)
    feed.wait_for_tail(50)
    with ThreadPoolExecutor(4) as pool:
        found = [taken.result()[0] for taken in [pool.submit(reader.follower.take, 5) for _ in range(12)]]
    assert sorted(one.sequence for some in found for one in some) == list(range(1, 51))


@pytest.fixture
def squad(workspace: Workspace) -> Workspace:
    workspace.add_team("squad")
    workspace.add_member("swe-1", team="squad")
    workspace.add_member("swe-2", team="squad")
    workspace.add_member("lead-1", team="squad", role="lead")
    return workspace


def follow_as(workspace: Workspace, id: str, **wanted: Any) -> Reader:
    """As a visitor of a service does."""
    woken = threading.Event()
    visit = workspace.sign_in(workspace.issue_token(id))
    return Reader(visit.follow(wake=woken.set, after=0, **wanted), woken)


@pytest.mark.parametrize("id", ["swe-1", "swe-2", "lead-1"])
@pytest.mark.parametrize("wanted", [{}, {"path": "/a"}, {"type": "lesson"}], ids=str)
def test_what_is_at_hand_is_what_a_plain_taking_gives(squad: Workspace, id: str, wanted: dict[str, Any]) -> None:
    plain, at_hand = follow_as(squad, id, **wanted), follow_as(squad, id, **wanted)
    author, chance = squad.as_member("swe-1"), random.Random(id)
    audiences: list[dict[str, Any]] = [{}, {"visibility": "private"}, {"visibility": "role", "allowed_roles": ["lead"]}]
    ids: list[str] = []
    for _ in range(40):
        place = {"path": chance.choice(["/a", "/b"]), "type": chance.choice(["fact", "lesson"])}
        if ids and chance.random() < 0.5:
            author.update(chance.choice(ids), **place, **chance.choice(audiences))
        else:
            ids.append(author.save("note", **place, **chance.choice(audiences)).id)
    last = squad._do.member.changes.last_sequence(author._caller())
    assert eventually(lambda: plain.follower._tail._recent.last == last)
    while True:
        plain.follower.check()
        at_hand.follower.check()
        expected, found = plain.follower.take(7), at_hand.follower.take_at_hand(7)
        assert found == expected
        if expected == ([], last):
            break
    assert at_hand.follower.reached == last


def test_what_is_in_the_store_alone_is_not_at_hand(squad: Workspace) -> None:
    squad.as_member("swe-1").save("before anybody followed")
    reader = follow_as(squad, "swe-2")
    assert reader.follower.take_at_hand() is None
    assert len(reader.follower.take()[0]) == 1
    assert reader.follower.take_at_hand() == ([], 1)


def test_nothing_is_at_hand_while_somebody_else_is_taking(squad: Workspace) -> None:
    reader = follow_as(squad, "swe-2")
    with reader.follower._taking:
        assert reader.follower.take_at_hand() is None
    assert reader.follower.take_at_hand() == ([], 0)


def test_a_revoked_token_gets_nothing_at_hand_after_a_second_even_if_nobody_checks(squad: Workspace) -> None:
    secret = squad.issue_token("swe-2")
    follower = squad.sign_in(secret).follow(wake=lambda: None)
    squad.revoke_token(secret)
    time.sleep(1.0)
    squad.as_member("swe-1").save("not for it")
    assert follower.take_at_hand() is None
    with pytest.raises(AccessDenied):
        follower.take()


def test_whoever_has_moved_to_another_team_gets_nothing_at_hand(squad: Workspace) -> None:
    squad.add_team("other")
    reader = follow_as(squad, "swe-2")
    squad.update_member("swe-2", team="other")
    time.sleep(SETTLED_SECONDS)
    for refused in (reader.follower.check, reader.follower.take_at_hand):
        with pytest.raises(NotFound):
            refused()
