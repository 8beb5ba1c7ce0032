"""Many teams: the same callers writing to fifty stores, beside all of them writing to one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import mycel
from benchmarks.report import Figure, show
from benchmarks.saves import concurrent
from benchmarks.texts import Notes

TEAMS = 50
AGENTS = 20


def run(folder: Path, *, quick: bool) -> None:
    notes = Notes()
    texts = [notes.text() for _ in range(500)]
    seconds = 2.0 if quick else 6.0
    rates: dict[int, float] = {}
    for teams in (1, TEAMS):
        with mycel.open(folder / f"teams-{teams}") as workspace:
            names = [f"team-{place}" for place in range(teams)]
            for name in names:
                workspace.add_team(name)
            memories = []
            for place in range(TEAMS * AGENTS):
                workspace.add_member(f"agent-{place}", team=names[place % teams])
                memories.append(workspace.as_member(f"agent-{place}"))
            for memory in memories[:teams]:
                memory.save("The store is open before the clock starts.")
            saves = [partial(memory.save, texts[place % len(texts)]) for place, memory in enumerate(memories)]
            rates[teams] = concurrent(saves, seconds=seconds)
    ratio = rates[TEAMS] / rates[1]
    show(
        f"Teams: {TEAMS} teams x {AGENTS} agents in one process",
        [
            Figure(
                "saves to 50 stores",
                f"{rates[TEAMS]:,.0f}/s",
                f"to one store: {rates[1]:,.0f}/s",
                f"{ratio:.2f} x",
                ">= 2 x",
                ratio >= 2,
            )
        ],
    )
