"""From a request to a record: every field of a memory is checked here, once, and what is missing is derived."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.fields import MAX_COUNT
from mycel.domain.ids import MemoryId, SourceId, is_id, parse_id
from mycel.domain.marks import MASKED, REVIEW, marks_of, refuse_marks, with_marks
from mycel.domain.memory import (
    FIELDS,
    NO_METADATA,
    WRITTEN,
    MadeBy,
    Memory,
    MemoryType,
    Origin,
    Scope,
    SourceClaim,
    SourceKind,
    SourceRef,
    Status,
    Visibility,
)
from mycel.domain.memory_field import FieldRow, Holds
from mycel.domain.names import read_names, unknown_name
from mycel.domain.policy import NEEDS_RATIONALE, Policy
from mycel.domain.team import Caller, Kind, Role, Trust
from mycel.domain.validity import Validity
from mycel.errors import InvalidInput, InvalidState

MAX_CONTENT_BYTES = 64 * 1024
DEFAULT_POLICY = Policy()
MAX_TITLE = 80
MAX_NOTE_BYTES = 8 * 1024
PROJECTS = "projects"
# Among the values of a draft: it becomes a mark, and no field of the memory.
CLAIM = "source_claim"
# Begins with one class of characters, by which the search passes over all others at once.
_SENTENCE_END = re.compile(r"[.!?\u3002\uff01\uff1f\n](?:(?<![.!?])|(?=\s))")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_FOLDERS = {
    MemoryType.CONTEXT: "/context",
    MemoryType.PROFILE: "/context",
    MemoryType.PROJECT: "/context",
    MemoryType.DECISION: "/decisions",
    MemoryType.DOCUMENT: "/docs",
    MemoryType.REFERENCE: "/docs",
}
_OF_AN_AGENT = frozenset({MemoryType.EPISODE, MemoryType.ARTIFACT, MemoryType.TASK_HINT})
NO_RATIONALE = "a decision without its rationale: an update with `rationale` says why it was made"
EXPLAINED_LATER = "its rationale was added later, and the team's policy leaves it to a person"
_UNSET: Mapping[str, Any] = {row.name: row.empty for row in FIELDS.values()}


Reader = Callable[[object, str], Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """Checked fields of a memory, by their names in `Memory`, and what depends on the moment or on who looked at it.

    `suspicion` is why a person should look at the text first. `masked` has the kind of each secret that was masked.
    """

    values: Mapping[str, Any]
    ttl: timedelta | None
    needs_review: bool
    suspicion: str | None = None
    masked: tuple[str, ...] = ()


def notices_of(
    masked: Sequence[str], *, before: Sequence[str] = (), after: Sequence[str] = (), unexplained: bool = False
) -> tuple[str, ...]:
    """Say what a write did that nobody asked for in so many words, and what is missing in a decision.

    Masked secrets, and tags that gave way to others.
    """
    found: list[str] = []
    if unexplained:
        found.append(NO_RATIONALE)
    if masked:
        kinds = ", ".join(dict.fromkeys(masked)).replace("_", " ")
        found.append(f"{len(masked)} secret{'s' if len(masked) > 1 else ''} masked ({kinds})")
    if gone := [tag for tag in before if tag not in after]:
        found.append(
            f"tag{'s' if len(gone) > 1 else ''} {', '.join(gone)} taken off: the tags given replace those before"
        )
    return tuple(found)


def _is_unexplained(type: MemoryType, rationale: str | None) -> bool:
    return type is MemoryType.DECISION and not rationale


def read_fields(given: Mapping[str, object], *, max_content: int = MAX_CONTENT_BYTES) -> Draft:
    """Checks whatever of a memory's fields a request gave. In an update, None empties a field."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        row = WRITTEN.get(name)
        if row is None:
            return read_fields(read_names(given, WRITTEN, kind="a field of a memory"), max_content=max_content)
        if value is None:
            if not row.emptied:
                raise InvalidInput("must not be empty", field=name)
            # No time to live is the same as no end.
            values["expires_at" if name == "ttl" else row.name] = row.empty
        elif row.holds is Holds.CONTENT:
            values[row.name] = fields.filled_text(value, field=name, max_bytes=max_content)
        else:
            values[row.name] = read_value(row, value)
    ttl = values.pop("ttl", None)
    if ttl is not None and values.get("expires_at") is not None:
        raise InvalidInput("give either ttl or expires_at, not both", field="ttl")
    needs_review = bool(values.pop("needs_review", False))
    if "source" in values:
        origin = _read_source(values.pop("source"))
        if "source_kind" in values and origin.get("source_kind", values["source_kind"]) is not values["source_kind"]:
            raise InvalidInput("is not that of the source, which says type", field="source_kind")
        values.update(origin)
    return Draft(values, ttl, needs_review)


