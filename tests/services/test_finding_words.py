"""Finding by words: misspellings, phrases, identifiers, scripts without spaces, and what stands beside a hit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mycel.domain.memory import Memory
from tests.squad import Squad, ids, open_squad, texts, wide_embedder

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


@pytest.fixture(params=["words", "words and meaning"])
def any_squad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path, embedder=wide_embedder() if request.param == "words and meaning" else None)
    with squad.workspace:
        yield squad


def fill(squad: Squad, *, count: int = 30) -> None:
    """Notes in words that stand nowhere else."""
    draw = Random(7)

    def word() -> str:
        return "".join(draw.choice("bdfglmprvz") + draw.choice("aeiou") for _ in range(4))

    items = [{"content": " ".join(word() for _ in range(8)), "path": f"/fill/{number}"} for number in range(count)]
    squad.author.save_many(items)
    squad.workspace.run_pending()


@pytest.mark.parametrize(
    "typed",
    ["kubernetez", "kubernets", "kubbernetes", "kubernteest"[:-1], "ukbernetes", "kubernetess", "Kubernetez"],
    ids=["wrong letter", "missing", "doubled", "swapped", "swapped at the start", "one too many", "capital"],
)
def test_a_word_one_letter_off_is_found(squad: Squad, typed: str) -> None:
    memory = squad.author.save("Kubernetes runs the staging cluster.", path="/k")
    fill(squad)
    recall = squad.teammate.search(typed)
    assert ids(recall)[:1] == [memory.id]
    assert recall.query == typed
    assert recall.hits[0].breakdown["words"] > 0


def test_quoted_words_are_found_however_many_notes_hold_each_of_them(squad: Squad) -> None:
    oldest = squad.author.save("The release train leaves on Monday.", path="/first")
    for first in range(0, 2_100, 700):
        items = [
            {"content": f"The train waits, and release {number} comes by lorry.", "path": f"/fill/{number}"}
            for number in range(first, first + 700)
        ]
        squad.author.save_many(items)
    asked = '"the release train"'
    assert ids(squad.teammate.search(asked)) == [oldest.id]
    assert ids(squad.person.search(asked)) == [oldest.id]
    other = squad.author.save("A train of goods.", path="/second")
    squad.author.update(other.id, content="Nobody missed the release train today.")
    assert {*ids(squad.teammate.search(asked))} == {oldest.id, other.id}


def test_two_letters_off_is_another_word(squad: Squad) -> None:
    squad.author.save("Kubernetes runs the staging cluster.")
    fill(squad)
    assert squad.teammate.search("kubernxtxs").hits == ()


@pytest.mark.parametrize("typed", ["cta", "c4t", "naïve"])
def test_short_words_and_what_is_not_plain_letters_are_not_guessed_at(squad: Squad, typed: str) -> None:
    squad.author.save("The cat is not native to the island.")
    fill(squad)
    assert squad.teammate.search(typed).hits == ()


def test_nothing_is_corrected_while_something_matches(squad: Squad) -> None:
    exact = squad.author.save("A form for the tax office.", path="/a")
    squad.author.save("The farm has ten cows.", path="/b")
    fill(squad)
    assert ids(squad.teammate.search("form")) == [exact.id]
    # One word of the question is known: the other one stays as it was typed.
    assert ids(squad.teammate.search("form frm")) == [exact.id]


def test_every_unknown_word_of_a_question_is_corrected(squad: Squad) -> None:
    both = squad.author.save("The staging cluster sleeps at night.", path="/a")
    one = squad.author.save("A cluster of grapes.", path="/b")
    fill(squad)
    found = ids(squad.teammate.search("stagin clustr"))
    assert found[0] == both.id
    assert set(found) <= {both.id, one.id}


def test_a_word_only_in_hidden_memories_does_not_stand_in_the_way_of_the_right_one(squad: Squad) -> None:
    for _ in range(5):
        squad.lead.save("plane", visibility="private")
    visible = squad.author.save("The planet has two moons.")
    fill(squad)
    assert ids(squad.teammate.search("planext")) == [visible.id]
    # Nearer to the hidden word or not: what can be found is.
    assert ids(squad.teammate.search("planeq")) == [visible.id]


def test_a_quoted_phrase_is_required_when_somebody_has_it(any_squad: Squad) -> None:
    together = any_squad.author.save("The blue green deployment took an hour.", path="/a")
    apart = any_squad.author.save("A green light, blue paint and a deployment of blue boats, green boats.", path="/b")
    fill(any_squad)
    assert ids(any_squad.teammate.search('"blue green deployment"')) == [together.id]
    assert {together.id, apart.id} <= set(ids(any_squad.teammate.search("blue green deployment")))
    assert ids(any_squad.teammate.search('boats "blue green"')) == [together.id]
    # Whatever sort of quotation marks.
    assert ids(any_squad.teammate.search("“blue green”")) == [together.id]


def test_of_two_quoted_phrases_both_are_required(any_squad: Squad) -> None:
    both = any_squad.author.save("The red lamp means the blue door is shut.", path="/a")
    any_squad.author.save("The red lamp is broken.", path="/b")
    any_squad.author.save("The blue door is open.", path="/c")
    fill(any_squad)
    assert ids(any_squad.teammate.search('"red lamp" "blue door"')) == [both.id]


def test_a_quoted_phrase_that_nobody_has_is_read_as_its_words(any_squad: Squad) -> None:
    apart = any_squad.author.save("A green light and blue paint.", path="/b")
    fill(any_squad)
    assert ids(any_squad.teammate.search('"blue green"'))[:1] == [apart.id]


def test_a_phrase_only_in_hidden_memories_is_one_that_nobody_has(any_squad: Squad) -> None:
    any_squad.lead.save("the blue green deployment", visibility="private")
    apart = any_squad.author.save("A green light and blue paint.", path="/b")
    fill(any_squad)
    assert ids(any_squad.teammate.search('"blue green"'))[:1] == [apart.id]


@pytest.mark.parametrize(
    "question",
    [
        *("retry_backoff_ms", "backoff", "RETRY", "HttpClientPool", "client pool", "src/net/http_client.py"),
        *("http_client.py", "http_client", "v2.11.3", "2.11", "ERR-4031", "4031"),
    ],
)
def test_identifiers_are_found_whole_and_by_part(squad: Squad, question: str) -> None:
    memory = squad.author.save(
        "In src/net/http_client.py the HttpClientPool reads retry_backoff_ms; since v2.11.3 it raises ERR-4031.",
        path="/a",
    )
    fill(squad)
    assert ids(squad.teammate.search(question))[:1] == [memory.id]


def test_a_whole_identifier_is_found_first_whatever_the_store_holds(any_squad: Squad) -> None:
    identifiers = ["retry_backoff_ms", "HttpClientPool", "src/net/http_client.py", "v2.11.3", "ERR-4031"]
    saved = [any_squad.author.save(f"Look at {name} first.", path=f"/{at}") for at, name in enumerate(identifiers)]
    fill(any_squad, count=300)
    for name, memory in zip(identifiers, saved, strict=True):
        assert ids(any_squad.teammate.search(name))[:1] == [memory.id], name


def test_a_word_that_only_one_memory_has_finds_it_even_where_its_vector_says_nothing(any_squad: Squad) -> None:
    """Parts of identifiers, numbers and names are words that a model may never have learnt."""
    names = [f"{first}{second}" for first in ("kira", "lomo", "neru") for second in ("gate", "lake", "moor", "field")]
    saved = {name: any_squad.author.save(f"Look at {name}_{name[::-1]} first.", path=f"/{name}") for name in names}
    fill(any_squad, count=1000)
    missing = [name for name, memory in saved.items() if memory.id not in ids(any_squad.teammate.search(name))]
    assert missing == []


def test_the_whole_identifier_stands_above_its_parts(any_squad: Squad) -> None:
    parts = any_squad.author.save("A retry needs some backoff, counted in ms.", path="/a")
    whole = any_squad.author.save("Set retry_backoff_ms in the settings of the pool.", path="/b")
    fill(any_squad)
    found = ids(any_squad.teammate.search("retry_backoff_ms"))
    assert found[0] == whole.id
    assert found.index(whole.id) < (found.index(parts.id) if parts.id in found else len(found))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("数据库迁移在星期五晚上进行。", "数据库"),
        ("数据库迁移在星期五晚上进行。", "迁移"),
        ("数据库迁移在星期五晚上进行。", "晚"),
        ("本番環境のデプロイは承認が必要です。", "デプロイ"),
        ("本番環境のデプロイは承認が必要です。", "承認"),
        ("배포 승인은 팀장이 합니다.", "승인"),
    ],
)
def test_scripts_without_spaces_are_found_by_any_run_of_characters(squad: Squad, text: str, question: str) -> None:
    memory = squad.author.save(text, path="/cjk")
    squad.author.save("会議は月曜日の朝です。", path="/other")
    fill(squad)
    recall = squad.teammate.search(question)
    assert ids(recall)[:1] == [memory.id]
    assert "**" in recall.hits[0].snippet


def talk(squad: Squad, path: str, *turns: str, **fields: Any) -> list[Memory]:
    """Turns of one conversation, saved one after another."""
    squad.pass_time(hours=2)
    return [squad.author.save(turn, path=path, **fields) for turn in turns]


ASKED = "Where does the gateway keep its certificates?"
ANSWERED = "They are kept in the vault, under gateway."
# As long, and as much about the gateway.
ALIKE = "They are seen at the beach, under gateway."


def test_a_turn_beside_a_strong_hit_stands_above_an_equal_turn_elsewhere(any_squad: Squad) -> None:
    strong, near = talk(any_squad, "/talks/1", ASKED, ANSWERED)
    talk(any_squad, "/talks/2", "Nothing of interest.", "Nor here.")
    (far,) = talk(any_squad, "/talks/3", ALIKE)
    fill(any_squad)
    recall = any_squad.teammate.search("where are the certificates of the gateway kept")
    found = ids(recall)
    assert found[0] == strong.id
    assert found.index(near.id) < (found.index(far.id) if far.id in found else len(found))
    [hit] = [hit for hit in recall.hits if hit.memory.id == near.id]
    assert hit.breakdown["neighbours"] > 0
    assert "what stands beside it matches too" in hit.why


@pytest.mark.parametrize("apart", ["path", "session", "author", "time"])
def test_turns_of_different_conversations_do_not_support_each_other(any_squad: Squad, apart: str) -> None:
    any_squad.author.save(ASKED, path="/talks/1", session_id="one")
    author = any_squad.teammate if apart == "author" else any_squad.author
    any_squad.pass_time(minutes=31 if apart == "time" else 1)
    near = author.save(
        ANSWERED,
        path="/talks/2" if apart == "path" else "/talks/1",
        session_id="two" if apart == "session" else "one",
    )
    fill(any_squad)
    recall = any_squad.lead.search("where are the certificates of the gateway kept")
    for hit in recall.hits:
        if hit.memory.id == near.id:
            assert "neighbours" not in hit.breakdown


def test_the_same_pair_in_one_conversation_does_support(any_squad: Squad) -> None:
    any_squad.author.save(ASKED, path="/talks/1", session_id="one")
    any_squad.pass_time(minutes=1)
    near = any_squad.author.save(ANSWERED, path="/talks/1", session_id="one")
    fill(any_squad)
    recall = any_squad.lead.search("where are the certificates of the gateway kept")
    [hit] = [hit for hit in recall.hits if hit.memory.id == near.id]
    assert hit.breakdown["neighbours"] > 0


def test_a_hidden_neighbour_supports_nobody_who_may_not_see_it(any_squad: Squad) -> None:
    hidden = any_squad.author.save(ASKED, path="/talks/1", visibility="private")
    near = any_squad.author.save(ANSWERED, path="/talks/1")
    fill(any_squad)
    question = "where are the certificates of the gateway kept"

    def parts(reader: Any) -> Any:
        return {hit.memory.id: hit.breakdown for hit in reader.search(question).hits}

    assert parts(any_squad.author)[near.id]["neighbours"] > 0
    assert hidden.id not in parts(any_squad.teammate)
    assert "neighbours" not in parts(any_squad.teammate)[near.id]
    any_squad.author.update(hidden.id, visibility="team")
    assert parts(any_squad.teammate)[near.id]["neighbours"] > 0
    any_squad.author.delete(hidden.id)
    assert "neighbours" not in parts(any_squad.teammate)[near.id]


def test_a_neighbour_outside_the_filters_supports_nobody(any_squad: Squad) -> None:
    any_squad.author.save(ASKED, path="/talks/1", type="note")
    near = any_squad.author.save(ANSWERED, path="/talks/1", type="lesson")
    fill(any_squad)
    recall = any_squad.teammate.search("where are the certificates of the gateway kept", type="lesson")
    assert ids(recall) == [near.id]
    assert "neighbours" not in recall.hits[0].breakdown


def test_unrelated_notes_saved_one_after_another_are_not_dragged_in(any_squad: Squad) -> None:
    """One folder, one author, one minute: and still each note is about something else."""
    notes = ["Lunch is at noon.", "Paint the fence white.", ASKED, "Herons fish at dawn.", "Trains leave on Sundays."]
    saved = [any_squad.author.save(note) for note in notes]
    fill(any_squad)
    recall = any_squad.teammate.search("certificates of the gateway")
    assert ids(recall)[0] == saved[2].id
    dragged = [hit.memory.content for hit in recall.hits if "neighbours" in hit.breakdown]
    assert dragged == []
    strict = any_squad.teammate.search("certificates of the gateway", min_relevance=0.1)
    assert texts(strict) == [ASKED]


def test_the_sentence_about_neighbours_is_only_said_of_those_that_have_any(any_squad: Squad) -> None:
    any_squad.author.save("Lunch is at noon.", path="/alone")
    any_squad.author.save("The gateway has certificates.", path="/match")
    fill(any_squad, count=10)
    for question in ("certificates of the gateway", "noon", "batch3"):
        for hit in any_squad.teammate.search(question, min_relevance=1e-9, limit=50).hits:
            assert "beside" not in hit.why, hit.why
