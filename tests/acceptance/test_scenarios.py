"""The acceptance scenarios that are about finding, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.errors import Unavailable
from mycel.retrieval.relevance import STRONG
from mycel.testing.embedder import WordEmbedder
from tests.squad import HeldEmbedder, Squad, ids, open_squad, texts, wide_embedder

pytestmark = pytest.mark.each_database


SYNONYMS = (["indentation", "whitespace"], ["database", "datastore"], ["outage", "downtime"], ["deploy", "rollout"])


@pytest.fixture(params=["words", "words and meaning"])
def squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    embedder = wide_embedder(*SYNONYMS) if request.param == "words and meaning" else None
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        yield squad


@pytest.fixture
def embedder() -> WordEmbedder:
    return wide_embedder(*SYNONYMS)


@pytest.fixture
def hybrid(tmp_path: Path, embedder: WordEmbedder) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        yield squad


def fill(squad: Squad, project: str, *, count: int = 40) -> None:
    """What a busy project leaves behind, in words that the questions below do not use."""
    squad.author.save_many(
        [
            {
                "content": f"Worker {number} writes batch{number} into bucket{number} of {project} at minute {number}",
                "project": project,
                "path": f"/projects/{project}/noise/{number}",
            }
            for number in range(count)
        ]
    )


def test_1_project_a_sees_the_operators_profile_and_its_conventions_not_bs_noise(squad: Squad) -> None:
    profile = squad.person.save("The operator wants tabs for indentation in every language.", type="profile")
    convention = squad.author.save("Convention: check the indentation with the linter.", project="alpha")
    noise = squad.author.save("The indentation of the beta reports is two spaces.", project="beta")
    fill(squad, "beta")
    squad.workspace.run_pending()
    squad.pass_time(hours=1)

    found = ids(squad.teammate.search("indentation", project="alpha"))
    assert set(found) == {profile.id, convention.id}
    in_beta = set(ids(squad.teammate.search("indentation", project="beta")))
    assert {profile.id, noise.id} <= in_beta
    assert convention.id not in in_beta
    # With no project given, the whole team.
    assert {profile.id, convention.id, noise.id} <= set(ids(squad.teammate.search("indentation")))
    # Asking for everything in reach brings none of the other project's noise either.
    everything = squad.teammate.search("indentation", project="alpha", min_relevance=0, limit=100)
    assert {hit.memory.project_id for hit in everything.hits} == {None, "alpha"}

    bundle = squad.teammate.context_for(project="alpha", task="indentation")
    told = bundle.to_markdown()
    assert profile.content in told
    assert convention.content in told
    assert "bucket" not in told
    assert noise.content not in told


def test_2_a_decision_of_a_appears_in_b_only_when_linked_or_strongly_relevant(squad: Squad) -> None:
    decision = squad.author.save(
        "We chose SQLite as the database because one file per team is easy to back up.",
        type="decision",
        project="alpha",
    )
    fill(squad, "alpha")
    fill(squad, "beta")
    here = squad.author.save("The beta database has nightly dumps.", project="beta")
    squad.workspace.run_pending()
    squad.pass_time(hours=1)

    # A word or two say where to look, not what is asked.
    vague = squad.teammate.search("database", project="beta")
    assert here.id in ids(vague)
    assert decision.id not in ids(vague)
    weak = squad.teammate.search("which database settings have nightly dumps here", project="beta")
    assert decision.id not in ids(weak)

    strong = squad.teammate.search("why SQLite as the database, one file per team, easy back up", project="beta")
    [hit] = [hit for hit in strong.hits if hit.memory.id == decision.id]
    assert hit.relevance >= STRONG
    assert "another project" in hit.why

    squad.author.link(decision.id, "project:beta", "applies_to")
    assert decision.id in ids(squad.teammate.search("database", project="beta"))
    assert decision.id not in ids(squad.teammate.search("database", project="gamma"))
    squad.author.unlink(decision.id, "project:beta", "applies_to")
    assert decision.id not in ids(squad.teammate.search("database", project="beta"))


@pytest.mark.parametrize("trouble", ["none set", "failing", "not run yet"])
def test_3_a_profile_preference_is_found_at_once_before_any_embedding_exists(tmp_path: Path, trouble: str) -> None:
    embedder = HeldEmbedder(synonyms=SYNONYMS)
    if trouble == "failing":
        embedder.failing = Unavailable("the embedder is down")
        embedder.release()
    squad = open_squad(tmp_path, embedder=None if trouble == "none set" else embedder)
    with squad.workspace, embedder:
        # More than a search embeds by itself.
        fill(squad, "alpha", count=0 if trouble == "none set" else 100)
        preference = squad.person.save("I prefer short answers in Portuguese.", type="profile")
        recall = squad.teammate.search("prefer answers in Portuguese", project="alpha")
        assert ids(recall)[:1] == [preference.id]
        assert preference.content in squad.teammate.context_for(project="alpha", task="answers").to_markdown()
        told = {"none set": (), "failing": ("meaning",), "not run yet": ("embedding_backlog",)}
        assert recall.degraded == told[trouble]
        assert ids(squad.teammate.search(None, type="profile")) == [preference.id]


def test_7_a_result_mixes_lexical_and_semantic_matches_and_says_why(hybrid: Squad, embedder: WordEmbedder) -> None:
    by_words = hybrid.author.save("Every outage of the billing host is written down.", path="/a")
    by_meaning = hybrid.author.save("Downtime costs customers, so page somebody at night.", path="/b")
    by_neither = hybrid.author.save("Lunch is served on the second floor.", path="/c")
    fill(hybrid, "alpha")
    hybrid.workspace.run_pending()
    hybrid.pass_time(hours=1)

    recall = hybrid.teammate.search("outage")
    hits = {hit.memory.id: hit for hit in recall.hits}
    assert {by_words.id, by_meaning.id} <= set(hits)
    assert by_neither.id not in hits
    assert recall.degraded == ()

    words, meaning = hits[by_words.id], hits[by_meaning.id]
    assert words.breakdown["words"] > 0
    assert words.breakdown["meaning"] > 0
    assert "outag" in words.why
    assert "**outage**" in words.snippet
    assert meaning.breakdown["words"] == 0
    assert meaning.breakdown["meaning"] > 0
    assert "in meaning" in meaning.why
    assert "search term" not in meaning.why
    for hit in recall.hits:
        assert hit.score == pytest.approx(sum(hit.breakdown.values()))
        assert 0 < hit.relevance <= 1
        assert hit.why.endswith(".")

    embedder.failing = Unavailable("the embedder is down")
    fallback = hybrid.teammate.search("outage of a host")
    assert fallback.degraded == ("meaning",)
    assert by_words.content in texts(fallback)
    assert all("meaning" not in hit.breakdown for hit in fallback.hits)


def test_7_holds_over_a_lead_s_two_teams(hybrid: Squad) -> None:
    above = hybrid.author.save("Downtime costs customers.", path="/b")
    below = hybrid.child_lead.save("An outage of our own.")
    hybrid.child_lead.save("Lunch is served on the second floor.", path="/lunch")
    hits = {hit.memory.id: hit for hit in hybrid.child_lead.search("outage").hits}
    assert {above.id, below.id} <= set(hits)
    assert hits[above.id].breakdown["words"] == 0 < hits[above.id].breakdown["meaning"]
    assert hits[below.id].breakdown["words"] > 0