def read_value(row: FieldRow, value: object) -> Any:
    """Whatever a field of its kind may hold."""
    return _reader(row)(value, row.request)


def new_memory(draft: Draft, *, caller: Caller, policy: Policy = DEFAULT_POLICY) -> dict[str, Any]:
    """Every field of a first version by this caller but its id and moment, which the transaction knows."""
    values = dict(draft.values)
    if (claim := values.pop(CLAIM, None)) is not None:
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), source=_claim_mark(claim))
    if "status" in values:
        raise InvalidInput("of a new memory follows from who writes it", field="status")
    values.setdefault("type", MemoryType.FACT)
    values.setdefault("visibility", Visibility.TEAM)
    values.setdefault("confidence", 1.0)
    values.setdefault("source_kind", SourceKind.MANUAL)
    values.setdefault("made_by", MadeBy.MANUAL)
    _tell_summary(values, values["type"])
    values.setdefault("title", first_sentence(values["content"]))
    if (project := project_of(values.get("path", "/"))) is not None:
        values.setdefault("project_id", project)
    values.setdefault("scope", default_scope(values.get("project_id"), values.get("repo_id")))
    values.setdefault("path", default_path(values["type"], values.get("project_id"), caller.member_id))
    values["team"] = caller.team
    values["agent_id"] = caller.member_id
    values["trust"] = caller.trust
    reason = review_reason(draft, values["type"], caller, policy)
    values["status"] = Status.ACTIVE if reason is None else Status.INBOX
    if reason is not None:
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), review=reason)
    if draft.masked:
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), masked=list(dict.fromkeys(draft.masked)))
    if notices := notices_of(draft.masked, unexplained=_is_unexplained(values["type"], values.get("rationale"))):
        values["notices"] = notices
    check_audience(values["visibility"], values.get("allowed_roles", ()))
    check_validity(values.get("valid_from"), values.get("valid_until"))
    return values


def written_at(values: Mapping[str, Any], at: datetime, *, id: MemoryId, expires_at: datetime | None = None) -> Memory:
    """The first version, once its moment is known."""
    moments: dict[str, Any] = {"id": id, "created_at": at, "updated_at": at, "version": 1}
    if expires_at is not None:
        moments["expires_at"] = expires_at
    return checked_memory({**_UNSET, **values, **moments})


def checked_memory(values: dict[str, Any]) -> Memory:
    """A memory from a dictionary of all its fields, which becomes its own.

    A frozen dataclass sets each field by a call, ten times the cost of the SELECT that brought the values.
    """
    memory = object.__new__(Memory)
    object.__setattr__(memory, "__dict__", values)
    return memory


def contested(memory: Memory) -> Memory:
    """The same memory, said to be contested; what is over or has not begun stays that."""
    if memory.validity in {Validity.PAST, Validity.UPCOMING}:
        return memory
    return checked_memory({**vars(memory), "validity": Validity.CONTESTED})


