"""What every store promises about searching: by words, by meaning, neighbours, the past, and the log of recalls."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from mycel.contracts.search_store import IndexQuery
from mycel.contracts.store import Store
from mycel.domain.embedding import Backlog, Embedded, Passage
from mycel.domain.ids import MemoryId, RecallId, SourceId, new_id
from mycel.domain.memory import Memory, Scope, SourceRef, Visibility
from mycel.domain.neighbourhood import Neighbourhood
from mycel.domain.query import Filters
from mycel.domain.recall import Hit, LoggedRecall, Recall
from mycel.domain.team import Role
from mycel.retrieval.passages import embedded_text, text_hash
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERYTHING,
    START,
    TEAM,
    TEAMMATE,
    change,
    delete,
    found_by_terms,
    found_by_word,
    matches_of,
    purge,
    put,
    quoting,
    reader,
    restore,
)

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

MODEL = "words"
NOON = START + timedelta(hours=3)


def vector_of(text: str) -> Vector:
    """One direction for each first letter."""
    import numpy as np

    return np.eye(26, dtype=np.float32)[ord(text[0]) - ord("a")]


def _passage(text: str) -> Passage:
    return Passage(0, len(text), (vector_of(text) * 127).astype("b").tobytes())


def embed(store: Store, backlog: Backlog) -> bool:
    made = [Embedded(one.number, one.version, one.text_hash, (_passage(one.text),)) for one in backlog.items]
    return store.transact(
        lambda transaction: transaction.embeddings.put(MODEL, made, started=backlog.started, reached=backlog.reached)
    )


def embed_all(store: Store) -> None:
    while (backlog := store.embeddings.backlog(MODEL, limit=2)).moved:
        assert embed(store, backlog)


def number_of(store: Store, memory: Memory) -> int:
    number = store.index.find_number(EVERYTHING, memory.id)
    assert number is not None
    return number


def nearest(store: Store, text: str, reading: str = AUTHOR, filters: Filters = ANY_STATUS) -> list[MemoryId]:
    asked = IndexQuery(filters, 9, vector=vector_of(text), model=MODEL)
    found = store.index.candidates(reader(reading), asked)
    near = found.numbers[found.cosines > 0.5].tolist()
    return [memory.id for memory in store.index.load(reader(reading), near, filters=ANY_STATUS).values()]


def a_recall(store: Store, *found: Memory, query: str = "heron") -> Recall:
    hits = [
        Hit(
            memory=memory,
            score=1.0,
            relevance=0.5,
            breakdown={"words": 1.0},
            matched_scope=Scope.GLOBAL,
            snippet=memory.content,
            evidence=None,
            why="its words match",
            team=TEAM,
        )
        for memory in found
    ]
    recall = Recall(id=RecallId(new_id()), query=query, hits=tuple(hits))
    assert store.recalls.log(recall, request={"limit": 9}, by=AUTHOR, at=START)
    return recall


class StoreSearch:
    """Needs the fixture `store`."""

    def test_words_follow_every_write(self, store: Store) -> None:
        memory = put(store, "the heron")
        assert found_by_word(store, "heron") == {memory.id}
        change(store, memory.id, content="the stork", title="bird", tags=("tagword",), summary="sumword")
        assert found_by_word(store, "heron") == set()
        for word in ("stork", "bird", "tagword", "sumword"):
            assert found_by_word(store, word) == {memory.id}
        delete(store, memory.id)
        assert found_by_word(store, "stork") == set()
        restore(store, memory.id)
        assert found_by_word(store, "stork") == {memory.id}
        assert store.index.word_statistics(reader(), ["stork", "heron"]).frequencies == {"stork": 1, "heron": 0}
        purge(store, memory.id)
        assert found_by_word(store, "stork") == set()
        assert store.index.word_statistics(reader(), ["stork"])[:2] == ({"stork": 0}, 0)

    def test_words_are_counted_as_they_stand_now_among_what_the_scope_sees(self, store: Store) -> None:
        mine, other, memory = reader(), reader(TEAMMATE), put(store, "heron")

        def counts() -> list[tuple[int, int]]:
            found = (store.index.word_statistics(scope, ["heron"]) for scope in (mine, other))
            return [(one.frequencies["heron"], one.documents) for one in found]

        assert counts() == [(1, 1), (1, 1)]
        hidden = put(store, "heron", visibility=Visibility.PRIVATE)
        assert counts() == [(2, 2), (1, 1)]
        change(store, memory.id, visibility=Visibility.ROLE, allowed_roles=(Role.LEAD,))
        assert counts() == [(2, 2), (0, 0)]
        change(store, memory.id, title="stork", content="stork", visibility=Visibility.TEAM, allowed_roles=())
        change(store, hidden.id, visibility=Visibility.TEAM)
        assert counts() == [(1, 2), (1, 2)]
        delete(store, hidden.id)
        assert counts() == [(0, 1), (0, 1)]
        restore(store, hidden.id)
        purge(store, memory.id)
        assert counts() == [(1, 1), (1, 1)]

    @pytest.mark.parametrize("hidden", [{"visibility": Visibility.PRIVATE}, {"visibility": Visibility.TEAM}])
    def test_the_score_of_a_match_is_that_of_a_store_without_what_is_hidden_or_gone(
        self, store: Store, hidden: dict[str, Any]
    ) -> None:
        own = {"agent_id": TEAMMATE, "visibility": Visibility.PRIVATE}
        for text in ("grey heron on the lake", "a stork", "heron and stork and heron again"):
            put(store, text)
            put(store, f"my {text}", **own)
        questions = (["heron"], ["heron", "stork", "lake"], ["otter", "grey"])

        def found() -> list[object]:
            return [matches_of(store, terms, reader(TEAMMATE)) for terms in questions]

        before = found()
        gone = put(store, "heron heron lake " * 20, **hidden)
        if hidden["visibility"] is Visibility.TEAM:
            assert found() != before
            delete(store, gone.id)
        assert found() == before
        purge(store, gone.id)
        assert found() == before

    def test_own_restricted_memories_are_ranked_as_shared_ones_are(self, store: Store) -> None:
        texts = [f"{'heron ' * (1 + index % 3)} by lake {index} {'reed ' * index}" for index in range(9)]
        for text in (*texts, "a stork", "a crane", "an ibis" * 3):
            put(store, text)
        for text in texts:
            put(store, text, visibility=Visibility.PRIVATE)
        order = [number for number, _ in matches_of(store, ["heron", "reed"], reader())]
        first = min(order)
        shared = [number - first for number in order if number < first + 9]
        restricted = [number - first - 12 for number in order if number >= first + 9]
        assert shared == restricted

    def test_any_of_the_terms_finds_and_a_phrase_stands_together(self, store: Store) -> None:
        both, grey, apart = put(store, "grey heron"), put(store, "grey stork"), put(store, "heron grey")
        assert set(found_by_terms(store, ["heron", "stork"])) == {both.id, grey.id, apart.id}
        assert found_by_terms(store, ["absent"]) == found_by_terms(store, []) == []
        assert quoting(store, ["grey", "heron"]) == {number_of(store, both)}
        assert quoting(store, ["grey", "absent"]) is None

    @pytest.mark.parametrize("hidden", [{"visibility": Visibility.PRIVATE}, {"path": "/elsewhere"}])
    def test_scope_and_filters_apply_before_the_limit_of_a_search(self, store: Store, hidden: dict[str, Any]) -> None:
        mine = put(store, "some longer text that mentions the heron once", path="/here", agent_id=TEAMMATE)
        for _ in range(20):
            put(store, "heron heron heron", **hidden)
        found = found_by_terms(store, ["heron"], reader(TEAMMATE), filters=Filters(path="/here"), limit=1)
        assert found == [mine.id]

    def test_better_matches_come_first(self, store: Store) -> None:
        put(store, "a long text about many other birds, with one heron somewhere in it", title="birds")
        best = put(store, "heron", title="heron")
        assert found_by_terms(store, ["heron"])[0] == best.id
        (_, first), (_, second) = matches_of(store, ["heron"], reader())
        assert first > second

    def test_a_memory_is_found_by_meaning_once_it_is_embedded(self, store: Store) -> None:
        heron, otter = put(store, "heron"), put(store, "otter")
        assert store.embeddings.has_backlog(reader(), MODEL)
        embed_all(store)
        assert not store.embeddings.has_backlog(reader(), MODEL)
        progress = store.embeddings.progress(MODEL)
        assert (progress.embedded, progress.pending) == (2, 0)
        assert nearest(store, "heron") == [heron.id]
        numbers = [number_of(store, heron), number_of(store, otter)]
        cosines = store.index.similarities(reader(), vector_of("otter"), numbers, model=MODEL)
        assert [round(cosines[number], 2) for number in numbers] == [0.0, 1.0]
        vectors = store.embeddings.vectors(numbers, model=MODEL)
        assert [int(vectors[number].argmax()) for number in numbers] == [7, 14]
        assert store.embeddings.vectors(numbers, model="another") == {}
        found = store.embeddings.of(reader(), [heron.id, otter.id], model=MODEL)
        assert {id: int(vector.argmax()) for id, (_, vector) in found.items()} == {heron.id: 7, otter.id: 14}
        assert {made_of for made_of, _ in found.values()} == {
            text_hash(embedded_text(title=one.title, content=one.content, key=one.key)) for one in (heron, otter)
        }

    def test_meaning_finds_only_what_the_reader_sees_as_it_stands(self, store: Store) -> None:
        hidden = put(store, "heron", visibility=Visibility.PRIVATE)
        gone, other = put(store, "heron again"), put(store, "heron once more", path="/elsewhere")
        embed_all(store)
        delete(store, gone.id)
        assert nearest(store, "heron", TEAMMATE) == [other.id]
        assert set(nearest(store, "heron")) == {hidden.id, other.id}
        assert nearest(store, "heron", filters=replace(ANY_STATUS, path="/elsewhere")) == [other.id]
        purge(store, other.id)
        assert nearest(store, "heron") == [hidden.id]

    def test_only_one_of_two_workers_moves_on(self, store: Store) -> None:
        put(store, "heron")
        first = store.embeddings.backlog(MODEL, limit=9)
        second = store.embeddings.backlog(MODEL, limit=9)
        assert embed(store, first)
        assert not embed(store, second)
        assert store.embeddings.progress(MODEL).pending == 0

    def test_what_changed_meanwhile_is_not_embedded_as_it_was(self, store: Store) -> None:
        memory = put(store, "heron")
        backlog = store.embeddings.backlog(MODEL, limit=9)
        change(store, memory.id, title="otter", content="otter")
        embed(store, backlog)
        assert nearest(store, "heron") == []
        embed_all(store)
        assert nearest(store, "otter") == [memory.id]

    def test_an_index_that_was_kept_finds_the_same(self, store: Store) -> None:
        heron = put(store, "heron")
        embed_all(store)
        store.files.save_index(MODEL, dimensions=26)
        assert nearest(store, "heron") == [heron.id]

    def test_neighbours_are_those_that_the_rule_picks(self, store: Store) -> None:
        for index in range(14):
            put(
                store,
                f"turn {index}",
                path=("/talk", "/talk", "/other")[index % 3],
                agent_id=TEAMMATE if index == 7 else AUTHOR,
                session_id="second" if index in {4, 5} else "first",
                source_ref=SourceRef(SourceId("source-1")) if index == 9 else None,
                at=START + timedelta(minutes=index * 6),
                visibility=Visibility.PRIVATE if index in {3, 7} else Visibility.TEAM,
            )
        near = Neighbourhood()
        for scope in (reader(), reader(TEAMMATE), EVERYTHING):
            memories = store.index.load(scope, range(1, 30), filters=ANY_STATUS)
            assert len(memories) > 10
            found = store.index.candidates(scope, IndexQuery(ANY_STATUS, 30, ("turn",)))
            neighbours = found.neighbours(list(memories))
            picked = {number: tuple(neighbours.get(number, ())) for number in memories}
            assert picked == {number: near.pick(number, memories) for number in memories}

    def test_past_versions_are_those_that_stood_then(self, store: Store) -> None:
        memory, same = put(store, "heron"), put(store, "otter")
        embed_all(store)
        stood = store.log.first_moment_after(1)
        change(store, memory.id, content="egret")
        assert stood is not None
        [past] = store.index.past_versions(reader(), at=stood, filters=ANY_STATUS, limit=9)
        assert (past.number, past.memory, past.embedded) == (number_of(store, memory), memory, True)
        assert store.memories.find_as_of(reader(), same.id, stood) == same

    def test_a_recall_is_kept_for_the_one_who_asked(self, store: Store) -> None:
        memory = put(store, "heron")
        recall = a_recall(store, memory)
        logged = store.recalls.find(AUTHOR, recall.id)
        assert isinstance(logged, LoggedRecall)
        assert (logged.query, logged.request, logged.recalled_at) == ("heron", {"limit": 9}, START)
        assert [hit.memory_id for hit in logged.hits] == [memory.id]
        assert store.recalls.find(TEAMMATE, recall.id) is None
        assert [found.id for found in store.recalls.that_found(AUTHOR, memory.id, limit=9)] == [recall.id]
        assert list(store.recalls.texts(AUTHOR, since=START, limit=9)) == ["heron"]
        assert list(store.recalls.texts(AUTHOR, since=NOON, limit=9)) == []

    def test_old_recalls_are_forgotten_and_those_of_one_memory(self, store: Store) -> None:
        memory, other = put(store, "heron"), put(store, "otter")
        first, second = a_recall(store, memory), a_recall(store, other)
        assert store.recalls.find(AUTHOR, first.id) is not None
        store.transact(lambda transaction: transaction.recalls.forget_of(memory.id))
        assert store.recalls.find(AUTHOR, first.id) is None
        assert not store.recalls.has_older(START)
        assert store.recalls.has_older(NOON)
        assert store.transact(lambda transaction: transaction.recalls.forget(before=NOON)) == 1
        assert store.recalls.find(AUTHOR, second.id) is None
