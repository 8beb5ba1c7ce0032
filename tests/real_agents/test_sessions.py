"""What a user of a coding agent sees of Mycel in sessions of the real programs with a scripted model."""

from __future__ import annotations

import os
import signal

import pytest

from mycel.domain.envelope import ENVELOPE, PAST_KNOWLEDGE
from tests.real_agents.conftest import ASKED_FOR, DECIDED, KNOWN, QUESTION, SECRET, Session
from tests.real_agents.user_home import UserHome
from tests.real_agents.wire_formats import OTHER
from tests.service_process import eventually

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]
TOOLS = ("search_memory", "memory-get", "get_context", "save_memory", "memory-delete", "rate_memory")
COLD_ANSWER = "In the queue called marsh-9."
COLD_QUESTION = "which queue of the shop are new orders put into"


@pytest.fixture(scope="session")
def cold_cue(user: UserHome, session: Session) -> str:
    """The first prompt of a day: the service has ended long ago."""
    cue = f"cold-{user.program.agent}"
    user.model.play(cue, answer=COLD_ANSWER)
    user.end_service()
    user.prompt(f"{cue}: {COLD_QUESTION}")
    return cue


def test_the_agent_does_its_work_without_noise_on_the_terminal(session: Session) -> None:
    assert session.answer in session.ran.stdout, session.ran
    assert session.ran.returncode == 0
    lines = [line.lower() for line in session.ran.stderr.splitlines()]
    noise = [line for line in lines if "mycel" in line and any(word in line for word in ("error", "warn", "fail"))]
    assert noise == []
    # What a validator of schemas says of one that it understands only in part.
    assert [line for line in lines if "strict mode" in line] == []


def test_a_session_begins_with_what_another_member_has_saved(session: Session) -> None:
    first = session.requests[0].text
    assert f"<{ENVELOPE}>" in first
    assert KNOWN in first
    assert DECIDED in first
    assert "by swe-1" in first


def test_a_prompt_brings_the_memories_that_matter_to_it(session: Session) -> None:
    assert ASKED_FOR in session.requests[0].text.partition(PAST_KNOWLEDGE)[2]


def test_the_first_request_offers_the_tools(user: UserHome, session: Session) -> None:
    offered = {_plain(tool.full_name) for tool in session.requests[0].tools}
    assert offered >= {_plain(user.program.tool(name).tool) for name in TOOLS}


def _plain(name: str) -> str:
    """Some programs write every name with underscores."""
    return name.replace("-", "_")


def test_the_tools_can_be_called(session: Session) -> None:
    found = session.requests[-1].results
    assert len(found) == 4, found
    assert "marsh-9" in found[1]


def test_what_a_tool_finds_reaches_the_model_in_the_envelope(session: Session) -> None:
    found = session.requests[-1].results[1]
    assert f"<{ENVELOPE}>" in found
    assert KNOWN in found.partition(f"<{ENVELOPE}>")[2]
    assert KNOWN not in found.partition(f"<{ENVELOPE}>")[0]


def test_what_the_agent_saves_is_found_by_others(user: UserHome, session: Session) -> None:
    assert session.saved in user.mycel("--as", "swe-1", "search", "when does the returns desk close")


def test_a_file_in_a_memory_folder_is_found_by_others(user: UserHome, session: Session) -> None:
    question = ("--as", "swe-1", "search", "which paper does the label printer need", "--json")
    eventually(lambda: session.noted in user.mycel(*question))


def test_a_session_is_captured_with_its_answer(user: UserHome, session: Session) -> None:
    eventually(lambda: any(session.answer in one.text for one in user.sources(session.cue)))


def test_nothing_that_was_injected_is_captured(user: UserHome, session: Session) -> None:
    eventually(lambda: any(session.answer in one.text for one in user.sources(session.cue)))
    for source in user.sources(session.cue):
        said = [source.text[turn.start : turn.end] for turn in source.turns if turn.role != "tool"]
        assert QUESTION in "\n".join(said)
        for injected in (ENVELOPE, PAST_KNOWLEDGE, KNOWN, DECIDED, ASKED_FOR):
            assert injected not in "\n".join(said)


def test_private_text_is_nowhere_on_disk(user: UserHome, session: Session) -> None:
    assert SECRET in session.requests[0].text
    eventually(lambda: user.sources(session.cue))
    files = [path for path in user.data.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_session_is_closed_at_its_end(user: UserHome, session: Session) -> None:
    eventually(lambda: any(user.is_closed(one) for one in user.sources(session.cue)))


def test_the_first_session_of_a_day_is_given_what_the_team_knows(user: UserHome, cold_cue: str) -> None:
    first = user.model.asked(cold_cue)[0].text
    assert KNOWN in first
    assert DECIDED in first


def test_what_is_said_twice_in_a_resumed_session_is_kept_twice(user: UserHome, cold_cue: str) -> None:
    user.prompt(f"{cold_cue}: {COLD_QUESTION}", resumed=True)
    earlier = [said.text for said in user.model.asked(cold_cue)[-1].conversation if said.by == OTHER]
    assert any(COLD_ANSWER in text and ENVELOPE not in text for text in earlier), "the program did not resume"

    def times_kept() -> set[int]:
        longest = max((one.text for one in user.sources(cold_cue)), key=len, default="")
        return {longest.count(COLD_QUESTION), longest.count(COLD_ANSWER)}

    eventually(lambda: times_kept() == {2})


def test_the_answer_of_a_subagent_is_captured(user: UserHome) -> None:
    if user.program.subagent is None:
        pytest.skip("only Claude Code tells when a subagent has ended")
    agent = user.program.agent
    errand, found = f"errand-{agent}", "The cart keeps its rows in a table of its own."
    user.model.play(errand, answer=found)
    user.model.play(f"boss-{agent}", user.program.subagent(f"{errand}: look into the cart"), answer="It is done.")
    user.prompt(f"boss-{agent}: send somebody to look into the cart")
    eventually(lambda: any(f"assistant: {found}" in one.text for one in user.sources(f"user: {errand}")))


def test_ctrl_c_ends_the_program_and_leaves_no_server_behind(user: UserHome) -> None:
    cue = f"interrupted-{user.program.agent}"
    user.model.play(cue, user.program.shell("sleep 20"), answer="Too late.")
    with user.prompting(f"{cue}: do something that takes long") as process:
        eventually(lambda: user.model.asked(cue), seconds=60)
        eventually(user.mcp_servers, seconds=60)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    eventually(lambda: user.mcp_servers() == [])


def test_how_much_longer_a_prompt_takes_is_told(user: UserHome, seconds_alone: float, closing_lines: list[str]) -> None:
    user.model.play("with-mycel", answer="Done.")
    seconds = min(user.timed(f"with-mycel: {QUESTION}") for _ in range(2))
    more = seconds - seconds_alone
    closing_lines.append(f"{user.program.agent}: a prompt takes {seconds_alone:.2f} s, with Mycel {more:+.2f} s")
