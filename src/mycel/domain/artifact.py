"""Artifacts: what an agent produced, such as a file or a patch; a memory, and a row of what only an artifact has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from mycel.domain import fields
from mycel.domain.detailed import Detailed
from mycel.domain.ids import MemberId
from mycel.domain.memory import ALWAYS, WRITTEN
from mycel.domain.memory_field import FieldRow, Holds, beside, known, said, table_of
from mycel.errors import InvalidInput

MAX_PATH = 1024
MAX_PATH_PARTS = 64
_BETWEEN = "\n\n"
_INVISIBLE = re.compile(f"[{fields.INVISIBLE}]")


class ArtifactType(StrEnum):
    FILE = "file"
    PATCH = "patch"
    TEST = "test"
    DOCUMENT = "document"
    CONFIG = "config"


class FileState(StrEnum):
    """How a file compares to what it was when it was registered."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactDetail:
    """What is kept beside the memory, whose content holds the texts, and the table of its fields.

    Where the texts stand in the content is counted in characters; None where there is none.
    """

    agent_id: MemberId = field(
        metadata=said(
            *(Holds.MEMBER, "Who produced it, if not you"),
            details="For orchestrators, leads and admins",
            option="--agent",
            metavar="MEMBER",
        )
    )
    type: ArtifactType = field(
        metadata=said(Holds.CHOICE, "What sort of file", **ALWAYS, options=ArtifactType, metavar="TYPE")
    )
    path: str = field(
        metadata=said(
            Holds.FILE, "The file, below a workspace folder, such as src/uploads.py", as_argument=True, option=""
        )
    )
    size_bytes: int | None = field(
        default=None, metadata=said(Holds.COUNT, "The size of the file, if you know it", metavar="N")
    )
    checksum: str | None = field(
        default=None, metadata=said(Holds.CHECKSUM, "The SHA-256 of the file, if you know it", metavar="SHA256")
    )
    description_end: int | None = field(
        default=None, metadata=known(Holds.COUNT, "Where the description ends in the content")
    )
    text_start: int | None = field(default=None, metadata=known(Holds.COUNT, "Where the text starts in the content"))


# Of the memory, and so what the artifacts of a task have from the task.
_OF_THE_MEMORY = ("task_id", "project", "repo", "session_id", "tags", "visibility", "allowed_roles")
_TABLE = table_of(
    ArtifactDetail,
    beside("description", Holds.CONTENT, "What it is, in a sentence"),
    beside("content", Holds.FILE_CONTENT, "Its text, instead of the file's; `-` reads it from standard input"),
    beside(
        "keep_content", Holds.FLAG, "Keep the text, so that a search finds it", **ALWAYS, stored=False, option="--keep"
    ),
)
# What is told of an artifact beside its memory, by the names in a request.
OF_AN_ARTIFACT: Mapping[str, FieldRow] = MappingProxyType({name: row for name, row in _TABLE.items() if row.written})
ARTIFACT_WRITTEN: Mapping[str, FieldRow] = MappingProxyType(
    OF_AN_ARTIFACT | {name: WRITTEN[name] for name in _OF_THE_MEMORY}
)


@dataclass(frozen=True, slots=True)
class Artifact(Detailed):
    """`agent_id` is who produced it; the author of the memory is who registered it."""

    detail: ArtifactDetail

    @property
    def agent_id(self) -> MemberId:
        return self.detail.agent_id

    @property
    def type(self) -> ArtifactType:
        return self.detail.type

    @property
    def path(self) -> str:
        return self.detail.path

    @property
    def size_bytes(self) -> int | None:
        return self.detail.size_bytes

    @property
    def checksum(self) -> str | None:
        return self.detail.checksum

    @property
    def description(self) -> str | None:
        end = self.detail.description_end
        return None if end is None else self.memory.content[:end]

    @property
    def content(self) -> str | None:
        """The text of the file, if it was kept; likely secrets are masked in it."""
        start = self.detail.text_start
        return None if start is None else self.memory.content[start:]


@dataclass(frozen=True, slots=True)
class Verification:
    """Size and checksum are those of the file now; `why` says what the state rests on."""

    state: FileState
    size_bytes: int | None
    checksum: str | None
    why: str


class ArtifactFilters(NamedTuple):
    """What is asked of the detail row; a path that ends in `/` asks for everything below that folder."""

    type: ArtifactType | None = None
    path: str | None = None
    agent_id: str | None = None

    def matches(self, detail: ArtifactDetail) -> bool:
        """The rule itself; the stores' SQL must agree with it."""
        wanted = self.path
        inside = wanted is None or detail.path == wanted or (wanted.endswith("/") and detail.path.startswith(wanted))
        return self.type in {None, detail.type} and self.agent_id in {None, detail.agent_id} and inside


class Composed(NamedTuple):
    """The content of an artifact's memory, and where its parts stand."""

    content: str
    description_end: int | None
    text_start: int | None


def compose(path: str, *, description: str | None, text: str | None) -> Composed:
    """Without a description the path stands for it, so that the memory says something."""
    head = path if description is None else description
    end = None if description is None else len(description)
    if text is None:
        return Composed(head, end, None)
    return Composed(f"{head}{_BETWEEN}{text}", end, len(head) + len(_BETWEEN))


def read_path(value: object, *, field: str = "path") -> str:
    """A path inside a folder, as POSIX writes it; `./` and doubled slashes are taken out."""
    found = fields.filled_text(value, field=field, max_bytes=4 * MAX_PATH)
    if "\\" in found:
        raise InvalidInput("holds a backslash: separate folders by '/'", field=field)
    if _INVISIBLE.search(found):
        raise InvalidInput("holds a control character", field=field)
    parts = [part for part in found.split("/") if part not in {"", "."}]
    if found.startswith("/") or ".." in parts:
        raise InvalidInput("must lie inside a workspace folder, without '..'", field=field)
    if not parts or found.endswith("/"):
        raise InvalidInput("must name a file", field=field)
    path = "/".join(parts)
    if len(path) > MAX_PATH or len(parts) > MAX_PATH_PARTS:
        raise InvalidInput(f"is longer than {MAX_PATH} characters or {MAX_PATH_PARTS} parts", field=field)
    return path


def read_path_filter(value: object, *, field: str = "path") -> str:
    """One path, or with a `/` at its end the folder of many."""
    if not isinstance(value, str) or not value.strip("./") or not value.endswith("/"):
        return read_path(value, field=field)
    return read_path(value.rstrip("/"), field=field) + "/"
