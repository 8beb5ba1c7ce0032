"""A loopback endpoint that speaks OpenAI's chat completions and Anthropic's messages, and misbehaves on demand."""

from __future__ import annotations

import json
from typing import Any

from tests.reliability.embedding_server import EmbeddingServer, Exchange, Script

OPENAI_PATH = "/v1/chat/completions"
ANTHROPIC_PATH = "/v1/messages"
STOPPED_BY_LENGTH = {OPENAI_PATH: "length", ANTHROPIC_PATH: "max_tokens"}
DECLINED = {OPENAI_PATH: "content_filter", ANTHROPIC_PATH: "refusal"}


class LanguageModelServer(EmbeddingServer):
    """Answers every question with an empty list of candidates until a test says otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.script = answering({"candidates": []})

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def forget(self) -> None:
        super().forget()
        self.script = answering({"candidates": []})


def answering(found: object) -> Script:
    return lambda exchange: exchange.answer(wrapped(exchange, json.dumps(found)))


def speaking(text: str, *, stop: dict[str, str] | None = None) -> Script:
    """The model says this, and stops for a reason that each vendor has its own word for."""
    return lambda exchange: exchange.answer(wrapped(exchange, text, stop=(stop or {}).get(exchange.path)))


def wrapped(exchange: Exchange, text: str, *, stop: str | None = None) -> bytes:
    """What a model says as the interface that was asked would send it."""
    if exchange.path == OPENAI_PATH:
        return json.dumps(_completion(text, stop=stop)).encode()
    assert exchange.path == ANTHROPIC_PATH
    return json.dumps(_message(exchange.body, text, stop=stop)).encode()


def _completion(text: str, *, stop: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": stop or "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": {}}


def _message(request: dict[str, Any], text: str, *, stop: str | None) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": "", "signature": "s"}]
    if "tools" in request:
        name = request["tool_choice"]["name"]
        content.append({"type": "tool_use", "id": "t1", "name": name, "input": json.loads(text)})
    else:
        content.append({"type": "text", "text": text})
    reason = stop or ("tool_use" if "tools" in request else "end_turn")
    return {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": content} | {
        "stop_reason": reason,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def refusing_schemas(exchange: Exchange) -> None:
    """An endpoint from before schemas: a bad request unless it is asked the old way."""
    kind = exchange.body.get("response_format", {}).get("type")
    if kind == "json_schema" or "output_config" in exchange.body:
        exchange.answer(b'{"error": {"message": "unknown parameter"}}', status=400)
    else:
        answering({"candidates": []})(exchange)


def cut_off(exchange: Exchange) -> None:
    """The connection ends in the middle of the promised body."""
    content = wrapped(exchange, "{}")
    exchange.send_response(200)
    exchange.send_header("Content-Length", str(len(content)))
    exchange.end_headers()
    exchange.wfile.write(content[: len(content) // 2])
    exchange.close_connection = True
