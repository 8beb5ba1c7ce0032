"""This repository as a marketplace of the real Claude Code: its plugin in place of `mycel install`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_agents.conftest import KNOWN
from tests.real_agents.npm_programs import NotHere, folder_of
from tests.real_agents.programs import CLAUDE_CODE
from tests.real_agents.scripted_model import ScriptedModel
from tests.real_agents.user_home import UserHome
from tests.service_process import started_on_demand

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def user(tmp_path: Path) -> Iterator[UserHome]:
    try:
        programs = folder_of(CLAUDE_CODE)
    except NotHere as missing:
        pytest.skip(str(missing))
    with ScriptedModel() as model:
        found = UserHome(tmp_path, CLAUDE_CODE, programs, model)
        found.prepare()
        with started_on_demand(found.data):
            yield found


def test_claude_code_takes_the_repository_for_a_marketplace_with_a_plugin(user: UserHome) -> None:
    for folder in (ROOT, ROOT / "plugins/claude-code"):
        user.run("claude", "plugin", "validate", str(folder))


def test_with_the_plugin_a_session_begins_with_what_the_team_knows(user: UserHome) -> None:
    user.mycel("member", "add", CLAUDE_CODE.agent, "--team", "executive")
    user.mycel("save", KNOWN, "--type", "fact", "--project", "shop")
    user.run("claude", "plugin", "marketplace", "add", str(ROOT))
    user.run("claude", "plugin", "install", "mycel@mycel")
    assert user.check_of("claude-code plugin")["state"] == "ok"
    user.model.play("by-plugin", answer="Done.")
    user.prompt("by-plugin: what is there to know")
    first = user.model.asked("by-plugin")[0]
    assert KNOWN in first.text
    assert any(tool.full_name.endswith("search_memory") for tool in first.tools)
