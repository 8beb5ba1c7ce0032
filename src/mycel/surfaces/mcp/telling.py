"""What a model is told of a result: few words with the ids to ask for more, and the same as structured content.

Stored text stands inside the envelope of `domain.envelope`: it is data, whoever wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mycel.domain.artifact import Artifact
from mycel.domain.briefing import Briefing
from mycel.domain.context import ContextBundle
from mycel.domain.envelope import cite, envelope, one_line, whole_text
from mycel.domain.episode import Episode, SuccessRate
from mycel.domain.excerpt import estimate_tokens, shorten
from mycel.domain.explanation import Explanation
from mycel.domain.ids import TeamName
from mycel.domain.inbox import InboxItem
from mycel.domain.memory import Memory, Status
from mycel.domain.query import Page
from mycel.domain.recall import Hit, Recall
from mycel.domain.rendering import bullet
from mycel.domain.source import IngestionEvent
from mycel.domain.task import TaskRecord
from mycel.wire.shapes import to_json

# About three lines of a screen: enough to see whether it matters.
EXCERPT_TOKENS = 80
NOTHING = "Nothing found."


class Told(NamedTuple):
    text: str
    structured: dict[str, Any]


Tell = Callable[[Any, TeamName], Told]


def recall(found: Recall, home: TeamName) -> Told:
    structured = {
        "recall_id": found.id,
        "results": [_hit(hit) for hit in found.hits],
        **({"degraded": list(found.degraded)} if found.degraded else {}),
    }
    if not found.hits:
        return Told(f"{NOTHING} (recall {found.id})", structured)
    lines = [
        f"{bullet(hit.memory, home=home, alike=len(hit.copies))}{_excerpt(hit.memory, hit.snippet)} "
        f"(relevance {hit.relevance:.2f})"
        for hit in found.hits
    ]
    return Told(f"{envelope(lines)}\n(recall {found.id})", structured)


def memory(found: Memory, home: TeamName) -> Told:
    more = {
        "title": found.title,
        "category": found.category,
        "key": found.key,
        "project": found.project_id,
        "repo": found.repo_id,
        "tags": ", ".join(found.tags),
        "path": found.path,
        "status": found.status,
        "expires": None if found.expires_at is None else found.expires_at.isoformat(),
        "rationale": found.rationale,
        "alternatives": "; ".join(found.alternatives),
    }
    head = bullet(found, home=home).removeprefix("- ").removesuffix(": ")
    lines = [head, *(f"{name}: {one_line(str(value))}" for name, value in more.items() if value)]
    return Told(envelope([*lines, "", whole_text(found.content)]), {"memory": _plain(found)})


def memories(found: Sequence[Memory] | Page[Memory], home: TeamName) -> Told:
    listed = list(found)
    structured: dict[str, Any] = {"results": [_short(one) for one in listed]}
    if isinstance(found, Page) and found.next_cursor is not None:
        structured["next_cursor"] = found.next_cursor
    return Told(_lines(bullet(one, home=home) + _excerpt(one) for one in listed), structured)


def knowledge(found: Page[Memory], home: TeamName) -> Told:
    told = memories(found, home)
    lines = (f"{bullet(one, home=home)}{one_line(one.key or '')} = {_excerpt(one)}" for one in found)
    return Told(_lines(lines), told.structured)


def context(found: ContextBundle, _home: TeamName) -> Told:
    return _text(found.to_markdown(), recall_id=found.recall_id, left_out=found.left_out)


def briefing(found: Briefing, _home: TeamName) -> Told:
    return _text(found.to_markdown())


def explanation(found: Explanation, _home: TeamName) -> Told:
    return Told(envelope([whole_text(found.text)]), _plain(found))


def saved(found: Memory, _home: TeamName) -> Told:
    waits = " It waits in the inbox until somebody approves it." if found.status is Status.INBOX else ""
    structured = {"id": found.id, "version": found.version, "status": found.status, "title": found.title}
    return Told(
        f"{found.type.capitalize()} {cite(found.id)}, version {found.version}, {found.status}.{waits}", structured
    )


def event(found: IngestionEvent, _home: TeamName) -> Told:
    structured = {"event_id": found.id, "source_id": found.source_id, "state": found.state}
    return Told(f"Kept (event {found.id}). What can be drawn from it follows by itself.", structured)


def task(found: TaskRecord, _home: TeamName) -> Told:
    episode = found.episode
    structured = {"episode_id": episode.id, "candidates": [one.id for one in found.lessons]}
    waiting = f" {len(found.lessons)} lessons wait for review." if found.lessons else ""
    return Told(f"Kept as episode {cite(episode.id)}.{waiting}", structured)


def episode(found: Episode, home: TeamName) -> Told:
    return Told(envelope([_attempt(found, home)]), _entry(found))


def artifact(found: Artifact, home: TeamName) -> Told:
    return Told(envelope([_product(found, home)]), _entry(found))


def episodes(found: Page[Episode], home: TeamName) -> Told:
    return Told(_lines(_attempt(one, home) for one in found), {"results": [_entry(one) for one in found]})


def rates(found: Iterable[SuccessRate], _home: TeamName) -> Told:
    listed = list(found)
    lines = (
        f"- {one_line(one.name)}: {'no ending yet' if one.rate is None else f'{one.rate:.0%}'} "
        f"({one.completed} completed, {one.failed} failed)"
        for one in listed
    )
    return Told(_lines(lines), {"results": _plain(listed)})


def artifacts(found: Page[Artifact], home: TeamName) -> Told:
    return Told(_lines(_product(one, home) for one in found), {"results": [_entry(one) for one in found]})


def inbox(found: Page[InboxItem], home: TeamName) -> Told:
    lines: list[str] = []
    for item in found:
        said = "" if item.evidence is None else f" Said: “{one_line(item.evidence.quote)}”"
        lines.append(f"{bullet(item.memory, home=home)}{_excerpt(item.memory)} Waits: {one_line(item.reason)}.{said}")
    structured = [{**_short(item.memory), "reason": item.reason, "links": _plain(item.links)} for item in found]
    return Told(_lines(lines), {"results": structured})


def plain(found: object, _home: TeamName) -> Told:
    """All of a small result, as it is over HTTP."""
    shape = _plain(found)
    return Told(envelope([whole_text(json.dumps(shape, ensure_ascii=False, sort_keys=True))]), shape)


def done(text: str) -> Tell:
    def told(_found: object, _home: TeamName) -> Told:
        return Told(text, {"ok": True})

    return told


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        **_short(hit.memory, _excerpt(hit.memory, hit.snippet)),
        "score": round(hit.score, 4),
        "relevance": round(hit.relevance, 3),
        "why": hit.why,
        **({"copies": list(hit.copies)} if hit.copies else {}),
    }


def _short(one: Memory, text: str | None = None) -> dict[str, Any]:
    found = {
        "id": one.id,
        "type": one.type,
        "title": one_line(one.title),
        "excerpt": _excerpt(one) if text is None else text,
        "author": one.agent_id,
        "team": one.team,
        "created_at": one.created_at.isoformat(),
    }
    others = {"key": one.key, "category": one.category, "project": one.project_id, "tags": list(one.tags)}
    return found | {name: value for name, value in others.items() if value}


def _excerpt(one: Memory, snippet: str | None = None) -> str:
    """The whole text if it is short; otherwise the part that matched, or its beginning."""
    whole = one_line(one.content)
    if estimate_tokens(whole) <= EXCERPT_TOKENS:
        return whole
    part = one_line(snippet) if snippet else one_line(one.summary or "") or whole
    return shorten(part, EXCERPT_TOKENS) or part


def _attempt(one: Episode, home: TeamName) -> str:
    outcome = f" → {one_line(one.outcome)}" if one.outcome else ""
    text = f"{one.action}: {one_line(one.approach)}{outcome}"
    return bullet(one.memory, home=home) + (shorten(text, EXCERPT_TOKENS) or text)


def _product(one: Artifact, home: TeamName) -> str:
    size = "" if one.size_bytes is None else f", {one.size_bytes:,} bytes"
    about = f": {one_line(one.description)}" if one.description else ""
    return f"{bullet(one.memory, home=home)}{one_line(one.path)}{size}{about}"


def _entry(one: Episode | Artifact) -> dict[str, Any]:
    """Without its memory, which says the same once more, and without a file's content."""
    return {
        name: value for name, value in _plain(one).items() if name not in {"memory", "content"} and value is not None
    }


def _lines(lines: Iterable[str]) -> str:
    listed = list(lines)
    return envelope(listed) if listed else NOTHING


def _text(text: str, **more: object) -> Told:
    structured = {"text": text, **{name: value for name, value in more.items() if value is not None}}
    return Told(text or NOTHING, structured)


def _plain(value: object) -> Any:
    found: object = json.loads(to_json(value))
    return cast("dict[str, Any]", found) if isinstance(found, Mapping) else found
