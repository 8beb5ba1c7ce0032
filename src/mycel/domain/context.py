"""Context bundles: what an agent is given before it starts a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mycel.domain import envelope, rendering
from mycel.domain.ids import RecallId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.rendering import estimate_tokens


class Section(StrEnum):
    """The parts of a bundle, in the order in which they are read and in which they get their share of the budget."""

    PROFILE = "profile"
    PROJECT = "project"
    DECISIONS = "decisions"
    OWN = "own"
    RELEVANT = "relevant"
    FAILURES = "failures"
    LESSONS = "lessons"
    EPISODES = "episodes"


HEADINGS: Mapping[Section, str] = {
    Section.PROFILE: "## Profile",
    Section.PROJECT: envelope.PROJECT_FACTS,
    Section.DECISIONS: envelope.DECISIONS,
    Section.OWN: "## Your own notes",
    Section.RELEVANT: "## Relevant to the task",
    Section.FAILURES: "## Earlier failures",
    Section.LESSONS: "## Lessons",
    Section.EPISODES: "## Recent episodes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """A memory in a bundle, with the text that found room there and what to cite it by.

    `relevance` is that of the search for the task, None when it came without a search. `alike` counts the
    near-duplicates that it stands for.
    """

    memory: Memory
    why: str
    relevance: float | None
    citation: str
    text: str
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
        """The block `## Recent Team Memory`: the newest of the team, a line `[type][agent] content` each."""
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
        items = self.sections.get(section, ())
        bullets = [rendering.bullet(item.memory, home=self.team, alike=item.alike) + item.text for item in items]
        return [heading, *bullets, ""] if bullets else []
