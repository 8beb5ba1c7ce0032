"""A search finds the same on Postgres as on SQLite: same memories, same scores, same neighbours, same figures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import psycopg
import pytest

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery
from mycel.contracts.store import Store, Transaction
from mycel.domain.embedding import Backlog, Embedded, Passage
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, MemoryType, Scope, Status, Visibility
from mycel.domain.query import Filters
from mycel.domain.team import Role
from mycel.retrieval.lexical import parse_question
from mycel.retrieval.terms import packed_terms
from mycel.stores.postgres import term_sample, vector_index, vector_scan, word_search
from mycel.stores.postgres.connection import translated
from mycel.stores.postgres.database import SCHEMA
from mycel.stores.postgres.search_clauses import search_clauses
from mycel.stores.postgres.store import PostgresStore
from mycel.stores.postgres.vector_index import index_large_teams
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.store import SqliteStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    ANY_STATUS,
    AUTHOR,
    EVERYTHING,
    NEWEST,
    START,
    TEAM,
    TEAMMATE,
    change,
    delete,
    purge,
    put,
    reader,
    restore,
    sample,
)
from tests.postgres import database, emptied, server

MODEL, DIMENSIONS = "random", 16
WORDS = [
    *("heron", "stork", "lake", "reed", "pond", "otter", "grey", "river", "north", "bridge", "port", "node"),
    *("東京", "数据库", "user_id", "naïve"),
]
SCOPES = (reader(), reader(TEAMMATE), reader("lead-1", Role.LEAD), reader("admin-1", Role.ADMIN), EVERYTHING)
FILTERS = (
    ANY_STATUS,
    Filters(),
    Filters(reach_project="web"),
    Filters(statuses=(), path="/notes"),
    Filters(tags=("wet",)),
    Filters(statuses=(), types=(MemoryType.LESSON,), not_by=(AUTHOR,)),
    Filters(since=START + timedelta(minutes=30), until=START + timedelta(hours=5)),
    Filters(statuses=(), deleted=True),
    Filters(statuses=(), believed_at=START + timedelta(hours=6)),
    Filters(statuses=(), valid_at=START + timedelta(days=1)),
    Filters(statuses=(), path="/notes/birds", tags=("dry",), reach_project="web"),
)


_CROWD = """
    INSERT INTO passages (number, created_at, valid_from, team_id, visibility, status, agent_id, type, scope,
      project_id, path, made_by, id, model, inverse_norm, direction)
    SELECT n, n, n, %(team)s, 'team', 'active', 'swe-1', 'fact', 'project', CASE n %% 50 WHEN 0 THEN 'web' END,
      '/', 'save', 'crowd' || n, %(model)s, 1 / l2_norm(v), v
    FROM generate_series(1, 20000) n, LATERAL (
      SELECT array_agg(random() - 0.5)::vector::halfvec AS v
      FROM generate_series(1, %(dimensions)s) WHERE n > 0) made"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    folder: Path = tmp_path_factory.mktemp("parity")
    clock = ManualClock()
    on_files = SqliteStore(folder / "memory.sqlite", root=folder, team=TEAM, clock=clock, disk=Disk())
    with closing(on_files), closing(PostgresStore(emptied(), team=TEAM, clock=clock)) as on_server:
        memories = [a_memory(random.Random(number), number) for number in range(240)]
        for store in (on_files, on_server):
            fill(store, memories)
        yield on_files, on_server


def a_memory(chance: random.Random, number: int) -> Memory:
    text = " ".join(chance.choices(WORDS, k=chance.randint(2, 14)))
    return sample(
        text,
        title=f"{chance.choice(WORDS)} {number}",
        at=START + timedelta(minutes=3 * number),
        agent_id=chance.choice((AUTHOR, TEAMMATE)),
        visibility=chance.choices((Visibility.TEAM, Visibility.PRIVATE, Visibility.ROLE), (8, 1, 1))[0],
        allowed_roles=(Role.LEAD,),
        status=chance.choices((Status.ACTIVE, Status.ARCHIVED), (9, 1))[0],
        type=chance.choice((MemoryType.FACT, MemoryType.LESSON)),
        path=chance.choice(("/notes", "/notes/birds", "/notesbook")),
        tags=tuple(chance.sample(("wet", "dry", "we"), k=chance.randint(0, 2))),
        project_id=chance.choice(("web", "billing", None)),
        scope=chance.choice((Scope.PROJECT, Scope.GLOBAL, Scope.AGENT)),
        session_id=chance.choice(("s-1", "s-1", None)),
        valid_from=chance.choice((START, START + timedelta(days=2), None, None)),
        valid_until=chance.choice((START + timedelta(days=2), START + timedelta(hours=9), None, None)),
    )


