"""Explaining a recall: replayed with its numbers, and for what was missing, the step that left it behind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.memory import Memory
from mycel.domain.recall import Recall, Step
from mycel.errors import InvalidInput, NotFound, Unavailable
from mycel.retrieval.relevance import STRONG
from tests.squad import Squad, fill, ids, open_squad, wide_embedder
from tests.template import ABSENT

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture(params=["words", "words and meaning"])
def squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        yield squad


@pytest.fixture
def hybrid(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder())
    with squad.workspace:
        yield squad


def asked(squad: Squad, question: str, **options: Any) -> Recall:
    """A minute after all that was written, and a minute before it is explained."""
    squad.pass_time(minutes=1)
    recall = squad.teammate.search(question, **options)
    squad.pass_time(minutes=1)
    return recall


def why_not(squad: Squad, recall: Recall, memory: Memory) -> Any:
    explained = squad.teammate.explain(recall.id, missing=memory.id)
    assert explained.memory is not None
    assert explained.memory.id == memory.id
    assert explained.recall is not None
    assert explained.recall.id == recall.id
    assert explained.text.endswith(".")
    return explained


def test_a_recall_is_replayed_with_the_numbers_it_was_answered_with(squad: Squad) -> None:
    for number in range(5):
        squad.author.save(f"The heron stands in pond {number}.", path=f"/{number}")
    recall = asked(squad, "heron in the pond", limit=3, type="fact", since="2026-01-01T00:00:00Z")
    squad.author.update(recall.hits[0].memory.id, content="Something else.")
    squad.teammate.rate(recall.hits[1].memory.id, useful=False)
    replayed = squad.teammate.explain(recall.id).recall
    assert replayed is not None
    assert (replayed.id, replayed.query, replayed.degraded) == (recall.id, "heron in the pond", ())
    assert replayed.recalled_at == squad.clock.now() - timedelta(minutes=1)
    assert replayed.request["limit"] == 3
    assert replayed.request["filters"]["type"] == "fact"
    answered = [(h.memory.id, h.score, h.relevance, dict(h.breakdown), h.why) for h in recall.hits]
    assert [(h.memory_id, h.score, h.relevance, dict(h.breakdown), h.why) for h in replayed.hits] == answered
    text = squad.teammate.explain(recall.id).text
    assert all(hit.memory.id in text and hit.why in text for hit in recall.hits)


def test_a_recall_that_lacked_something_says_so_again(tmp_path: Path) -> None:
    embedder = wide_embedder()
    embedder.failing = Unavailable("down")
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        squad.author.save("The heron stands.")
        explained = squad.teammate.explain(squad.teammate.search("heron").id)
        assert explained.recall is not None
        assert explained.recall.degraded == ("meaning",)
        assert "Without meaning" in explained.text


def test_a_replay_leaves_out_what_has_since_been_hidden_or_deleted(squad: Squad) -> None:
    kept, hidden, deleted, purged = (
        squad.author.save(f"The heron stands in pond {number}.", path=f"/{number}") for number in range(4)
    )
    recall = asked(squad, "heron")
    assert len(recall.hits) == 4
    squad.author.update(hidden.id, visibility="private")
    squad.author.delete(deleted.id)
    explained = squad.teammate.explain(recall.id)
    assert explained.recall is not None
    assert {hit.memory_id for hit in explained.recall.hits} == {kept.id, purged.id}
    assert hidden.id not in explained.text
    assert deleted.id not in explained.text
    squad.author.purge(purged.id)
    # The whole recall went with it: its question may have quoted the text.
    with pytest.raises(NotFound):
        squad.teammate.explain(recall.id)


def test_a_recall_of_somebody_else_is_not_found(squad: Squad) -> None:
    squad.author.save("The heron stands.")
    recall = squad.teammate.search("heron")
    assert squad.teammate.explain(recall.id).recall is not None
    texts = set()
    for other in (squad.author, squad.lead, squad.admin, squad.workspace.as_operator("squad")):
        with pytest.raises(NotFound) as refused:
            other.explain(recall.id)
        texts.add(str(refused.value))
    with pytest.raises(NotFound) as absent:
        squad.teammate.explain(ABSENT)
    assert {text.replace(recall.id, "ID") for text in texts} == {str(absent.value).replace(ABSENT, "ID")}


def test_a_lead_s_recall_is_replayed_with_the_hits_of_both_teams(squad: Squad) -> None:
    above, below = squad.author.save("The heron above."), squad.child_lead.save("The heron below.")
    squad.pass_time(minutes=1)
    recall = squad.child_lead.search("heron")
    assert set(ids(recall)) == {above.id, below.id}
    explained = squad.child_lead.explain(recall.id)
    assert explained.recall is not None
    assert {hit.memory_id for hit in explained.recall.hits} == {above.id, below.id}
    assert squad.child_lead.explain(recall.id, missing=above.id).step is Step.RETURNED


def test_a_lead_whose_team_has_saved_nothing_can_explain_its_recall(squad: Squad) -> None:
    squad.author.save("The heron above.")
    recall = squad.child_lead.search("heron")
    assert len(recall.hits) == 1
    assert squad.child_lead.explain(recall.id).recall is not None


def test_returned_is_said_of_what_was_returned_with_its_rank(squad: Squad) -> None:
    for number in range(3):
        squad.author.save(f"The heron stands in pond {number}.", path=f"/{number}")
    recall = asked(squad, "heron")
    for rank, hit in enumerate(recall.hits, start=1):
        told = why_not(squad, recall, hit.memory)
        assert (told.step, told.rank, told.relevance) == (Step.RETURNED, rank, hit.relevance)
        assert hit.why in told.text


def test_later_is_said_of_what_was_saved_after_the_search(squad: Squad) -> None:
    recall = asked(squad, "heron")
    squad.author.save("Before there is any file no recall is kept.")
    recall = asked(squad, "heron")
    later = squad.author.save("The heron stands.")
    told = why_not(squad, recall, later)
    assert (told.step, told.filter) == (Step.LATER, None)


@pytest.mark.parametrize("status", ["archived", "superseded", "contradicted"])
def test_status_is_said_of_what_was_not_active(squad: Squad, status: str) -> None:
    memory = squad.author.save("The heron stands.")
    squad.author.update(memory.id, status=status)
    told = why_not(squad, asked(squad, "heron"), memory)
    assert told.step is Step.STATUS
    assert "active" in told.text


def test_status_is_also_said_of_what_waits_in_the_inbox(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", needs_review=True)
    assert why_not(squad, asked(squad, "heron"), memory).step is Step.STATUS


def test_expiry_is_said_of_what_had_expired_by_then(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", ttl="30s")
    alive = squad.author.save("The heron sits.", ttl="1h")
    recall = asked(squad, "heron")
    assert ids(recall) == [alive.id]
    told = why_not(squad, recall, memory)
    assert (told.step, told.text) == (Step.EXPIRY, "It had expired.")
    # What has expired only since was returned all the same.
    squad.pass_time(hours=2)
    assert why_not(squad, recall, alive).step is Step.RETURNED


@pytest.mark.parametrize(
    ("filters", "name"),
    [
        ({"type": "lesson"}, "type"),
        ({"type": ["lesson", "note"]}, "type"),
        ({"tags": "water"}, "tags"),
        ({"tags": ["bird", "water"]}, "tags"),
        ({"path": "/lakes"}, "path"),
        ({"scopes": "agent"}, "scopes"),
        ({"category": "lakes"}, "category"),
        ({"key": "k"}, "key"),
        ({"agent": "swe-2"}, "agent"),
        ({"session_id": "s2"}, "session_id"),
        ({"task_id": "t2"}, "task_id"),
        ({"since": "2027-01-01T00:00:00Z"}, "since"),
        ({"until": "2026-01-01T00:00:00Z"}, "until"),
    ],
)
def test_filter_names_the_filter_that_left_it_out(squad: Squad, filters: dict[str, Any], name: str) -> None:
    memory = squad.author.save(
        "The heron stands.", path="/ponds", tags=["bird"], category="ponds", session_id="s1", task_id="t1"
    )
    recall = asked(squad, "heron", **filters)
    assert recall.hits == ()
    told = why_not(squad, recall, memory)
    assert (told.step, told.filter) == (Step.FILTER, name)
    assert name in told.text


def test_of_several_filters_only_one_that_fails_is_named(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", path="/ponds", tags=["bird"])
    told = why_not(squad, asked(squad, "heron", tags="bird", path="/ponds", category="lakes"), memory)
    assert (told.step, told.filter) == (Step.FILTER, "category")


def test_no_match_is_said_of_what_has_nothing_of_the_question(tmp_path: Path) -> None:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.author.save("The heron stands.", path="/a")
        other = squad.author.save("Lunch is at noon.", path="/b")
        told = why_not(squad, asked(squad, "heron"), other)
        assert (told.step, told.rank) == (Step.NO_MATCH, None)


def test_reach_is_said_of_what_belongs_to_another_project_and_is_not_strong_enough(squad: Squad) -> None:
    here = squad.author.save("The heron here.", project="alpha")
    there = squad.author.save("The heron stands in the reeds of the western pond.", project="beta")
    fill(squad)
    squad.workspace.run_pending()
    recall = asked(squad, "heron", project="alpha")
    assert here.id in ids(recall)
    told = why_not(squad, recall, there)
    assert (told.step, told.least) == (Step.REACH, STRONG)
    assert "another project" in told.text


def test_threshold_is_said_of_what_was_too_weak(squad: Squad) -> None:
    squad.author.save("The heron stands in the reeds.", path="/a")
    weak = squad.author.save("A long note about boats, ropes, sails, paint and reeds, which nobody reads.", path="/b")
    fill(squad)
    squad.workspace.run_pending()
    recall = asked(squad, "heron stands in the reeds", min_relevance=0.7)
    assert weak.id not in ids(recall)
    told = why_not(squad, recall, weak)
    assert (told.step, told.least) == (Step.THRESHOLD, 0.7)
    assert told.relevance < 0.7


def test_rank_is_said_of_what_came_after_the_last_one_asked_for(squad: Squad) -> None:
    for number in range(6):
        squad.author.save(f"The heron stands in pond {number}.", path=f"/{number}")
    everything = asked(squad, "heron pond")
    recall = asked(squad, "heron pond", limit=2)
    assert len(recall.hits) == 2
    for rank, hit in enumerate(everything.hits, start=1):
        told = why_not(squad, recall, hit.memory)
        assert (told.step, told.rank) == (Step.RETURNED if rank <= 2 else Step.RANK, rank)


def test_rank_is_also_said_of_a_list_without_a_question(squad: Squad) -> None:
    first, second = squad.author.save("one"), squad.author.save("two")
    recall = asked(squad, "", limit=1)
    assert ids(recall) == [second.id]
    assert why_not(squad, recall, first).step is Step.RANK


def test_changed_is_said_of_what_would_be_found_now(squad: Squad) -> None:
    memory = squad.author.save("Something else.", path="/a")
    squad.author.save("The stork stands.", path="/b")
    fill(squad)
    squad.workspace.run_pending()
    recall = asked(squad, "heron in the western reeds", min_relevance=0.1)
    assert memory.id not in ids(recall)
    squad.author.update(memory.id, content="The heron stands in the western reeds.")
    told = why_not(squad, recall, memory)
    assert (told.step, told.rank) == (Step.CHANGED, 1)
    assert told.relevance >= 0.1


def test_swarm_s_candidates_are_not_blamed_on_a_change(hybrid: Squad) -> None:
    """More similar ones filled the places: nothing has changed since."""
    for number in range(3):
        hybrid.author.save("heron", path=f"/{number}")
    hybrid.pass_time(days=100)
    crowded_out = hybrid.author.save("heron pond", path="/new")
    recall = asked(hybrid, "heron", ranking="swarm", limit=1, min_relevance=1e-9)
    assert crowded_out.id not in ids(recall)
    assert why_not(hybrid, recall, crowded_out).step in {Step.RANK, Step.NO_MATCH}


def test_what_is_hidden_deleted_or_absent_looks_the_same(squad: Squad) -> None:
    squad.author.save("The heron stands.")
    hidden = squad.author.save("The heron hides.", visibility="private")
    for_leads = squad.lead.save("The heron leads.", visibility="role", allowed_roles=["lead"])
    deleted = squad.author.save("The heron left.")
    squad.author.delete(deleted.id)
    recall = asked(squad, "heron")
    told = set()
    for id in (hidden.id, for_leads.id, deleted.id, ABSENT):
        for options in ({"recall_id": recall.id, "missing": id}, {"memory_id": id}):
            with pytest.raises(NotFound) as refused:
                squad.teammate.explain(**options)
            told.add((type(refused.value), str(refused.value).replace(id, "ID")))
    assert len(told) == 1


def test_a_memory_tells_where_it_came_from_and_who_found_it_how_useful(squad: Squad) -> None:
    memory = squad.author.save("The heron stands.", type="lesson", confidence=0.8)
    squad.teammate.get(memory.id)
    squad.lead.rate(memory.id, useful=True)
    squad.teammate.rate(memory.id, useful=False)
    first = asked(squad, "heron")
    second = asked(squad, "a standing heron")
    squad.author.search("heron")
    # Traces of reading are written a moment later, at the latest with the first explanation.
    squad.teammate.explain(memory_id=memory.id)
    told = squad.teammate.explain(memory_id=memory.id)
    assert told.memory is not None
    assert told.memory.id == memory.id
    assert (told.step, told.recall) == (None, None)
    # The caller's own, the latest first.
    assert [recall.id for recall in told.recalls] == [second.id, first.id]
    for part in ("swe-1", "lesson", "confidence 0.8", "Read once", "rated useful 1, not useful 1", "a standing heron"):
        assert part in told.text, part


@pytest.mark.parametrize(
    "options",
    [{}, {"recall_id": ABSENT, "memory_id": ABSENT}, {"memory_id": ABSENT, "missing": ABSENT}, {"recall_id": "x"}],
)
def test_a_question_that_makes_no_sense_is_refused(squad: Squad, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        squad.teammate.explain(**options)
