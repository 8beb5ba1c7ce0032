"""Language models of Anthropic, and of gateways that speak its messages."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mycel.providers.breaker import Breaker
from mycel.providers.endpoint import Connection, Endpoint, Question, Service
from mycel.providers.llms import prompt as prompts
from mycel.providers.llms.prompt import (
    Prompt,
    declined,
    fenced,
    inner_list,
    inner_object,
    read_object,
    read_spoken_object,
    stopped_early,
    wrong_answer,
)

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

ANTHROPIC_URL = "https://api.anthropic.com"
# The answers are read as this version of the interface writes them, whatever the client would ask for.
INTERFACE_VERSION = "2023-06-01"
# The small one for extraction and other focused work in large numbers.
DEFAULT_MODEL = "claude-haiku-5-5"
# The interface wants a number; what a model thinks before it answers counts as well.
MOST_TOKENS = 16_000
CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
SERVICE_NAME = "the language model endpoint"


class AnthropicLanguageModel:
    """The client is made and the connection opened by the first question."""

    def __init__(
        self,
        *,
        model: str | None = None,
        url: str | None = None,
        key: str | None = None,
        max_characters: int | None = None,
        answer_seconds: float = prompts.ANSWER_SECONDS,
        connect_seconds: float = prompts.CONNECT_SECONDS,
        breaker: Breaker | None = None,
    ) -> None:
        self._model = prompts.checked_model(
            model, url=url, key=key, default=DEFAULT_MODEL, key_variable="ANTHROPIC_API_KEY"
        )
        self._max_characters = max_characters or (prompts.OTHER_CHARACTERS if url else prompts.VENDOR_CHARACTERS)
        self._answer_seconds = answer_seconds
        address = _without_version(url or ANTHROPIC_URL)
        self._endpoint = Endpoint(_service(), url=address, key=key, connect_seconds=connect_seconds)
        self._breaker = breaker or Breaker(self._endpoint.name)
        self._takes_schemas = True

    @property
    def model(self) -> str:
        return self._model

    @property
    def max_characters(self) -> int:
        return self._max_characters

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        prompt = fenced(instructions, material)
        return self._breaker.call(lambda: self._ask(prompt, schema=dict(schema), name=name))

    def close(self) -> None:
        self._endpoint.close()

    def _ask(self, prompt: Prompt, *, schema: dict[str, Any], name: str) -> Mapping[str, Any]:
        # Models that always think refuse to be forced to a tool; models from before schemas know nothing else.
        with_schema = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        with_tool = {
            "tools": [{"name": name, "description": "Takes the answer.", "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": name, "disable_parallel_tool_use": True},
        }
        ways = [with_schema, with_tool] if self._takes_schemas else [with_tool]
        reply = self._endpoint.ask(
            [self._question(prompt, way) for way in ways],
            seconds=self._answer_seconds,
            most_bytes=prompts.MOST_ANSWER_BYTES,
        )
        if reply.number > 0:
            self._takes_schemas = False
        return _object_of(reply.body, tool=name, source=self._endpoint.name)

    def _question(self, prompt: Prompt, way: Mapping[str, Any]) -> Question[AsyncAnthropic]:
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": MOST_TOKENS,
            "system": prompt.instructions,
            "messages": [{"role": "user", "content": prompt.material}],
            **way,
        }
        return lambda client: client.messages.with_streaming_response.create(stream=False, **request)


def _service() -> Service[AsyncAnthropic]:
    return Service(
        name=SERVICE_NAME,
        choice="llm = anthropic",
        settings="MYCEL_LLM",
        hint="MYCEL_LLM_URL and MYCEL_LLM_MODEL",
        connect=_connect,
        headers={"anthropic-version": INTERFACE_VERSION},
        longest_pause=prompts.LONGEST_PAUSE_SECONDS,
    )


def _connect(url: str, key: str, http: httpx2.AsyncClient) -> Connection[AsyncAnthropic]:
    from anthropic import APIConnectionError, AsyncAnthropic

    logging.getLogger("anthropic._base_client").addFilter(_holds_no_material)
    client = AsyncAnthropic(
        api_key=key, base_url=url, max_retries=0, http_client=http, timeout=http.timeout, open_telemetry=False
    )
    return Connection(client, (APIConnectionError,))


def _holds_no_material(record: logging.LogRecord) -> bool:
    """The client's debug log holds whole requests; those made here must not get into it."""
    is_ours = (record.threadName or "").startswith(SERVICE_NAME)
    return record.levelno > logging.DEBUG or not is_ours


def _without_version(url: str) -> str:
    """The client adds `/v1` itself; people write it, since other endpoints want it."""
    return url.rstrip("/").removesuffix("/v1")


def _object_of(body: bytes, *, tool: str, source: str) -> dict[str, object]:
    message = read_object(body, source=source)
    if message.get("stop_reason") in CUT_OFF:
        raise stopped_early(source)
    if message.get("stop_reason") == "refusal":
        raise declined(source)
    blocks = [inner_object(block) for block in inner_list(message.get("content"))]
    for block in blocks:
        if block.get("type") == "tool_use" and block.get("name") == tool:
            return _input_of(block, source=source)
    texts = [text for block in blocks if block.get("type") == "text" and isinstance(text := block.get("text"), str)]
    if not texts:
        raise wrong_answer(source, problem="it holds no text")
    return read_spoken_object("".join(texts), source=source)


def _input_of(block: Mapping[str, object], *, source: str) -> dict[str, object]:
    if not isinstance(block.get("input"), dict):
        raise wrong_answer(source, problem="it is not a JSON object")
    return inner_object(block.get("input"))
