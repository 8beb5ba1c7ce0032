"""Agents with a shared memory: what one saves in one run, a teammate answers from in the next.

`Org` loads the teams of `org/teams/*.md` and gives each agent its tools. `Agent.handle_message` puts the team's ten
newest memories before the message, lets a model think, and runs `save_memory` and `search_memory` until it answers.

The model is a scripted one, so that nothing but this file is needed. It answers by rules from the text that it is given
and knows nothing else. For a real one, write a class with the same `think`: send `turns` and the descriptions of
`tools` to it, and return a `ToolCall` or its answer.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import mycel

TEAM_FILES = Path(__file__).parent / "org"
TYPES = ("decision", "lesson", "fact")
SAVED = "saved"
MOST_STEPS = 5
# A tool's answer takes room in the prompt: what is hardly related to the question is left out.
LEAST_RELEVANCE = 0.1


@dataclass(frozen=True)
class Message:
    channel: str
    text: str


@dataclass(frozen=True)
class Tool:
    """`parameters` describes each argument of `run` in JSON Schema, as language models take it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., str]


@dataclass(frozen=True)
class ToolCall:
    tool: str
    arguments: Mapping[str, Any]


class Model(Protocol):
    def think(self, turns: Sequence[str], tools: Mapping[str, Tool]) -> ToolCall | str:
        """The next step: a call of a tool, or the answer. `turns` are the input and what each tool has answered."""
        ...


class Org:
    """The teams and their agents on one workspace; closed at the end of a `with` block."""

    def __init__(self, data: Path, *, model: Model) -> None:
        self._workspace = mycel.open(data)
        self._workspace.load_org(TEAM_FILES)
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workspace.close()

    def resolve_team(self, agent_id: str) -> str:
        """Whom no file lists belongs to `executive`."""
        return self._workspace.resolve_team(agent_id)

    def agent(self, id: str) -> Agent:
        memory = self._workspace.as_member(id)
        tools = self.build_tool_registry(memory)
        return Agent(id, team=self.resolve_team(id), memory=memory, tools=tools, model=self._model)

    def build_tool_registry(self, memory: mycel.TeamMemory) -> dict[str, Tool]:
        """The tools of one agent. A director is a lead of its team, and so its searches cover `executive` too."""
        return {tool.name: tool for tool in (save_tool(memory), search_tool(memory))}


def save_tool(memory: mycel.TeamMemory) -> Tool:
    def save_memory(type: str, content: str, tags: str = "") -> str:
        memory.save(content, type=type, tags=tags)
        return SAVED

    return Tool(
        name="save_memory",
        description="Save a lesson, decision or fact for the team.",
        parameters={
            "type": {"enum": TYPES},
            "content": {"type": "string"},
            "tags": {"type": "string", "description": "comma-separated, such as 'api,rate-limits'"},
        },
        run=save_memory,
    )


def search_tool(memory: mycel.TeamMemory) -> Tool:
    def search_memory(query: str, type: str | None = None, limit: int = 10) -> str:
        hits = memory.search(query, type=type, limit=limit, min_relevance=LEAST_RELEVANCE).hits
        found = [{"content": hit.memory.content, "by": hit.memory.agent_id, "team": hit.team} for hit in hits]
        # As JSON: then no memory's text can pass for anything but a text.
        return json.dumps(found)

    return Tool(
        name="search_memory",
        description="Search what the team has saved, before acting.",
        parameters={
            "query": {"type": "string"},
            "type": {"enum": TYPES, "description": "only memories of this type"},
            "limit": {"type": "integer", "default": 10},
        },
        run=search_memory,
    )


