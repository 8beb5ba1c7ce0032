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
    TEAM_MEMORY,
    alike_words,
    bullet_of,
    envelope,
    kind_of,
    listed_as,
    one_line,
    under_key,
)
from mycel.domain.marks import voice_of
from mycel.engine.transcripts.privacy import PrivateFilter
from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.place import Place
from mycel.surfaces.hooks.service import Caller, Service, find_service

CONTEXT, NEWEST, SEARCH = "/api/context/markdown", "/api/memory/recent?limit=10", "/api/memory/search"
# By an estimate from above, so that neither 10,000 characters nor 2,500 tokens are ever reached.
TOKEN_BUDGET = 2000
MOST_CHARACTERS = 9900
MOST_MEMORIES, MOST_NEWEST = 5, 10
# Those that were shown before take places away from the others.
MOST_ASKED = 15
MOST_OF_PROMPT_MEMORIES = 1200
# Of the room for context, when the memories of a prompt come with it, and when the newest of the team come as well.
SHARE_BESIDE_MEMORIES, SHARE_BESIDE_NEWEST = 0.85, 0.44
MOST_OF_MEMORY, MOST_OF_LINE = 320, 400
# For the envelope around them.
LEAST_ROOM = 300
MOST_OF_QUERY = 2000
LEAST_WORDS, LEAST_CHARACTERS = 3, 12
# Commands to the agent's program, not to the agent.
_COMMANDS = ("/", "!", "#")
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
    """Fetch what holds in the project and repo. With a `share`, it leaves room for something else."""
    body = json.dumps({**place.belongings(), "token_budget": int(TOKEN_BUDGET * share)}).encode()
    reply = service.post(CONTEXT, body)
    text = reply.body.decode("utf-8", "replace").strip() if reply.status == 200 else ""
    found = _clipped(text, int(MOST_CHARACTERS * share))
    return Injection(found, tuple(_CITED.findall(found)))


def lacks_project(context: Injection) -> bool:
    """Tell whether a context says nothing of what holds in the project, and leaves room for the newest of the team."""
    says = any(heading in context.text for heading in (PROJECT_FACTS, CONVENTIONS, DECISIONS, LESSONS))
    return not says and len(context.text) < MOST_CHARACTERS - MOST_NEWEST * MOST_OF_LINE - LEAST_ROOM


class Newest(NamedTuple):
    """The newest memories that the caller may read, newest first: the id, the moment and the line of each."""

    entries: tuple[tuple[str, str, str], ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(id for id, _, _ in self.entries)

    @property
    def since(self) -> str:
        """The moment of the oldest, where older ones may have been cut off."""
        return self.entries[-1][1] if len(self.entries) == MOST_NEWEST else ""

    def after(self, known: Iterable[str], since: str) -> Newest:
        """Return those that were not known, without older ones that took the place of one that is gone."""
        seen = frozenset(known)
        return Newest(tuple(entry for entry in self.entries if entry[0] not in seen and entry[1] >= since))

    def shown(self) -> Injection:
        if not self.entries:
            return NOTHING
        return Injection(envelope([TEAM_MEMORY, *(line for _, _, line in self.entries)]), self.ids)


def newest_memories(service: Service) -> Newest | None:
    """Fetch the ten newest memories that the caller may read; None where the service refuses."""
    reply = service.get(NEWEST)
    if reply.status != 200:
        return None
    return Newest(tuple((_id(one), str(one.get("created_at")), _listed(one)) for one in _listed_in(reply.body)))


def _listed(memory: dict[str, Any]) -> str:
    """Render a memory as `[type][agent] content`, shortened where it is long."""
    start = listed_as(one_line(str(memory.get("type"))), _voice(memory))
    return start + _content(memory, most=min(MOST_OF_MEMORY, MOST_OF_LINE - len(start)))


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
    return _chosen(_listed_in(reply.body), shown=frozenset(shown)) if reply.status == 200 else NOTHING


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
    fresh = [one for one in results if not (_id(_memory(one)).startswith(known) or _id(_memory(one)).endswith(known))]
    for result in _diverse(fresh):
        if len(lines) == MOST_MEMORIES:
            break
        line = _line(_memory(result), copies=len(result.get("copies") or ()))
        if len(line) > room:
            continue
        room -= len(line)
        lines.append(line)
        ids.append(_id(_memory(result)))
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


def _id(memory: dict[str, Any]) -> str:
    return str(memory.get("id"))


def _voice(memory: dict[str, Any]) -> str:
    return one_line(voice_of(memory.get("metadata") or {}, str(memory.get("agent_id"))))


def _line(memory: dict[str, Any], *, copies: int) -> str:
    start = bullet_of(
        _id(memory),
        type=kind_of(one_line(str(memory.get("type"))), memory.get("category")),
        author=_voice(memory),
        day=str(memory.get("created_at"))[:10],
        beside=alike_words(copies),
    )
    return start + _content(memory, most=MOST_OF_MEMORY)


def _content(memory: dict[str, Any], *, most: int) -> str:
    """Return what a memory says on one line, or its summary or its beginning where that is long."""
    key, summary = memory.get("key"), memory.get("summary")
    content = one_line(under_key(key, str(memory.get("content"))))
    if len(content) > most and isinstance(summary, str) and summary.strip():
        content = one_line(under_key(key, SUMMARY_MARK + summary))
    if len(content) > most:
        content = content[:most].rpartition(" ")[0] + " …"
    return content


def _listed_in(raw: bytes) -> list[dict[str, Any]]:
    """Return the results of a search, or the memories of a list."""
    try:
        found: object = json.loads(raw)
    except ValueError:
        return []
    listed = cast("dict[str, Any]", found).get("results") if isinstance(found, dict) else found
    return cast("list[dict[str, Any]]", listed) if isinstance(listed, list) else []


def _clipped(text: str, most: int) -> str:
    """Cut between lines, with the end of the envelope kept."""
    end = f"\n</{ENVELOPE}>"
    if len(text) <= most:
        return text
    return text[: most - len(end)].rpartition("\n")[0] + end