def review_reason(
    draft: Draft, type: MemoryType, caller: Caller, policy: Policy, *, current: Memory | None = None
) -> str | None:
    """What nobody has vouched for yet goes to the inbox, and says why."""
    if draft.suspicion is not None:
        return draft.suspicion
    if draft.needs_review or draft.values.get("metadata", NO_METADATA).get("needsReview") is True:
        return "its writer asked for a review"
    if not policy.trusts(caller.trust):
        return f"{caller.member_id} has {caller.trust} trust, and the team asks for {policy.least_trust}"
    rationale = draft.values.get("rationale", current and current.rationale)
    if (reason := policy.review_reason(type, rationale)) is not None:
        return reason
    if type is MemoryType.PROFILE and caller.kind is not Kind.HUMAN:
        return "an agent wrote it about a person, who should confirm it"
    return None


def changed_memory(
    current: Memory, draft: Draft, *, caller: Caller, at: datetime, now: datetime, policy: Policy = DEFAULT_POLICY
) -> Memory:
    """The next version, of a moment in the history; what had been derived is derived again from the new values.

    How long it lives is counted from `now`, which is what the clock says.
    """
    values = dict(draft.values)
    if draft.ttl is not None:
        values["expires_at"] = now + draft.ttl
    _keep_marks(values, current)
    values |= _name_masked(values, current, draft.masked)
    _tell_summary(values, values.get("type", current.type))
    reason = review_reason(draft, values.get("type", current.type), caller, policy, current=current)
    values |= _mark_review(values, current, reason)
    if "path" in values and current.project_id == project_of(current.path):
        values.setdefault("project_id", project_of(values["path"]) or current.project_id)
    project = values.get("project_id", current.project_id)
    repo = values.get("repo_id", current.repo_id)
    if "content" in values and current.title == first_sentence(current.content):
        values.setdefault("title", first_sentence(values["content"]))
    if current.scope is default_scope(current.project_id, current.repo_id):
        values.setdefault("scope", default_scope(project, repo))
    if current.path == default_path(current.type, current.project_id, current.agent_id):
        values.setdefault("path", default_path(values.get("type", current.type), project, current.agent_id))
    if values.get("visibility", current.visibility) is not Visibility.ROLE:
        values.setdefault("allowed_roles", ())
    trust = min(current.trust, caller.trust, key=list(Trust).index)
    unexplained = values.get("type", current.type) is not current.type and _is_unexplained(
        values["type"], values.get("rationale", current.rationale)
    )
    after = values.get("tags", current.tags)
    notices = notices_of(draft.masked, before=current.tags, after=after, unexplained=unexplained)
    memory = replace(current, **values, notices=notices, trust=trust, updated_at=at, version=current.version + 1)
    # What it had may be the other half.
    check_audience(memory.visibility, memory.allowed_roles, wrong=InvalidState)
    check_validity(memory.valid_from, memory.valid_until, wrong=InvalidState)
    return memory


def _mark_review(values: Mapping[str, Any], current: Memory, reason: str | None) -> dict[str, Any]:
    """Have a change wait for this reason; without one, say no longer what it waited for."""
    metadata = values.get("metadata", current.metadata)
    if reason is not None:
        return {"status": Status.INBOX, "metadata": with_marks(metadata, review=reason)}
    if values.get("status", Status.INBOX) is not Status.INBOX:
        return {"metadata": with_marks(metadata, review=None)}
    if current.metadata.get(REVIEW) == NEEDS_RATIONALE:
        return {"metadata": with_marks(metadata, review=EXPLAINED_LATER)}
    return {}


def _keep_marks(values: dict[str, Any], current: Memory) -> None:
    """A writer's metadata takes no mark away; another source brings its own claim."""
    if "metadata" in values:
        values["metadata"] = MappingProxyType({**values["metadata"], **marks_of(current.metadata)})
    if CLAIM in values:
        claimed = _claim_mark(values.pop(CLAIM))
        values["metadata"] = with_marks(values.get("metadata", current.metadata), source=claimed)


