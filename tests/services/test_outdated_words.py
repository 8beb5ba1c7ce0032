"""Words that an earlier analyser made are made again by themselves, and searches are answered meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mycel.domain.ids import TeamName
from mycel.retrieval.terms import ANALYSER, packed_texts
from mycel.services import words
from mycel.stores.sql.index import OUTDATED
from tests.squad import PATIENCE, TEAM, Squad, open_squad, texts

pytestmark = pytest.mark.each_database(slow=True)

THINGS = [
    "roofs",
    "bridges",
    "letters",
    "engines",
    "gardens",
    "ovens",
    "ladders",
    "violins",
    "carpets",
    "tunnels",
    "candles",
    "rivers",
]
# No two alike, so that none stands for another.
NOTES = [f"Herons and {thing}: {thing[::-1]} {thing.upper()}x {thing[1:]}q." for thing in THINGS]


@pytest.fixture
def squad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Squad]:
    monkeypatch.setattr(words, "BATCH", 5)
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def in_store(squad: Squad, work: Callable[[Any], Any]) -> Any:
    with squad.workspace._do.upkeep._stores.lease(TeamName(TEAM)) as store:
        return store.transact(work)


def make_outdated(squad: Squad) -> None:
    """As a version would have left them that took every text for the word it begins with."""

    def work(transaction: Any) -> None:
        batch = transaction.memories.batch
        numbers = [number for (number,) in batch.connection.execute("SELECT number FROM memories").fetchall()]
        for number in numbers:
            batch.put_terms(packed_texts("", "", "obsolete", ""), number=number)
        batch.connection.execute("UPDATE memory_terms SET analyser = ?", (ANALYSER - 1,))

    in_store(squad, work)


def count_outdated(squad: Squad) -> int:
    sql = f"SELECT count(*) FROM memory_terms WHERE {OUTDATED}"
    return in_store(squad, lambda transaction: transaction.memories.batch.connection.execute(sql).fetchone()[0])


def wait_until_none_is_left(squad: Squad) -> None:
    until = time.monotonic() + PATIENCE
    while count_outdated(squad):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_search_sees_to_words_of_an_earlier_analyser_and_finds_by_the_new_ones(squad: Squad) -> None:
    for note in NOTES:
        squad.author.save(note)
    make_outdated(squad)
    squad.teammate.search("obsolete", limit=50)
    wait_until_none_is_left(squad)
    assert len(squad.teammate.search("herons", limit=50, min_relevance=0).hits) == len(NOTES)
    assert not squad.teammate.search("obsolete").hits


def test_words_are_made_again_without_a_search_too(squad: Squad) -> None:
    for note in NOTES:
        squad.author.save(note)
    make_outdated(squad)
    assert count_outdated(squad) == len(NOTES)
    squad.workspace.run_pending()
    assert count_outdated(squad) == 0
    assert squad.teammate.search("violins").hits[0].memory.content == NOTES[7]


def test_what_is_written_meanwhile_is_found_at_once_and_nothing_gets_into_the_log(squad: Squad) -> None:
    for note in NOTES:
        squad.author.save(note)
    make_outdated(squad)
    before = len(list(squad.teammate.changes()))
    squad.author.save("Storks nest on chimneys.")
    assert texts(squad.teammate.search("storks")) == ["Storks nest on chimneys."]
    squad.workspace.run_pending()
    assert texts(squad.teammate.search("storks")) == ["Storks nest on chimneys."]
    assert len(list(squad.teammate.changes())) == before + 1


def test_an_index_in_use_takes_over_what_another_process_has_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words.Words, "wake", lambda self, team: None)
    squad = open_squad(tmp_path)
    with squad.workspace:
        for note in NOTES:
            squad.author.save(note)
        make_outdated(squad)
        found = [len(found_by(squad, "obsolete"))]
        while in_store(squad, lambda transaction: transaction.memories.renew_words(limit=5)):
            found.append(len(found_by(squad, "obsolete")))
            assert len(found_by(squad, "herons")) == len(NOTES) - found[-1]
    assert found == [12, 7, 2, 0]


def found_by(squad: Squad, text: str) -> list[str]:
    """By one question asked once: what was answered a moment ago is answered again."""
    return texts(squad.teammate.search(text, limit=50, min_relevance=0.0001))