def fill(store: Store, memories: list[Memory]) -> None:
    def write(transaction: Transaction) -> None:
        for memory in memories:
            transaction.memories.insert([(memory, packed_terms(memory))], by=memory.agent_id)
        for memory in memories[::20]:
            link = Link(memory.id, "project:web", Relation.RELATED_TO, AUTHOR, START)
            transaction.links.add(link, origin=memory)

    store.transact(write)
    while (backlog := store.embeddings.backlog(MODEL, limit=100)).moved:
        store.transact(lambda transaction, backlog=backlog: embed(transaction, backlog))
    for memory in memories[::17]:
        delete(store, memory.id)
    for memory in memories[3::19]:
        change(store, memory.id, visibility=Visibility.PRIVATE)
    for memory in memories[4::23]:
        change(store, memory.id, visibility=Visibility.TEAM, content=f"{memory.content} heron heron stork")
    restore(store, memories[17].id)
    purge(store, memories[5].id)


def embed(transaction: Transaction, backlog: Backlog) -> None:
    # Some have none, and some two.
    made = [
        Embedded(
            one.number,
            one.version,
            one.text_hash,
            tuple(Passage(0, 1, a_vector(one.number + 1000 * place)) for place in range(one.number % 3)),
        )
        for one in backlog.items
        if one.number % 3
    ]
    transaction.embeddings.put(MODEL, made, started=backlog.started, reached=backlog.reached)


def a_vector(seed: int) -> bytes:
    return np.random.default_rng(seed).integers(-127, 128, DIMENSIONS).astype(np.int8).tobytes()


def a_question(seed: int) -> IndexQuery:
    chance = random.Random(seed)
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    words = chance.sample(WORDS, k=chance.randint(0, 4))
    question = parse_question(f'"{" ".join(words[:2])}" {" ".join(words[2:])}' if seed % 5 == 0 else " ".join(words))
    return IndexQuery(
        chance.choice(FILTERS),
        chance.choice((3, 10, 500)),
        question.terms,
        question.phrases,
        vector=vector / np.linalg.norm(vector) if seed % 3 else None,
        model=MODEL,
    )


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, both: tuple[Store, Store]) -> None:
    """So that these few memories are a large team, with an index of vectors that is asked whenever it may be."""
    for module, name, value in (
        (word_search, "MOST_UNCOUNTED", 20),
        (word_search, "FILLED", 1),
        (vector_scan, "EXACT_ROWS", 20),
        (vector_scan, "LOOK_AROUND", f"{vector_scan.LOOK_AROUND}, set_config('enable_seqscan', 'off', true)"),
    ):
        monkeypatch.setattr(module, name, value)
    assert index_large_teams(server().owner, above=20) == 1
    for scope in SCOPES:
        both[1].index.candidates(scope, IndexQuery(ANY_STATUS, 10, tuple(WORDS[:4])))


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: str(scope.role))
def test_candidates_are_the_same_on_both(both: tuple[Store, Store], scope: ReadScope) -> None:
    for seed in range(40):
        assert_same(both, scope, a_question(seed))


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: str(scope.role))
def test_candidates_are_the_same_where_a_team_is_large(
    both: tuple[Store, Store], scope: ReadScope, large: None
) -> None:
    for seed in range(40, 70):
        assert_same(both, scope, a_question(seed))


def test_what_a_large_team_is_asked_by_meaning_can_be_served_by_its_index(large: None) -> None:
    clauses = search_clauses(reader(), Filters(tags=("wet",), reach_project="web"))
    values = {**clauses.values, "vector": str([0.5] * DIMENSIONS), "model": MODEL, "team": TEAM, "most": 10}
    with psycopg.connect(server().service) as service:
        service.execute("SELECT set_config('search_path', %s, true)", (f"{SCHEMA}, public",))
        service.execute("SELECT set_config('mycel.team', %s, true)", (TEAM,))
        # So few rows are cheaper to sort, or not, by what the server has counted of them so far.
        for other in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
            service.execute("SELECT set_config(%s, 'off', true)", (other,))
        for condition in (clauses.near, clauses.allowed):
            sql = translated(vector_scan.of_nearest(clauses, condition, DIMENSIONS))
            plan = service.execute(f"EXPLAIN {sql}".encode(), values).fetchall()
            assert any("Index Scan using nearest_" in line for (line,) in plan), plan


@pytest.mark.proof
def test_the_index_of_a_large_team_is_what_the_server_chooses_by_itself(both: tuple[Store, Store]) -> None:
    """By what it has counted, and with nothing forbidden to it: of 20,000 few are in reach, and most may be found."""
    crowd = "crowd"
    with psycopg.connect(server().owner, autocommit=True) as owner:
        owner.execute("SELECT set_config('search_path', %s, false)", (f"{SCHEMA}, public",))
        try:
            owner.execute(_CROWD, {"team": crowd, "model": MODEL, "dimensions": DIMENSIONS})
            owner.execute(vector_index._creation("nearest_crowd", crowd, MODEL, DIMENSIONS))
            owner.execute("VACUUM ANALYZE passages")
            clauses = search_clauses(reader(), Filters(reach_project="web"))
            values = {**clauses.values, "vector": str([0.5] * DIMENSIONS), "model": MODEL, "team": crowd, "most": 120}
            for condition in (clauses.near, clauses.allowed):
                sql = translated(vector_scan.of_nearest(clauses, condition, DIMENSIONS))
                plan = database().read(
                    crowd, lambda node, sql=sql: node.raw.execute(f"EXPLAIN {sql}".encode(), values).fetchall()
                )
                assert any("Index Scan using nearest_crowd" in line for (line,) in plan), plan
        finally:
            owner.execute("DROP INDEX IF EXISTS nearest_crowd")
            owner.execute("DELETE FROM passages WHERE team_id = %s", (crowd,))


