"""The calls of the tenancy test: for every operation and every field that can name something, a pair of requests."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from mycel.domain.ids import is_id
from mycel.domain.names import ALIASES, find_name
from mycel.wire.operations import OPERATIONS, Operation
from tests.conformance.tenancy_world import MEMBERS, OWN_TEAM, Hidden, World

ALL_IDS = ("memory_id", "source_id", "event_id", "report_id", "recall_id", "token_id")
# Which kinds of hidden things a field can name.
KINDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("id", "from_id", "to_id", "over", "into", "memory_id", "missing", "ids"), ALL_IDS),
    **dict.fromkeys(("source_id", "event_id", "report_id", "recall_id", "source", "items", "edits"), ALL_IDS),
    "token": ("token_id",),
    **dict.fromkeys(("agent_id", "agent", "member_id", "about"), ("member",)),
    **dict.fromkeys(("team", "parent"), ("team",)),
    "teams": ("team",),
    "name": ("view", "project", "repo", "team"),
    "cursor": ("memory_id", "source_id", "event_id", "report_id"),
    **dict.fromkeys(("query", "task", "text", "title", "approach", "description"), ("word",)),
    **{
        "path": ("path", "file"),
        "project": ("project",),
        "repo": ("repo",),
        "key": ("key",),
        "category": ("category",),
    },
    **{"tags": ("tag",), "session_id": ("session",), "thread_id": ("thread",), "task_id": ("task",), "uri": ("uri",)},
    "idempotency_key": ("again",),
    "artifacts": ("file",),
    "messages": ("word", *ALL_IDS),
    "scope": ("project", "repo"),
    **{"filters": ("project", "repo", "path", "tag"), "memory_input": ("project", *ALL_IDS)},
}
NOBODY = "019a0000-0000-7000-8000-000000000000"
PLAIN: dict[str, Any] = {
    "since": "2020-01-01T00:00:00Z",
    **{"content": "plain words", "value": "plain words", "learning": "plain words", "output": "plain words"},
    **{"key": "plain", "text": "# Plain\nplain words\n", "name": "plain", "category": "plain", "reason": "plain"},
    **{"approach": "plain", "action": "failed", "task": "plain", "task_id": "plain", "what_went_wrong": "plain"},
    **{"path": "plain.md", "relation": "supports", "useful": True, "messages": "user: plain words", "query": "plain"},
    **{"agent_id": "nobody", "member_id": "nobody", "team": "nowhere", "token": NOBODY, "items": [], "teams": []},
    **dict.fromkeys(("id", "from_id", "to_id", "over", "into", "event_id", "report_id"), NOBODY),
    "ids": [NOBODY],
    "system": "plain",
    "occasion": "prompt",
}
# What an operation needs besides, to get as far as looking.
ALSO: dict[str, dict[str, Any]] = {
    "search": {"query": "plain"},
    "explain": {"memory_id": NOBODY},
    "ingest": {"content": "plain words"},
    "capture_session": {"messages": "user: plain words"},
    "capture_conversation": {"messages": "user: plain words"},
    "summarize_thread": {"messages": "user: plain words"},
    "after_task": {"task_id": "plain", "action": "completed", "approach": "plain", "output": "plain words"},
    "knowledge.import_markdown": {"dry_run": True},
    "set_policy": {"promote_from": 0.5},
    "update": {"content": "plain words"},
    "save_many": {"items": [{"content": "plain words"}]},
    "imports.take": {"items": [{"id": "plain", "content": "plain words"}], "dry_run": True},
    "episodes.log_many": {"items": [{"action": "failed", "approach": "plain"}]},
    "workspace.arrange": {"teams": [{"name": "nowhere"}]},
}
READS = frozenset(
    {
        *("search", "knowledge.search", "context_for", "before_task", "artifacts.verify"),
        *("knowledge.import_markdown", "imports.take"),
    }
)


@dataclass(frozen=True)
class Request:
    """`sent` is every word in it that could name something."""

    case: str
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: frozenset[str] = frozenset()
    writes: bool = False
    kind: str = "http"


@dataclass(frozen=True)
class Pair:
    """The same request for something hidden, and for its twin that does not exist."""

    hidden: Request
    absent: Request
    # What is answered may differ in more than the name: only what it must not hold is checked.
    alike: bool = True


@dataclass(frozen=True)
class Own:
    """What a visitor has itself, where a call needs something that is there."""

    team: str
    recall: str


def operation_pairs(world: World, hidden: Hidden, *, member: str) -> Iterator[Pair]:
    """One field at a time, then some together."""
    own = Own(MEMBERS[member][0] if member in MEMBERS else OWN_TEAM, world.own_recall.get(member, NOBODY))
    for operation in OPERATIONS:
        yield _pair(operation, {}, own)
        named = [name for name in operation.fields if name in KINDS]
        others = [one for one in ALIASES if one not in operation.fields]
        for name in (*others, *([operation.unpacks] if operation.unpacks else [])):
            for one in _values(find_name(name, operation.fields) or name, operation, hidden):
                yield _pair(operation, {name: one}, own)
        for name in named:
            for one in _values(name, operation, hidden):
                yield _pair(operation, {name: one}, own)
        for given in _together(named, operation, hidden, random.Random(f"{member} {operation.name}")):
            yield _pair(operation, given, own)
        yield from _with_headers(operation, hidden, own)
        if operation.name == "update":
            yield from _sent_back(operation, hidden, own)


def _values(name: str, operation: Operation, hidden: Hidden) -> list[tuple[str, str]]:
    kinds = KINDS.get(name, ())
    if operation.name.startswith("workspace.") and name == "id":
        kinds = ("member",)
    return [pair for kind in kinds for pair in hidden.twins.get(kind, {}).items()]


def _together(
    named: list[str], operation: Operation, hidden: Hidden, chance: random.Random
) -> Iterator[dict[str, tuple[str, str]]]:
    useful = [name for name in named if _values(name, operation, hidden)]
    if len(useful) < 2:
        return
    for _ in range(min(6, len(useful))):
        chosen = chance.sample(useful, chance.randint(2, min(4, len(useful))))
        yield {name: chance.choice(_values(name, operation, hidden)) for name in chosen}


def _sent_back(operation: Operation, hidden: Hidden, own: Own) -> Iterator[Pair]:
    for both in hidden.twins["memory_id"].items():
        pair = _pair(operation, {"id": both}, own)
        for more in (AS_READ, {"version": 1}, {"embedding": [1.0]}):
            sides = [
                replace(side, body={**side.body, **more, "id": one})
                for side, one in zip((pair.hidden, pair.absent), both, strict=True)
            ]
            yield Pair(sides[0], sides[1])


def _with_headers(operation: Operation, hidden: Hidden, own: Own) -> Iterator[Pair]:
    plain = _pair(operation, {}, own)
    for header, kind in (("mycel-as", "member"), ("mycel-team", "team"), ("idempotency-key", "again")):
        if header == "idempotency-key" and "idempotency_key" not in operation.fields:
            continue
        for one, twin in hidden.twins.get(kind, {}).items():
            yield Pair(
                replace(plain.hidden, headers={header: one}, sent=plain.hidden.sent | {one}),
                replace(plain.absent, headers={header: twin}, sent=plain.absent.sent | {twin}),
            )


_numbers = itertools.count()
# Every other call asks for the other names.
_pairs = itertools.count()
# Of a memory that is sent back as it was read.
AS_READ: dict[str, Any] = {
    "version": 1,
    "teamId": "nowhere",
    "createdAt": "2020-01-01T00:00:00Z",
    "metadata": {"mycel_review": 1},
}


def _pair(operation: Operation, given: Mapping[str, tuple[str, str]], own: Own) -> Pair:
    sides = [_request(operation, {name: both[side] for name, both in given.items()}, own) for side in (0, 1)]
    if next(_pairs) % 2:
        sides = [replace(side, headers={"mycel-naming": "camel"}) for side in sides]
    # A cursor is a place in the caller's own list, every one another; what is written twice may meet itself.
    alike = "cursor" not in given and (bool(given) or not sides[0].writes)
    return Pair(sides[0], sides[1], alike=alike)


def _request(operation: Operation, given: Mapping[str, str], own: Own) -> Request:
    arguments = {name: PLAIN[name] for name in operation.required}
    arguments |= ALSO.get(operation.name, {})
    if operation.name == "workspace.add_member":
        arguments["team"] = own.team
    if operation.name == "knowledge.upsert":
        # Under a key of its own, so that it is always the first.
        arguments["key"] = f"plain-{next(_numbers):06}"
    for name, one in given.items():
        arguments[name] = _shaped(operation, name, one)
    if "retrieval_id" in given:
        arguments.pop("memory_id", None)
    if operation.name == "explain" and {"recall_id", "missing"} & given.keys():
        arguments = {"recall_id": own.recall, **{name: one for name, one in arguments.items() if name != "memory_id"}}
    if {"source_id", "source_ref"} & given.keys():
        arguments.pop("messages", None)
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", quote(str(arguments.pop(name)), safe=""))
    renamed = {ours: theirs for theirs, ours in (operation.renamed or {}).items()}
    arguments = {renamed.get(name, name): value for name, value in arguments.items()}
    writes = operation.method != "GET" and operation.name not in READS
    found = Request(operation.name, operation.method, path, sent=frozenset(given.values()), writes=writes)
    if operation.in_query:
        texts = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in arguments.items()}
        pairs = [
            (name, one) for name, value in texts.items() for one in (value if isinstance(value, list) else [value])
        ]
        return replace(found, path=f"{path}?{urlencode(pairs)}" if pairs else path)
    return replace(found, body=arguments)


def _shaped(operation: Operation, name: str, one: str) -> Any:
    """The place in a field where a name or an id can stand."""
    match name:
        case "source":
            return {"source_id": one}
        case "items" if operation.name == "save_many":
            return [{"content": "plain words", "source": {"source_id": one}}]
        case "items" if operation.name == "imports.take":
            return [{"id": one, "content": "plain words"}, {"from_id": one, "to_id": "plain", "relation": "supports"}]
        case "items":
            return [{"action": "failed", "approach": "plain", "task_id": one}]
        case "edits":
            return {"source": {"source_id": one}}
        case "artifacts":
            return [{"path": one}]
        case "teams":
            return [{"name": one, "members": []}]
        case "messages":
            return one if is_id(one) else f"user: {one}"
        case "scope":
            return f"project:{one}"
        case "filters":
            return {"tags": [one], "project_id": one, "path": f"/projects/{one}"}
        case "memory_input":
            return {"content": "plain words", **({"source_ref": one} if is_id(one) else {"project_id": one})}
        case "inbox_items":
            return [{"memory": {"id": one}}]
        case "ids" | "tags":
            return [one]
        case _:
            return one
