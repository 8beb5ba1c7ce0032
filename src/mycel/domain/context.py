"""Context bundles: what an agent is given before it starts a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mycel.domain import envelope, rendering
from mycel.domain.ids import RecallId, TeamName
from mycel.domain.marks import CONTESTED, voice_of
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.rendering import estimate_tokens
from mycel.domain.validity import validity_words

# Of the block `## Recent Team Memory`.
RECENT_MEMORIES = 10


class Section(StrEnum):
    """The parts of a bundle, in the order in which they are read and get their room: what binds comes first."""

    FAILURES = "failures"
    OPEN = "open"
    CONVENTIONS = "conventions"
    PROFILE = "profile"
    DECISIONS = "decisions"
    LESSONS = "lessons"
    RELEVANT = "relevant"
    OWN = "own"
    PROJECT = "project"
    EPISODES = "episodes"


HEADINGS: Mapping[Section, str] = {
    Section.FAILURES: "## Earlier failures",
    Section.OPEN: "## Open points and hints",
    Section.CONVENTIONS: envelope.CONVENTIONS,
    Section.PROFILE: "## Profile",
    Section.DECISIONS: envelope.DECISIONS,
    Section.LESSONS: envelope.LESSONS,
    Section.RELEVANT: "## Relevant to the task",
    Section.OWN: "## Your own notes",
    Section.PROJECT: envelope.PROJECT_FACTS,
    Section.EPISODES: "## Recent episodes",
}
# Their notes are of one type, which the heading says; elsewhere a note says its own.
_ONE_TYPE = frozenset(Section) - {Section.FAILURES, Section.RELEVANT, Section.OWN, Section.PROJECT}
_PLAIN_TYPES = frozenset({MemoryType.FACT, MemoryType.NOTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """A memory in a bundle, with the text that found room there and what to cite it by.

    `relevance` is that of the search for the task, None when it came without a search. `age` says in a few letters how
    long ago it was written, `alike` counts the near-duplicates that it stands for.
    """

    memory: Memory
    why: str
    relevance: float | None
    citation: str
    text: str
    age: str = ""
    shortened: bool = False
    alike: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBundle:
    """Sections within the token budget, and the plain lists that the other renderings show.

    `tokens` is what `to_markdown` takes of the budget, estimated from above; `left_out` counts the memories that were
    considered and found no room; `recall_id` names the search for the task.
    """

    team: TeamName
    project: str | None
    repo: str | None
    agent: str
    task: str | None
    token_budget: int
    sections: Mapping[str, Sequence[ContextItem]]
    left_out: int = 0
    recall_id: RecallId | None = None
    degraded: tuple[str, ...] = ()
    recent: tuple[Memory, ...] = ()
    team_context: tuple[Memory, ...] = ()
    found: tuple[Memory, ...] = ()
    recent_decisions: tuple[Memory, ...] = ()
    tokens: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", estimate_tokens(self.to_markdown()))

    def to_markdown(self) -> str:
        """Every section with its citations, for a prompt; empty when there is nothing to tell."""
        lines = [line for section, heading in HEADINGS.items() for line in self._section_lines(section, heading)]
        if self.left_out:
            lines.append(rendering.left_out_line(self.left_out))
        return envelope.envelope(lines) if lines else ""

    def to_team_memory(self) -> str:
        """Render the block `## Recent Team Memory`: the newest memories, a line `[type][agent] content` each."""
        return rendering.team_memory(self.recent, token_budget=self.token_budget)

    def to_past_knowledge(self) -> str:
        """The section `Relevant Past Knowledge`: the best matches for the task."""
        notes = [(rendering.bullet(memory, home=self.team), memory) for memory in self.found]
        return rendering.past_knowledge(notes, token_budget=self.token_budget)

    def to_agent_context(self) -> dict[str, list[Memory]]:
        """The memories themselves, for a program that renders them: they are data, and as untrusted as ever."""
        return {
            "team_context": list(self.team_context),
            "project_memory": list(self.found),
            "recent_decisions": list(self.recent_decisions),
        }

    def _section_lines(self, section: Section, heading: str) -> list[str]:
        bullets = [item_start(item, section, home=self.team) + item.text for item in self.sections.get(section, ())]
        return [heading, *bullets] if bullets else []


def item_start(item: ContextItem, section: Section, *, home: TeamName) -> str:
    """What stands before a note in a bundle: its citation, whose word it is and how long ago."""
    memory = item.memory
    author = envelope.one_line(voice_of(memory.metadata, memory.agent_id))
    words = (
        item.citation,
        author if memory.team == home else f"{author} of team {memory.team}",
        item.age,
        "" if section in _ONE_TYPE else _kind(memory),
        f"and {item.alike} alike" if item.alike else "",
        "contested" if CONTESTED in memory.metadata else "",
        validity_words(memory.validity, since=memory.valid_from, until=memory.valid_until),
    )
    return f"- {' '.join(filter(None, words))}: "


def _kind(memory: Memory) -> str:
    plain = memory.type in _PLAIN_TYPES and not memory.category
    return "" if plain else envelope.kind_of(memory.type, memory.category)
