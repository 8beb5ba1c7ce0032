"""What the arguments of tools mean, in few words: every model that has a tool reads them each time."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mycel.domain.artifact import OF_AN_ARTIFACT
from mycel.domain.episode import OF_AN_EPISODE, RateBy
from mycel.domain.link import Relation
from mycel.domain.memory import TAUGHT, WRITTEN, MemoryType, Status
from mycel.domain.memory_field import LISTS, FieldRow, Holds
from mycel.domain.request_filters import ANY_STATUS, EXPIRED
from mycel.domain.source import SURROUNDINGS, CaptureMode

Schema = dict[str, Any]


def _text(about: str) -> Schema:
    return {"type": "string", "description": about}


def _choice(options: type[StrEnum], about: str) -> Schema:
    return {"type": "string", "enum": [option.value for option in options], "description": about}


def _number(about: str, *, kind: str = "integer") -> Schema:
    return {"type": kind, "description": about}


def _flag(about: str) -> Schema:
    return {"type": "boolean", "description": about}


def _texts(about: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": about}


def _of_field(row: FieldRow) -> Schema:
    if row.holds in LISTS:
        return _texts(row.about)
    if row.options is not None:
        return _choice(row.options, row.about)
    if row.holds is Holds.COUNT:
        return _number(row.about)
    if row.holds is Holds.FRACTION:
        return {**_number(row.about, kind="number"), "minimum": 0, "maximum": 1}
    return {"type": "object", "description": row.about} if row.holds is Holds.METADATA else _text(row.about)


# Of what several records have, a memory's is meant.
FIELDS: Mapping[str, FieldRow] = {**SURROUNDINGS, **OF_AN_ARTIFACT, **OF_AN_EPISODE, **WRITTEN}
WORDS: Mapping[str, Schema] = MappingProxyType(
    {
        **{name: _of_field(row) for name, row in FIELDS.items()},
        "about": _text("The id of the person it is about; by default you"),
        "acknowledge_warning": _flag("Needed for a candidate with a warning: a person has read its text"),
        "agent": _text("The id of an agent"),
        "asked_by": _text("Who asked for it: what that member wishes comes first"),
        "archive": _text("Lines of JSON, or a packed archive in base64"),
        "by": _choice(RateBy, "What to count by"),
        "capture_mode": _choice(CaptureMode, "Only store it, or also draw memories from it"),
        "closed": _flag("Whether the session is over; until then nothing is drawn from it"),
        "confirmed": _flag("For admins: whether the person has confirmed it"),
        "constraint": _text("A constraint to add"),
        "context_key": _text("A name in the task context"),
        "context_value": {"description": "Its value, any JSON; null removes the name"},
        "dry_run": _flag("Only say what would be done"),
        "edits": {"type": "object", "description": "Fields to change first, such as content or title"},
        "expected_version": _number("The version you have read: the write fails if it has moved on"),
        "from_id": _text("The id of the memory that the link starts from"),
        "id": _text("The id of a memory, as a search shows it after `m:`"),
        "idempotency_key": _text("Any text: a repeated call with the same key is one call"),
        "ids": _texts("The ids of memories"),
        "supersedes": _text("The id of a memory that this one replaces"),
        "learning": _text("The lesson, as one sentence or a few"),
        "lessons": _texts("What it taught, each as a sentence; they wait for review"),
        "limit": _number("At most so many"),
        "memory_id": _text("The id of a memory"),
        "memory_input": {"type": "object", "description": "The memory: content, type, project, source_ref and so on"},
        "messages": {
            "type": ["array", "string"],
            "items": {"type": "object"},
            "description": "Objects with role and content, or one text",
        },
        "min_relevance": _number("Leave out what is less relevant, 0 to 1", kind="number"),
        "missing": _text("The id of a memory that the search did not find"),
        "note": _text("A line to add to the scratchpad"),
        "output": _text("What the task produced or found"),
        "plan": _text("The plan, in place of the one before"),
        "private": _flag("For that worker alone instead of the team"),
        "query": _text("What you want to know, in plain words"),
        "reason": _text("Why"),
        "recall_id": _text("The id of an earlier search"),
        "relation": _choice(Relation, "What the first says about the second"),
        "session_id": _text("A name of the session: later reports under it grow the same record"),
        "since": _text("From this time on, ISO 8601 with a zone"),
        "source_id": _text("The id of a conversation that was stored before"),
        "task": _text("What you are about to do, in plain words, or the id of a task"),
        "task_id": _text("The id of a task, any text"),
        "text": _text("Words in its description or path"),
        "to_id": _text("The id of the memory, or project:NAME or repo:NAME, that it points to"),
        "token_budget": _number("At most so many tokens"),
        "useful": _flag("Whether it helped"),
        "until": _text("Up to this time, ISO 8601 with a zone"),
        "valid_at": _text("What holds at this time: a day, or ISO 8601 with a zone"),
        "value": _text("The value, as a sentence"),
        "what_went_wrong": _text("Why it failed, so that nobody tries it the same way again"),
    }
)
# Those of the ledger are made by logging and registering; the first three are meant most of the time.
_FIRST, _OF_LEDGER = ("fact", "lesson", "decision"), ("episode", "artifact")
_SAVED_TYPES = [*_FIRST, *(kind.value for kind in MemoryType if kind.value not in {*_FIRST, *_OF_LEDGER})]
# The same word where it stands for something else.
OF_TOOL: Mapping[tuple[str, str], Schema] = {
    ("register_artifact", "type"): _of_field(OF_AN_ARTIFACT["type"]),
    ("list_artifacts", "type"): _of_field(OF_AN_ARTIFACT["type"]),
    ("register_artifact", "path"): _of_field(OF_AN_ARTIFACT["path"]),
    ("list_artifacts", "path"): _text("A file or folder below a workspace folder"),
    ("list_memories", "status"): {
        "type": "string",
        "enum": [*(status.value for status in Status), ANY_STATUS, EXPIRED],
        "description": "By default active; expired: those whose time is up",
    },
    **dict.fromkeys(
        (("capture_session", "scope"), ("capture_conversation", "scope")),
        _text("Where it applies: global, project, repo, agent or session; project:NAME and repo:NAME say where too"),
    ),
    ("index_file", "path"): _text("The name of the file"),
    ("index_file", "content"): _text("All of the file"),
    ("inject-learning", "category"): {
        "type": "string",
        "enum": [category.value for category in TAUGHT],
        "description": "; ".join(f"{category.value}: {purpose}" for category, purpose in TAUGHT.items()),
    },
    ("inject-learning", "agent_id"): _text("The id of the worker it is meant for"),
    ("save_memory", "type"): {
        "type": "string",
        "enum": _SAVED_TYPES,
        "description": "fact: how things are. lesson: what to do or avoid, and why. decision: what was chosen",
    },
    ("save_memory", "tags"): {
        "type": ["array", "string"],
        "items": {"type": "string"},
        "description": "A list, or one text such as api,github,rate-limits",
    },
    ("search_memory", "limit"): {"type": "integer", "default": 10, "description": "At most so many"},
    ("approve_memory", "id"): _text("The id of the candidate"),
    ("reject_memory", "id"): _text("The id of the candidate"),
}


def meaning_of(word: str, *, tool: str) -> Schema:
    return OF_TOOL.get((tool, word)) or WORDS[word]
