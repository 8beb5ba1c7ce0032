"""Language models of OpenAI, and of whatever speaks its chat completions: Ollama, vLLM, gateways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mycel.providers.breaker import Breaker
from mycel.providers.endpoint import OPENAI_URL, Endpoint, Question, Service, connect_openai
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
    told_schema,
    wrong_answer,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# The small one for focused work in large numbers.
DEFAULT_MODEL = "gpt-6-luna"


class OpenAILanguageModel:
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
            model, url=url, key=key, default=DEFAULT_MODEL, key_variable="OPENAI_API_KEY"
        )
        self._max_characters = max_characters or (prompts.OTHER_CHARACTERS if url else prompts.VENDOR_CHARACTERS)
        self._answer_seconds = answer_seconds
        self._endpoint = Endpoint(_service(), url=url or OPENAI_URL, key=key, connect_seconds=connect_seconds)
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
        return self._breaker.call(lambda: self._ask(prompt, schema=schema, name=name))

    def close(self) -> None:
        self._endpoint.close()

    def _ask(self, prompt: Prompt, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        with_schema = self._question(prompt, {"type": "json_schema", "json_schema": _named(schema, name=name)})
        told = Prompt(told_schema(prompt.instructions, schema), prompt.material)
        without = self._question(told, {"type": "json_object"})
        questions = [with_schema, without] if self._takes_schemas else [without]
        reply = self._endpoint.ask(questions, seconds=self._answer_seconds, most_bytes=prompts.MOST_ANSWER_BYTES)
        if reply.number > 0:
            self._takes_schemas = False
        return _object_of(reply.body, source=self._endpoint.name)

    def _question(self, prompt: Prompt, response_format: dict[str, Any]) -> Question[AsyncOpenAI]:
        messages = [
            {"role": "system", "content": prompt.instructions},
            {"role": "user", "content": prompt.material},
        ]
        request: dict[str, Any] = {"model": self._model, "messages": messages, "response_format": response_format}
        return lambda client: client.chat.completions.with_streaming_response.create(stream=False, **request)


def _service() -> Service[AsyncOpenAI]:
    return Service(
        name="the language model endpoint",
        choice="llm = openai",
        settings="MYCEL_LLM",
        hint="MYCEL_LLM_URL and MYCEL_LLM_MODEL",
        connect=connect_openai,
        longest_pause=prompts.LONGEST_PAUSE_SECONDS,
    )


def _named(schema: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    return {"name": name, "strict": True, "schema": dict(schema)}


def _object_of(body: bytes, *, source: str) -> dict[str, object]:
    choices = inner_list(read_object(body, source=source).get("choices"))
    choice = inner_object(choices[0]) if choices else {}
    message = inner_object(choice.get("message"))
    if choice.get("finish_reason") == "length":
        raise stopped_early(source)
    if choice.get("finish_reason") == "content_filter" or message.get("refusal"):
        raise declined(source)
    text = message.get("content")
    if not isinstance(text, str):
        raise wrong_answer(source, problem="it holds no text")
    return read_spoken_object(text, source=source)