class Agent:
    def __init__(
        self, id: str, *, team: str, memory: mycel.TeamMemory, tools: Mapping[str, Tool], model: Model
    ) -> None:
        self._id = id
        self._team = team
        self._memory = memory
        self._tools = tools
        self._model = model

    def handle_message(self, message: Message) -> str:
        print(f"\n#{message.channel} to {self._id} ({self._team}): {message.text}")
        turns = [self._input(message)]
        for _ in range(MOST_STEPS):
            step = self._model.think(turns, self._tools)
            if isinstance(step, str):
                print(f"  {self._id}: {step}")
                return step
            answer = self._run(step)
            print(f"  {step.tool} {json.dumps(step.arguments)}")
            print(f"    {answer}")
            turns.append(answer)
        return "I have not come to an end."

    def _input(self, message: Message) -> str:
        """`## Recent Team Memory` with a line `[type][agent] content` for each, then the message."""
        recent = self._memory.context_for().to_team_memory()
        return f"{recent}\n\n[Channel: #{message.channel}]\n{message.text}".lstrip()

    def _run(self, call: ToolCall) -> str:
        """A model makes mistakes: it is told what was wrong, and may try again."""
        try:
            return self._tools[call.tool].run(**call.arguments)
        except (KeyError, TypeError, mycel.MycelError) as error:
            return f"error: {error}"


class ScriptedModel:
    """Does as a language model would, by three rules on what it is given."""

    def think(self, turns: Sequence[str], tools: Mapping[str, Tool]) -> ToolCall | str:
        memories, message = self._read(turns[0])
        note = re.fullmatch(r"Remember this (\w+) \((.+?)\): (.+)", message)
        if note:
            type, tags, content = note.groups()
            return self._keep(type, tags, content, memories, is_saved=SAVED in turns)
        return self._answer(message, memories, found=turns[-1] if len(turns) > 1 else None)

    def _read(self, text: str) -> tuple[list[tuple[str, str]], str]:
        """The injected memories as pairs of agent and content, and the message itself."""
        memories = re.findall(r"^\[\w+\]\[([\w-]+)\] (.+)$", text, re.MULTILINE)
        return memories, text.splitlines()[-1]

    def _keep(
        self, type: str, tags: str, content: str, memories: list[tuple[str, str]], *, is_saved: bool
    ) -> ToolCall | str:
        if is_saved:
            return "The team will know."
        if any(content == known for _, known in memories):
            return "The team knows this already."
        return ToolCall("save_memory", {"type": type, "content": content, "tags": tags})

    def _answer(self, question: str, memories: list[tuple[str, str]], *, found: str | None) -> ToolCall | str:
        for agent, content in memories:
            if len(words(question) & words(content)) >= 2:
                return f"From what I was given: {content} ({agent})"
        if found is None:
            return ToolCall("search_memory", {"query": question, "limit": 3})
        hits: list[dict[str, str]] = json.loads(found) if found.startswith("[") else []
        if not hits:
            return "I do not know."
        return f"I looked it up: {hits[0]['content']} ({hits[0]['by']}, {hits[0]['team']})"


def words(text: str) -> set[str]:
    """Those of five letters and more: what a text is about, roughly."""
    return set(re.findall(r"[a-z]{5,}", text.lower()))


def first_run(data: Path) -> None:
    with Org(data, model=ScriptedModel()) as org:
        swe_1, ceo = org.agent("swe-1"), org.agent("ceo")
        swe_1.handle_message(
            Message("deploys", "Remember this lesson (uploads): The store drops one upload in fifty, try three times.")
        )
        ceo.handle_message(
            Message("board", "Remember this decision (releases): No releases in the last week of the quarter.")
        )


def second_run(data: Path) -> None:
    with Org(data, model=ScriptedModel()) as org:
        swe_2, pm_1, director = (org.agent(id) for id in ("swe-2", "pm-1", "eng-director"))
        swe_2.handle_message(Message("deploys", "How many times do we try an upload to the store?"))
        swe_2.handle_message(Message("deploys", "Why do files get lost on their way to storage?"))
        pm_1.handle_message(Message("roadmap", "Why do files get lost on their way to storage?"))
        swe_2.handle_message(Message("deploys", "May we ship a new version at the end of March?"))
        director.handle_message(Message("planning", "May we ship a new version at the end of March?"))


def run(data: Path) -> None:
    print("First run: two agents save what they have learned.")
    first_run(data)
    print("\nSecond run: everything was closed and is opened again.")
    second_run(data)


def main() -> None:
    parser = argparse.ArgumentParser(description="Agents that answer from what their team has saved.")
    parser.add_argument("--data", type=Path, help="a folder to keep the memory in (default: one for this run only)")
    chosen = parser.parse_args().data
    if chosen is not None:
        run(chosen)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder))


if __name__ == "__main__":
    main()
