"""The engine beside: it notices work of any process in any team, and does the heavy part in a child."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain.ids import TeamName
from mycel.engine.executor import InlineExecutor, Pair
from mycel.engine.executor_process import ProcessExecutor
from mycel.engine.transcripts.reading import read_transcript
from mycel.errors import Unavailable
from mycel.services.queue_worker import Budget
from mycel.services.scheduler import Engine
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


SAID = "We decided to use PostgreSQL for the billing service because of its JSON support."


def soon(holds: Callable[[], bool], *, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "not within half a minute"
        time.sleep(0.05)


def test_it_works_off_what_is_captured_here_and_elsewhere(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with open_workspace(settings=settings) as workspace, open_workspace(settings=settings) as other:
        workspace.add_team("first")
        workspace.add_team("second")
        workspace.add_member("swe-1", team="first")
        workspace.add_member("swe-2", team="second")
        workspace.work_beside()
        workspace.as_member("swe-1").capture_conversation([{"role": "user", "content": SAID}])
        soon(lambda: len(workspace.as_member("swe-1").list(status="inbox")) == 1)
        other.as_member("swe-2").capture_conversation([{"role": "user", "content": SAID}])
        soon(lambda: len(workspace.as_member("swe-2").list(status="inbox")) == 1)


def test_a_team_that_is_written_to_all_the_time_is_looked_at_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workspace(settings=settings_of(tmp_path)) as workspace:
        memory = workspace.as_operator()
        memory.save("before")
        looks: list[TeamName] = []

        def look(_engine: Engine, team: TeamName, _budget: Budget) -> int:
            memory.save(f"meanwhile {len(looks)}")
            looks.append(team)
            return 0

        monkeypatch.setattr(Engine, "_run", look)
        workspace.work_beside()
        soon(lambda: bool(looks))
        for number in range(50):
            memory.save(f"afterwards {number}")
            time.sleep(0.01)
        assert len(looks) < 10


def test_closing_in_the_middle_leaves_the_work_to_the_next(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, lease_seconds=0.3)
    with open_workspace(settings=settings) as workspace:
        workspace.work_beside()
        for number in range(5):
            workspace.as_operator().capture_conversation([{"role": "user", "content": f"{SAID} {number}"}])
    time.sleep(0.4)
    with open_workspace(settings=settings) as workspace:
        workspace.run_pending()
        assert len(workspace.as_operator().list(status="inbox")) == 5


def test_a_child_answers_as_this_process_would() -> None:
    from mycel.engine.judging.pair import Statement

    transcript = read_transcript([{"role": "user", "content": SAID}, {"role": "assistant", "content": "Noted."}])
    pairs = [Pair(Statement("The port is 8080."), Statement("The port is 9090."), 0.9)]
    child, inline = ProcessExecutor(), InlineExecutor()
    try:
        assert list(child.extract(transcript, start=0)) == list(inline.extract(transcript, start=0))
        assert child.summarize(transcript) == inline.summarize(transcript)
        assert list(child.judge(pairs)) == list(inline.judge(pairs))
        assert list(child.judge([])) == []
    finally:
        child.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal there")
def test_a_child_that_dies_is_replaced() -> None:
    transcript = read_transcript([{"role": "user", "content": SAID}])
    child = ProcessExecutor()
    try:
        child.summarize(transcript)
        assert child.process_id is not None
        os.kill(child.process_id, signal.SIGKILL)
        soon(lambda: child.process_id is None)
        assert len(child.extract(transcript, start=0)) == 1
    finally:
        child.close()
    with pytest.raises(Unavailable):
        child.summarize(transcript)
    assert child.process_id is None
