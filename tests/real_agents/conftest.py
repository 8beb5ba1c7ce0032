"""One home for each coding agent, in which its program has worked for a day; left out where a program cannot be had."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.real_agents.npm_programs import NotHere, folder_of
from tests.real_agents.programs import PROGRAMS, Program
from tests.real_agents.scripted_model import Request, ScriptedModel
from tests.real_agents.user_home import TEAM, UserHome
from tests.service_process import started_on_demand

KNOWN = "The order queue of the shop is called marsh-9 and keeps its messages for six days."
DECIDED = "The shop is shipped by canary releases with tools/canary.sh: a full restart lost open orders."
ASKED_FOR = "Gift cards expire thirty months after the day on which they were paid."
QUESTION = "how many months after they were paid do gift cards expire"
SECRET = "ocelot-4711"
_closing_lines = pytest.StashKey[list[str]]()


class Session(NamedTuple):
    """One prompt in which the agent has used its shell, the tools of Mycel, and written a file of notes."""

    cue: str
    answer: str
    saved: str
    noted: str
    ran: subprocess.CompletedProcess[str]
    requests: list[Request]


@pytest.fixture(scope="session")
def closing_lines(request: pytest.FixtureRequest) -> list[str]:
    """What is printed after the tests."""
    return request.config.stash.setdefault(_closing_lines, [])


@pytest.fixture(scope="session", params=PROGRAMS, ids=lambda program: program.agent)
def program(request: pytest.FixtureRequest) -> Program:
    return request.param


@pytest.fixture(scope="session")
def bare_home(
    program: Program, tmp_path_factory: pytest.TempPathFactory, closing_lines: list[str]
) -> Iterator[UserHome]:
    """The user's program alone; it has run once, and so has files of its own."""
    try:
        programs = folder_of(program)
    except NotHere as missing:
        closing_lines.append(str(missing))
        pytest.skip(f"{program.command} is not here; how to get it stands at the end")
    with ScriptedModel() as model:
        user = UserHome(tmp_path_factory.mktemp(program.agent), program, programs, model)
        user.prepare()
        with started_on_demand(user.data):
            model.play("first-run", answer="Ready.")
            first = user.prompt("first-run: are you ready to work")
            assert "Ready." in first.stdout, first
            yield user


@pytest.fixture(scope="session")
def seconds_alone(bare_home: UserHome) -> float:
    bare_home.model.play("alone", answer="Done.")
    return min(bare_home.timed(f"alone: {QUESTION}") for _ in range(2))


@pytest.fixture(scope="session")
def user(bare_home: UserHome, seconds_alone: float) -> UserHome:
    """A colleague has saved what the team should know, and Mycel is installed in the agent."""
    bare_home.mycel("team", "add", TEAM)
    bare_home.mycel("member", "add", "swe-1", "--team", TEAM)
    here = ("--project", "shop", "--repo", "shop")
    bare_home.mycel("--as", "swe-1", "save", KNOWN, "--type", "fact", *here)
    bare_home.mycel("--as", "swe-1", "save", DECIDED, "--type", "decision", *here)
    bare_home.mycel("--as", "swe-1", "save", ASKED_FOR, "--type", "fact")
    bare_home.install()
    return bare_home


@pytest.fixture(scope="session")
def session(user: UserHome) -> Session:
    program, agent = user.program, user.program.agent
    cue, answer = f"busy-{agent}", f"Thirty months, says {agent}."
    saved = f"The returns desk of {agent} closes at five."
    noted = f"The label printer of {agent} needs paper of 62 millimetres."
    calls = (
        program.shell("echo hello from the shell"),
        program.tool("search_memory", query="the order queue of the shop"),
        program.tool("save_memory", content=saved, type="fact"),
        program.write(str(user.project / "notes" / f"{agent}.md"), f"{noted}\n"),
    )
    user.model.play(cue, *calls, answer=answer)
    ran = user.prompt(f"{cue}: {QUESTION} <private>my badge is {SECRET}</private>")
    return Session(cue, answer, saved, noted, ran, user.model.asked(cue))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_closing_lines, []):
        terminalreporter.section("Real agents")
        for line in lines:
            terminalreporter.line(line)
