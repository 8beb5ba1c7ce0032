"""Calls of every operation with a given text in every argument that can carry one, on a team of real files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mycel.app import open_workspace
from mycel.contracts.written_fields import MemoryFields
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import MycelError
from mycel.stores.sqlite.database import Disk
from mycel.wire.operations import OPERATIONS, Operation
from tests.template import ABSENT, settings_of

TEAM = "squad"
MEMBERS = {
    "swe-1": ("agent", "agent"),
    "swe-2": ("agent", "agent"),
    "person-1": ("member", "human"),
    "lead-1": ("lead", "agent"),
    "admin-1": ("admin", "human"),
}
_TALK = "user: we deploy on Tuesdays\nassistant: noted"
_TASK: dict[str, Any] = {"task_id": "plain-task", "action": "completed", "output": "plain output"}
# What each call is given besides, so that it gets as far as storing something.
_PLAIN: dict[str, Callable[[World], dict[str, Any]]] = {
    "save": lambda _: {"content": "plain words"},
    "ingest": lambda _: {"content": "plain words"},
    "save_many": lambda _: {"items": [{"content": "plain words"}]},
    "imports.take": lambda world: {"items": [{"id": f"x{world.number()}", "content": "plain"}], "system": "plain"},
    "index_file": lambda world: {"path": f"docs/{world.number()}.md", "content": "# Plain\n\nplain words"},
    "knowledge.upsert": lambda world: {"key": f"key-{world.number()}", "value": "plain value", "category": "fact"},
    "knowledge.get": lambda _: {"key": "plain", "category": "fact", "project": None},
    "knowledge.import_markdown": lambda world: {"text": f"# Plain {world.number()}\nplain words", "name": "plain.md"},
    "knowledge.arbitrate": lambda world: {"id": world.value()},
    "episodes.log": lambda _: {"action": "failed", "approach": "plain approach"},
    "episodes.log_many": lambda _: {"items": [{"action": "failed", "approach": "plain approach"}]},
    "episodes.similar": lambda _: {"task": "plain"},
    "episodes.best_agents": lambda _: {"task": "plain"},
    "artifacts.register": lambda world: {"path": f"out/{world.number()}.md"},
    "update": lambda world: {"id": world.memory(), "confidence": 0.9},
    "settle": lambda world: dict(zip(("id", "over"), world.rivals(), strict=True)),
    "link": lambda world: {"from_id": world.memory(), "to_id": world.memory(), "relation": "related_to"},
    "unlink": lambda world: {"from_id": world.memory(), "to_id": world.memory(), "relation": "related_to"},
    "rate": lambda world: {"id": world.memory(), "useful": True},
    "capture_session": lambda _: {"messages": _TALK},
    "capture_conversation": lambda _: {"messages": _TALK},
    "summarize_thread": lambda _: {"messages": _TALK},
    "search": lambda _: {"query": "plain"},
    "knowledge.search": lambda _: {"query": "plain"},
    "before_task": lambda _: {"task": "plain"},
    "after_task": lambda _: dict(_TASK),
    "complete_task": lambda _: {"task_id": "plain-task", "output": "plain output"},
    "fail_task": lambda _: {"task_id": "plain-task", "what_went_wrong": "plain failure"},
    "approve": lambda world: {"id": world.waiting()},
    "reject": lambda world: {"id": world.waiting(), "reason": "plain reason"},
    "reject_many": lambda world: {"ids": [world.waiting()], "reason": "plain reason"},
    "activity.report": lambda _: {"text": "plain words", "occasion": "prompt"},
    "reviews.merge": lambda world: {"id": world.waiting(), "into": world.memory()},
    "upsert_profile_fact": lambda world: {"key": f"fact {world.number()}", "value": "plain", "about": "person-1"},
    "inject_learning": lambda _: {"agent_id": "swe-1", "learning": "plain words", "category": "preference"},
    "projects.register": lambda world: {"name": f"project-{world.number()}"},
    "repos.register": lambda world: {"name": f"repo-{world.number()}"},
    "views.save": lambda world: {"name": f"view-{world.number()}"},
    "views.run": lambda _: {"name": "plain"},
    "workspace.add_team": lambda world: {"name": f"team-{world.number()}"},
    "workspace.add_member": lambda world: {"id": f"member-{world.number()}", "team": TEAM},
    "workspace.update_member": lambda _: {"id": "swe-1"},
    "workspace.new_token": lambda _: {"member_id": "swe-1"},
}
# Under another name where the files are at hand.
_METHODS: dict[str, str] = {}
_OF_AN_EPISODE = ("approach", "outcome", "task_id", "project", "repo", "session_id")
_OF_A_TASK = ("approach", "output", "what_went_wrong", "title", "uri", "thread_id", "session_id", "project", "repo")


@dataclass
class World:
    workspace: Workspace
    folder: Path
    _count: int = field(default=0)

    def number(self) -> int:
        self._count += 1
        return self._count

    def member(self, id: str = "admin-1") -> TeamMemory:
        return self.workspace.as_member(id)

    def memory(self) -> str:
        return self.member().save(f"plain memory {self.number()}").id

    def waiting(self) -> str:
        return self.member("swe-1").save(f"waiting memory {self.number()}", needs_review=True).id

    def value(self) -> str:
        return self.member().knowledge.upsert(key=f"key-{self.number()}", value="plain", category="fact").id

    def rivals(self) -> tuple[str, str]:
        one, other = self.memory(), self.memory()
        self.member().link(one, other, "contradicts")
        return one, other

    def settle(self) -> None:
        """What was captured has been worked on, and what a reader left behind is written."""
        self.workspace.run_pending()

    def do(self, operation: Operation, arguments: Mapping[str, Any], *, by: str = "admin-1") -> object:
        part, _, name = operation.name.rpartition(".")
        memory = self.member(by)
        target = self.workspace if part == "workspace" else getattr(memory, part) if part else memory
        return getattr(target, _METHODS.get(operation.name, name))(**arguments)


def opened(folder: Path) -> World:
    # Vectors say nothing here and would take long.
    settings = settings_of(folder)
    workspace = open_workspace(folder, settings=settings, disk=Disk(synchronous="OFF"))
    workspace.add_team(TEAM)
    for id, (role, kind) in MEMBERS.items():
        workspace.add_member(id, team=TEAM, role=role, kind=kind)
    return World(workspace, folder)


@dataclass(frozen=True)
class Given:
    """One call: `text` stands somewhere in the argument `name`."""

    operation: Operation
    name: str
    text: str
    value: object

    def __str__(self) -> str:
        return f"{self.operation.name}({self.name}={json.dumps(self.value)[:120]})"


def every_call(new_text: Callable[[], str], *, writing: bool = False) -> Iterator[Given]:
    """Each with a text of its own."""
    done: set[tuple[str, str]] = set()
    for operation in OPERATIONS:
        for name, hint in operation.fields.items():
            if (operation.name, name) in done or not _carries_text(hint) or (writing and not operation.writes):
                continue
            done.add((operation.name, name))
            for shape in _shapes(operation, name):
                text = new_text()
                yield Given(operation, name, text, shape(text))


def make(world: World, given: Given, *, by: str = "admin-1") -> object:
    """What the call answered, or the error that says what is wrong with it."""
    plain: dict[str, Any] = {**given.operation.empty, **dict.fromkeys(given.operation.required, ABSENT)}
    plain |= _PLAIN.get(given.operation.name, lambda _: {})(world)
    if given.name == "source_id":
        plain.pop("messages", None)
    if given.name == "what_went_wrong" and given.operation.name == "after_task":
        plain |= {"action": "failed"}
    if given.operation.name == "after_task" and given.name == "result":
        plain = {}
    try:
        return world.do(given.operation, {**plain, given.name: given.value}, by=by)
    except MycelError as error:
        return error


def _carries_text(hint: Any) -> bool:
    return any(word in str(hint) for word in ("str", "Mapping", "Any"))


def _shapes(operation: Operation, name: str) -> list[Callable[[str], object]]:
    """The places of an argument at which a text can stand."""
    text_of_a_memory = [one for one, hint in MemoryFields.__annotations__.items() if _carries_text(hint)]
    match name:
        case "metadata":
            return [lambda text: {"note": text}, lambda text: {text: 1}, lambda text: {"deep": [{"list": [text]}]}]
        case "source":
            parts = ("uri", "thread_id", "message_id", "author_id")
            return [lambda text: text, *[lambda text, one=one: {one: text} for one in parts]]
        case "items" if operation.name == "save_many":
            return [lambda text, one=one: [{"content": "plain", one: text}] for one in ("content", *text_of_a_memory)]
        case "items" if operation.name == "imports.take":
            fields = [
                lambda text, one=one: [{"id": f"{one} {abs(hash(text))}", "content": "plain", one: text}]
                for one in ("content", "id", *text_of_a_memory)
            ]
            talk = [{"role": "user", "content": "plain"}]
            return [
                *fields,
                lambda text: [{"id": f"said {abs(hash(text))}", "messages": [{"role": "user", "content": text}]}],
                lambda text: [{"id": f"titled {abs(hash(text))}", "messages": talk, "title": text}],
            ]
        case "items":
            entry = {"action": "failed", "approach": "plain"}
            return [lambda text, one=one: [{**entry, one: text}] for one in _OF_AN_EPISODE]
        case "edits":
            return [lambda text, one=one: {one: text} for one in ("content", *text_of_a_memory)]
        case "result":
            failed = {**_TASK, "action": "failed"}
            return [lambda text, one=one: {**failed, one: text} for one in (*_OF_A_TASK, "task_id")]
        case "artifacts":
            return [lambda text: [{"path": text}], lambda text: [{"path": "plain.md", "description": text}]]
        case "teams":
            member = {"role": "agent", "kind": "agent"}
            return [
                lambda text: [{"name": text}],
                lambda text: [{"name": "nowhere", "members": [{"id": text, **member}]}],
            ]
        case "messages":
            return [
                lambda text: f"user: {text}",
                lambda text: [{"role": "user", "content": text}],
                lambda text: [{"role": "user", "name": text, "content": "plain"}],
                lambda text: [{"role": text, "content": "plain"}],
            ]
        case "to_id":
            return [lambda text: f"project:{text}"]
        case "tags" | "alternatives" | "lessons" | "over" | "ids" | "allowed_roles":
            return [lambda text: [text]]
        case "lives":
            return [lambda text: {text: "7d"}]
        case "remote":
            return [lambda text: text, lambda text: f"https://person:{text}@git.example.org/plain.git"]
        case "path":
            return [lambda text: text, lambda text: f"/plain/{text}"]
        case "text" if operation.name == "knowledge.import_markdown":
            return [lambda text: f"# Plain\n{text}", lambda text: f"# {text}\nplain words", lambda text: f"- {text}"]
        case _:
            return [lambda text: text, lambda text: f"plain {text} words"]
