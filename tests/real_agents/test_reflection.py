"""An agent that was set up with --reflect saves what it learned with its own tools, asked once in a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mycel.surfaces.agents.registry import AGENTS
from mycel.surfaces.hooks.reflection import REFLECTION
from tests.real_agents.user_home import TEAM, UserHome

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]
LEARNED = "The till of {agent} must be closed before its rows are exported."


@pytest.fixture
def reflecting(user: UserHome) -> Iterator[UserHome]:
    if AGENTS[user.program.agent].no_reflection:
        pytest.skip("a hook of this agent cannot have it go on")
    user.mycel("install", user.program.agent, "--yes", "--team", TEAM, "--reflect")
    yield user
    user.install()


def test_it_saves_what_it_learned_when_it_is_asked_and_is_asked_once(reflecting: UserHome) -> None:
    program, agent = reflecting.program, reflecting.program.agent
    cue, learned = f"reflecting-{agent}", LEARNED.format(agent=agent)
    reflecting.model.play(cue, program.shell("echo exported"), answer="The rows are exported.")
    reflecting.model.play(
        "Mycel asks this once", program.tool("save_memory", content=learned, type="lesson"), answer="It is kept."
    )
    reflecting.prompt(f"{cue}: export the rows of the till")
    asked = [one for one in reflecting.model.asked(cue) if "Mycel asks this once" in one.text]
    assert asked, "the question did not reach the model"
    assert REFLECTION[:60] in asked[0].text
    assert learned in reflecting.mycel("--as", "swe-1", "search", "what about the till before rows are exported")

    again = f"again-{agent}"
    reflecting.model.play(again, program.shell("echo again"), answer="Exported again.")
    reflecting.prompt(f"{again}: export them again", resumed=True)
    last = reflecting.model.requests[-1]
    said = [one.text for one in last.conversation[last.last_cue(again) or 0 :]]
    assert any("again" in one for one in said)
    assert not any("Mycel asks this once" in one for one in said), "it was asked a second time"


def test_the_question_of_a_hook_is_captured_as_nobodys_words(reflecting: UserHome) -> None:
    agent = reflecting.program.agent
    for source in reflecting.sources(f"reflecting-{agent}"):
        assert "Mycel asks this once" not in source.text


def test_the_doctor_tells_and_installing_without_it_takes_it_out(reflecting: UserHome) -> None:
    assert "is asked once in a session" in f"{reflecting.check_of(reflecting.program.agent)}"
    assert any(b"--reflect" in text for text in reflecting.settings_files().values())
    reflecting.install()
    assert not any(b"--reflect" in text for text in reflecting.settings_files().values())


def test_a_session_is_not_asked_without_it(user: UserHome) -> None:
    agent = user.program.agent
    user.model.play(f"plain-{agent}", user.program.shell("echo plain"), answer="Done plainly.")
    user.prompt(f"plain-{agent}: do it")
    assert not any("Mycel asks this once" in one.text for one in user.model.asked(f"plain-{agent}"))
