"""The four forms in which coding agents talk to a language model: their requests and their streamed answers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Body = dict[str, Any]
USER, TOOL, OTHER = "user", "tool", "other"
_numbers = itertools.count(1)


class Said(NamedTuple):
    """One part of a conversation, by the user, by a tool that was called, or by anybody else."""

    by: str
    text: str


class Tool(NamedTuple):
    """What the model may call; some take a text in place of named arguments."""

    name: str
    namespace: str = ""
    takes_text: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


class Answer(NamedTuple):
    """A text, or a tool to be called."""

    text: str = ""
    tool: Tool | None = None
    arguments: Any = None


class WireFormat(Protocol):
    path_end: str
    # What a stream ends with, after its last event.
    last_words: str

    def conversation(self, body: Body) -> Iterator[Said]: ...
    def tools(self, body: Body) -> Iterator[Tool]: ...
    def stream(self, answer: Answer, model: str) -> list[Body]: ...


def texts_in(value: object) -> Iterator[str]:
    """Every text somewhere in a JSON value, as the model would read it: nothing of it is escaped."""
    match value:
        case str():
            yield value
        case dict():
            yield from itertools.chain.from_iterable(map(texts_in, value.values()))
        case list():
            yield from itertools.chain.from_iterable(map(texts_in, value))
        case _:
            pass


def whole_text(value: object) -> str:
    return "\n".join(texts_in(value))


class AnthropicMessages:
    path_end, last_words = "/messages", ""

    def conversation(self, body: Body) -> Iterator[Said]:
        for message in body["messages"]:
            content = message["content"]
            for block in [content] if isinstance(content, str) else content:
                is_result = isinstance(block, dict) and block["type"] == "tool_result"
                yield Said(TOOL if is_result else _speaker(message["role"]), whole_text(block))

    def tools(self, body: Body) -> Iterator[Tool]:
        return (Tool(tool["name"]) for tool in body.get("tools", ()))

    def stream(self, answer: Answer, model: str) -> list[Body]:
        number = next(_numbers)
        if answer.tool:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer.tool.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text}
        usage = {"input_tokens": 9, "output_tokens": 9}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": []}
        reason = "tool_use" if answer.tool else "end_turn"
        return [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
            {"type": "message_stop"},
        ]


class OpenAiResponses:
    path_end, last_words = "/responses", ""

    def conversation(self, body: Body) -> Iterator[Said]:
        for item in body["input"]:
            is_result = item.get("type", "").endswith("call_output")
            yield Said(TOOL if is_result else _speaker(item.get("role")), whole_text(item))

    def tools(self, body: Body) -> Iterator[Tool]:
        for tool in body.get("tools", ()):
            if tool["type"] == "namespace":
                yield from (Tool(inner["name"], namespace=tool["name"]) for inner in tool["tools"])
            elif "name" in tool:
                yield Tool(tool["name"], takes_text=tool["type"] == "custom")

    def stream(self, answer: Answer, model: str) -> list[Body]:
        number = next(_numbers)
        response = {"id": f"resp_{number}", "object": "response", "model": model, "output": []}
        item = {"id": f"item_{number}", "status": "completed", **self._item(answer, f"call_{number}")}
        usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
        return [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "output": [item], "usage": usage}},
        ]

    def _item(self, answer: Answer, call: str) -> Body:
        tool = answer.tool
        if tool is None:
            content = [{"type": "output_text", "text": answer.text, "annotations": []}]
            return {"type": "message", "role": "assistant", "content": content}
        if tool.takes_text:
            return {"type": "custom_tool_call", "call_id": call, "name": tool.name, "input": answer.arguments}
        where = {"namespace": tool.namespace} if tool.namespace else {}
        given = json.dumps(answer.arguments)
        return {"type": "function_call", "call_id": call, "name": tool.name, "arguments": given, **where}


class OpenAiChat:
    path_end, last_words = "/chat/completions", "data: [DONE]\n\n"

    def conversation(self, body: Body) -> Iterator[Said]:
        for message in body["messages"]:
            yield Said(_speaker(message["role"]), whole_text(message.get("content")))

    def tools(self, body: Body) -> Iterator[Tool]:
        return (Tool(tool["function"]["name"]) for tool in body.get("tools", ()))

    def stream(self, answer: Answer, model: str) -> list[Body]:
        number = next(_numbers)
        delta: Body = {"role": "assistant", "content": answer.text}
        if answer.tool:
            function = {"name": answer.tool.name, "arguments": json.dumps(answer.arguments)}
            call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [call]}
        choices: Iterable[Body] = (
            {"index": 0, "delta": delta, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.tool else "stop"},
        )
        chunk = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": model}
        return [{**chunk, "choices": [choice]} for choice in choices]


class Gemini:
    path_end, last_words = ":streamGenerateContent", ""

    def conversation(self, body: Body) -> Iterator[Said]:
        for content in body["contents"]:
            for part in content["parts"]:
                is_result = "functionResponse" in part
                yield Said(TOOL if is_result else _speaker(content.get("role")), whole_text(part))

    def tools(self, body: Body) -> Iterator[Tool]:
        groups = [group.get("functionDeclarations", ()) for group in body.get("tools", ())]
        return (Tool(declared["name"]) for group in groups for declared in group)

    def stream(self, answer: Answer, model: str) -> list[Body]:
        part: Body = {"text": answer.text}
        if answer.tool:
            part = {"functionCall": {"name": answer.tool.name, "args": answer.arguments, "id": f"f{next(_numbers)}"}}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
        return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}]


FORMATS: tuple[WireFormat, ...] = (AnthropicMessages(), OpenAiResponses(), OpenAiChat(), Gemini())


def _speaker(role: str | None) -> str:
    return role if role in {USER, TOOL} else OTHER
