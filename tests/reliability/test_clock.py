"""A clock that steps back three days or ahead ten years: order stays, ids grow, the past can still be asked for."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain import ids
from mycel.domain.receipt import Erasure
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from tests.reliability.inspection import damage_of

pytestmark = pytest.mark.each_database(slow=True)

TEAM = "builders"
STEPS = [timedelta(days=-3), timedelta(days=3650)]

both_ways = pytest.mark.parametrize("step", STEPS, ids=["three days back", "ten years ahead"])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def workspace(tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
    with open_workspace(tmp_path, clock=clock) as workspace:
        workspace.add_team(TEAM)
        yield workspace


@pytest.fixture
def memory(workspace: Workspace) -> TeamMemory:
    return workspace.as_operator(TEAM)


@both_ways
def test_changes_keep_their_order_and_commit_times_never_go_back(
    memory: TeamMemory, clock: ManualClock, step: timedelta, tmp_path: Path
) -> None:
    saved = [memory.save("before the step").id]
    for _ in range(2):
        clock.move(step)
        saved.append(memory.save("after a step").id)
    clock.move(-2 * step)
    saved.append(memory.save("after the clock was put right").id)
    changes = list(memory.changes())
    assert [change.memory_id for change in changes] == saved
    assert [change.sequence for change in changes] == [1, 2, 3, 4]
    times = [change.committed_at for change in changes]
    assert times == sorted(set(times))
    assert damage_of(tmp_path, TEAM) == []


@both_ways
def test_newest_first_stays_newest_first(memory: TeamMemory, clock: ManualClock, step: timedelta) -> None:
    memory.save("older")
    clock.move(step)
    memory.save("newer")
    clock.move(-step)
    memory.save("newest")
    assert [found.content for found in memory.list()] == ["newest", "newer", "older"]
    assert [found.content for found in memory.recent()] == ["newest", "newer", "older"]


@both_ways
def test_every_past_state_can_still_be_asked_for(memory: TeamMemory, clock: ManualClock, step: timedelta) -> None:
    id = memory.save("text 0").id
    for number in range(1, 4):
        clock.move(step if number % 2 else -step)
        memory.update(id, content=f"text {number}")
    history = memory.history(id)
    assert [version.memory.content for version in history] == [f"text {number}" for number in range(4)]
    for version in history:
        assert version.believed_until is None or version.believed_from < version.believed_until
        assert memory.get(id, as_of=version.believed_from) == version.memory
    for earlier, later in pairwise(history):
        assert earlier.believed_until == later.believed_from
        just_before = later.believed_from - timedelta(microseconds=1)
        assert memory.get(id, as_of=just_before) == earlier.memory


@both_ways
def test_a_retry_is_answered_as_before_until_a_week_has_passed(
    memory: TeamMemory, clock: ManualClock, step: timedelta
) -> None:
    first = memory.save("once", idempotency_key="k")
    clock.move(min(step, timedelta(days=6)))
    assert memory.save("once", idempotency_key="k") == first


def test_a_memory_expires_by_the_clock_of_its_reader_and_is_kept(memory: TeamMemory, clock: ManualClock) -> None:
    saved = memory.save("for a week", ttl="7d")
    clock.move(timedelta(days=3650))
    assert list(memory.list()) == []
    assert memory.get(saved.id).content == "for a week"
    clock.move(timedelta(days=-3650))
    assert [found.id for found in memory.list()] == [saved.id]


@pytest.mark.files_only
@both_ways
def test_purging_after_a_step_still_ends_scrubbed(
    workspace: Workspace, memory: TeamMemory, clock: ManualClock, step: timedelta
) -> None:
    saved = memory.save("to be purged")
    clock.move(step)
    memory.purge(saved.id)
    clock.move(-step)
    workspace.run_pending()
    receipt = memory.receipt(saved.id)
    assert receipt.state is Erasure.SCRUBBED
    assert receipt.scrubbed_at is not None
    assert receipt.scrubbed_at >= receipt.purged_at


def test_ids_grow_whatever_the_system_clock_does(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000_000_000_000
    day = 86_400 * 1_000_000_000
    made: list[str] = []
    for offset in (0, 0, 3650 * day, 0, -3 * day, 1, 3651 * day):
        monkeypatch.setattr(ids.time, "time_ns", lambda offset=offset: now + offset)
        made += [ids.new_id() for _ in range(3)]
    assert made == sorted(set(made))
