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


def test_copies_of_one_answer_take_nothing_from_another(squad: Squad) -> None:
    squad.teammate.save(SECOND, path="/second")
    squad.author.save_many([{"content": f"{FIRST} Seen in week {n}.", "path": "/first"} for n in range(30)])
    found = {hit.memory.content: hit for hit in settled(squad).teammate.search(QUESTION).hits}
    assert found[SECOND].relevance >= 0.25
    assert sum(len(hit.copies) for hit in found.values()) >= 20


def test_an_answer_is_not_filled_up_to_its_limit(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    squad.author.save("The desk cluster near the window is free on Mondays.", path="/shares")
    answer, *others = settled(squad).teammate.search(QUESTION, limit=10).hits
    assert (answer.memory.content, answer.relevance > 0.8) == (FIRST, True)
    assert len(others) < 5 <= len(OTHERS)
    assert all(hit.relevance < 0.5 for hit in others)


def test_nothing_is_found_where_nothing_answers(squad: Squad) -> None:
    assert settled(squad).teammate.search("which quasar telescope does astronomy prefer").hits == ()


@pytest.mark.parametrize("count", [0, 2, 9])
def test_a_small_team_finds_its_note_in_other_words_and_nothing_off_the_topic(tmp_path: Path, count: int) -> None:
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS[:count])])
        squad.author.save(
            "The staging deploy needs a warm cache, otherwise the first request times out.", path="/asked"
        )
        found = settled(squad).teammate.search("why is the site slow right after we ship").hits
        assert found[0].memory.path == "/asked"
        assert found[0].relevance >= 0.25
        assert squad.teammate.search("who won the football world cup in 1998").hits == ()


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("question", ["zebra", "how do I bake bread"])
def test_a_small_team_answers_nothing_off_the_topic(tmp_path: Path, question: str, count: int) -> None:
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        # Not the canteen, which is near to bread.
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS[1 : count + 1])])
        squad.author.save("Deploys to staging run every evening and take ten minutes.", path="/deploy")
        assert settled(squad).teammate.search(question).hits == ()


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_small_team_finds_what_is_asked_in_words_of_its_own(tmp_path: Path, count: int) -> None:
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS[:count])])
        squad.author.save("Salary bands are open to everyone.", path="/asked")
        assert settled(squad).teammate.search("are wages transparent").hits[0].memory.path == "/asked"


def test_an_answer_in_other_words_is_found_among_hundreds_of_reports(tmp_path: Path) -> None:
    squad = open_squad(tmp_path, embedder=make_embedder(EmbeddingOptions()))
    with squad.workspace:
        reports = [
            {"content": f"Build {n} of the parser: green after {n % 48} minutes.", "path": f"/r{n}"} for n in range(200)
        ]
        squad.author.save_many(reports)
        squad.author.save("Checkout is slow because the card provider answers after four seconds.", path="/asked")
        found = settled(squad).teammate.search("why does paying take so long for customers").hits
        assert found[0].memory.path == "/asked"


@pytest.mark.parametrize("question", ["what does WP-TOO-FAR mean for somebody at the museum", "tidewatch_poll"])
def test_a_rare_name_is_found_whatever_else_is_asked(squad: Squad, question: str) -> None:
    squad.author.save("Above six transfers: WP-TOO-FAR. Then tidewatch_poll asks once more.", path="/named")
    assert settled(squad).teammate.search(question).hits[0].memory.path == "/named"


def test_quoted_words_are_found_where_they_stand(squad: Squad) -> None:
    squad.author.save("Keys to the shed lie under the third pot.", path="/quoted")
    found = settled(squad).teammate.search('quarterly astronomy budget "under the third pot"').hits
    assert [hit.memory.path for hit in found] == ["/quoted"]


def test_what_has_no_vector_yet_is_judged_by_its_words(squad: Squad) -> None:
    settled(squad)
    squad.author.save_many([{"content": f"{text} Again.", "path": "/late"} for text in OTHERS * 20])
    squad.teammate.save(FIRST, path="/first")
    hit = squad.teammate.search(QUESTION).hits[0]
    assert (hit.memory.content, hit.relevance >= 0.25) == (FIRST, True)


@pytest.mark.parametrize("count", [0, len(OTHERS)])
def test_words_alone_judge_each_hit_by_itself(tmp_path: Path, count: int) -> None:
    squad = open_squad(tmp_path, embedder=None)
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{n}"} for n, text in enumerate(OTHERS[:count])])
        for text in (FIRST, SECOND):
            squad.teammate.save(text, path="/asked")
        both = squad.teammate.search(QUESTION).hits
        assert {hit.memory.content for hit in both} == {FIRST, SECOND}
        assert min(hit.relevance for hit in both) >= 0.4
        assert squad.teammate.search("quasar telescopes astronomy").hits == ()


def test_whoever_asks_for_everything_still_gets_it(squad: Squad) -> None:
    squad.teammate.save(FIRST, path="/first")
    recall = settled(squad).teammate.search(QUESTION, min_relevance=0, limit=50)
    assert texts(recall)[0] == FIRST
    assert set(texts(recall)) == {FIRST, *OTHERS}
