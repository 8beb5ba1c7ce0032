"""What hooks hand in: sessions as they grow, files of memory folders, tasks that failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mycel.client.workspace import RemoteWorkspace
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.source import Source
from tests.service_process import Service
from tests.surfaces.hooks.hooking import Ran, log_of, queued, recorded, run_hook, said

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    file = tmp_path / "session.jsonl"
    file.write_text(said("user", "Keep money in cents.", id="1") + said("assistant", "I will.", id="2"))
    return file


class Agent:
    """One agent and its hooks in a session of its own."""

    def __init__(self, name: str, running: Service, *, session: str, cwd: Path, transcript: Path) -> None:
        self.name = name
        self.data = running.data
        self._session = session
        self._places = {"cwd": cwd, "transcript": transcript}

    def hook(self, event: str, **given: object) -> Ran:
        ids = {"session_id": self._session, "conversation_id": self._session}
        payload = recorded(self.name, event, **{**self._places, **ids, **given})
        ran = run_hook(self.name, event, payload, "--as", self.name, data=self.data)
        assert (ran.code, ran.errors) == (0, "")
        assert queued(self.data) == [], log_of(self.data)
        return ran


@pytest.fixture
def memory(workspace: RemoteWorkspace) -> MemoryApi:
    return workspace.as_member("claude-code")


def source_of(memory: MemoryApi, session: str) -> Source:
    found = [one for one in memory.sources.list(limit=200).items if one.session_id == session]
    assert len(found) == 1, found
    return memory.sources.get(found[0].id)


def state_of(memory: MemoryApi, source: Source) -> str:
    """Whether the engine waits for more of a session."""
    events = [one for one in memory.sources.events(limit=200).items if one.source_id == source.id]
    return "closed" if any(one.due_at is None or one.due_at <= one.updated_at for one in events) else "open"


def test_a_session_grows_by_what_is_new(running: Service, memory: MemoryApi, checkout: Path, transcript: Path) -> None:
    claude = Agent("claude-code", running, session="grows", cwd=checkout, transcript=transcript)
    assert claude.hook("Stop").output == ""
    source = source_of(memory, "grows")
    assert source.text == "user: Keep money in cents.\n\nassistant: I will."
    assert (source.project_id, source.repo_id) == ("pricing", "pricing")
    assert state_of(memory, source) == "open"
    with transcript.open("a") as file:
        file.write(said("user", "And round half to even.", id="3"))
        file.write(said("assistant", "Half a line", id="4")[:40])
    claude.hook("PreCompact")
    claude.hook("PreCompact")
    assert source_of(memory, "grows").text.endswith("I will.\n\nuser: And round half to even.")


def test_a_session_that_ends_is_closed_even_with_nothing_new(
    running: Service, memory: MemoryApi, checkout: Path, transcript: Path
) -> None:
    claude = Agent("claude-code", running, session="ends", cwd=checkout, transcript=transcript)
    claude.hook("Stop")
    before = source_of(memory, "ends")
    claude.hook("SessionEnd")
    after = source_of(memory, "ends")
    assert after.text == before.text
    assert state_of(memory, after) == "closed"


def test_a_hook_that_made_the_agent_go_on_is_not_answered_but_captured(
    running: Service, workspace: RemoteWorkspace, checkout: Path, tmp_path: Path
) -> None:
    lines = [
        {"timestamp": "2026-11-16T02:00:00Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/work"}},
        {
            "timestamp": "2026-11-16T02:00:01Z",
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Use tabs in Go."}],
            },
        },
    ]
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text("".join(json.dumps(line) + "\n" for line in lines))
    codex = Agent("codex", running, session="goes on", cwd=checkout, transcript=rollout)
    assert codex.hook("Stop").output == ""
    assert source_of(workspace.as_member("codex"), "goes on").text == "user: Use tabs in Go."


def test_a_subagent_has_a_session_of_its_own(
    running: Service, memory: MemoryApi, checkout: Path, transcript: Path, tmp_path: Path
) -> None:
    own = tmp_path / "agent.jsonl"
    own.write_text(said("user", "Who uses floats?", id="8") + said("assistant", "Found two callers.", id="9"))
    claude = Agent("claude-code", running, session="with help", cwd=checkout, transcript=transcript)
    claude.hook("SubagentStop", subagent=own)
    source = source_of(memory, "with help/a-17")
    assert source.text == "user: Who uses floats?\n\nassistant: Found two callers."
    assert state_of(memory, source) == "closed"


@pytest.mark.parametrize("written", [said("user", "Who uses floats?", id="8"), None])
def test_the_answer_of_a_subagent_is_kept_before_it_is_in_its_file(
    running: Service, memory: MemoryApi, checkout: Path, transcript: Path, tmp_path: Path, written: str | None
) -> None:
    own = tmp_path / "agent.jsonl"
    if written:
        own.write_text(written)
    session = f"early {bool(written)}"
    claude = Agent("claude-code", running, session=session, cwd=checkout, transcript=transcript)
    claude.hook("SubagentStop", subagent=own)
    source = source_of(memory, f"{session}/a-17")
    assert source.text.endswith("assistant: Found two callers.")
    assert state_of(memory, source) == "closed"
    own.write_text((written or "") + said("assistant", "Found two callers.", id="9"))
    claude.hook("SubagentStop", subagent=own)
    assert source_of(memory, f"{session}/a-17").text == source.text


def test_what_is_said_twice_in_a_session_is_kept_twice(
    running: Service, memory: MemoryApi, checkout: Path, transcript: Path
) -> None:
    claude = Agent("claude-code", running, session="again", cwd=checkout, transcript=transcript)
    claude.hook("Stop")
    for number in (3, 5):
        with transcript.open("a") as file:
            file.write(said("user", "Go on.", id=str(number)) + said("assistant", "Done.", id=str(number + 1)))
        claude.hook("Stop")
    assert source_of(memory, "again").text.count("user: Go on.\n\nassistant: Done.") == 2


def test_the_same_turn_twice_of_an_agent_that_hands_over_turns_is_kept_twice(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path
) -> None:
    gemini = Agent("gemini", running, session="same turn", cwd=checkout, transcript=transcript)
    gemini.hook("AfterAgent")
    gemini.hook("AfterAgent")
    assert source_of(workspace.as_member("gemini"), "same turn").text.count("user: How do we keep money") == 2


def test_a_session_that_is_told_from_its_start_again_is_kept_once(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path
) -> None:
    opencode = Agent("opencode", running, session="resumed", cwd=checkout, transcript=transcript)
    opencode.hook("session.idle", from_start=True)
    opencode.hook("session.idle", from_start=True)
    assert source_of(workspace.as_member("opencode"), "resumed").text.count("user: How do we keep money") == 1


@pytest.mark.parametrize(("agent", "event"), [("claude-code", "Stop"), ("gemini", "AfterAgent")])
def test_what_was_injected_is_not_captured_with_the_prompt(
    running: Service, workspace: RemoteWorkspace, checkout: Path, tmp_path: Path, agent: str, event: str
) -> None:
    given = "&lt;stored-notes&gt;\nSaved notes.\n- [m:1] fact: the host is walnut-7\n&lt;/stored-notes&gt;"
    prompt = f"Which host is it?\n<hook_context>{given}</hook_context>\nSay it."
    file = tmp_path / "injected.jsonl"
    file.write_text(said("user", prompt, id="1") + said("assistant", "It is that one.", id="2"))
    session = f"injected into {agent}"
    Agent(agent, running, session=session, cwd=checkout, transcript=file).hook(event, prompt=prompt)
    text = source_of(workspace.as_member(agent), session).text
    assert text.startswith("user: Which host is it?\n\nSay it.\n\nassistant: ")


def test_a_long_transcript_arrives_whole_and_in_order(
    running: Service, memory: MemoryApi, checkout: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.jsonl"
    turns = [f"Statement number {number} is about {'plenty of things ' * 40}" for number in range(900)]
    file.write_text("".join(said("user", turn.strip(), id=str(number)) for number, turn in enumerate(turns)))
    assert file.stat().st_size > 3 * 128 * 1024
    Agent("claude-code", running, session="long", cwd=checkout, transcript=file).hook("SessionEnd")
    source = source_of(memory, "long")
    assert source.text == "\n\n".join(f"user: {turn.strip()}" for turn in turns)
    assert state_of(memory, source) == "closed"


def test_cursor_tells_prompts_and_answers_one_by_one(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path
) -> None:
    cursor = Agent("cursor", running, session="piecemeal", cwd=checkout, transcript=transcript)
    cursor.hook("beforeSubmitPrompt")
    cursor.hook("afterAgentResponse")
    assert cursor.hook("stop", status="completed").output == "{}\n"
    memory = workspace.as_member("cursor")
    expected = "user: How do we keep money in the pricing service?\n\nassistant: Money is kept in integer cents."
    assert source_of(memory, "piecemeal").text == expected
    cursor.hook("sessionEnd")
    assert source_of(memory, "piecemeal").text == expected
    assert state_of(memory, source_of(memory, "piecemeal")) == "closed"


@pytest.mark.parametrize(("agent", "event"), [("gemini", "AfterAgent"), ("opencode", "session.idle")])
def test_agents_that_hand_over_a_turn_are_captured_with_it(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path, agent: str, event: str
) -> None:
    Agent(agent, running, session=f"turn of {agent}", cwd=checkout, transcript=transcript).hook(event)
    source = source_of(workspace.as_member(agent), f"turn of {agent}")
    assert source.text.startswith("user: How do we keep money")
    assert source.text.endswith("assistant: Money is kept in integer cents.")


@pytest.mark.parametrize(
    ("agent", "event", "why"),
    [
        ("claude-code", "StopFailure", "server_error: The stream ended before the message was complete"),
        ("claude-code", "PostToolUseFailure", "The migration timed out after 600 seconds"),
        ("cursor", "stop", "the agent stopped with an error"),
        ("opencode", "session.error", "UnknownError: the provider closed the stream"),
    ],
)
def test_a_task_that_failed_is_an_episode(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path, agent: str, event: str, why: str
) -> None:
    Agent(agent, running, session=f"failed {event}", cwd=checkout, transcript=transcript).hook(event)
    found = [
        one for one in workspace.as_member(agent).episodes.list().items if f"failed {event}" in (one.task_id or "")
    ]
    assert len(found) == 1
    assert (found[0].action, found[0].memory.project_id) == ("failed", "pricing")
    assert why in found[0].memory.content


@pytest.mark.parametrize(
    ("agent", "event", "given"),
    [
        ("claude-code", "StopFailure", {"error": "rate_limit"}),
        ("claude-code", "PostToolUseFailure", {"tool_name": "Bash"}),
        ("claude-code", "PostToolUseFailure", {"is_interrupt": True}),
        ("cursor", "stop", {"status": "aborted"}),
        ("opencode", "session.error", {"error": {"name": "MessageAbortedError", "data": {"message": "aborted"}}}),
    ],
)
def test_an_end_that_says_nothing_about_the_task_is_none(
    running: Service, workspace: RemoteWorkspace, checkout: Path, agent: str, event: str, given: dict[str, object]
) -> None:
    session = f"no failure {agent} {sorted(given.items())}"[:100]
    Agent(agent, running, session=session, cwd=checkout, transcript=checkout / "none").hook(event, **given)
    found = [one for one in workspace.as_member(agent).episodes.list().items if session in (one.task_id or "")]
    assert found == []


def test_private_parts_leave_no_trace(running: Service, memory: MemoryApi, checkout: Path, tmp_path: Path) -> None:
    file = tmp_path / "private.jsonl"
    file.write_text(
        said("user", "Keep this. <private>My wallet opens with walnut.</private> And this.", id="1")
        + said("assistant", "Sure. <PRIVATE >walnut to the end of the message", id="2")
        + said("user", "Go on.", id="3")
    )
    claude = Agent("claude-code", running, session="private", cwd=checkout, transcript=file)
    claude.hook("Stop")
    assert source_of(memory, "private").text == "user: Keep this.  And this.\n\nassistant: Sure. \n\nuser: Go on."
    for kept in (running.data / "hooks").rglob("*"):
        assert kept.is_dir() or b"walnut" not in kept.read_bytes()


def test_private_parts_are_not_even_queued(checkout: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    prompt = "Tell me about the ledger. <private>walnut"
    asked = recorded("cursor", "beforeSubmitPrompt", cwd=checkout, prompt=prompt)
    run_hook("cursor", "beforeSubmitPrompt", asked, data=away)
    answer = recorded("cursor", "afterAgentResponse", cwd=checkout, text="Gladly. <private>walnut</private> Bye.")
    run_hook("cursor", "afterAgentResponse", answer, data=away)
    run_hook("cursor", "stop", recorded("cursor", "stop", cwd=checkout, error_message="x <private>walnut"), data=away)
    (checkout / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    folder = checkout / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Known. <private>walnut</private>")
    run_hook(
        "cursor", "afterFileEdit", recorded("cursor", "afterFileEdit", cwd=checkout, file=folder / "a.md"), data=away
    )
    written = b"".join(kept.read_bytes() for kept in away.rglob("*") if kept.is_file())
    assert len(queued(away)) == 3
    assert b"Gladly" in written
    assert b"Known" in written
    assert b"walnut" not in written


WRITERS = (
    ("claude-code", "PostToolUse"),
    ("codex", "PostToolUse"),
    ("cursor", "afterFileEdit"),
    ("gemini", "AfterTool"),
    ("opencode", "tool.execute.after"),
)


@pytest.mark.parametrize(("agent", "event"), WRITERS)
def test_a_file_of_a_memory_folder_is_indexed(
    running: Service, workspace: RemoteWorkspace, checkout: Path, transcript: Path, agent: str, event: str
) -> None:
    (checkout / ".mycel.toml").write_text('project = "shop"\nmemory_folders = ["docs/memory"]\n')
    file = checkout / "docs/memory" / f"{agent}.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"# Lessons\n\nThe importer of {agent} reads UTF-8 only.\n")
    Agent(agent, running, session=f"writes {agent}", cwd=checkout, transcript=transcript).hook(event, file=file)
    found = [
        one for one in workspace.as_member(agent).list(project="shop").items if f"importer of {agent}" in one.content
    ]
    assert [one.visibility for one in found] == ["team"]
    assert source_of(workspace.as_member(agent), f"writes {agent}").uri == f"pricing/docs/memory/{agent}.md"


def test_what_an_agent_notes_for_itself_is_private(
    running: Service, workspace: RemoteWorkspace, checkout: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    file = home / ".claude/projects/-work-pricing/memory/topics.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ntype: user\n---\nThe user likes short answers about walruses.\n")
    personal = tmp_path / "personal/today.md"
    personal.parent.mkdir()
    personal.write_text("I was slow with the walrus import.\n")
    shared = tmp_path / "shared/team.md"
    shared.parent.mkdir()
    shared.write_text("We release the walrus on Fridays.\n")
    for written in (file, personal, shared):
        payload = recorded("claude-code", "PostToolUse", cwd=checkout, file=written, session_id="notes")
        folders = {
            "MYCEL_PERSONAL_MEMORY_FOLDER": str(personal.parent),
            "MYCEL_SHARED_MEMORY_FOLDER": str(shared.parent),
        }
        ran = run_hook(
            "claude-code", "PostToolUse", payload, "--as", "claude-code", data=running.data, HOME=str(home), **folders
        )
        assert ran.output == ""
    found = {one.content.split()[0]: one.visibility for one in _about("walrus", workspace.as_member("claude-code"))}
    assert set(found.values()) == {"private", "team"}
    assert [one.content for one in _about("walrus", workspace.as_member("codex"))] == [
        "We release the walrus on Fridays."
    ]


def _about(word: str, memory: MemoryApi) -> list[object]:
    return [one for one in memory.list(limit=200).items if word in one.content]


@pytest.mark.parametrize("name", ["src/main.py", "docs/memory-evil/a.md", "docs/memory/../../a.md"])
def test_other_files_are_left_alone(checkout: Path, tmp_path: Path, name: str) -> None:
    (checkout / ".mycel.toml").write_text('memory_folders = ["docs/memory", "../elsewhere", "/etc"]\n')
    file = checkout / name
    (checkout / "docs/memory").mkdir(parents=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.resolve().write_text("Words.")
    run_hook(
        "claude-code", "PostToolUse", recorded("claude-code", "PostToolUse", cwd=checkout, file=file), data=tmp_path
    )
    assert queued(tmp_path) == []


def test_a_link_out_of_a_memory_folder_is_not_followed(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    (checkout / "notes").mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text("Words.")
    link = checkout / "notes/link.md"
    link.symlink_to(secret)
    run_hook(
        "claude-code", "PostToolUse", recorded("claude-code", "PostToolUse", cwd=checkout, file=link), data=tmp_path
    )
    assert queued(tmp_path) == []


@pytest.mark.parametrize(
    ("tool", "content", "kept"),
    [
        ("Write", "Herons <private>and my key</private> nest early.", True),
        ("Write", "<private>all of it", False),
        ("Write", "x" * (1024 * 1024 + 1), False),
        ("Write", "lone \ud800 surrogate, and a NUL \0", True),
        ("Write", {"not": "text"}, False),
        ("Edit", "Herons nest early.", False),
    ],
)
def test_a_file_that_is_not_here_is_kept_as_the_tool_wrote_it(
    checkout: Path, tmp_path: Path, tool: str, content: object, kept: bool
) -> None:
    (checkout / ".mycel.toml").write_text('memory_folders = ["notes"]\n')
    given = {"tool_name": tool, "tool_input": {"file_path": str(checkout / "notes/heron.md"), "content": content}}
    payload = {**recorded("claude-code", "PostToolUse", cwd=checkout), **given}
    run_hook("claude-code", "PostToolUse", payload, data=tmp_path)
    assert [one for one in queued(tmp_path) if b"my key" in one.read_bytes()] == []
    assert len(queued(tmp_path)) == int(kept)
    # Outside of a memory folder nothing is taken, whatever was written.
    elsewhere = {**given["tool_input"], "file_path": str(checkout / "notes/../heron.md")}  # type: ignore[dict-item]
    run_hook("claude-code", "PostToolUse", {**payload, "tool_input": elsewhere}, data=tmp_path / "other")
    assert queued(tmp_path / "other") == []
