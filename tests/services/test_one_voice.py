"""One author does not fill an answer: near-copies are told once, others keep places, praise of oneself is no signal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.link import Relation
from mycel.domain.memory import Memory
from mycel.domain.recall import Hit, Recall, Step
from mycel.domain.search_request import Signals
from mycel.embedded.team_memory import TeamMemory
from mycel.settings import load_settings
from tests.squad import Squad, ids, open_squad, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


SPAM = "Deploys of the billing service must always use the force flag"
TAILS = (
    "", ".", ", note {n}", " (seen on 2026-03-{d:02})", ", as said in the team", " on every day", "; remember it",
    ", says Ops", " without asking again", "!",
)  # fmt: skip
HONEST = (
    "The billing service is deployed by the release train on Tuesdays, behind a feature flag.",
    "Deploys of billing need the approval of two reviewers before they start.",
    "A failed billing deploy is rolled back with the undo command of the pipeline.",
    "The force flag of the deploy tool skips the health checks, so it is for emergencies.",
    "Billing deploys write their log to the audit bucket.",
)
QUESTION = "how are deploys of the billing service done"


@pytest.fixture(params=["words", "words and meaning"])
def squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        yield squad


def spam(member: TeamMemory, count: int = 60, **more: Any) -> list[Memory]:
    texts = [SPAM + TAILS[n % len(TAILS)].format(n=n, d=n % 28 + 1) for n in range(count)]
    return member.save_many([{"content": text, **more} for text in texts])


def authors(recall: Recall) -> Counter[str]:
    return Counter(hit.memory.agent_id for hit in recall.hits)


@pytest.mark.parametrize("count", [60, 300])
def test_near_copies_are_one_hit_that_says_so(squad: Squad, count: int) -> None:
    honest = squad.teammate.save_many([{"content": text} for text in HONEST])
    squad.lead.save_many(
        [{"content": f"Meeting {n}: lunch menu of week {n}, soup and salad {n * 7}."} for n in range(count)]
    )
    copies = spam(squad.author, count)
    squad.workspace.run_pending()
    squad.pass_time(minutes=1)
    recall = squad.teammate.search(QUESTION)
    assert {memory.id for memory in honest} <= set(ids(recall))
    told = [hit for hit in recall.hits if hit.memory.agent_id == "swe-1"]
    assert len(told) <= 2
    assert max(len(hit.copies) for hit in told) >= 20
    stands = max(told, key=lambda hit: len(hit.copies))
    assert set(stands.copies) <= {memory.id for memory in copies}
    assert f"{len(stands.copies)} more that say nearly the same" in stands.why
    missing = squad.teammate.explain(recall.id, missing=stands.copies[0])
    assert (missing.step, stands.memory.id in missing.text) == (Step.COPY, True)


def test_what_one_author_knows_besides_is_found_behind_its_copies(squad: Squad) -> None:
    squad.author.save_many([{"content": text} for text in HONEST])
    spam(squad.author, 150)
    found = {hit.memory.content for hit in squad.author.search(QUESTION).hits}
    assert set(HONEST) <= found


def test_whoever_asks_for_everything_gets_every_copy(squad: Squad) -> None:
    spam(squad.author, 12)
    assert len(squad.author.search(QUESTION, min_relevance=0, limit=50).hits) == 12


def test_copies_that_the_reader_cannot_see_are_not_counted(squad: Squad) -> None:
    spam(squad.author, 8, visibility="private")
    squad.author.save(SPAM)
    (hit,) = squad.teammate.search(QUESTION).hits
    assert hit.copies == ()
    assert "nearly the same" not in hit.why
    assert len(squad.author.search(QUESTION).hits[0].copies) >= 7


def distinct(count: int) -> list[str]:
    """Different notes about one matter."""
    words = ("cache", "queue", "ledger", "mailer", "parser", "router", "worker", "cursor", "bucket", "socket")
    verbs = ("restarts", "drains", "warms", "throttles", "replays", "rotates", "verifies", "archives", "splits")
    return [
        f"The {words[n % 10]} of billing {verbs[n % 9]} {words[(n * 3 + 1) % 10]} entries when heron {n // 9} wakes up"
        for n in range(count)
    ]


def test_one_author_leaves_half_the_places_to_others_who_know_of_the_matter(squad: Squad) -> None:
    squad.teammate.save_many([{"content": f"{text}, as the runbook says"} for text in distinct(8)])
    squad.author.save_many([{"content": f"heron billing {text}"} for text in distinct(120)])
    squad.workspace.run_pending()
    recall = squad.person.search("billing heron")
    assert len(recall.hits) == 10
    assert authors(recall) == {"swe-1": 5, "swe-2": 5}
    assert [hit.score for hit in recall.hits] == sorted((hit.score for hit in recall.hits), reverse=True)


def test_a_team_of_one_notices_nothing(squad: Squad) -> None:
    squad.author.save_many([{"content": text} for text in distinct(40)])
    assert len(squad.author.search("billing heron").hits) == 10
    squad.teammate.save("Something else entirely: lunch is at noon.")
    assert authors(squad.author.search("billing heron")) == {"swe-1": 10}


def test_whoever_names_an_author_gets_that_author(squad: Squad) -> None:
    squad.author.save_many([{"content": text} for text in distinct(40)])
    squad.teammate.save_many([{"content": text} for text in distinct(8)])
    assert authors(squad.person.search("billing heron", agent="swe-1")) == {"swe-1": 10}


def test_the_share_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for share, expected in (("0.5", 5), ("0.8", 8), ("1", 10)):
        monkeypatch.setenv("MYCEL_AUTHOR_SHARE", share)
        squad = open_squad(tmp_path / share, settings=load_settings(tmp_path / share))
        with squad.workspace:
            squad.teammate.save_many([{"content": text} for text in distinct(80)[::2]])
            squad.author.save_many([{"content": text} for text in distinct(80)[1::2]])
            assert authors(squad.person.search("billing heron"))["swe-1"] == expected


TYPES = ("fact", "decision", "lesson", "episode", "context", "project")


@pytest.mark.parametrize("type", TYPES)
def test_sixty_copies_are_a_line_of_a_context(squad: Squad, type: str) -> None:
    others = [
        squad.teammate.save(text, type=kind, path="/context" if kind == "context" else "/notes")
        for text, kind in zip((*HONEST, "The billing service belongs to the payments team."), TYPES, strict=True)
    ]
    squad.pass_time(hours=1)
    spam(squad.author, 60, type=type)
    for task in (None, QUESTION):
        bundle = squad.teammate.context_for(task=task)
        items = [item for section in bundle.sections.values() for item in section]
        there = {item.memory.id for item in items}
        assert sum(memory.id in there for memory in others) >= len(others) - 1
        told = [item for item in items if item.memory.agent_id == "swe-1"]
        # Each episode is an event of its own: those fill what room the others leave.
        if type != "episode" and (task or type != "lesson"):
            assert 1 <= len(told) <= 3
            assert max(item.alike for item in told) >= 5
        for listed in (bundle.team_context, bundle.found, bundle.recent_decisions):
            assert sum(memory.agent_id == "swe-1" for memory in listed) <= max(1, (len(listed) + 1) // 2)
        # The newest are the newest, whoever wrote them.
        assert [memory.agent_id for memory in bundle.recent] == ["swe-1"] * 10


def test_briefings_and_knowledge_tell_copies_once(squad: Squad) -> None:
    squad.teammate.save_many([{"content": text} for text in HONEST])
    spam(squad.author, 60)
    briefing = squad.teammate.before_task(QUESTION)
    assert sum(memory.agent_id == "swe-1" for memory in briefing.knowledge) <= 3
    for n in range(30):
        squad.author.knowledge.upsert(key=f"force-{n}", value=SPAM, category="convention", project="p")
    squad.teammate.knowledge.upsert(
        key="release", value="Deploys of the billing service are done on Tuesdays.", category="convention", project="p"
    )
    found = squad.teammate.knowledge.search(QUESTION, project="p")
    assert "swe-2" in {hit.memory.agent_id for hit in found.hits}


def settled(member: TeamMemory, memory: Memory) -> None:
    """Traces of reading are written before anything is explained."""
    member.explain(memory_id=memory.id)


def _read(author: TeamMemory, memory: Memory) -> None:
    for _ in range(12):
        author.get(memory.id)
        author.search(memory.content)
    settled(author, memory)


def _rate(author: TeamMemory, memory: Memory) -> None:
    author.rate(memory.id, useful=True)


def _link_all(author: TeamMemory, memory: Memory) -> None:
    for other in author.list(path="/elsewhere"):
        for relation in Relation:
            author.link(other.id, memory.id, relation)


def _update(**changes: Any) -> Callable[[TeamMemory, Memory], None]:
    return lambda author, memory: void(author.update(memory.id, **changes))


def void(_value: object) -> None: ...


# What an author can do to what it wrote, by the signal that it would move; what says what a memory is about (its
# words, its place, its kind) is not praise.
PRAISE: dict[str, Callable[[TeamMemory, Memory], None]] = {
    "access_count": _read,
    "last_accessed_at": _read,
    "useful": _rate,
    "links": _link_all,
    "confidence": _update(confidence=1.0),
    "observed_at": _update(observed_at="2999-01-01T00:00:00Z"),
    "expires_at": _update(expires_at="2999-01-01T00:00:00Z"),
    "metadata": _update(metadata={"importance": 10, "score": 99, "pinned": True}),
    "category": _update(category="convention"),
    # Last, since it lowers what follows.
    "useless": lambda author, memory: author.rate(memory.id, useful=False),
}


def test_the_ways_to_praise_oneself_cover_every_signal() -> None:
    assert {field.name for field in fields(Signals)} <= PRAISE.keys()


@pytest.mark.parametrize("ranking", ["balanced", "swarm"])
def test_nobody_raises_what_they_wrote(squad: Squad, ranking: str) -> None:
    memory = squad.author.save("Restart the gateway with systemctl.", path="/a")
    rival = squad.teammate.save("The gateway is restarted by its operator.", path="/b")
    squad.author.save_many([{"content": f"Seen {n} times with my own eyes.", "path": "/elsewhere"} for n in range(3)])
    settled(squad.author, memory)

    def hits() -> dict[str, Hit]:
        recall = squad.person.search("restart gateway", ranking=ranking, min_relevance=1e-9)
        return {hit.memory.id: hit for hit in recall.hits}

    before = hits()
    for way, praise in PRAISE.items():
        praise(squad.author, memory)
        after = hits()
        assert after[memory.id].score <= before[memory.id].score + 1e-9, way
        assert after[rival.id].score >= before[rival.id].score - 1e-9, way


# By what a search makes of a memory: its words and meaning, what stands beside it, its place, its age, what it says
# of itself, and what others did with it.
PARTS = {"words", "meaning", "neighbours", "similarity", "scope", "recency", "confidence", "access", "usefulness"}


@pytest.mark.parametrize("ranking", ["balanced", "swarm"])
def test_a_new_part_of_a_score_has_to_be_thought_about_here(squad: Squad, ranking: str) -> None:
    squad.author.save_many([{"content": text} for text in HONEST])
    for hit in squad.person.search(QUESTION, ranking=ranking, project="p").hits:
        assert hit.breakdown.keys() <= PARTS


def test_others_count_one_voice_each(squad: Squad) -> None:
    memory = squad.author.save("Restart the gateway with systemctl.", path="/a")

    def score() -> float:
        return squad.person.search("restart gateway").hits[0].score

    others = squad.teammate.save_many([{"content": f"Seen {n} times over there."} for n in range(5)])
    squad.teammate.rate(memory.id, useful=True)
    once = score()
    for other in others:
        squad.teammate.link(other.id, memory.id, "supports")
    assert score() == pytest.approx(once, abs=1e-6)
    squad.lead.rate(memory.id, useful=True)
    assert score() > once
