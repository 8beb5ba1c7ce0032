"""What each name that an operation takes means: one meaning per word, and the operations that mean another."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mycel.domain.activity import MAX_INJECTION_BYTES, MAX_NAMED, Occasion
from mycel.domain.artifact import ARTIFACT_WRITTEN, OF_AN_ARTIFACT, ArtifactType
from mycel.domain.change import Operation as ChangeOperation
from mycel.domain.draft import MAX_NOTE_BYTES
from mycel.domain.episode import EPISODE_WRITTEN, RateBy
from mycel.domain.fields import (
    LEAST_TOKEN_BUDGET,
    MAX_BRIEFED,
    MAX_COUNT,
    MAX_ITEMS,
    MAX_NOTED_BYTES,
    MAX_PAGE,
    MAX_PROFILE_KEY,
    MAX_REASON_BYTES,
    MAX_SHARED_TEXT_BYTES,
    MAX_TEAMS,
    MAX_URI_BYTES,
    MAX_VIEW_QUERY_BYTES,
    MOST_TOKEN_BUDGET,
)
from mycel.domain.link import Relation
from mycel.domain.memory import TAUGHT, WRITTEN, MadeBy, MemoryType, Scope, Status
from mycel.domain.memory_field import FieldRow, Holds
from mycel.domain.policy import ALL, NEVER, NONE, LeadsBelow, Promote, Secrets
from mycel.domain.request_filters import ANY_STATUS, EXPIRED
from mycel.domain.search_request import MAX_QUERY_BYTES, Ranking
from mycel.domain.source import SURROUNDINGS, CaptureMode, EventState
from mycel.domain.task import ENDINGS, MAX_ARTIFACTS, MAX_LESSONS, MAX_TASK_OUTPUT_BYTES
from mycel.domain.team import Kind, Role, Trust
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES
from mycel.wire.schemas import (
    ARTIFACT_CURSOR,
    ARTIFACT_FOLDER,
    ARTIFACT_PATH,
    CONTENT,
    DAY_OR_MOMENT,
    EPISODE_CURSOR,
    EPISODE_TAGS,
    FILE_CONTENT,
    FLAG,
    FRACTION,
    ID,
    ID_CURSOR,
    LABEL,
    LIFETIME,
    LINKED,
    MEMBER,
    MEMORY_CURSOR,
    METADATA,
    MOMENT,
    NOTE,
    PATH,
    PLACE,
    TAGS,
    TEAM,
    Schema,
    either,
    filled,
    listed,
    nullable,
    one_of,
    one_or_more,
    ref,
    some_of,
    text,
    whole,
)

_SPAN = either(LIFETIME, {"const": NEVER})
_ORDERS = "created_at|updated_at|title|path"

_BY_KIND: Mapping[Holds, Schema] = {
    Holds.CONTENT: CONTENT,
    Holds.NOTE: NOTE,
    Holds.NOTES: one_or_more(NOTE),
    Holds.TITLE: LABEL,
    Holds.LABEL: LABEL,
    Holds.PLACE: PLACE,
    Holds.PATH: PATH,
    Holds.TAGS: TAGS,
    Holds.FRACTION: FRACTION,
    Holds.FLAG: FLAG,
    **dict.fromkeys((Holds.BEGINNING, Holds.END), DAY_OR_MOMENT),
    Holds.MOMENT: MOMENT,
    Holds.SPAN: LIFETIME,
    Holds.METADATA: METADATA,
    Holds.ORIGIN: ref("Origin"),
    Holds.MEMBER: MEMBER,
    Holds.COUNT: whole(0, MAX_COUNT),
    Holds.CHECKSUM: {"type": "string", "pattern": "^[0-9a-fA-F]{64}$", "description": "A SHA-256."},
    Holds.FILE: ARTIFACT_PATH,
    Holds.FILE_CONTENT: FILE_CONTENT,
}


def _of_field(row: FieldRow) -> Schema:
    if row.options is None:
        return _BY_KIND[row.holds]
    return one_or_more(one_of(row.options)) if row.holds is Holds.CHOICES else one_of(row.options)


def _of_fields(table: Mapping[str, FieldRow]) -> dict[str, Schema]:
    return {name: _of_field(row) for name, row in table.items()}


WORDS: Mapping[str, Schema] = MappingProxyType(
    {
        **_of_fields({**SURROUNDINGS, **ARTIFACT_WRITTEN, **EPISODE_WRITTEN, **WRITTEN}),
        "acknowledge_warning": {
            "type": "boolean",
            "description": "Needed for a candidate with a `warning`: its text asks something of its reader, "
            "and somebody has read it.",
        },
        "about": {**MEMBER, "description": "The person it is about; by default the caller."},
        "after": whole(0, 2**63 - 1, description="Only changes after this sequence number."),
        "agent": {**LABEL, "description": "Who wrote it."},
        "agent_id": {**MEMBER, "description": "Who did it; by default the caller."},
        "asked_by": {**LABEL, "description": "Who asked for the task: what that member wishes comes first."},
        "artifacts": listed(ref("TaskArtifact"), most=MAX_ARTIFACTS),
        "as_of": {**MOMENT, "description": "What was believed at that moment."},
        "by": one_of(RateBy),
        "capture_mode": one_of(CaptureMode),
        "closed": FLAG,
        "confirmed": FLAG,
        "consolidate_every": _SPAN,
        "cursor": MEMORY_CURSOR,
        "decisions_need_rationale": FLAG,
        "deleted": FLAG,
        "dry_run": FLAG,
        "edits": ref("Edits"),
        "embedding": {**FLAG, "description": "Answer with the vectors of the texts too."},
        "episodes_kept": _SPAN,
        "event_id": ID,
        "expected_version": whole(1, MAX_COUNT, description="A conflict unless the memory is at this version."),
        "extract": FLAG,
        "folder": filled(MAX_NOTED_BYTES),
        "for_use": {**FLAG, "description": "Whether an agent's reading counts as use; a person's never does."},
        "from_id": ID,
        "id": ID,
        "idempotency_key": {**LABEL, "description": "The same key and request give the same answer for seven days."},
        "ids": one_or_more(ID, most=MAX_ITEMS),
        "inbox_kept": _SPAN,
        "into": {**ID, "description": "The memory that stays."},
        "items": listed(ref("NewMemory"), most=MAX_ITEMS),
        "kind": one_of(Kind),
        "knowledge": FLAG,
        "label": LABEL,
        "learning": CONTENT,
        "leads_below": one_of(LeadsBelow),
        "least_trust": one_of(Trust),
        "lessons": one_or_more(NOTE, most=MAX_LESSONS),
        "limit": whole(1, MAX_PAGE),
        "lives": {
            "type": "object",
            "properties": {made_by.value: nullable(_SPAN) for made_by in MadeBy},
            "additionalProperties": False,
        },
        "memory_ids": listed(ID, most=MAX_NAMED),
        "member_id": MEMBER,
        "memory_id": ID,
        "messages": ref("Messages"),
        "min_relevance": {**FRACTION, "description": "0 also lists whatever else the filters leave."},
        "missing": {**ID, "description": "A memory that the recalled search did not find."},
        "name": LABEL,
        "occasion": {"type": "string", "enum": [one.value for one in Occasion if one is not Occasion.SEARCH]},
        "operation": one_of(ChangeOperation),
        "order_by": {
            "type": "string",
            "pattern": f"^-?(?:{_ORDERS})$|^(?:{_ORDERS}) (?:ASC|DESC|asc|desc)$",
            "examples": ["-updated_at"],
        },
        "output": text(MAX_TASK_OUTPUT_BYTES),
        "over": either(ID, listed(ID, most=MAX_ITEMS, minItems=1)),
        "parent": TEAM,
        "private": FLAG,
        "promote": one_of(Promote),
        "promote_from": FRACTION,
        "purge_after": _SPAN,
        "query": text(MAX_QUERY_BYTES),
        "ranking": {**one_of(Ranking), "description": "By default that of the setting MYCEL_RANKING."},
        "reason": filled(MAX_REASON_BYTES),
        "recall_id": ID,
        "relation": one_of(Relation),
        "remote": filled(MAX_NOTED_BYTES),
        "report_id": ID,
        "result": ref("TaskResult"),
        "review": some_of(MemoryType, or_else=(ALL, NONE)),
        "role": one_of(Role),
        "scopes": some_of(Scope),
        "secrets": one_of(Secrets),
        "since": MOMENT,
        "similar": {**FLAG, "description": "Name what stands near it already."},
        "snoozed": {**FLAG, "description": "What the caller has put off, instead of the rest."},
        "source_id": ID,
        "state": one_of(EventState),
        "supersedes": {**ID, "description": "A memory that this one replaces."},
        "task": {**NOTE, "description": "What is to be done, or the id of a task that was tried before."},
        "team": {**LABEL, "description": "Another team that the caller's role lets it read."},
        "teams": listed(ref("NewTeam"), most=MAX_TEAMS),
        "system": {**LABEL, "description": "Whose records they are, such as mem0."},
        "text": filled(MAX_QUERY_BYTES),
        "thread": LABEL,
        "to_id": {**LINKED, "description": "A memory, or `project:NAME` or `repo:NAME`."},
        "token": {**LABEL, "description": "Its id or its secret."},
        "token_budget": whole(LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET),
        "trust": one_of(Trust),
        "until": MOMENT,
        "useful": FLAG,
        "with_tags": FLAG,
        "valid_at": {**DAY_OR_MOMENT, "description": "What holds in the world at that moment."},
        "value": CONTENT,
        "what_went_wrong": filled(4 * MAX_NOTE_BYTES),
    }
)
# Where they are the fields of a memory, they say so; elsewhere the same names hold other things.
_OF_A_MEMORY: Mapping[str, Schema] = {name: {**WORDS[name], "description": row.help} for name, row in WRITTEN.items()}
_OF_A_VALUE = {name: schema for name, schema in _OF_A_MEMORY.items() if WRITTEN[name].of_values}
BACKUP_NAME: Schema = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}
_FILTERS: Mapping[str, Schema] = {
    "project": LABEL,
    "repo": LABEL,
    "type": some_of(MemoryType),
    "status": some_of(Status, or_else=(ANY_STATUS, EXPIRED)),
}
_OF_PROJECT: Mapping[str, Schema] = {"project": LABEL}
_OF_EPISODES: Mapping[str, Schema] = {**_OF_PROJECT, "agent_id": LABEL, "cursor": EPISODE_CURSOR}
OF_ARTIFACTS: Mapping[str, Schema] = {
    name: schema for name, schema in _of_fields(OF_AN_ARTIFACT).items() if name != "agent_id"
}
_OF_A_MEMBER: Mapping[str, Schema] = {"id": MEMBER, "team": TEAM}

OVERRIDES: Mapping[str, Mapping[str, Schema]] = MappingProxyType(
    {
        "save": _OF_A_MEMORY,
        "update": _OF_A_MEMORY,
        "capture_session": {"scope": ref("RequestedScope")},
        "capture_conversation": {"scope": ref("RequestedScope")},
        "list": _FILTERS,
        "search": _FILTERS,
        "inbox": {**_FILTERS, "source": {**ID, "description": "What came from one source."}},
        "views.save": {**_FILTERS, "query": text(MAX_VIEW_QUERY_BYTES)},
        "settle": {"status": {"type": "string", "enum": [Status.CONTRADICTED.value, Status.SUPERSEDED.value]}},
        "index_file": {"path": filled(MAX_URI_BYTES), "content": filled(MAX_TRANSCRIPT_BYTES)},
        "context_for": {
            "agent": LABEL,
            "task": text(MAX_QUERY_BYTES),
        },
        "before_task": {"limit": whole(1, MAX_BRIEFED), "repo": LABEL},
        "complete_task": {"output": filled(MAX_TASK_OUTPUT_BYTES)},
        "after_task": {"action": {"type": "string", "enum": [ending.value for ending in ENDINGS]}},
        "inject_learning": {
            "category": {"type": "string", "enum": [category.value for category in TAUGHT]},
        },
        "upsert_profile_fact": {
            "key": {"allOf": [LABEL, {"maxLength": MAX_PROFILE_KEY}]},
        },
        "knowledge.list": _OF_PROJECT,
        "knowledge.candidates": _OF_PROJECT,
        "knowledge.search": _OF_PROJECT,
        "knowledge.upsert": {**_OF_A_VALUE, "expected_version": whole(0, MAX_COUNT)},
        "knowledge.import_markdown": {"text": filled(MAX_SHARED_TEXT_BYTES)},
        "episodes.list": _OF_EPISODES,
        "episodes.success_rates": _OF_EPISODES,
        "episodes.similar": _OF_PROJECT,
        "episodes.best_agents": _OF_PROJECT,
        "episodes.log": {"tags": EPISODE_TAGS},
        "episodes.log_many": {"items": listed(ref("NewEpisode"), most=MAX_ITEMS)},
        "imports.take": {"items": listed({"type": "object"}, most=MAX_ITEMS)},
        "artifacts.register": OF_ARTIFACTS,
        "artifacts.list": {
            **_OF_PROJECT,
            "type": one_of(ArtifactType),
            "path": ARTIFACT_FOLDER,
            "agent_id": LABEL,
            "cursor": ARTIFACT_CURSOR,
        },
        "activity.actions": {"cursor": ID_CURSOR, "agent": {**LABEL, "description": "Who made the change."}},
        "activity.injections": {"cursor": ID_CURSOR, "agent": {**LABEL, "description": "Who was given it."}},
        "activity.report": {
            "text": filled(MAX_INJECTION_BYTES),
            "session_id": LABEL,
            "task_id": LABEL,
        },
        "activity.use": {"by": {"type": "string", "enum": ["type", "agent"]}},
        "audit": {"cursor": EPISODE_CURSOR, "agent": {**LABEL, "description": "Who made the change."}},
        "reports": {"cursor": ID_CURSOR},
        "cascades": {"cursor": ID_CURSOR},
        "sources.list": {"cursor": ID_CURSOR},
        "sources.events": {"cursor": ID_CURSOR},
        "projects.register": {"name": PLACE, "description": filled(MAX_NOTED_BYTES)},
        "repos.register": {"name": PLACE},
        "workspace.add_team": {"name": TEAM},
        "workspace.members": {"team": TEAM},
        "workspace.add_member": _OF_A_MEMBER,
        "workspace.update_member": _OF_A_MEMBER,
        "workspace.remove_member": _OF_A_MEMBER,
        "workspace.embedding_progress": {"team": TEAM},
        "workspace.reset_store": {"team": TEAM},
        "workspace.create_backup": {"name": BACKUP_NAME},
        "workspace.verify_backup": {"name": BACKUP_NAME},
        "reviews.undo_writer": {
            "agent_id": {**MEMBER, "description": "Whose doings are taken back; without one, everybody's."},
            "since": {**MOMENT, "description": "What was done from this moment on."},
        },
    }
)


def meaning_of(name: str, *, operation: str = "") -> Schema:
    return OVERRIDES.get(operation, {}).get(name) or WORDS[name]
