"""Relevance speaks of a hit by itself: a second answer counts as much as the first, and nothing pads an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.squad import Squad, open_squad, texts, wide_embedder

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
QUESTION = "how are gateway certificates renewed on the edge cluster"


@pytest.fixture(params=["words", "words and meaning"])
def squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS)])
        yield squad


def test_a_second_answer_is_as_relevant_whatever_stands_above_it(squad: Squad) -> None:
    squad.author.save(SECOND, path="/second")
    [alone] = [hit for hit in squad.teammate.search(QUESTION).hits if hit.memory.content == SECOND]
    squad.teammate.save(FIRST, path="/first")
    both = {hit.memory.content: hit.relevance for hit in squad.teammate.search(QUESTION).hits}
    assert both.keys() == {FIRST, SECOND}
    assert both[SECOND] >= 0.5
    assert both[SECOND] >= 0.8 * alone.relevance
    assert min(both.values()) >= 0.8 * max(both.values())


def test_an_answer_is_not_filled_up_with_what_only_shares_a_word(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    squad.author.save("The desk cluster near the window is free on Mondays.", path="/shares")
    assert texts(squad.teammate.search(QUESTION)) == [FIRST]


def test_nothing_is_found_where_nothing_answers(squad: Squad) -> None:
    assert squad.teammate.search("which quasar telescope does astronomy prefer").hits == ()


def test_whoever_asks_for_everything_still_gets_it(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    recall = squad.teammate.search(QUESTION, min_relevance=0, limit=50)
    assert texts(recall)[0] == FIRST
    assert set(texts(recall)) == {FIRST, *OTHERS}
