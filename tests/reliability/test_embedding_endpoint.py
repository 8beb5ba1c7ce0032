"""Whatever an embeddings endpoint does, the caller gets vectors or `Unavailable`, in time, and nothing leaks."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.providers.breaker import Breaker
from mycel.providers.embeddings.openai import OpenAIEmbedder
from tests.reliability import embedding_server as scripts
from tests.reliability.embedding_server import EmbeddingServer, Exchange, Script, packed, rows, saying

KEY = "sk-secret-0123456789"
TEXT = "the merger is called bluebird"
# Nothing but what is meant to be slow comes near it, on a busy machine either.
PATIENCE = 10.0
SHORT = 0.3
SLACK = 2.0

pytestmark = pytest.mark.usefixtures("near_endpoint")
Maker = Callable[..., OpenAIEmbedder]


@pytest.fixture(scope="module")
def running_server() -> Iterator[EmbeddingServer]:
    made = EmbeddingServer()
    yield made
    made.stop()


@pytest.fixture
def server(running_server: EmbeddingServer) -> Iterator[EmbeddingServer]:
    yield running_server
    running_server.forget()


@pytest.fixture
def make(server: EmbeddingServer) -> Iterator[Maker]:
    made: list[OpenAIEmbedder] = []

    def build(**changes: Any) -> OpenAIEmbedder:
        options: dict[str, Any] = {"model": "m", "dimensions": 4, "url": server.url, "key": KEY}
        times = {"query_seconds": PATIENCE, "documents_seconds": PATIENCE, "connect_seconds": PATIENCE}
        made.append(OpenAIEmbedder(**{**options, **times, **changes}))
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()


def failure_of(embedder: OpenAIEmbedder, *, within: float = SLACK) -> MycelError:
    started = time.monotonic()
    with pytest.raises(MycelError) as caught:
        embedder.embed_documents([TEXT])
    assert time.monotonic() - started < within
    shown = "".join(traceback.format_exception(caught.value)) + str(caught.value)
    assert KEY not in shown
    assert TEXT not in str(caught.value)
    return caught.value


def entry(**changes: Any) -> bytes:
    return packed([{**rows([TEXT])[0], **changes}])


def test_vectors_come_in_the_order_of_the_texts_with_length_one(server: EmbeddingServer, make: Maker) -> None:
    server.script = lambda exchange: exchange.answer(packed(rows(exchange.body["input"])[::-1]))
    found = make().embed_documents(["a", "bb", "ccc"])
    expected = np.array([row["embedding"] for row in rows(["a", "bb", "ccc"])])
    assert found.dtype == np.float32
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True))


def test_many_texts_go_in_several_requests(server: EmbeddingServer, make: Maker) -> None:
    embedder = make()
    assert embedder.embed_documents(["x"] * (embedder.batch_size + 1)).shape == (embedder.batch_size + 1, 4)
    assert [len(body["input"]) for _, body in server.requests] == [embedder.batch_size, 1]


def test_no_texts_need_no_request(server: EmbeddingServer, make: Maker) -> None:
    assert make().embed_documents([]).shape == (0, 4)
    assert server.requests == []


def test_only_models_that_can_shorten_are_asked_for_dimensions(server: EmbeddingServer, make: Maker) -> None:
    make().embed_query("")
    make(model="text-embedding-3-small").embed_query(TEXT)
    (_, plain), (_, shortened) = server.requests
    assert plain == {"model": "m", "input": [" "], "encoding_format": "float"}
    assert shortened["dimensions"] == 4


def test_sends_what_the_settings_say_and_nothing_from_the_environment(
    server: EmbeddingServer, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-for-openai-only")
    make(key=None).embed_query(TEXT)
    make().embed_query(TEXT)
    (without, _), (with_key, _) = server.requests
    assert "authorization" not in without
    assert with_key["authorization"] == f"Bearer {KEY}"
    assert "secret" not in str(without)
    assert "sk-for-openai-only" not in str(server.requests)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        pytest.param(saying(b"<html>gateway</html>"), "not JSON", id="html"),
        pytest.param(saying(entry()[:-40]), "not JSON", id="cut JSON"),
        pytest.param(saying(b"[" * 50_000), "not JSON", id="deep JSON"),
        pytest.param(saying(b"\xff\xfe\xfa"), "not JSON", id="bytes"),
        pytest.param(saying(b"[1]"), "no list `data`", id="a list"),
        pytest.param(saying(packed([])), "0 vectors for 1 texts", id="too few"),
        pytest.param(saying(packed(rows([TEXT, TEXT]))), "2 vectors for 1 texts", id="too many"),
        pytest.param(saying(packed([None])), "no index", id="null entry"),
        pytest.param(saying(entry(index=5)), "indices", id="wrong index"),
        pytest.param(saying(entry(embedding=[1.0, 2.0])), "2 numbers instead of 4", id="too short"),
        pytest.param(saying(entry(embedding="AAAA")), "0 numbers instead of 4", id="base64"),
        pytest.param(saying(entry(embedding=[1.0, float("nan"), 1.0, 1.0])), "not finite", id="NaN"),
        pytest.param(saying(entry(embedding=[1.0, float("inf"), 1.0, 1.0])), "not finite", id="infinite"),
        pytest.param(saying(entry(embedding=[1.0, 10**400, 1.0, 1.0])), "too large", id="too large"),
        pytest.param(saying(entry(embedding=[1.0, "2", 1.0, 1.0])), "not a number", id="text"),
        pytest.param(saying(entry(embedding=[0, 0, 0, 0])), "zeros", id="zeros"),
        pytest.param(saying(entry() + b" " * 10_000_000), "more than", id="10 MB"),
        pytest.param(
            saying(gzip.compress(entry()), headers={"Content-Encoding": "gzip"}), "packs its answers", id="packed"
        ),
    ],
)
def test_a_wrong_answer_is_unavailable_and_not_asked_for_again(
    server: EmbeddingServer, make: Maker, script: Script, problem: str
) -> None:
    server.script = script
    error = failure_of(make())
    assert isinstance(error, Unavailable)
    assert problem in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", [scripts.hanging, scripts.trickling, scripts.trickling_headers])
def test_a_slow_server_is_left_in_time(server: EmbeddingServer, make: Maker, script: Script) -> None:
    server.script = script
    error = failure_of(make(documents_seconds=SHORT), within=SHORT + SLACK)
    assert isinstance(error, Unavailable)
    assert "did not answer within 0.3 s" in str(error)
    server.script = scripts.good
    assert make().embed_query(TEXT).shape == (1, 4)


def test_questions_wait_less_long_than_documents(server: EmbeddingServer, make: Maker) -> None:
    server.script = scripts.hanging
    embedder = make(query_seconds=0.1, documents_seconds=30)
    with pytest.raises(Unavailable, match=r"within 0\.1 s"):
        embedder.embed_query(TEXT)


def test_a_server_that_is_not_there_is_unavailable(make: Maker) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = failure_of(make(url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
    assert isinstance(error, Unavailable)
    assert "cannot be reached" in str(error)


def test_a_name_that_is_not_known_is_unavailable(make: Maker) -> None:
    error = failure_of(make(url="http://no-such-host.invalid/v1"))
    assert isinstance(error, Unavailable)


@pytest.mark.parametrize("script", [saying(b"oops", status=500), saying(b"", status=429), scripts.truncated])
def test_a_passing_failure_is_tried_three_times(server: EmbeddingServer, make: Maker, script: Script) -> None:
    server.script = script
    assert isinstance(failure_of(make()), Unavailable)
    assert len(server.requests) == 3


def test_the_endless_body_of_a_failure_is_not_read(server: EmbeddingServer, make: Maker) -> None:
    server.script = scripts.endless_failure
    assert "status 500" in str(failure_of(make()))


def test_recovers_within_one_call(server: EmbeddingServer, make: Maker) -> None:
    def second_time_lucky(exchange: Exchange) -> None:
        chosen = scripts.good if len(server.requests) > 1 else saying(b"", status=503)
        chosen(exchange)

    server.script = second_time_lucky
    assert make().embed_documents([TEXT]).shape == (1, 4)


def test_waits_as_long_as_the_server_asks(server: EmbeddingServer, make: Maker) -> None:
    times: list[float] = []

    def busy_once(exchange: Exchange) -> None:
        times.append(time.monotonic())
        chosen = scripts.good if len(times) > 1 else saying(b"", status=429, headers={"Retry-After": "0.3"})
        chosen(exchange)

    server.script = busy_once
    make().embed_documents([TEXT])
    assert times[1] - times[0] >= 0.3


def test_a_long_pause_is_left_to_the_caller(server: EmbeddingServer, make: Maker) -> None:
    server.script = saying(b"", status=429, headers={"Retry-After": "30"})
    error = failure_of(make(documents_seconds=60))
    assert isinstance(error, Unavailable)
    assert error.retry_after == 30
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "problem"), [(401, "key"), (403, "key"), (404, "model"), (400, "400")])
def test_what_will_never_work_is_for_the_operator(
    server: EmbeddingServer, make: Maker, status: int, problem: str
) -> None:
    server.script = saying(json.dumps({"error": {"message": f"bad key {KEY}: {TEXT}"}}).encode(), status=status)
    error = failure_of(make())
    assert isinstance(error, Misconfigured)
    assert problem in str(error)
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(server: EmbeddingServer, make: Maker) -> None:
    server.script = saying(b"", status=307, headers={"Location": f"{server.url}/elsewhere"})
    assert isinstance(failure_of(make()), Misconfigured)
    assert len(server.requests) == 1


def test_the_breaker_opens_and_recovers(server: EmbeddingServer, make: Maker) -> None:
    now = 1000.0
    embedder = make(breaker=Breaker("the endpoint", clock=lambda: now))
    server.script = saying(b"<html>")
    for _ in range(3):
        failure_of(embedder)
    refused = failure_of(embedder)
    assert isinstance(refused, Unavailable)
    assert "left alone" in str(refused)
    assert 0 < refused.retry_after <= 1
    assert len(server.requests) == 3
    server.script = scripts.good
    now += 1.1
    assert embedder.embed_query(TEXT).shape == (1, 4)
    assert embedder.embed_query(TEXT).shape == (1, 4)


def test_threads_share_one_embedder(server: EmbeddingServer, make: Maker) -> None:
    embedder = make()
    wrong: list[str] = []

    def work(number: int) -> None:
        texts = ["x" * (number + 1)] * 3
        for _ in range(3):
            ratio = embedder.embed_documents(texts)[:, 1] / embedder.embed_documents(texts)[:, 2]
            if not np.allclose(ratio, (number + 1) / 0.5):
                wrong.append(str(ratio))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_closing_ends_what_waits_and_refuses_what_comes(server: EmbeddingServer, make: Maker) -> None:
    server.script = scripts.hanging
    embedder = make(documents_seconds=30)
    errors: list[MycelError] = []
    waiting = threading.Thread(target=lambda: errors.append(failure_of(embedder, within=10)))
    waiting.start()
    while not server.requests:
        time.sleep(0.01)
    embedder.close()
    embedder.close()
    waiting.join(5)
    assert [type(error) for error in errors] == [Unavailable]
    assert isinstance(failure_of(embedder), Unavailable)


def test_nothing_prints_the_key(
    server: EmbeddingServer, make: Maker, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = make()
    embedder.embed_query(TEXT)
    server.script = saying(KEY.encode(), status=401)
    failure_of(embedder)
    captured = capfd.readouterr()
    assert KEY not in caplog.text + captured.out + captured.err + repr(embedder)
    assert caplog.records, "the HTTP client has logged nothing: this test would pass without looking"


@pytest.mark.parametrize(
    "options",
    [
        {"key": "sk-with\nnewline"},
        {"key": "sk-ümlaut"},
        {"url": "localhost:11434"},
        {"url": "ftp://localhost/v1"},
        {"url": "http://user:secret@localhost/v1"},
        {"url": "http://[::1/v1"},
        {"url": "http://local host/v1"},
        {"url": None, "key": None},
        {"dimensions": None},
        {"dimensions": 0},
    ],
)
def test_options_that_cannot_work_are_refused_at_once(make: Maker, options: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured) as caught:
        make(**options)
    assert "sk-" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_package_is_named_with_its_extra(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Misconfigured, match=r"mycel-memory\[llm\]"):
        make().embed_query(TEXT)
