"""The briefing before a task: what was tried, what to avoid, what worked elsewhere, what is known, what can be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mycel.domain.artifact import Artifact
from mycel.domain.envelope import alike_words, cite, envelope, one_line
from mycel.domain.episode import Episode, Record, SimilarEpisode
from mycel.domain.ids import TeamName
from mycel.domain.memory import Memory
from mycel.domain.rendering import bullet, left_out_line, line_tokens, note_text, shorten

LEAST_TOKENS_OF_A_LINE = 40
MOST_TOKENS_OF_A_LINE = 120
AVOID = "## Failed before: do not repeat"
TRIED = "## Tried for this task"
WORKED = "## Worked on similar tasks"
KNOWN = "## Known"
OUTPUTS = "## Outputs to build on"
AGENTS = "## Who has done well on similar tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """`avoid` holds approaches that failed, for this task first; `tried` everything of this task, newest first.

    `waiting` counts what the inbox has for the reader, of the project where one is named.
    """

    team: TeamName
    task: str
    task_id: str | None
    project: str | None
    token_budget: int
    tried: tuple[Episode, ...] = ()
    avoid: tuple[Episode, ...] = ()
    worked: tuple[SimilarEpisode, ...] = ()
    knowledge: tuple[Memory, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    agents: tuple[Record, ...] = ()
    waiting: int = 0

    def to_markdown(self, *, token_budget: int | None = None) -> str:
        """For a prompt; empty when nothing is known. What finds no room is counted, the warnings come first."""
        sections = [(heading, lines) for heading, lines in self._sections() if lines]
        if not sections:
            return ""
        whole = self.token_budget if token_budget is None else token_budget
        waiting = [_waiting_line(self.waiting)] if self.waiting else []
        room = whole - sum(map(line_tokens, envelope([left_out_line(99), *waiting]).splitlines()))
        shown: list[str] = []
        left_out = 0
        for heading, lines in sections:
            fitted, room = _fitted(heading, lines, room)
            left_out += len(lines) - max(0, len(fitted) - 1)
            shown += fitted
        return envelope([*shown, *([left_out_line(left_out)] if left_out else []), *waiting])

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        told: set[tuple[object, ...]] = set()
        yield AVOID, _episode_lines(self.avoid, told)
        yield TRIED, _episode_lines(self.tried, told)
        yield WORKED, _episode_lines([one.episode for one in self.worked], told)
        yield KNOWN, [bullet(memory, home=self.team) + note_text(memory) for memory in self.knowledge]
        yield OUTPUTS, [_artifact_line(artifact) for artifact in self.artifacts]
        yield AGENTS, [_record_line(record) for record in self.agents]


def _fitted(heading: str, lines: Sequence[str], room: int) -> tuple[list[str], int]:
    """As many lines as find room under the heading, long ones shortened; without a line there is no heading."""
    left = room - line_tokens(heading)
    found: list[str] = []
    for line in lines:
        text = shorten(line, min(MOST_TOKENS_OF_A_LINE, left))
        if text is None or (text != line and left < LEAST_TOKENS_OF_A_LINE):
            break
        found.append(text)
        left -= line_tokens(text)
    return ([heading, *found], left) if found else ([], room)


def _waiting_line(count: int) -> str:
    return f"({count} more {'waits' if count == 1 else 'wait'} for review in the inbox.)"


def _episode_lines(episodes: Sequence[Episode], told: set[tuple[object, ...]]) -> list[str]:
    """Of those that say the same of a task only the first; what is told here is not told again."""
    alike = Counter(map(_said, episodes))
    first = {_said(episode): episode for episode in reversed(episodes) if _said(episode) not in told}
    told.update(first)
    shown = [episode for episode in episodes if first.get(_said(episode)) is episode]
    return [_episode_line(episode, copies=alike[_said(episode)] - 1) for episode in shown]


def _said(episode: Episode) -> tuple[object, ...]:
    return (episode.task_id, episode.action, *episode.account)


def _episode_line(episode: Episode, *, copies: int) -> str:
    task = f" for task {one_line(episode.task_id)}" if episode.task_id else ""
    who = f"{episode.action} by {episode.agent_id}{task}, {episode.created_at:%Y-%m-%d}{alike_words(copies)}"
    return f"- {cite(episode.id)} {who}: {' -> '.join(map(one_line, episode.account))}"


def _artifact_line(artifact: Artifact) -> str:
    task = f" for task {one_line(artifact.task_id)}" if artifact.task_id else ""
    said = f": {one_line(artifact.description)}" if artifact.description else ""
    return f"- {cite(artifact.id)} {artifact.type} {one_line(artifact.path)} by {artifact.agent_id}{task}{said}"


def _record_line(record: Record) -> str:
    return f"- {record.agent_id}: {record.completed} completed, {record.failed} failed"
