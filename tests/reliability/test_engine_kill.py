"""`kill -9` of the worker in the middle of its steps: everything is done in the end, and everything once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain.source import EventState
from mycel.embedded.workspace import Workspace
from tests.reliability.engine_process import LEASE_SECONDS, embedder, settings
from tests.reliability.inspection import damage_of
from tests.template import begin_anew

pytestmark = pytest.mark.each_database(slow=True)

ROOT = Path(__file__).parents[2]
MOMENTS = ("extract", "extracted", "settled", "embed", "embedded", "consolidate", "consolidated")
TOPICS = ("billing", "search", "deploy", "search index", "mobile app", "export job")


def talk(number: int) -> list[dict[str, str]]:
    topic = TOPICS[number % len(TOPICS)]
    return [
        {"role": "user", "content": f"Where do we stand with the {topic} service, round {number}?"},
        {
            "role": "assistant",
            "content": f"We decided to run the {topic} service on port {8000 + number} because of the firewall. "
            f"TODO: document the port of the {topic} service in ports-{number}.md.",
        },
    ]


def make(data: Path) -> None:
    """The schedule of consolidation is short, so that every run has some of it."""
    with open_workspace(settings=settings(data), embedder=embedder()) as workspace:
        workspace.add_team("builders")
        workspace.add_member("swe-1", team="builders")
        workspace.as_operator("builders").set_policy(consolidate_every="1s")


def capture(data: Path, rounds: Sequence[int]) -> None:
    with open_workspace(settings=settings(data), embedder=embedder()) as workspace:
        member = workspace.as_member("swe-1")
        for number in rounds:
            for copy in ("a", "b", "c"):
                # Told in several sessions: consolidation has duplicates to find.
                member.capture_session(talk(number), session_id=f"s-{number}-{copy}", project="p")


def run_and_die(data: Path, moment: str, countdown: int) -> int:
    command = [sys.executable, "-m", "tests.reliability.engine_process", str(data), moment, str(countdown)]
    return subprocess.run(command, cwd=ROOT, timeout=120, check=False).returncode


def finish(data: Path) -> list[tuple[str, ...]]:
    """Everything that is left, without anybody dying; then what there is, apart from ids and times."""
    time.sleep(LEASE_SECONDS)
    with open_workspace(settings=settings(data), embedder=embedder()) as workspace:
        for _ in range(4):
            workspace.run_pending()
            time.sleep(1.1)
        operator = workspace.as_operator("builders")
        events = operator.sources.events(limit=1000)
        assert {event.state for event in events} == {EventState.DONE}, [event.error for event in events]
        assert workspace.embedding_progress("builders").pending == 0
        return sorted(described(workspace))


def described(workspace: Workspace) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for memory in workspace.as_operator("builders").list(status="any", limit=1000):
        evidence = memory.evidence_ref and f"{memory.evidence_ref.start}-{memory.evidence_ref.end}"
        found.append((memory.type.value, memory.session_id or "", memory.content, str(evidence)))
    return found


def kill_again_and_again(tmp_path: Path, plan: Sequence[str]) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    make(undisturbed)
    capture(undisturbed, range(len(plan)))
    expected = finish(undisturbed)
    begin_anew()
    make(disturbed)
    deaths: list[int] = []
    for number, moment in enumerate(plan):
        capture(disturbed, [number])
        deaths.append(run_and_die(disturbed, moment, 1 + number % 2))
    # One that found less to do than the moment needs ends by itself; the others must have been killed.
    assert set(deaths) <= {-signal.SIGKILL, 0}
    assert deaths.count(-signal.SIGKILL) >= len(plan) * 0.7, deaths
    found = finish(disturbed)
    assert found == expected
    assert len(set(found)) == len(found)
    assert damage_of(disturbed, "builders") == []


@pytest.mark.timeout(400)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal there")
def test_a_kill_at_each_moment_leaves_every_effect_exactly_once(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, MOMENTS)


@pytest.mark.proof
def test_a_hundred_kills_leave_every_effect_exactly_once(tmp_path: Path) -> None:
    chance = random.Random(7)
    kill_again_and_again(tmp_path, [chance.choice(MOMENTS) for _ in range(100)])