def _name_masked(values: Mapping[str, Any], current: Memory, masked: Sequence[str]) -> dict[str, Any]:
    """Name the secrets that were masked: of a new text those in it, of other fields those that came in besides."""
    if not masked and ("content" not in values or MASKED not in current.metadata):
        return {}
    standing = () if "content" in values else current.metadata.get(MASKED, ())
    kinds = list(dict.fromkeys([*standing, *masked]))
    return {"metadata": with_marks(values.get("metadata", current.metadata), masked=kinds or None)}


def _tell_summary(values: dict[str, Any], type: MemoryType) -> None:
    """A summary of a thread that no person or agent wrote is nothing drawn from it."""
    if values.get("made_by") is MadeBy.EXTRACTION and type is MemoryType.THREAD_SUMMARY:
        values["made_by"] = MadeBy.THREAD_SUMMARY


def first_sentence(content: str) -> str:
    """The title of a memory that was given none: its first sentence, at most 80 characters."""
    start = content.lstrip("# \t\r\n")[: 2 * MAX_TITLE] or content.strip()[: 2 * MAX_TITLE]
    end = _SENTENCE_END.search(start)
    sentence = " ".join((start[: end.end()] if end else start).split())
    if len(sentence) <= MAX_TITLE:
        return sentence or "Untitled"
    cut = sentence[: MAX_TITLE - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MAX_TITLE // 2 :] else cut) + "…"


def default_scope(project_id: str | None, repo_id: str | None) -> Scope:
    if repo_id:
        return Scope.REPO
    return Scope.PROJECT if project_id else Scope.GLOBAL


def project_of(path: str) -> str | None:
    """The project that a path below `/projects` says."""
    _, *parts = path.split("/")
    name = parts[1] if len(parts) > 1 and parts[0] == PROJECTS else ""
    return name if 0 < len(name) <= fields.MAX_LABEL else None


def default_path(type: MemoryType, project_id: str | None, agent_id: str) -> str:
    if project_id:
        plural = f"{type[:-1]}ies" if type.endswith("y") else f"{type}s"
        return f"/{PROJECTS}/{project_id}/{plural}"
    if type in _OF_AN_AGENT:
        return f"/agents/{agent_id}"
    return _FOLDERS.get(type, "/notes")


def check_audience(
    visibility: Visibility, allowed_roles: tuple[Role, ...], *, wrong: type[InvalidInput] = InvalidInput
) -> None:
    if visibility is Visibility.ROLE and not allowed_roles:
        raise wrong("name at least one role when visibility is 'role'", field="allowed_roles")
    if visibility is not Visibility.ROLE and allowed_roles:
        raise wrong("is only for visibility 'role'", field="allowed_roles")


def check_validity(
    valid_from: datetime | None, valid_until: datetime | None, *, wrong: type[InvalidInput] = InvalidInput
) -> None:
    if valid_from is not None and valid_until is not None and valid_until < valid_from:
        raise wrong("must not be before valid_from", field="valid_until")


def _read_source(value: object) -> dict[str, Any]:
    """Read where a memory comes from. Who wrote it is always the caller; what the source says of that is a claim."""
    if value is None:
        return {"source_ref": None, CLAIM: None}
    if isinstance(value, str):
        ref = (
            SourceRef(source_id=SourceId(value)) if is_id(value) else SourceRef(uri=fields.label(value, field="source"))
        )
        return {"source_ref": ref, CLAIM: None}
    if not isinstance(value, Mapping):
        raise InvalidInput("must be text or an object with type, thread_id, message_id or uri", field="source")
    given = cast(Mapping[str, object], value)
    names = {
        "type",
        "authorId",
        "author_id",
        "threadId",
        "thread_id",
        "messageId",
        "message_id",
        "uri",
        "source_id",
    }
    if unknown := sorted(str(name) for name in given if name not in names):
        wrong = unknown_name(unknown[0], sorted(names), kind="part of a source")
        raise InvalidInput(f"has {wrong.field}, which {wrong.problem}", field="source")

    def one(*aliases: str) -> str | None:
        found = next((given[alias] for alias in aliases if given.get(alias) is not None), None)
        return None if found is None else fields.label(found, field=f"source.{aliases[0]}")

    stored = given.get("source_id")
    ref = SourceRef(
        source_id=None if stored is None else SourceId(parse_id(stored, field="source.source_id")),
        thread_id=one("thread_id", "threadId"),
        message_id=one("message_id", "messageId"),
        uri=one("uri"),
    )
    kind = None if given.get("type") is None else fields.choice(given["type"], Origin, field="source.type")
    claim = SourceClaim(kind if kind in {Origin.HUMAN, Origin.AGENT} else None, one("author_id", "authorId"))
    return {
        **_BROUGHT_IN.get(kind, {}),
        **({} if ref == SourceRef() else {"source_ref": ref}),
        CLAIM: None if claim == SourceClaim() else claim,
    }


_BROUGHT_IN: Mapping[Origin | None, Mapping[str, Any]] = {
    Origin.IMPORT: {"source_kind": SourceKind.IMPORT, "made_by": MadeBy.IMPORT},
    Origin.AUTO: {"source_kind": SourceKind.CONVERSATION, "made_by": MadeBy.EXTRACTION},
}


def _claim_mark(claim: SourceClaim | None) -> dict[str, str] | None:
    if claim is None:
        return None
    return {name: str(value) for name, value in (("type", claim.type), ("author_id", claim.author_id)) if value}


def _texts(value: object, name: str) -> tuple[str, ...]:
    listed = fields.several(value, field=name)
    return tuple(fields.filled_text(one, field=name, max_bytes=MAX_NOTE_BYTES) for one in listed)


def _note(value: object, name: str) -> str:
    return fields.filled_text(value, field=name, max_bytes=MAX_NOTE_BYTES)


def _label(value: object, name: str) -> str:
    return fields.label(value, field=name)


def _place(value: object, name: str) -> str:
    return fields.place(value, field=name)


def _moment(value: object, name: str) -> datetime:
    return fields.moment(value, field=name)


def _count(value: object, name: str) -> int:
    return fields.whole(value, field=name, least=0, most=MAX_COUNT)


def _checksum(value: object, name: str) -> str:
    if not isinstance(value, str) or _SHA256.fullmatch(value) is None:
        raise InvalidInput("must be a SHA-256 in 64 hexadecimal digits", field=name)
    return value.lower()


def _metadata(value: object, name: str) -> Mapping[str, Any]:
    return refuse_marks(fields.metadata(value, field=name), field=name)


def _choice_reader(options: type[StrEnum]) -> Reader:
    return lambda value, name: fields.choice(value, options, field=name)


def _choices_reader(options: type[StrEnum]) -> Reader:
    return lambda value, name: fields.choices(value, options, field=name)


@cache
def _reader(row: FieldRow) -> Reader:
    if row.options is not None:
        return (_choices_reader if row.holds is Holds.CHOICES else _choice_reader)(row.options)
    return _READERS[row.holds]


_READERS: Mapping[Holds, Reader] = {
    Holds.NOTE: _note,
    Holds.NOTES: _texts,
    Holds.TITLE: _label,
    Holds.LABEL: _label,
    Holds.PLACE: _place,
    Holds.PATH: lambda value, name: fields.path(value, field=name),
    Holds.TAGS: lambda value, name: fields.tags(value, field=name),
    Holds.FRACTION: lambda value, name: fields.fraction(value, field=name),
    Holds.FLAG: lambda value, name: fields.flag(value, field=name),
    Holds.COUNT: _count,
    Holds.CHECKSUM: _checksum,
    Holds.MOMENT: _moment,
    Holds.BEGINNING: lambda value, name: fields.day_or_moment(value, field=name),
    Holds.END: lambda value, name: fields.day_or_moment(value, field=name, ends=True),
    Holds.SPAN: lambda value, name: fields.lifetime(value, field=name),
    Holds.METADATA: _metadata,
    # Read when the others are.
    Holds.ORIGIN: lambda value, name: value,
}
