"""A question that is asked again: answered without a search as long as the search would bring the same."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mycel.domain.memory import Memory
from mycel.domain.recall import Hit, Recall
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, InvalidState, NotFound, Unavailable
from mycel.retrieval import pipeline
from mycel.services import search
from mycel.services.answer_cache import AnswerCache
from tests.squad import Squad, open_squad, wait_until, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


class Searches:
    """Counts the searches that were really made; the next can be held in the middle."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.holds = False
        self._find = pipeline.find
        monkeypatch.setattr(pipeline, "find", self._counted)

    def _counted(self, *given: Any) -> Any:
        self.made += 1
        found = self._find(*given)
        if self.holds:
            self.begun.set()
            assert self.go_on.wait(30)
        return found


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Searches:
    return Searches(monkeypatch)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path / "data", embedder=wide_embedder())
    with squad.workspace:
        yield squad


def second_process(squad: Squad) -> Squad:
    """On the same files, and told nothing."""
    return open_squad(squad.data, clock=squad.clock, embedder=wide_embedder())


def without_cache(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> Squad:
    with monkeypatch.context() as patched:
        patched.setattr(search, "AnswerCache", partial(AnswerCache, most=0))
        return second_process(squad)


def save(squad: Squad, content: str, **fields: Any) -> Memory:
    """With its vectors: while they are made, answers change."""
    memory = squad.author.save(content, **fields)
    squad.workspace.embed_pending()
    return memory


def contents(recall: Recall) -> list[str]:
    return [hit.memory.content for hit in recall.hits]


def kept(squad: Squad) -> list[Hit]:
    answers: AnswerCache = squad.workspace._do.member.searching._answers
    return [hit for answer in answers._answers.values() for hit in answer.hits]


def test_a_question_asked_again_is_answered_and_logged_without_a_search(squad: Squad, searches: Searches) -> None:
    save(squad, "the heron stands")
    first = squad.teammate.search("heron", limit=3)
    again = squad.teammate.search("heron", limit=3)
    assert searches.made == 1
    assert again.hits == first.hits
    assert again.id != first.id
    for recall in (first, again):
        logged = squad.teammate.explain(recall.id).recall
        assert logged is not None
        assert (logged.query, [hit.memory_id for hit in logged.hits]) == ("heron", [first.hits[0].memory.id])


@pytest.mark.parametrize(
    "other",
    [
        {"limit": 4},
        {"min_relevance": 0.3},
        {"type": "lesson"},
        {"path": "/birds"},
        {"tags": ["wet"]},
        {"status": "any"},
        {"status": "expired"},
        {"agent": "swe-1"},
        {"project": "pond"},
        {"since": "2026-11-01T00:00:00Z"},
        {"as_of": "2026-11-15T09:00:00Z"},
        {"ranking": "swarm"},
    ],
    ids=str,
)
def test_another_question_is_another_search(squad: Squad, searches: Searches, other: dict[str, Any]) -> None:
    save(squad, "the heron stands")
    squad.author.search("heron")
    squad.author.search("heron", **other)
    assert searches.made == 2
    squad.author.search("heron")
    assert searches.made == 2


def test_swarm_is_searched_each_time(squad: Squad, searches: Searches) -> None:
    save(squad, "the heron stands")
    first = squad.author.search("heron", ranking="swarm").hits[0]
    squad.pass_time(seconds=30)
    assert squad.author.search("heron", ranking="swarm").hits[0].score < first.score


def test_nobody_is_answered_with_what_another_asked(squad: Squad, searches: Searches) -> None:
    save(squad, "the heron is private", visibility="private")
    assert len(squad.author.search("heron").hits) == 1
    for other in (squad.teammate, squad.lead, squad.admin, squad.child_lead):
        assert other.search("heron").hits == ()
    assert searches.made == 5


def test_a_write_of_another_process_is_found_at_once(squad: Squad) -> None:
    save(squad, "a heron here")
    assert contents(squad.author.search("heron")) == ["a heron here"]
    with second_process(squad).workspace as other:
        memory = other.as_member("swe-2").save("a heron there")
        assert len(squad.author.search("heron").hits) == 2
        other.as_member("swe-2").purge(memory.id)
        assert contents(squad.author.search("heron")) == ["a heron here"]
        assert {hit.memory.content for hit in kept(squad)} <= {"a heron here"}
        wait_until(lambda: is_kept(squad, "a heron here"))


def is_kept(squad: Squad, content: str) -> bool:
    """Alone, once it was asked for: a node that begins to hear others forgets what it may have missed news of."""
    assert contents(squad.author.search("heron")) == [content]
    return [hit.memory.content for hit in kept(squad)] == [content]


def test_what_was_purged_is_kept_by_no_answer(squad: Squad) -> None:
    memory = save(squad, "the heron stands at the secret pond")

    def are_kept() -> bool:
        """A node that begins to hear others forgets what it may have missed news of."""
        squad.teammate.search("heron")
        squad.child_lead.search("heron")
        return len(kept(squad)) == 2

    wait_until(are_kept)
    squad.author.purge(memory.id)
    assert kept(squad) == []


def test_a_search_under_way_keeps_nothing_that_is_purged_meanwhile(squad: Squad, searches: Searches) -> None:
    memory = save(squad, "the heron stands at the secret pond")
    searches.holds = True
    asking = threading.Thread(target=squad.teammate.search, args=("heron",))
    asking.start()
    assert searches.begun.wait(30)
    squad.author.purge(memory.id)
    searches.go_on.set()
    asking.join(30)
    assert kept(squad) == []


def test_what_expires_is_gone_from_a_repeated_answer_at_that_moment(squad: Squad) -> None:
    save(squad, "a heron for a while", ttl="20s")
    assert len(squad.author.search("heron").hits) == 1
    squad.pass_time(seconds=19)
    assert len(squad.author.search("heron").hits) == 1
    assert squad.author.search("heron", status="expired").hits == ()
    squad.pass_time(seconds=1)
    assert squad.author.search("heron").hits == ()
    assert len(squad.author.search("heron", status="expired").hits) == 1
    squad.clock.move(timedelta(seconds=-2))
    assert len(squad.author.search("heron").hits) == 1


def test_whoever_loses_a_role_loses_its_answers(squad: Squad) -> None:
    save(squad, "the heron is for leads", visibility="role", allowed_roles=["lead"])
    lead = squad.lead
    assert len(lead.search("heron").hits) == 1
    squad.workspace.update_member("lead-1", role="agent")
    squad.lead.search("something else")
    assert squad.lead.search("heron").hits == ()
    squad.workspace.remove_member("lead-1")
    # Noticed within a tenth of a second.
    threading.Event().wait(0.12)
    with pytest.raises(AccessDenied):
        lead.search("heron")


def test_ages_are_counted_anew_each_minute(squad: Squad, searches: Searches) -> None:
    memory = save(squad, "the heron stood", type="episode")
    first = squad.author.search("heron").hits[0]
    squad.pass_time(seconds=59)
    assert squad.author.search("heron").hits[0] == first
    assert searches.made == 1
    squad.pass_time(seconds=1)
    later = squad.author.search("heron").hits[0]
    assert searches.made == 2
    assert later.score < first.score
    assert later.memory.id == memory.id


def test_a_degraded_answer_is_not_given_again(
    tmp_path: Path, searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = wide_embedder()
    with open_squad(tmp_path, embedder=embedder).workspace as workspace:
        member = workspace.as_member("swe-1")
        member.save("the heron stands")
        workspace.embed_pending()
        with monkeypatch.context() as patched:
            patched.setattr(embedder, "embed_query", _refuse)
            assert member.search("heron").degraded == ("meaning",)
        assert member.search("heron").degraded == ()
        assert searches.made == 2


def _refuse(_text: str) -> NoReturn:
    raise Unavailable("away")


def test_a_caller_who_changes_what_it_was_given_changes_no_other_answer(squad: Squad) -> None:
    save(squad, "the heron stands")
    hit = squad.author.search("heron").hits[0]
    with pytest.raises(TypeError):
        hit.breakdown["words"] = 9.0  # type: ignore[index]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(2, 30))])
def test_repeated_answers_are_those_of_a_search_whatever_happens_between(
    squad: Squad, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Each step by this process or another; then everybody asks twice here, and once where nothing is kept."""
    chance = random.Random(seed)
    fresh = without_cache(squad, monkeypatch)
    with fresh.workspace:
        world = _World(squad, fresh, chance)
        for step in range(30):
            name = world.step()
            for caller in ("swe-1", "swe-2", "lead-1", "child-lead"):
                for asked in QUESTIONS:
                    there = _answer(fresh.workspace.as_member(caller), asked)
                    for here in range(2):
                        found = _answer(squad.workspace.as_member(caller), asked)
                        assert found == there, f"step {step} ({name}): {caller} asked {asked}, time {here + 1}"


QUESTIONS: list[dict[str, Any]] = [
    {"query": "heron pond"},
    {"query": "grey stork", "limit": 2},
    {"query": "heron", "status": "any", "project": "pond"},
]
WORDS = ["heron", "pond", "stork", "reeds", "grey", "water", "stands", "early"]


def _answer(member: TeamMemory, asked: dict[str, Any]) -> tuple[Any, ...]:
    recall = member.search(**asked)
    return recall.hits, recall.degraded


class _World:
    def __init__(self, here: Squad, there: Squad, chance: random.Random) -> None:
        self._squads = (here, there)
        self._chance = chance
        self._ids: list[str] = []

    def step(self) -> str:
        name = self._chance.choice(
            ["save", "save", "update", "delete", "restore", "purge", "rate", "read", "link", "time", "time", "role"]
        )
        squad = self._chance.choice(self._squads)
        member = squad.workspace.as_member(self._chance.choice(["swe-1", "swe-2", "admin-1"]))
        try:
            self._do(name, squad, member)
        except (NotFound, AccessDenied, InvalidState):
            name = f"{name}, refused"
        squad.workspace.embed_pending()
        return name

    def _do(self, name: str, squad: Squad, member: TeamMemory) -> None:
        text = " ".join(self._chance.choices(WORDS, k=5))
        id = self._chance.choice(self._ids) if self._ids else "019a0000-0000-7000-8000-000000000000"
        match name:
            case "save":
                self._ids.append(member.save(text, **self._fields()).id)
            case "update":
                member.update(id, content=text)
            case "rate":
                member.rate(id, useful=self._chance.random() < 0.5)
            case "read":
                member.get(id)
                member.explain(memory_id=id)
            case "link":
                member.link(id, self._chance.choice(self._ids or [id]), "supports")
            case "time":
                squad.pass_time(seconds=self._chance.choice([1, 20, 45]))
            case "role":
                role = self._chance.choice(["agent", "lead"])
                squad.workspace.update_member("swe-2", role=role)
                # Noticed within a tenth of a second.
                threading.Event().wait(0.12)
            case _:
                getattr(member, name)(id)

    def _fields(self) -> dict[str, Any]:
        of_all: list[dict[str, Any]] = [
            {},
            {"ttl": f"{self._chance.randrange(1, 90)}s"},
            {"visibility": "private"},
            {"visibility": "role", "allowed_roles": ["lead"]},
            {"type": "episode"},
            {"project": "pond"},
        ]
        return self._chance.choice(of_all)


def test_the_cache_stays_within_its_bounds(squad: Squad) -> None:
    save(squad, "the heron stands")
    hits = squad.author.search("heron").hits
    minute = squad.clock.now()
    cache = AnswerCache(most=3, most_bytes=60_000)
    revisions = {"squad": 1}
    question = next(iter(squad.workspace._do.member.searching._answers._answers))
    for number in range(9):
        asked = question._replace(text=str(number))
        assert cache.find(asked, revisions, minute=minute) is None
        cache.keep(asked, revisions, hits, minute=minute)
        assert len(cache) <= 3
    assert cache.find(question._replace(text="8"), revisions, minute=minute) == hits
    assert cache.find(question._replace(text="5"), revisions, minute=minute) is None
    large = tuple(replace(hit, snippet="x" * 12_500) for hit in hits)
    cache.keep(question._replace(text="large"), revisions, large, minute=minute)
    assert len(cache) == 2
    huge = tuple(replace(hit, snippet="x" * 300_000) for hit in hits)
    cache.keep(question._replace(text="huge"), revisions, huge, minute=minute)
    assert cache.find(question._replace(text="huge"), revisions, minute=minute) is None
    cache.forget("squad")
    assert len(cache) == 0
