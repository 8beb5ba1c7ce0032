"""A language model that says what it was told to say, on loopback, in the form that each coding agent expects."""

from __future__ import annotations

import html
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.real_agents.wire_formats import FORMATS, TOOL, USER, Answer, Body, Said, Tool, WireFormat, whole_text

# To whoever asks for something else, such as a title for the session.
SMALL_TALK = "A conversation about the work."


class Call(NamedTuple):
    """Of a tool, by the name that the agent's program gives it."""

    tool: str
    arguments: Any


class Play(NamedTuple):
    """What follows a prompt with the cue in it: the calls, each after the result of the one before, then the answer."""

    cue: str
    calls: tuple[Call, ...]
    answer: str


@dataclass(frozen=True)
class Request:
    """What the model was asked: the conversation so far, and the tools that were offered."""

    body: Body
    conversation: tuple[Said, ...]
    tools: tuple[Tool, ...]

    @property
    def text(self) -> str:
        """All that the model reads; one program writes what hooks tell it as HTML."""
        return html.unescape(whole_text({name: value for name, value in self.body.items() if name != "tools"}))

    @property
    def results(self) -> list[str]:
        """Of the tools that were called."""
        return [html.unescape(said.text) for said in self.conversation if said.by == TOOL]

    def last_cue(self, cue: str) -> int | None:
        """Where in the conversation the user gave it."""
        places = [place for place, said in enumerate(self.conversation) if said.by == USER and cue in said.text]
        return places[-1] if places else None


@dataclass
class ScriptedModel:
    """Use it in a `with` block; the plays can be given before and while agents ask."""

    plays: list[Play] = field(default_factory=list[Play])
    requests: list[Request] = field(default_factory=list[Request])

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def play(self, cue: str, *calls: Call, answer: str) -> None:
        self.plays.append(Play(cue, calls, answer))

    def asked(self, cue: str) -> list[Request]:
        """The requests of the conversations with this cue, but for those on the side, which offer no tools."""
        return [one for one in self.requests if one.tools and one.last_cue(cue) is not None]

    def answer(self, request: Request) -> Answer:
        """The newest play counts: what is remembered of earlier sessions may hold their cues."""
        self.requests.append(request)
        for play in reversed(self.plays):
            start = request.last_cue(play.cue)
            if request.tools and start is not None:
                done = sum(said.by == TOOL for said in request.conversation[start:])
                return _called(play.calls[done], request) if done < len(play.calls) else Answer(play.answer)
        return Answer(SMALL_TALK)


def _called(call: Call, request: Request) -> Answer:
    tool = next((tool for tool in request.tools if tool.full_name == call.tool), None)
    return Answer(tool=tool, arguments=call.arguments) if tool else Answer(f"There is no tool {call.tool}.")


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        found = next((one for one in FORMATS if path.endswith(one.path_end)), None)
        if found is None:
            self.send_error(404)
            return
        request = Request(body, tuple(found.conversation(body)), tuple(found.tools(body)))
        self._stream(found, found.stream(self.model.answer(request), body.get("model", "scripted")))

    def _stream(self, form: WireFormat, events: list[Body]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(form.last_words.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what was asked is in `requests`."""
