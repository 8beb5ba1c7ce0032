"""The memory: the one canonical record, whatever its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mycel.domain.ids import MemberId, MemoryId, SourceId, TeamName
from mycel.domain.memory_field import FieldRow, Holds, Index, Panel, beside, known, said, table_of
from mycel.domain.surroundings import Similar, StandingValue
from mycel.domain.team import Role, Trust
from mycel.domain.validity import Validity

# Every memory has one: None is refused, and says nothing.
ALWAYS: Mapping[str, Any] = {"emptied": False, "unsaid": False}
_UNTOLD = dict.fromkeys(("of_values", "shown", "offered"), False)
COMES_FROM: Mapping[str, Any] = {**_UNTOLD, "found_by": True, "metavar": "ID", "panel": Panel.PLACE}
IN_THE_WORLD: Mapping[str, Any] = {"shown": True, "offered": True, "metavar": "TIME"}
NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class MemoryType(StrEnum):
    FACT = "fact"
    LESSON = "lesson"
    DECISION = "decision"
    PROFILE = "profile"
    PROJECT = "project"
    TASK_HINT = "task_hint"
    CONTEXT = "context"
    DOCUMENT = "document"
    NOTE = "note"
    REFERENCE = "reference"
    THREAD_SUMMARY = "thread_summary"
    EPISODE = "episode"
    ARTIFACT = "artifact"


class Category(StrEnum):
    """The finer labels that Mycel itself uses beside a type; writers may use others."""

    CONVENTION = "convention"
    ARCHITECTURE = "architecture"
    DECISION = "decision"
    FACT = "fact"
    MISTAKE_PATTERN = "mistake-pattern"
    BEST_PRACTICE = "best-practice"
    CODEBASE_KNOWLEDGE = "codebase-knowledge"
    PREFERENCE = "preference"


# What a lead's learning may be, and what each is for.
TAUGHT: Mapping[Category, str] = MappingProxyType(
    {
        Category.MISTAKE_PATTERN: "common mistakes to avoid",
        Category.BEST_PRACTICE: "preferred approaches",
        Category.CODEBASE_KNOWLEDGE: "facts about the codebase",
        Category.PREFERENCE: "preferences of users or the team",
    }
)


class Scope(StrEnum):
    """Where a memory applies."""

    GLOBAL = "global"
    PROJECT = "project"
    REPO = "repo"
    AGENT = "agent"
    SESSION = "session"


class Visibility(StrEnum):
    """Who may read a memory."""

    TEAM = "team"
    ROLE = "role"
    PRIVATE = "private"


class Status(StrEnum):
    INBOX = "inbox"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ARCHIVED = "archived"


# What holds, or may yet: it can contradict, and be contradicted.
STANDING = (Status.ACTIVE, Status.INBOX)


class SourceKind(StrEnum):
    MANUAL = "manual"
    CONVERSATION = "conversation"
    RUN = "run"
    DOCUMENT = "document"
    IMPORT = "import"


class Origin(StrEnum):
    """Who or what brought a memory in, as a source says it of itself."""

    HUMAN = "human"
    AGENT = "agent"
    IMPORT = "import"
    AUTO = "auto"


class MadeBy(StrEnum):
    """What created a memory; its time to live follows from this."""

    MANUAL = "manual"
    TASK_COMPLETION = "task_completion"
    SESSION_SUMMARY = "session_summary"
    FILE_INDEX = "file_index"
    INJECT_LEARNING = "inject_learning"
    EXTRACTION = "extraction"
    THREAD_SUMMARY = "thread_summary"
    EPISODE_SUMMARY = "episode_summary"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Where a memory came from: a stored source, or a place outside that only has a name."""

    source_id: SourceId | None = None
    thread_id: str | None = None
    message_id: str | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class SourceClaim:
    """Who a source says wrote it. Nothing follows from it: the writer is the caller, whose the permissions are."""

    type: Origin | None = None
    author_id: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """The characters of a stored source that support a memory."""

    source_id: SourceId
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One version of one record, and the table of its fields: whatever holds for a field is said in its line here.

    Access counters are kept apart, so reading never rewrites it. Without slots, so that `draft.checked_memory` can fill
    it in one step.
    """

    id: MemoryId = field(metadata=known(Holds.ID, "Its id", unscreened="made here"))
    team: TeamName = field(
        metadata=known(
            Holds.TEAM, "Its team", stored=False, unscreened="a name that was checked when the team was added"
        )
    )
    type: MemoryType = field(
        metadata=said(
            *(Holds.CHOICE, "What sort of memory"),
            **ALWAYS,
            options=MemoryType,
            of_values=False,
            offered=True,
            aliases=("memory_type", "kind"),
            metavar="TYPE",
        )
    )
    content: str = field(
        metadata=said(
            *(Holds.CONTENT, "The text itself: one thing learned, complete enough to help without this conversation"),
            **ALWAYS,
            as_argument=True,
            of_values=False,
            index=Index.CONTENT,
            shown=False,
            aliases=(*("text", "memory", "body", "note", "fact", "lesson", "decision", "message", "value", "data"),),
            option="",
        )
    )
    title: str = field(
        metadata=said(
            *(Holds.TITLE, "At most 80 characters; by default the first sentence"),
            emptied=False,
            index=Index.TITLE,
            aliases=("name", "subject", "heading"),
        )
    )
    summary: str | None = field(
        default=None,
        # Who asks for the whole of a memory reads what it sums up.
        metadata=said(Holds.NOTE, "A short form of the content", index=Index.SUMMARY, shown=False, offered=False),
    )
    tags: tuple[str, ...] = field(
        default=(),
        metadata=said(
            *(Holds.TAGS, "Such as api,github"),
            **ALWAYS,
            index=Index.LABELS,
            aliases=("tag", "labels", "keywords"),
            option="--tag",
            metavar="TAG",
        ),
    )
    category: str | None = field(
        default=None,
        metadata=said(
            *(Holds.LABEL, f"Such as {', '.join(Category)}"),
            found_by=True,
            of_values=False,
            index=Index.LABELS,
            aliases=("kind", "topic"),
            metavar="NAME",
        ),
    )
    key: str | None = field(
        default=None,
        metadata=said(
            *(Holds.LABEL, "A short name that identifies one value, such as test-command"),
            details="Makes it knowledge: one standing value per project, category and key",
            found_by=True,
            of_values=False,
            index=Index.LABELS,
            offered=False,
            aliases=("name",),
            metavar="NAME",
        ),
    )
    rationale: str | None = field(
        default=None, metadata=said(Holds.NOTE, "Why it was decided so", aliases=("why", "because"))
    )
    alternatives: tuple[str, ...] = field(
        default=(), metadata=said(Holds.NOTES, "What was considered and not chosen", option="--alternative")
    )
    project_id: str | None = field(
        default=None,
        metadata=said(
            *(Holds.PLACE, "The name of a project"),
            request="project",
            other_option="--project-id",
            found_by=True,
            of_values=False,
            index=Index.LABELS,
            aliases=("project_id", "project_name"),
            metavar="NAME",
            panel=Panel.PLACE,
        ),
    )
    repo_id: str | None = field(
        default=None,
        metadata=said(
            *(Holds.PLACE, "The name of a repository"),
            request="repo",
            other_option="--repo-id",
            found_by=True,
            index=Index.LABELS,
            aliases=("repository", "repo_id", "repo_name"),
            metavar="NAME",
            panel=Panel.PLACE,
        ),
    )
    path: str = field(
        metadata=said(
            *(Holds.PATH, "A folder such as /decisions"),
            **ALWAYS,
            details="/projects/NAME says the project; by default it follows from type and project",
            found_by=True,
            of_values=False,
            offered=False,
            aliases=("folder", "directory", "file", "file_path", "filename"),
            metavar="/PATH",
            panel=Panel.PLACE,
        )
    )
    scope: Scope = field(
        metadata=said(
            Holds.CHOICE, "Where it applies", **ALWAYS, options=Scope, of_values=False, option="", panel=Panel.PLACE
        )
    )
    session_id: str | None = field(
        default=None,
        metadata=said(
            Holds.LABEL,
            "The agent session it comes from",
            **COMES_FROM,
            option="--session",
            other_option="--session-id",
        ),
    )
    task_id: str | None = field(
        default=None,
        metadata=said(Holds.LABEL, "The task it comes from", **COMES_FROM, option="--task", aliases=("task", "id")),
    )
    visibility: Visibility = field(
        metadata=said(
            *(Holds.CHOICE, "Who may read it; by default the team"),
            **ALWAYS,
            options=Visibility,
            offered=True,
            metavar="WHO",
            panel=Panel.AUDIENCE,
        )
    )
    allowed_roles: tuple[Role, ...] = field(
        default=(),
        metadata=said(
            *(Holds.CHOICES, "With the visibility `role`: who may read it"),
            **ALWAYS,
            label="roles",
            options=Role,
            option="--role",
            metavar="ROLE",
            panel=Panel.AUDIENCE,
        ),
    )
    agent_id: MemberId = field(
        metadata=known(Holds.MEMBER, "Who wrote it", label="by", unscreened="an id that was checked when it was read")
    )
    status: Status = field(
        metadata=said(
            *(Holds.CHOICE, "What becomes of it"),
            **ALWAYS,
            options=Status,
            at_first=False,
            of_values=False,
            shown=True,
            metavar="STATUS",
        )
    )
    confidence: float = field(
        metadata=said(Holds.FRACTION, "How sure it is, 0 to 1", **ALWAYS, of_values=False, metavar="0..1")
    )
    trust: Trust = field(metadata=known(Holds.CHOICE, "How far its writer is trusted", options=Trust))
    # None in the answer to a write.
    freshness: float | None = field(
        default=None,
        compare=False,
        metadata=known(Holds.FRACTION, "How little its age took from its rank when it was read, 0 to 1", stored=False),
    )
    validity: Validity | None = field(
        default=None,
        compare=False,
        metadata=known(
            Holds.CHOICE,
            "Whether it held in the world when it was read, or others contradict it",
            options=Validity,
            stored=False,
        ),
    )
    similar: tuple[Similar, ...] = field(
        default=(),
        compare=False,
        metadata=known(Holds.NEIGHBOURS, "What stood near it when it was saved, if that was asked for", stored=False),
    )
    embedding: tuple[float, ...] = field(
        default=(),
        compare=False,
        metadata=known(Holds.VECTOR, "The vector of its text, if that was asked for", stored=False),
    )
    notices: tuple[str, ...] = field(
        default=(),
        compare=False,
        metadata=known(
            *(Holds.NOTES, "What a write did besides, such as masking secrets, in the answer to that write"),
            stored=False,
        ),
    )
    standing: StandingValue | None = field(
        default=None,
        compare=False,
        metadata=known(
            Holds.NEIGHBOURS, "In the answer to a write of knowledge that waits: the value that stands", stored=False
        ),
    )
    decided_by: tuple[Role, ...] = field(
        default=(),
        compare=False,
        metadata=known(
            *(Holds.CHOICES, "In the answer to a write of knowledge that waits: the roles that decide about it"),
            options=Role,
            stored=False,
        ),
    )
    confirmations: int = field(
        default=0,
        compare=False,
        metadata=known(
            Holds.NUMBER, "How many others have written the same value, in answers about knowledge", stored=False
        ),
    )
    version: int = field(metadata=known(Holds.NUMBER, "Counts its changes, from 1", shown=True))
    created_at: datetime = field(metadata=known(Holds.MOMENT, "When it was written"))
    updated_at: datetime = field(metadata=known(Holds.MOMENT, "When it was last changed"))
    observed_at: datetime | None = field(
        default=None,
        metadata=said(Holds.MOMENT, "When it was seen or said, if not now", of_values=False, option=""),
    )
    expires_at: datetime | None = field(
        default=None,
        metadata=said(
            Holds.MOMENT, "When its time is up", of_values=False, shown=True, option="", panel=Panel.AUDIENCE
        ),
    )
    valid_from: datetime | None = field(
        default=None,
        metadata=said(
            Holds.BEGINNING, "From when on it holds in the world: a time, or a day", **IN_THE_WORLD, column="holds_from"
        ),
    )
    valid_until: datetime | None = field(
        default=None,
        metadata=said(
            Holds.END, "Until when it holds in the world: a time, or a last day", **IN_THE_WORLD, column="holds_until"
        ),
    )
    deleted_at: datetime | None = field(default=None, metadata=known(Holds.MOMENT, "When it was deleted"))
    source_kind: SourceKind = field(
        metadata=said(
            *(Holds.CHOICE, "What it was drawn from; by default manual"),
            **ALWAYS,
            options=SourceKind,
            of_values=False,
            metavar="KIND",
            panel=Panel.PLACE,
        )
    )
    made_by: MadeBy = field(metadata=known(Holds.CHOICE, "What created it", options=MadeBy))
    source_ref: SourceRef | None = field(
        default=None, metadata=known(Holds.ORIGIN, "Where it came from", label="source")
    )
    evidence_ref: EvidenceRef | None = field(
        default=None, metadata=known(Holds.EVIDENCE, "The characters of its source that support it", label="evidence")
    )
    metadata: Mapping[str, Any] = field(
        default_factory=lambda: NO_METADATA,
        hash=False,
        metadata=said(Holds.METADATA, "Names and values of your own", option=""),
    )

    @property
    def applied(self) -> bool:
        """Whether a write of knowledge stands now; otherwise it waits until somebody decides."""
        return self.status is Status.ACTIVE


_BESIDE = (
    beside(
        "ttl",
        *(Holds.SPAN, "Forget it after 12h, 7d, 4w and so on"),
        of_values=False,
        metavar="SPAN",
        panel=Panel.AUDIENCE,
    ),
    beside("source", Holds.ORIGIN, "Where it came from", option=""),
    beside(
        "needs_review",
        *(Holds.FLAG, "Send it to the inbox for a human first"),
        **ALWAYS,
        of_values=False,
        panel=Panel.WRITING,
    ),
)
_TABLE = table_of(Memory, *_BESIDE)
FIELDS: Mapping[str, FieldRow] = MappingProxyType({one.name: _TABLE[one.name] for one in dataclass_fields(Memory)})
# By their names in a request, the words beside the fields included.
WRITTEN: Mapping[str, FieldRow] = MappingProxyType({row.request: row for row in _TABLE.values() if row.written})
INDEXED: Mapping[Index, tuple[str, ...]] = MappingProxyType(
    {index: tuple(row.name for row in FIELDS.values() if row.index is index) for index in Index}
)


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a memory in time, believed from the one moment until the other."""

    memory: Memory
    believed_from: datetime
    believed_until: datetime | None
    changed_by: MemberId
    reason: str | None = None
