"""Relevance speaks of a hit by itself: a second answer counts as much as the first, and nothing pads an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from tests.squad import Squad, open_squad, texts

pytestmark = pytest.mark.each_database(slow=True)

# About other matters, in words of their own.
OTHERS = (
    "Lunch is served at noon in the canteen on the second floor.",
    "The fence behind the parking lot was painted white in spring.",
    "Trains to the harbour leave every twenty minutes on Sundays.",
    "Invoices of suppliers are archived by the accounting clerk.",
    "The projector in room four needs a new lamp.",
    "Holidays are entered in the calendar by each employee.",
    "The newsletter is written by marketing on Thursdays.",
    "Plants in the lobby are watered by a gardener.",
    "Fire drills take place twice a year without notice.",
    "The coffee machine is descaled on the first Monday.",
    "Visitors receive a badge at the reception desk.",
    "Old monitors are given to a school nearby.",
)
FIRST = "The gateway certificates are renewed by the cron job of the edge cluster."
SECOND = "Renewed gateway certificates are loaded by the edge cluster after a cron restart."
QUESTION = "how are gateway certificates renewed in the edge cluster"


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    """With the model that is built in: how near unrelated texts are is its own."""
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS)])
        yield squad


def settled(squad: Squad) -> Squad:
    squad.workspace.run_pending()
    return squad


def test_a_second_answer_is_as_relevant_whatever_stands_above_it(squad: Squad) -> None:
    squad.author.save(SECOND, path="/second")
    [alone] = [hit for hit in settled(squad).teammate.search(QUESTION).hits if hit.memory.content == SECOND]
    squad.teammate.save(FIRST, path="/first")
    both = {hit.memory.content: hit.relevance for hit in settled(squad).teammate.search(QUESTION).hits}
    assert both.keys() == {FIRST, SECOND}
    assert both[SECOND] >= 0.5
    assert both[SECOND] >= 0.8 * alone.relevance
    assert min(both.values()) >= 0.8 * max(both.values())


def test_an_answer_is_not_filled_up_to_its_limit(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    shares = squad.author.save("The desk cluster near the window is free on Mondays.", path="/shares")
    answer, *others = settled(squad).teammate.search(QUESTION, limit=10).hits
    assert (answer.memory.content, answer.relevance > 0.9) == (FIRST, True)
    assert len(others) < 5 <= len(OTHERS)
    assert all(hit.relevance < (0.5 if hit.memory.id == shares.id else 0.1) for hit in others)


def test_nothing_is_found_where_nothing_answers(squad: Squad) -> None:
    assert settled(squad).teammate.search("which quasar telescope does astronomy prefer").hits == ()


def test_whoever_asks_for_everything_still_gets_it(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    recall = settled(squad).teammate.search(QUESTION, min_relevance=0, limit=50)
    assert texts(recall)[0] == FIRST
    assert set(texts(recall)) == {FIRST, *OTHERS}
