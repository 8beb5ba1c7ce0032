"""The suite every way into a team's memory must pass: embedded, and the client over HTTP.

    class TestMyClient(MemoryApiConformance):
        @pytest.fixture
        def cast(self, clock): ...

`cast` sets up the teams and members of `memory_api_cast` in an empty workspace whose clock is `clock`.
"""

from __future__ import annotations

import pytest

from mycel.testing.clock import ManualClock
from mycel.testing.memory_api_access import ApiAccess
from mycel.testing.memory_api_artifacts import ApiArtifacts
from mycel.testing.memory_api_context import ApiContext
from mycel.testing.memory_api_engine import ApiEngine
from mycel.testing.memory_api_episodes import ApiEpisodes
from mycel.testing.memory_api_finding import ApiFinding
from mycel.testing.memory_api_knowledge import ApiKnowledge
from mycel.testing.memory_api_reading import ApiReading
from mycel.testing.memory_api_tasks import ApiTasks
from mycel.testing.memory_api_writing import ApiWriting


class MemoryApiConformance(
    ApiWriting,
    ApiAccess,
    ApiReading,
    ApiFinding,
    ApiContext,
    ApiEngine,
    ApiEpisodes,
    ApiKnowledge,
    ApiArtifacts,
    ApiTasks,
):
    """Every promise of `contracts.memory_api`, one test each."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()
