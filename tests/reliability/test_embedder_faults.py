"""Whatever an embedder or its endpoint does: words go on in time, nothing bad is stored, the backlog drains after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mycel.contracts.embedder import Background
from mycel.errors import Unavailable
from mycel.providers.breaker import Breaker
from mycel.providers.embeddings.openai import OpenAIEmbedder
from mycel.testing.embedder import WordEmbedder
from tests.patience import PATIENCE_SECONDS, ends
from tests.reliability import embedding_server as scripts
from tests.reliability.embedding_server import EmbeddingServer, Exchange, Script, packed, saying
from tests.squad import company, embedded, fill, finds_by_meaning, ids, open_squad, stored_vectors, wait_until

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

pytestmark = pytest.mark.each_database(slow=True)

SYNONYMS = (["outage", "downtime"],)
DIMENSIONS = 64


class BadEmbedder(WordEmbedder):
    """Sound until told to spoil what it returns."""

    def __init__(self) -> None:
        super().__init__(dimensions=512, synonyms=SYNONYMS)
        self.spoil: Callable[[Vectors], Any] = lambda vectors: vectors

    def embed_query(self, text: str) -> Vectors:
        return self.spoil(super().embed_query(text))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self.spoil(super().embed_documents(texts))


def with_one(value: float) -> Callable[[Vectors], Vectors]:
    def spoil(vectors: Vectors) -> Vectors:
        vectors[-1, 3] = value
        return vectors

    return spoil


def last_zero(vectors: Vectors) -> Vectors:
    vectors[-1] = 0
    return vectors


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda vectors: vectors[:, :-1], id="too short"),
        pytest.param(lambda vectors: np.hstack([vectors, vectors]), id="too long"),
        pytest.param(lambda vectors: np.vstack([vectors, vectors]), id="too many"),
        pytest.param(lambda vectors: vectors[:-1], id="too few"),
        pytest.param(lambda vectors: vectors[0], id="one row"),
        pytest.param(with_one(float("nan")), id="NaN"),
        pytest.param(with_one(float("inf")), id="infinite"),
        pytest.param(last_zero, id="zeros"),
    ],
)
def test_a_bad_vector_is_never_stored_and_words_go_on(tmp_path: Path, spoil: Callable[[Any], Any]) -> None:
    embedder = BadEmbedder()
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        company(squad)
        squad.workspace.run_pending()
        known = set(embedded(squad))
        embedder.spoil = spoil
        memory = squad.author.save("downtime at night", path="/night")
        recall = squad.teammate.search("night")
        assert recall.degraded == ("meaning",)
        assert ids(recall)[:1] == [memory.id]
        with pytest.raises(Unavailable):
            squad.workspace.run_pending()
        assert set(embedded(squad)) == known
        embedder.spoil = lambda vectors: vectors
        finds_by_meaning(squad, memory.id, "outage")
        assert set(embedded(squad)) == known | {memory.id}


def test_a_question_that_cannot_be_embedded_is_answered_by_words(tmp_path: Path) -> None:
    embedder = BadEmbedder()
    squad = open_squad(tmp_path, embedder=embedder)
    with squad.workspace:
        memory = squad.author.save("downtime at night")
        squad.workspace.run_pending()
        embedder.spoil = with_one(float("nan"))
        assert (recall := squad.author.search("night")).degraded == ("meaning",)
        assert ids(recall) == [memory.id]
        embedder.spoil = lambda vectors: vectors
        # The bad answer was not remembered.
        assert squad.author.search("night").degraded == ()


def sound(exchange: Exchange) -> None:
    vectors = WordEmbedder(dimensions=DIMENSIONS, synonyms=SYNONYMS).embed_documents(exchange.body["input"])
    entries = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(vectors.tolist())]
    exchange.answer(packed(entries))


@pytest.fixture(scope="module")
def running_server() -> Iterator[EmbeddingServer]:
    made = EmbeddingServer()
    yield made
    made.stop()


@pytest.fixture
def server(running_server: EmbeddingServer, near_endpoint: None) -> Iterator[EmbeddingServer]:
    running_server.script = sound
    yield running_server
    running_server.forget()


def client_of(url: str, *, documents_seconds: float = 0.4) -> OpenAIEmbedder:
    deviation = DIMENSIONS**-0.5
    return OpenAIEmbedder(
        model="m",
        dimensions=DIMENSIONS,
        url=url,
        background=Background(mean=0.0, deviation=deviation, spread=deviation),
        query_seconds=0.4,
        documents_seconds=documents_seconds,
        connect_seconds=0.4,
        breaker=Breaker("the test endpoint", first_pause=0.05, longest_pause=0.1),
    )


def refusing(exchange: Exchange) -> None:
    exchange.close_connection = True


def spoilt(value: object) -> Script:
    def script(exchange: Exchange) -> None:
        entries = [
            {"object": "embedding", "index": at, "embedding": [value] * DIMENSIONS}
            for at in range(len(exchange.body["input"]))
        ]
        exchange.answer(packed(entries))

    return script


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(refusing, id="closes at once"),
        pytest.param(scripts.hanging, id="hangs"),
        pytest.param(scripts.trickling, id="trickles"),
        pytest.param(saying(b"<html>gateway</html>"), id="html"),
        pytest.param(saying(b"{", status=500), id="500"),
        pytest.param(saying(b"slow down", status=429, headers={"Retry-After": "60"}), id="429"),
        pytest.param(scripts.truncated, id="cut off"),
        pytest.param(spoilt(0.0), id="zeros"),
        pytest.param(spoilt(float("nan")), id="NaN"),
        pytest.param(spoilt("1"), id="text"),
        pytest.param(scripts.good, id="wrong size"),
    ],
)
def test_a_search_answers_by_words_in_time_whatever_the_endpoint_does(
    tmp_path: Path, server: EmbeddingServer, script: Script
) -> None:
    squad = open_squad(tmp_path, embedder=client_of(server.url))
    with squad.workspace:
        server.script = script
        company(squad)
        memory = squad.author.save("downtime at night", path="/night")
        recall = ends(lambda: squad.teammate.search("night"))
        assert recall.degraded == ("meaning",)
        assert ids(recall) == [memory.id]
        assert stored_vectors(squad) == []
        # Whoever was waiting is let go, and the endpoint is sound again.
        server.released.set()
        server.script = sound
        wait_until(lambda: squad.teammate.search("night").degraded == ())
        finds_by_meaning(squad, memory.id, "outage")
        assert len(embedded(squad)) == 6
        assert all(vector.any() and len(vector) == DIMENSIONS for vector in stored_vectors(squad))


def test_an_endpoint_that_is_not_there_is_no_worse(tmp_path: Path) -> None:
    squad = open_squad(tmp_path, embedder=client_of("http://127.0.0.1:9/v1"))
    with squad.workspace:
        memory = squad.author.save("downtime at night")
        for _ in range(5):
            recall = squad.teammate.search("night")
            assert (recall.degraded, ids(recall)) == (("meaning",), [memory.id])


def test_a_search_waits_for_a_hanging_endpoint_no_longer_than_a_question_may_take(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    """Documents in the backlog may take longer, but then somebody is waiting for the answer."""
    squad = open_squad(tmp_path, embedder=client_of(server.url, documents_seconds=10 * PATIENCE_SECONDS))
    with squad.workspace:
        server.script = scripts.hanging
        memory = squad.author.save("downtime at night")
        assert ids(ends(lambda: squad.teammate.search("night"))) == [memory.id]
        server.released.set()


def test_a_backlog_drains_once_the_endpoint_is_sound(tmp_path: Path, server: EmbeddingServer) -> None:
    squad = open_squad(tmp_path, embedder=client_of(server.url))
    with squad.workspace:
        server.script = saying(b"", status=503)
        fill(squad, count=100)
        assert squad.author.search("worker1").degraded == ("meaning",)
        assert len(server.requests) > 1
        assert stored_vectors(squad) == []
        server.script = sound
        wait_until(lambda: squad.author.search("worker1").degraded == ())
        assert len(embedded(squad)) == 100
        assert all(vector.any() and len(vector) == DIMENSIONS for vector in stored_vectors(squad))
