"""The README's example leads to a colleague's lesson in a prompt of the real Claude Code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.real_agents.first_day import first_day
from tests.real_agents.npm_programs import NotHere

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]
LESSON = "The staging deploy needs a warm cache, otherwise the first request times out."


def test_the_lesson_of_the_readme_reaches_a_prompt_of_claude_code(tmp_path: Path) -> None:
    told: list[str] = []
    try:
        given = first_day(tmp_path, told.append)
    except NotHere as missing:
        pytest.skip(str(missing))
    assert re.search(rf"## Lessons\n- \[m:\w+\] swe-1 today: {re.escape(LESSON)}", given)
    assert "The cache has to be warm." in told