@pytest.mark.proof
@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: str(scope.role))
def test_candidates_of_many_questions_are_the_same_on_both(both: tuple[Store, Store], scope: ReadScope) -> None:
    for seed in range(100, 2_000):
        assert_same(both, scope, a_question(seed))


def test_common_words_score_what_rarer_ones_find_and_find_what_is_missing(
    both: tuple[Store, Store], large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_search, "FINDING_ROWS", 30)
    monkeypatch.setattr(word_search, "ROWS_PER_WANTED", 2)
    for seed in range(60):
        query = replace(a_question(seed), vector=None, phrases=())
        every, _ = (store.index.candidates(reader(), replace(query, limit=500)) for store in both)
        few = both[1].index.candidates(reader(), query)
        scores = dict(zip(every.numbers.tolist(), every.bm25.tolist(), strict=True))
        assert few.statistics.frequencies == every.statistics.frequencies
        assert len(few.numbers) == min(query.limit, len(every.numbers)) or query.filters.reach_project is not None
        for number, score in zip(few.numbers.tolist(), few.bm25.tolist(), strict=True):
            assert score == pytest.approx(scores[number], abs=2e-3)


def test_what_a_reader_does_not_see_changes_no_answer_of_a_large_team(
    both: tuple[Store, Store], large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With samples that are far smaller than the team."""
    monkeypatch.setattr(term_sample, "SAMPLED", 60)
    monkeypatch.setattr(vector_scan, "SAMPLED", 40)
    queries = [a_question(seed) for seed in range(30)]
    on_server = both[1]
    before = [on_server.index.candidates(reader(), query) for query in queries]
    hidden = [put(on_server, " ".join(WORDS), agent_id=TEAMMATE, visibility=Visibility.PRIVATE).id for _ in range(40)]
    after = [on_server.index.candidates(reader(), query) for query in queries]
    for id in hidden:
        purge(on_server, id)
    for one, other in zip(before, after, strict=True):
        assert found_in(one) == found_in(other)
        for name in ("bm25", "cosines"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert one.pool == other.pool


def assert_same(both: tuple[Store, Store], scope: ReadScope, query: IndexQuery) -> None:
    one, other = (store.index.candidates(scope, query) for store in both)
    assert found_in(one) == found_in(other), query
    for name in ("bm25", "cosines"):
        np.testing.assert_allclose(columns_by_number(one, name), columns_by_number(other, name), atol=2e-3)
    assert one.pool.size == other.pool.size
    assert one.pool.mean == pytest.approx(other.pool.mean, abs=2e-3)
    assert one.quoted == other.quoted


def test_what_stood_at_a_moment_is_the_same_on_both(both: tuple[Store, Store]) -> None:
    for scope in SCOPES:
        for filters in FILTERS:
            at = START + timedelta(hours=20)
            found = [store.index.past_versions(scope, at=at, filters=filters, limit=50) for store in both]
            assert [(one.number, one.memory.version) for one in found[0]] == [
                (one.number, one.memory.version) for one in found[1]
            ]


def test_other_authors_are_known_on_both(both: tuple[Store, Store]) -> None:
    assert all(store.index.has_other_authors(AUTHOR) for store in both)


def found_in(found: Candidates) -> list[object]:
    numbers = found.numbers.tolist()
    neighbours = found.neighbours(numbers)
    rows = [
        (number, held, far, list(neighbours.get(number, ())))
        for number, held, far in zip(numbers, found.held.tolist(), found.far.tolist(), strict=True)
    ]
    usual = round(found.statistics.usual_length, 3)
    return [sorted(rows), found.statistics.frequencies, found.statistics.documents, usual]


def columns_by_number(found: Candidates, name: str) -> np.ndarray:
    return getattr(found, name)[np.argsort(found.numbers)]


def test_word_statistics_are_the_same_on_both(both: tuple[Store, Store]) -> None:
    for scope in SCOPES:
        one, other = (store.index.word_statistics(scope, (*WORDS, "absent")) for store in both)
        assert one._replace(usual_length=0) == other._replace(usual_length=0)
        assert one.usual_length == pytest.approx(other.usual_length)


def test_pages_and_counts_are_the_same_on_both(both: tuple[Store, Store]) -> None:
    for scope in SCOPES:
        for filters in FILTERS:
            reached = replace(filters, reach_repo="site") if filters.reach_project else filters
            pages = [
                [memory.id for memory in store.memories.page(scope, reached, order=NEWEST, limit=500)] for store in both
            ]
            assert pages[0] == pages[1]
            assert both[0].memories.count(scope, reached) == both[1].memories.count(scope, reached)
