"""The plain model of two teams against two nodes on one database, asked by turns: they must never differ."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from tests.conformance.test_model import ANY_SPEED, MEMBERS, QUICK, TwoTeams
from tests.postgres import emptied

pytestmark = pytest.mark.parametrize("database", ["postgres"], indirect=True)


class EitherNode:
    """A member's memory, each call through another node than the one before."""

    def __init__(self, *nodes: TeamMemory) -> None:
        self._turns = cycle(nodes)

    def __getattr__(self, name: str) -> Any:
        return getattr(next(self._turns), name)


class TwoTeamsOnTwoNodes(TwoTeams):
    def __init__(self) -> None:
        emptied()
        super().__init__()
        self.other = open_workspace(self.folder, clock=self.clock)
        nodes = (self.workspace, self.other)
        self.api: Any = {id: EitherNode(*(node.as_member(id) for node in nodes)) for id in MEMBERS}

    def teardown(self) -> None:
        self.other.close()
        super().teardown()


def test_two_nodes_behave_like_one_model() -> None:
    run_state_machine_as_test(TwoTeamsOnTwoNodes, settings=settings(QUICK, max_examples=2))


@pytest.mark.proof
def test_two_nodes_behave_like_one_model_for_long() -> None:
    long = settings(max_examples=100, stateful_step_count=100, **ANY_SPEED)
    run_state_machine_as_test(TwoTeamsOnTwoNodes, settings=long)
