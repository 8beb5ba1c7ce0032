"""Episodes: what was tried for a task and what came of it, as the ledger keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from mycel.domain.detailed import Detailed
from mycel.domain.draft import first_sentence
from mycel.domain.ids import MemberId
from mycel.domain.memory import WRITTEN
from mycel.domain.memory_field import FieldRow, Holds, beside, known, said, table_of

# Of an episode without an approach.
NO_WORDING = 0


class Action(StrEnum):
    """Only what was completed or failed tells how well something works; the others say that it was tried."""

    ATTEMPTED = "attempted"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRIED = "retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeDetail:
    """What the ledger has beside the memory, whose content holds the texts, and the table of its fields.

    `wording` is the same for approaches of the same words, and none where nobody said how it was done.
    """

    agent_id: MemberId = field(
        metadata=said(
            *(Holds.MEMBER, "The id of the agent"),
            details="By default you; for those who hand out work",
            option="--agent",
            metavar="MEMBER",
            aliases=("agent", "worker", "worker_id", "agent_name", "member", "to"),
        )
    )
    action: Action = field(
        metadata=said(
            *(Holds.CHOICE, "What came of it"), options=Action, metavar="ACTION", aliases=("result", "status")
        )
    )
    approach_end: int = field(metadata=known(Holds.COUNT, "Where the approach ends in the content"))
    outcome_start: int | None = field(
        default=None, metadata=known(Holds.COUNT, "Where the outcome starts in the content")
    )
    wording: int = field(default=NO_WORDING, metadata=known(Holds.NUMBER, "Of the words of the approach"))
    duration_ms: int | None = field(
        default=None, metadata=said(Holds.COUNT, "How long it took, in milliseconds", metavar="MS")
    )
    tokens_in: int | None = field(default=None, metadata=said(Holds.COUNT, "How many tokens a model read for it"))
    tokens_out: int | None = field(default=None, metadata=said(Holds.COUNT, "How many tokens it wrote"))


_OF_THE_MEMORY = (
    *("task_id", "project", "repo", "session_id", "tags", "visibility", "allowed_roles"),
    "observed_at",
)
_TABLE = table_of(
    EpisodeDetail,
    beside(
        "approach",
        *(Holds.NOTE, "How it was done, in a few words: equal approaches are counted together"),
        aliases=("method", "strategy"),
    ),
    beside("outcome", Holds.CONTENT, "What came of it, in a sentence"),
)
# What is told of an episode beside its memory, by the names in a request: all of it comes out as it went in.
OF_AN_EPISODE: Mapping[str, FieldRow] = MappingProxyType({name: row for name, row in _TABLE.items() if row.written})
EPISODE_WRITTEN: Mapping[str, FieldRow] = MappingProxyType(
    OF_AN_EPISODE | {name: WRITTEN[name] for name in _OF_THE_MEMORY}
)
COUNTS = tuple(name for name, row in OF_AN_EPISODE.items() if row.holds is Holds.COUNT)


@dataclass(frozen=True, slots=True)
class Episode(Detailed):
    """One entry of the ledger. `agent_id` did it; the author of its memory wrote it down."""

    detail: EpisodeDetail

    @property
    def agent_id(self) -> MemberId:
        return self.detail.agent_id

    @property
    def action(self) -> Action:
        return self.detail.action

    @property
    def approach(self) -> str:
        """How it was tried; the title, where nobody said."""
        return self.memory.content[: self.detail.approach_end] or self.memory.title

    @property
    def outcome(self) -> str | None:
        start = self.detail.outcome_start
        return None if start is None else self.memory.content[start:]

    @property
    def account(self) -> tuple[str, ...]:
        """How it was tried and what came of it, each once: a title that was made from the outcome says nothing new."""
        told = self.outcome
        if self.detail.approach_end or told is None:
            return (self.approach,) if told is None else (self.approach, told)
        named = self.memory.title.removeprefix(f"{self.action.value.capitalize()}: ").rstrip("…").strip()
        return (told,) if named in " ".join(told.split()) else (named, told)

    @property
    def duration_ms(self) -> int | None:
        return self.detail.duration_ms

    @property
    def tokens_in(self) -> int | None:
        return self.detail.tokens_in

    @property
    def tokens_out(self) -> int | None:
        return self.detail.tokens_out


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """The words of an episode as its memory holds them, and where in them the two parts are."""

    title: str
    content: str
    approach_end: int
    outcome_start: int | None


def episode_text(approach: str, action: Action, outcome: str | None) -> EpisodeText:
    said = action.value.capitalize()
    title = first_sentence(f"{said}: {approach}")
    if outcome is None:
        return EpisodeText(title, f"{approach}\n\n{said}.", len(approach), None)
    before = f"{approach}\n\n{said}: "
    return EpisodeText(title, before + outcome, len(approach), len(before))


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilters:
    """Everything given must hold."""

    task_id: str | None = None
    agent_id: MemberId | None = None
    action: Action | None = None
    project_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class RateBy(StrEnum):
    """What success rates are told for."""

    APPROACH = "approach"
    AGENT = "agent"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of episodes. `timed_ms` is the time of those that say how long they took, `timed` how many do."""

    attempted: int = 0
    completed: int = 0
    failed: int = 0
    retried: int = 0
    timed: int = 0
    timed_ms: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def episodes(self) -> int:
        return self.attempted + self.completed + self.failed + self.retried

    @property
    def rate(self) -> float | None:
        """The share of completed among what came to an end; None where nothing did."""
        ended = self.completed + self.failed
        return self.completed / ended if ended else None

    @property
    def mean_duration_ms(self) -> float | None:
        return self.timed_ms / self.timed if self.timed else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)})


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """How often something worked: an approach in its latest wording, an agent, or a stretch of time."""

    name: str
    tally: Tally

    @property
    def rate(self) -> float | None:
        return self.tally.rate

    @property
    def completed(self) -> int:
        return self.tally.completed

    @property
    def failed(self) -> int:
        return self.tally.failed

    @property
    def episodes(self) -> int:
        return self.tally.episodes


@dataclass(frozen=True, slots=True)
class SimilarEpisode:
    """An episode of a task like the one asked about, and how likely it is of use."""

    episode: Episode
    relevance: float


@dataclass(frozen=True, slots=True)
class Record:
    """What an agent has done on tasks like the one asked about. `score` is 0 to 1; few episodes say little."""

    agent_id: MemberId
    completed: int
    failed: int
    score: float


def month_path(month: str, project_id: str | None) -> str:
    """Where the summary of a month's pruned episodes lies."""
    return f"/projects/{project_id}/episodes/{month}" if project_id else f"/episodes/{month}"
