"""What a writer can say about a record, from the tables of fields; type checkers read the stub beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from mycel.domain.artifact import ARTIFACT_WRITTEN, OF_AN_ARTIFACT
from mycel.domain.episode import COUNTS, EPISODE_WRITTEN
from mycel.domain.memory import WRITTEN
from mycel.domain.memory_field import MOMENTS, FieldRow, Holds
from mycel.domain.source import SURROUNDINGS

_TYPES: Mapping[Holds, Any] = {
    **dict.fromkeys((Holds.CONTENT, Holds.NOTE, Holds.TITLE, Holds.LABEL, Holds.PLACE, Holds.PATH, Holds.CHOICE), str),
    **dict.fromkeys((Holds.MEMBER, Holds.FILE, Holds.CHECKSUM), str),
    Holds.FILE_CONTENT: str | bytes,
    Holds.COUNT: int,
    Holds.NOTES: Sequence[str],
    Holds.CHOICES: Sequence[str],
    Holds.TAGS: Sequence[str] | str,
    Holds.FRACTION: float,
    Holds.FLAG: bool,
    **dict.fromkeys(MOMENTS, datetime | str),
    Holds.SPAN: timedelta | float | str,
    Holds.METADATA: Mapping[str, Any],
    Holds.ORIGIN: Mapping[str, Any] | str,
}


def _types(
    wanted: Callable[[FieldRow], bool],
    may_be_none: Callable[[FieldRow], bool] = lambda _: True,
    *,
    of: Mapping[str, FieldRow] = WRITTEN,
) -> dict[str, Any]:
    return {
        name: _TYPES[row.holds] | None if may_be_none(row) else _TYPES[row.holds]
        for name, row in of.items()
        if wanted(row)
    }


# The arguments of `TypedDict` must be plain for a type checker; these are for whoever looks at run time.
_made: Any = TypedDict
MemoryFields = _made(
    "MemoryFields",
    {
        **_types(lambda row: row.at_first and not row.as_argument, lambda row: row.unsaid),
        "idempotency_key": str | None,
    },
    total=False,
)
ChangedFields = _made(
    "ChangedFields",
    {
        **MemoryFields.__annotations__,
        **_types(lambda row: row.as_argument or not row.at_first, lambda row: row.emptied),
        "expected_version": int | None,
        "reason": str | None,
    },
    total=False,
)
KnowledgeFields = _made("KnowledgeFields", _types(lambda row: row.of_values), total=False)
SurroundingFields = _made(
    "SurroundingFields", _types(lambda row: row.request != "task_id", of=SURROUNDINGS), total=False
)
EpisodeDetailFields = _made(
    "EpisodeDetailFields", _types(lambda row: row.name in {"agent_id", *COUNTS}, of=EPISODE_WRITTEN), total=False
)
EpisodeFields = _made(
    "EpisodeFields",
    {
        **_types(lambda row: row.name not in {"action", "approach", "outcome"}, of=EPISODE_WRITTEN),
        "idempotency_key": str | None,
    },
    total=False,
)
ArtifactFields = _made(
    "ArtifactFields",
    {
        **_types(
            lambda row: not row.as_argument,
            lambda row: row.unsaid or row.request not in OF_AN_ARTIFACT,
            of=ARTIFACT_WRITTEN,
        ),
        "idempotency_key": str | None,
    },
    total=False,
)
DOCS: Mapping[str, str] = {
    "MemoryFields": "What a writer can say about a memory; whatever is left out is derived.",
    "ChangedFields": "What an update can change. None empties a field that may be empty.",
    "SurroundingFields": "Where captured material belongs and who may read it, and with it what is drawn from it.",
    "EpisodeDetailFields": "What the ledger keeps of an episode; `agent_id` is who did it, by default the caller.",
    "EpisodeFields": "What else is said of an episode. The orchestrator, leads and admins may name another `agent_id`.",
    "ArtifactFields": "What else is said of an artifact; what is left out is read off the file.",
    "KnowledgeFields": "What else a writer can say about a value, as in `save`.",
}
