"""What the team knows, as text that an agent is given: at the start of a session, and with a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from mycel.domain.author_share import AUTHOR_SHARE, share_out
from mycel.domain.envelope import (
    CONVENTIONS,
    DECISIONS,
    ENVELOPE,
    LESSONS,
    PAST_KNOWLEDGE,
    PROJECT_FACTS,
    SUMMARY_MARK,
    alike_words,
    bullet_of,
    envelope,
    kind_of,
    one_line,
    under_key,
)
from mycel.domain.marks import voice_of
from mycel.engine.transcripts.privacy import PrivateFilter
from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.place import Place
from mycel.surfaces.hooks.service import Caller, Service, find_service

CONTEXT, TEAM_MEMORY, SEARCH = "/api/context/markdown", "/api/context/team-memory", "/api/memory/search"
# By an estimate from above, so that neither 10,000 characters nor 2,500 tokens are ever reached.
TOKEN_BUDGET = 2000
MOST_CHARACTERS = 9900
# With less, the newest of the team are not begun with.
LEAST_ROOM = 500
MOST_MEMORIES = 5
# Those that were shown before take places away from the others.
MOST_ASKED = 15
MOST_OF_PROMPT_MEMORIES = 1200
# Of the room for context, when the memories of a prompt come with it.
SHARE_BESIDE_MEMORIES = 0.85
MOST_OF_MEMORY = 320
MOST_OF_QUERY = 2000
LEAST_WORDS, LEAST_CHARACTERS = 3, 12
# Commands to the agent's program, not to the agent.
_COMMANDS = ("/", "!", "#")
# How a memory begins in the block of the newest: its type and its author.
_LISTED = re.compile(r"\[[^\[\]]{1,60}\]\[[^\[\]]{1,120}\] ")
# As much of an id as a context cites it by.
_CITED = re.compile(r"^- \[m:([0-9a-f-]{8,36})\]", re.MULTILINE)


class Injection(NamedTuple):
    """`ids` names the memories in it, each by as much of its id as was told, so that they are not told twice."""

    text: str = ""
    ids: tuple[str, ...] = ()

    def with_more(self, other: Injection) -> Injection:
        text = "\n\n".join(one for one in (self.text, other.text) if one)
        return Injection(text, (*self.ids, *other.ids))


NOTHING = Injection()


def context_of(service: Service, place: Place, *, share: float = 1.0) -> Injection:
    """What holds in the project and repo; where nothing is known of it yet, the newest of the team as well.

    With a `share`, it leaves room for something else.
    """
    room = int(MOST_CHARACTERS * share)
    body = json.dumps({**place.belongings(), "token_budget": int(TOKEN_BUDGET * share)}).encode()
    found = _clipped(_text(service, CONTEXT, body), room)
    if not any(heading in found for heading in (PROJECT_FACTS, CONVENTIONS, DECISIONS, LESSONS)):
        newest = _unsaid(_text(service, TEAM_MEMORY, body), found)
        left = room - len(found) - 2
        if newest and left > LEAST_ROOM:
            found = f"{found}\n\n{_clipped(newest, left)}".strip()
    return Injection(found, tuple(_CITED.findall(found)))


def _text(service: Service, path: str, body: bytes) -> str:
    reply = service.post(path, body)
    return reply.body.decode("utf-8", "replace").strip() if reply.status == 200 else ""


def _unsaid(newest: str, said: str) -> str:
    """The block of the newest memories without those that were told; nothing when all of them were."""
    lines = [line for line in newest.splitlines() if not (_LISTED.match(line) and _LISTED.sub("", line) in said)]
    return "\n".join(lines) if any(_LISTED.match(line) for line in lines) else ""


def is_command(prompt: str) -> bool:
    return prompt.lstrip().startswith(_COMMANDS)


def question_in(prompt: str) -> str | None:
    """What to search for, if the prompt says enough."""
    asked = PrivateFilter().shown(prompt).replace("\0", " ").strip()
    if is_command(asked) or len(asked) < LEAST_CHARACTERS or len(asked.split()) < LEAST_WORDS:
        return None
    return asked[:MOST_OF_QUERY]


def memories_for(
    service: Service, question: str, place: Place, *, least_relevance: float, shown: Iterable[str]
) -> Injection:
    asked = {"query": question, "limit": MOST_ASKED, "min_relevance": least_relevance, **place.belongings()}
    reply = service.post(SEARCH, json.dumps(asked).encode())
    return _chosen(_results(reply.body), shown=frozenset(shown)) if reply.status == 200 else NOTHING


def make_ready(settings: HookSettings, caller: Caller, deadline: Deadline) -> None:
    """The first search of a service loads its model, and takes longer than a prompt may wait: nobody waits for this."""
    service = find_service(settings, caller, deadline)
    if service is not None:
        service.post(SEARCH, json.dumps({"query": "what is known here", "limit": 1, "min_relevance": 1}).encode())
        service.close()


def _chosen(results: list[dict[str, Any]], *, shown: frozenset[str]) -> Injection:
    lines: list[str] = []
    ids: list[str] = []
    room = MOST_OF_PROMPT_MEMORIES
    # A context cites the end of an id, earlier ones did the beginning.
    known = tuple(shown)
    fresh = [one for one in results if not (_id(one).startswith(known) or _id(one).endswith(known))]
    for result in _diverse(fresh):
        if len(lines) == MOST_MEMORIES:
            break
        line = _line(_memory(result), copies=len(result.get("copies") or ()))
        if len(line) > room:
            continue
        room -= len(line)
        lines.append(line)
        ids.append(_id(result))
    return Injection(envelope([PAST_KNOWLEDGE, *lines]), tuple(ids)) if lines else NOTHING


def _diverse(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those first of which one author has no more than a share; the others follow, in case some are too long."""
    first = share_out(
        results,
        limit=MOST_MEMORIES,
        share=AUTHOR_SHARE,
        author=lambda result: str(_memory(result).get("agent_id")),
        relevance=lambda result: float(result.get("relevance") or 0.0),
    ).items
    return [*first, *(result for result in results if result not in first)]


def _memory(result: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", result.get("item") or {})


def _id(result: dict[str, Any]) -> str:
    return str(_memory(result).get("id"))


def _line(memory: dict[str, Any], *, copies: int) -> str:
    start = bullet_of(
        str(memory.get("id")),
        type=kind_of(one_line(str(memory.get("type"))), memory.get("category")),
        author=one_line(voice_of(memory.get("metadata") or {}, str(memory.get("agent_id")))),
        day=str(memory.get("created_at"))[:10],
        beside=alike_words(copies),
    )
    key, summary = memory.get("key"), memory.get("summary")
    content = one_line(under_key(key, str(memory.get("content"))))
    if len(content) > MOST_OF_MEMORY and isinstance(summary, str) and summary.strip():
        content = one_line(under_key(key, SUMMARY_MARK + summary))
    if len(content) > MOST_OF_MEMORY:
        content = content[:MOST_OF_MEMORY].rpartition(" ")[0] + " …"
    return start + content


def _results(raw: bytes) -> list[dict[str, Any]]:
    try:
        found: object = json.loads(raw)
    except ValueError:
        return []
    results = cast("dict[str, Any]", found).get("results") if isinstance(found, dict) else None
    return cast("list[dict[str, Any]]", results) if isinstance(results, list) else []


def _clipped(text: str, most: int) -> str:
    """Cut between lines, with the end of the envelope kept."""
    end = f"\n</{ENVELOPE}>"
    if len(text) <= most:
        return text
    return text[: most - len(end)].rpartition("\n")[0] + end
