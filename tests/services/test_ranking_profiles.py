"""Ranking profiles through the whole search: their numbers, their settings, and what they do to the order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from math import log, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mycel.domain.memory import Memory
from mycel.domain.recall import Hit, Recall
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import Misconfigured
from mycel.settings import load_settings, variable_of
from tests.squad import Squad, ids, open_squad, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


# Vectors are kept as signed bytes: a cosine is that much off at most.
QUANTISED = 0.01
# Whatever was found, but nothing that is only listed.
ANY = 1e-9


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        yield squad


@pytest.fixture(params=["words", "words and meaning"])
def any_squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        yield squad


def read(reader: TeamMemory, memory: Memory, *, times: int) -> None:
    for _ in range(times):
        reader.get(memory.id)
    # Traces of reading are written a moment later, but before anything is explained.
    reader.explain(memory_id=memory.id)
    assert reader.usage(memory.id).access_count >= times


def hit_of(recall: Recall, memory: Memory) -> Hit:
    [hit] = [hit for hit in recall.hits if hit.memory.id == memory.id]
    return hit


def before(recall: Recall, better: Memory, worse: Memory) -> bool:
    found = ids(recall)
    return found.index(better.id) < found.index(worse.id)


def cosine(first: str, second: str) -> float:
    embedder = wide_embedder()
    return float(np.dot(embedder.embed_query(first)[0], embedder.embed_documents([second])[0]))


def test_swarm_gives_its_formula_to_the_last_digit(squad: Squad) -> None:
    old = squad.author.save("heron pond", path="/old")
    squad.pass_time(days=14)
    read(squad.teammate, old, times=5)
    squad.pass_time(hours=48)
    new = squad.author.save("heron pond reeds", path="/new")
    often = squad.author.save("heron", path="/often")
    read(squad.teammate, often, times=12)

    recall = squad.teammate.search("heron pond", ranking="swarm", min_relevance=ANY)
    now = squad.clock.now()
    for memory, share in ((old, 0.5), (new, 0.0), (often, 0.5)):
        hit = hit_of(recall, memory)
        age = max(0.0, (now - memory.created_at) / timedelta(days=1))
        assert set(hit.breakdown) == {"similarity", "recency", "access"}
        assert hit.breakdown["similarity"] == pytest.approx(cosine("heron pond", memory.content), abs=QUANTISED)
        assert hit.breakdown["recency"] == pytest.approx(2 ** (-age / 14), abs=1e-12)
        assert hit.breakdown["access"] == pytest.approx(1 + share, abs=1e-12)
        assert hit.score == prod(hit.breakdown.values())
    assert hit_of(recall, old).breakdown["recency"] == pytest.approx(2 ** (-16 / 14), abs=1e-9)
    scores = [hit.score for hit in recall.hits]
    assert scores == sorted(scores, reverse=True)

    # A second later the last look at it is more than 48 hours ago.
    squad.pass_time(seconds=1)
    later = squad.teammate.search("heron pond", ranking="swarm")
    assert hit_of(later, old).breakdown["access"] == pytest.approx(1.25, abs=1e-12)


def test_swarm_without_vectors_takes_the_share_of_words_as_similarity(tmp_path: Path) -> None:
    squad = open_squad(tmp_path)
    with squad.workspace:
        memory = squad.author.save("a heron in the reeds")
        squad.pass_time(days=14)
        hit = hit_of(squad.author.search("heron pond", ranking="swarm"), memory)
        assert hit.breakdown == {"similarity": 0.5, "recency": pytest.approx(0.5), "access": 1.0}
        assert hit.score == pytest.approx(0.25)


def test_swarm_considers_three_times_as_many_as_asked_for_by_similarity(squad: Squad) -> None:
    similar = [squad.author.save("heron", path=f"/similar/{number}") for number in range(3)]
    squad.pass_time(days=140)
    fresh = squad.author.save("heron pond", path="/fresh")
    squad.pass_time(minutes=1)
    # Fresh would win by far, but three are more similar.
    first = squad.author.search("heron", ranking="swarm", limit=1, min_relevance=ANY)
    assert ids(first)[0] in {memory.id for memory in similar}
    assert ids(squad.author.search("heron", ranking="swarm", limit=2, min_relevance=ANY))[0] == fresh.id


@pytest.mark.parametrize(
    ("variable", "value", "part", "expected"),
    [
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", "7", "recency", 0.25),
        ("MEMORY_ACCESS_BOOST_MAX", "2", "access", 2.0),
        ("MEMORY_ACCESS_RECENCY_HOURS", "12", "access", 1.25),
        (None, None, "access", 1.5),
        (None, None, "recency", 0.5),
    ],
)
def test_the_four_variables_of_the_environment_reach_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None, value: str, part: str, expected: float
) -> None:
    if variable is not None:
        monkeypatch.setenv(variable, value)
    squad = open_squad(tmp_path, settings=load_settings(tmp_path))
    with squad.workspace:
        memory = squad.author.save("heron")
        squad.pass_time(days=13)
        read(squad.author, memory, times=10)
        squad.pass_time(days=1)
        hit = hit_of(squad.author.search("heron", ranking="swarm"), memory)
        assert hit.breakdown[part] == pytest.approx(expected)


def test_the_candidate_multiplier_of_the_environment_reaches_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_CANDIDATE_MULTIPLIER", "4")
    squad = open_squad(tmp_path, settings=load_settings(tmp_path), embedder=wide_embedder())
    with squad.workspace:
        for number in range(3):
            squad.author.save("heron", path=f"/similar/{number}")
        squad.pass_time(days=140)
        fresh = squad.author.save("heron pond", path="/fresh")
        squad.pass_time(minutes=1)
        assert ids(squad.author.search("heron", ranking="swarm", limit=1, min_relevance=ANY)) == [fresh.id]


def test_the_variables_have_the_names_given_from_outside() -> None:
    names = ["recency_half_life_days", "access_boost_max", "access_recency_hours", "candidate_multiplier"]
    assert [variable_of(name) for name in names] == [
        "MEMORY_RECENCY_HALF_LIFE_DAYS",
        "MEMORY_ACCESS_BOOST_MAX",
        "MEMORY_ACCESS_RECENCY_HOURS",
        "MEMORY_CANDIDATE_MULTIPLIER",
    ]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", "0"),
        ("MEMORY_ACCESS_BOOST_MAX", "0.9"),
        ("MEMORY_ACCESS_RECENCY_HOURS", "nan"),
        ("MEMORY_CANDIDATE_MULTIPLIER", "2.5"),
    ],
)
def test_a_figure_that_makes_no_sense_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(Misconfigured, match=variable):
        load_settings(tmp_path)


def test_the_parts_of_a_balanced_score_add_up_to_it(any_squad: Squad) -> None:
    author = any_squad.author
    one = author.save("heron pond", project="alpha", confidence=0.5, path="/p")
    two = author.save("the heron fishes in the pond at dawn", path="/p")
    author.save("an episode at the pond", type="episode")
    author.rate(one.id, useful=True)
    any_squad.pass_time(days=20)
    read(author, two, times=5)
    recall = author.search("heron pond", project="alpha", min_relevance=0)
    assert len(recall.hits) == 3
    for hit in recall.hits:
        assert hit.score == pytest.approx(sum(hit.breakdown.values()), abs=1e-12)
    assert [hit.score for hit in recall.hits] == sorted((hit.score for hit in recall.hits), reverse=True)
    assert hit_of(recall, one).breakdown["confidence"] == pytest.approx(log(0.85))
    assert hit_of(recall, one).breakdown["scope"] == pytest.approx(log(1.05))
    assert hit_of(recall, two).breakdown["access"] == pytest.approx(log(1.05))


@pytest.mark.parametrize("fields", [{"type": "decision"}, {"tags": ["convention"]}, {"type": "lesson"}])
def test_a_year_old_convention_is_found_above_what_is_fresh_and_beside_the_point(
    any_squad: Squad, fields: dict[str, Any]
) -> None:
    old = any_squad.author.save("Migrations are numbered and never edited after a release.", path="/old", **fields)
    any_squad.pass_time(days=365)
    fresh = any_squad.author.save("The release party is in June.", path="/fresh")
    fillers = [
        {"content": f"Unit {number} of the fleet left port{number}", "path": f"/{number}"} for number in range(20)
    ]
    any_squad.author.save_many(fillers)
    any_squad.workspace.run_pending()
    recall = any_squad.author.search("are migrations edited after a release")
    assert ids(recall)[0] == old.id
    assert fresh.id not in ids(recall) or before(recall, old, fresh)


def test_a_year_old_episode_sinks_below_an_equal_one_of_today_and_a_decision_hardly(any_squad: Squad) -> None:
    text = "The deployment of the billing host failed twice."
    episode = any_squad.author.save(text, type="episode", path="/a", ttl="500d")
    decision = any_squad.author.save(text, type="decision", path="/b")
    any_squad.pass_time(days=365)
    recent = any_squad.author.save(text, type="episode", path="/c")
    recall = any_squad.author.search("billing deployment failed", min_relevance=0)
    assert ids(recall) == [recent.id, decision.id, episode.id]
    parts = {hit.memory.id: hit.breakdown["recency"] for hit in recall.hits}
    assert parts[recent.id] == pytest.approx(0, abs=1e-9)
    assert parts[decision.id] == pytest.approx(log(0.9), abs=1e-6)
    assert parts[episode.id] == pytest.approx(log(0.2), abs=1e-6)
    assert "though it is old" in hit_of(recall, episode).why


def equal_pair(squad: Squad) -> tuple[Memory, Memory]:
    """The second stands first, being newer by a hair. Only whoever asks for everything is shown both."""
    pair = tuple(squad.author.save("Restart the gateway with systemctl.", path=f"/{name}") for name in "ab")
    squad.pass_time(hours=1)
    first, second = pair
    assert before(squad.author.search("restart gateway", min_relevance=0), second, first)
    return first, second


def test_what_readers_found_useless_sinks_below_an_equal_memory(any_squad: Squad) -> None:
    first, second = equal_pair(any_squad)
    parts: list[float] = []
    for member in (any_squad.teammate, any_squad.lead, any_squad.person):
        member.rate(second.id, useful=False)
        # Saying it again adds no voice.
        member.rate(second.id, useful=False)
        recall = any_squad.author.search("restart gateway", min_relevance=0)
        assert before(recall, first, second)
        parts.append(hit_of(recall, second).breakdown["usefulness"])
    assert parts == pytest.approx([log(0.9), log(0.5 + 2 / 6), log(0.5 + 2 / 7)])
    assert "did not find it useful" in hit_of(any_squad.author.search("restart gateway", min_relevance=0), second).why


def test_what_readers_found_useful_rises_above_an_equal_memory(any_squad: Squad) -> None:
    first, second = equal_pair(any_squad)
    any_squad.teammate.rate(first.id, useful=True)
    recall = any_squad.author.search("restart gateway", min_relevance=0)
    assert before(recall, first, second)
    assert hit_of(recall, first).breakdown["usefulness"] == pytest.approx(log(1.1))


@pytest.mark.parametrize("relation", ["supports", "derived_from"])
def test_what_others_build_on_rises_as_far_as_the_reader_sees_them(any_squad: Squad, relation: str) -> None:
    first, second = equal_pair(any_squad)
    witness = any_squad.teammate.save("Seen on Friday.", visibility="private")
    any_squad.teammate.link(witness.id, first.id, relation)
    assert before(any_squad.teammate.search("restart gateway", min_relevance=0), first, second)
    assert before(any_squad.author.search("restart gateway", min_relevance=0), second, first)
    any_squad.teammate.update(witness.id, visibility="team")
    assert before(any_squad.author.search("restart gateway", min_relevance=0), first, second)
    any_squad.teammate.delete(witness.id)
    assert before(any_squad.author.search("restart gateway", min_relevance=0), second, first)


def test_a_link_that_does_not_speak_for_a_memory_does_not_raise_it(any_squad: Squad) -> None:
    first, second = equal_pair(any_squad)
    any_squad.author.link(any_squad.author.save("Seen on Friday.").id, first.id, "contradicts")
    assert before(any_squad.author.search("restart gateway", min_relevance=0), second, first)


def test_what_is_certain_stands_above_what_is_doubted(any_squad: Squad) -> None:
    certain = any_squad.author.save("Restart the gateway with systemctl.", path="/a")
    doubted = any_squad.author.save("Restart the gateway with systemctl.", path="/b", confidence=0.2)
    any_squad.pass_time(hours=1)
    recall = any_squad.author.search("restart gateway", min_relevance=0)
    assert before(recall, certain, doubted)
    assert hit_of(recall, doubted).why.endswith(", though it is not certain.")


def test_what_speaks_against_a_hit_goes_on_with_its_sentence(any_squad: Squad) -> None:
    old = any_squad.author.save("Restart the gateway.", type="episode", ttl="500d", confidence=0.2)
    any_squad.pass_time(days=365)
    why = hit_of(any_squad.author.search("restart gateway", min_relevance=0), old).why
    assert why.endswith(", though it is old and it is not certain.")


def test_what_belongs_to_the_project_stands_above_what_holds_everywhere(any_squad: Squad) -> None:
    text = "Restart the gateway with systemctl."
    in_repo = any_squad.author.save(text, project="alpha", repo="alpha-api", path="/r")
    in_project = any_squad.author.save(text, project="alpha", path="/a")
    everywhere = any_squad.author.save(text, path="/b")
    any_squad.pass_time(hours=1)
    assert ids(any_squad.author.search("restart gateway", min_relevance=0))[0] == everywhere.id
    found = ids(any_squad.author.search("restart gateway", project="alpha", repo="alpha-api", min_relevance=0))
    assert found == [in_repo.id, in_project.id, everywhere.id]


def test_relevance_does_not_depend_on_the_ranking(squad: Squad) -> None:
    memories = [squad.author.save(f"heron pond {number}", path=f"/{number}") for number in range(5)]
    squad.pass_time(days=60)
    by_profile = [
        {hit.memory.id: hit.relevance for hit in squad.author.search("heron pond", ranking=profile).hits}
        for profile in ("balanced", "swarm")
    ]
    assert set(by_profile[0]) == {memory.id for memory in memories}
    assert by_profile[0] == pytest.approx(by_profile[1])
