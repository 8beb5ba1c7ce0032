"""Embeddings of OpenAI, and of whatever speaks its interface: Ollama, vLLM, gateways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mycel.contracts.embedder import Background
from mycel.errors import Misconfigured
from mycel.providers.breaker import Breaker
from mycel.providers.embeddings.checks import rows_of_answer
from mycel.providers.endpoint import OPENAI_URL, Endpoint, Service, connect_openai

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from mycel.contracts.embedder import Vectors


# Han, kana, Hangul: there a character is about a token. Elsewhere a token has about four characters of a word.
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[^\W{_DENSE}]{{1,4}}|\S")


def estimated_token_ends(text: str) -> list[int]:
    return [match.end() for match in _TOKEN.finditer(text)]


def cut_to_tokens(text: str, *, most: int) -> str:
    """The beginning of the text that has at most so many tokens, as estimated."""
    # No token is shorter than a character.
    if len(text) <= most:
        return text
    ends = estimated_token_ends(text)
    return text if len(ends) <= most else text[: ends[most - 1]]


DEFAULT_MODEL = "text-embedding-3-small"
# Of its 1536; the model is trained so that the first numbers carry most, and the index stays three times smaller.
DEFAULT_DIMENSIONS = 512
MOST_DIMENSIONS = 8192
# Only these can be asked for a number of dimensions; other models refuse the parameter. Gateways put a vendor before.
SHORTENING_MODELS = "text-embedding-3-"
# An estimate for the default model, not a measurement.
DEFAULT_BACKGROUND = Background(mean=0.10, deviation=0.06, spread=0.05)
MAX_TOKENS = 8191
BATCH_SIZE = 64
QUERY_SECONDS = 3.0
DOCUMENTS_SECONDS = 15.0
CONNECT_SECONDS = 3.0
# A number takes about 22 characters; twice that and more leaves room for indented JSON.
BYTES_PER_NUMBER = 64
ENVELOPE_BYTES = 64 * 1024
MOST_ANSWER_BYTES = 32 * 1024 * 1024


class OpenAIEmbedder:
    """The client is made and the connection opened by the first call; time-outs are of a whole call, tries included."""

    def __init__(
        self,
        *,
        model: str = DEFAULT_MODEL,
        dimensions: int | None = None,
        url: str | None = None,
        key: str | None = None,
        background: Background = DEFAULT_BACKGROUND,
        query_seconds: float = QUERY_SECONDS,
        documents_seconds: float = DOCUMENTS_SECONDS,
        connect_seconds: float = CONNECT_SECONDS,
        breaker: Breaker | None = None,
    ) -> None:
        if key is None and url is None:
            raise Misconfigured(
                "OpenAI needs a key: set MYCEL_EMBEDDING_KEY or OPENAI_API_KEY; "
                "another endpoint needs MYCEL_EMBEDDING_URL, MYCEL_EMBEDDING_MODEL and MYCEL_EMBEDDING_DIMENSIONS"
            )
        self._model_name = model
        self._dimensions = _checked_dimensions(dimensions, model=model)
        self._background = background
        self._query_seconds = query_seconds
        self._documents_seconds = documents_seconds
        self._endpoint = Endpoint(_service(), url=url or OPENAI_URL, key=key, connect_seconds=connect_seconds)
        self._breaker = breaker or Breaker(self._endpoint.name)

    @property
    def model(self) -> str:
        return f"{self._model_name}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    @property
    def batch_size(self) -> int:
        return BATCH_SIZE

    @property
    def background(self) -> Background:
        return self._background

    def token_ends(self, text: str) -> Sequence[int]:
        return estimated_token_ends(text)

    def embed_query(self, text: str) -> Vectors:
        return self._embed([text], seconds=self._query_seconds)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        batches = [texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE)]
        rows = [self._embed(batch, seconds=self._documents_seconds) for batch in batches]
        return np.concatenate(rows) if rows else np.empty((0, self._dimensions), dtype=np.float32)

    def close(self) -> None:
        self._endpoint.close()

    def _embed(self, texts: Sequence[str], *, seconds: float) -> Vectors:
        return self._breaker.call(lambda: self._ask(texts, seconds=seconds))

    def _ask(self, texts: Sequence[str], *, seconds: float) -> Vectors:
        expected = ENVELOPE_BYTES + len(texts) * self._dimensions * BYTES_PER_NUMBER
        request = self._request(texts)
        reply = self._endpoint.ask(
            [lambda client: client.embeddings.with_streaming_response.create(**request)],
            seconds=seconds,
            most_bytes=min(expected, MOST_ANSWER_BYTES),
        )
        return rows_of_answer(reply.body, count=len(texts), dimensions=self._dimensions, source=self._endpoint.name)

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        # OpenAI refuses the empty text; Ollama and vLLM know no base64, the client's own choice.
        inputs = [cut_to_tokens(text, most=MAX_TOKENS) or " " for text in texts]
        request: dict[str, Any] = {"model": self._model_name, "input": inputs, "encoding_format": "float"}
        return request | ({"dimensions": self._dimensions} if _can_shorten(self._model_name) else {})


def _service() -> Service[AsyncOpenAI]:
    return Service(
        name="the embedding endpoint",
        choice="embedder = openai",
        settings="MYCEL_EMBEDDING",
        hint="MYCEL_EMBEDDING_URL, _MODEL and _DIMENSIONS",
        connect=connect_openai,
    )


def _can_shorten(model: str) -> bool:
    return SHORTENING_MODELS in model


def _checked_dimensions(given: int | None, *, model: str) -> int:
    dimensions = DEFAULT_DIMENSIONS if given is None and _can_shorten(model) else given
    if dimensions is None:
        raise Misconfigured(f"MYCEL_EMBEDDING_DIMENSIONS must say how many numbers a vector of {model} has")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise Misconfigured(f"MYCEL_EMBEDDING_DIMENSIONS must be from 1 to {MOST_DIMENSIONS}")
    return dimensions
