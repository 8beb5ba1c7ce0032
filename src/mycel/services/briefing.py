"""What an orchestrator should know before it hands out a task."""

from __future__ import annotations

from collections.abc import Sequence

from mycel.domain import fields
from mycel.domain.artifact import Artifact
from mycel.domain.briefing import Briefing
from mycel.domain.episode import NO_WORDING, Action, Episode, Record, SimilarEpisode, Tally
from mycel.domain.fields import MAX_BRIEFED
from mycel.domain.ids import MemoryId
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.team import Caller
from mycel.errors import InvalidInput
from mycel.services.activity import Activity
from mycel.services.artifacts import ArtifactRegistry
from mycel.services.context import read_task, read_token_budget
from mycel.services.episodes import LOOKED_AT_FOR_AGENTS, Episodes, records_of
from mycel.services.review import Reviewing
from mycel.services.search import Searching

DEFAULT_LIMIT = 5
# Below this, what a search shows for want of anything better only takes room in a prompt.
LEAST_RELEVANCE = 0.1
_KNOWLEDGE = tuple(type.value for type in MemoryType if type not in {MemoryType.EPISODE, MemoryType.ARTIFACT})


class Briefings:
    def __init__(
        self,
        searching: Searching,
        episodes: Episodes,
        artifacts: ArtifactRegistry,
        reviewing: Reviewing,
        activity: Activity,
    ) -> None:
        self._activity = activity
        self._reviewing = reviewing
        self._searching = searching
        self._episodes = episodes
        self._artifacts = artifacts

    def before_task(
        self,
        caller: Caller,
        task: object,
        *,
        task_id: object = None,
        project: object = None,
        repo: object = None,
        limit: object = None,
        token_budget: object = None,
    ) -> Briefing:
        """`task` describes it, or is the id of one that was tried before."""
        asked = read_task(task)
        if asked is None:
            raise InvalidInput("must not be empty", field="task")
        most = DEFAULT_LIMIT if limit is None else fields.whole(limit, field="limit", least=1, most=MAX_BRIEFED)
        place = None if project is None else fields.place(project, field="project")
        name = _task_id(asked, task_id)
        tried = () if name is None else self._episodes.list(caller, {"task_id": name}, limit=MAX_BRIEFED).items
        # Who only knows the id is told what is like the task by the words of its last attempt.
        about = tried[0].approach if tried and asked == name else asked
        failed = self._episodes.similar(caller, about, action=Action.FAILED.value, project=place, limit=most)
        worked = self._episodes.similar(caller, about, action=Action.COMPLETED.value, project=place, limit=most)
        own = {episode.id for episode in tried}
        briefing = Briefing(
            team=caller.team,
            task=asked,
            task_id=name,
            project=place,
            token_budget=read_token_budget(token_budget),
            tried=tuple(tried[:most]),
            avoid=self._failures(caller, tried, [one.episode for one in failed])[:most],
            worked=tuple(one for one in worked if one.episode.id not in own),
            knowledge=self._knowledge(caller, about, project=place, repo=repo, limit=most),
            artifacts=self._outputs(caller, name, about, project=place, limit=most),
            agents=tuple(self._agents(caller, about, tried, project=place)[:most]),
            waiting=self._reviewing.count_waiting(caller, {"project": place}),
        )
        self._activity.brief(caller, briefing)
        return briefing

    def _failures(self, caller: Caller, tried: Sequence[Episode], similar: Sequence[Episode]) -> tuple[Episode, ...]:
        """Each approach once, for this task first, unless it has proved itself since."""
        failed = [episode for episode in (*tried, *similar) if episode.action is Action.FAILED]
        later = self._episodes.outcomes_after(caller, failed)
        found: dict[object, Episode] = {}
        for episode in failed:
            if not _worked_since(episode, tried) and not _proved(later.get(episode.id, Tally())):
                found.setdefault(episode.detail.wording or episode.id, episode)
        return tuple(found.values())

    def _agents(self, caller: Caller, task: str, tried: Sequence[Episode], *, project: str | None) -> list[Record]:
        """What was done for this very task counts in full, whatever its words."""
        similar = self._episodes.similar(caller, task, project=project, limit=LOOKED_AT_FOR_AGENTS, every=True)
        own = {episode.id for episode in tried}
        others = [one for one in similar if one.episode.id not in own]
        records = records_of([*(SimilarEpisode(episode, 1.0) for episode in tried), *others])
        return [record for record in records if record.completed]

    def _knowledge(
        self, caller: Caller, task: str, *, project: str | None, repo: object, limit: int
    ) -> tuple[Memory, ...]:
        filters = {"project": project, "repo": repo, "type": _KNOWLEDGE}
        recall = self._searching.search(caller, task, filters, limit=limit, min_relevance=LEAST_RELEVANCE)
        return tuple(hit.memory for hit in recall.hits)

    def _outputs(
        self, caller: Caller, task_id: str | None, task: str, *, project: str | None, limit: int
    ) -> tuple[Artifact, ...]:
        """Of this task first, then of what is like it."""
        own: Sequence[Artifact] = (
            () if task_id is None else self._artifacts.list(caller, {"task_id": task_id}, limit=limit)
        )
        similar = self._artifacts.list(caller, {"text": task, "project": project}, limit=limit)
        found: dict[MemoryId, Artifact] = {artifact.id: artifact for artifact in (*own, *similar)}
        return tuple(found.values())[:limit]


def _task_id(task: str, given: object) -> str | None:
    """A task named by its id alone is the id as well."""
    if given is not None:
        return fields.label(given, field="task_id")
    try:
        return fields.label(task, field="task")
    except InvalidInput:
        return None


def _proved(later: Tally) -> bool:
    return later.completed > later.failed


def _worked_since(failed: Episode, others: Sequence[Episode]) -> bool:
    """On the same task, in the same way; where nobody said how, in whatever way."""
    return any(
        other.action is Action.COMPLETED
        and failed.detail.wording in {NO_WORDING, other.detail.wording}
        and other.task_id == failed.task_id
        and other.created_at > failed.created_at
        for other in others
    )
