"""What a model is told of a result: few words with the ids to ask for more, and values for programs.

Stored text stands inside the envelope of `domain.envelope`: it is data, whoever wrote it. It is nowhere else: some
clients show a model nothing but the structured content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mcp_types import ContentBlock

from mycel.domain.artifact import Artifact, Verification
from mycel.domain.briefing import Briefing
from mycel.domain.context import ContextBundle
from mycel.domain.envelope import cite, envelope, one_line, under_key, whole_text
from mycel.domain.episode import Episode, SuccessRate
from mycel.domain.ids import TeamName
from mycel.domain.inbox import InboxItem
from mycel.domain.memory import FIELDS, Memory, Status
from mycel.domain.query import Page
from mycel.domain.recall import Explanation, Hit, Recall
from mycel.domain.rendering import bullet, estimate_tokens, field_text, note_text, shorten
from mycel.domain.report import Action, Report
from mycel.domain.source import IngestionEvent
from mycel.domain.task import TaskRecord
from mycel.domain.validity import contested_words
from mycel.errors import Candidate
from mycel.wire.shapes import to_json

# About three lines of a screen: enough to see whether it matters.
EXCERPT_TOKENS = 80
# As many as a reader goes through.
MOST_ACTIONS = 50
NOTHING = "Nothing found."
SIMILAR = "Similar, update it instead?"


class Told(NamedTuple):
    """`values` are what a program reads beside the text: ids, names of members and teams, numbers, words of ours.

    `attached` is what a client may fetch besides.
    """

    text: str
    values: dict[str, Any]
    attached: tuple[ContentBlock, ...] = ()


Tell = Callable[[Any, TeamName], Told]


def recall(found: Recall, home: TeamName) -> Told:
    values = {
        "recall_id": found.id,
        "results": [_hit(hit) for hit in found.hits],
        **({"degraded": list(found.degraded)} if found.degraded else {}),
    }
    if not found.hits:
        return Told(f"{NOTHING} (recall {found.id})", values)
    lines = [
        f"{bullet(hit.memory, home=home, alike=len(hit.copies))}{_excerpt(hit.memory, hit.snippet)} "
        f"(relevance {hit.relevance:.2f}{_contest(hit)})"
        for hit in found.hits
    ]
    return Told(f"{envelope(lines)}\n(recall {found.id})", values)


def memory(found: Memory, home: TeamName) -> Told:
    shown = ((row, getattr(found, row.name)) for row in FIELDS.values() if row.shown)
    more = {row.label: field_text(row, value) for row, value in shown if value}
    head = bullet(found, home=home).removeprefix("- ").removesuffix(": ")
    lines = [head, *(f"{name}: {one_line(text)}" for name, text in more.items())]
    values = {**_values(found), "freshness": found.freshness}
    return Told(envelope([*lines, "", whole_text(found.content)]), values)


def memories(found: Sequence[Memory] | Page[Memory], home: TeamName) -> Told:
    listed = list(found)
    lines = _lines(bullet(one, home=home) + _excerpt(one) for one in listed)
    return Told(lines, {"results": [_values(one) for one in listed]})


def context(found: ContextBundle, _home: TeamName) -> Told:
    recall_id = {} if found.recall_id is None else {"recall_id": found.recall_id}
    return Told(found.to_markdown() or NOTHING, {**recall_id, "left_out": found.left_out})


def briefing(found: Briefing, _home: TeamName) -> Told:
    return Told(found.to_markdown() or NOTHING, {})


def explanation(found: Explanation, _home: TeamName) -> Told:
    return Told(envelope([whole_text(found.text)]), {})


def saved(found: Memory, _home: TeamName) -> Told:
    waits = " It waits in the inbox until somebody approves it." if found.status is Status.INBOX else ""
    text = f"{found.type.capitalize()} {cite(found.id)}, version {found.version}, {found.status}.{waits}"
    text += _stands_instead(found)
    if found.notices:
        text = f"{text}\n{envelope([one_line(notice) for notice in found.notices])}"
    values = {**_values(found), **_undecided(found)}
    if not found.similar:
        return Told(text, values)
    lines = [
        f"- {cite(one.id)} by {one.agent_id} ({one_line(one.why)}): {one_line(one.excerpt)}" for one in found.similar
    ]
    near = [{"id": one.id, "likeness": one.likeness} for one in found.similar]
    return Told(f"{text} {SIMILAR}\n{envelope(lines)}", {**values, "similar": near})


def _stands_instead(found: Memory) -> str:
    if not found.decided_by:
        return ""
    *others, last = found.decided_by
    decides = f" It was not applied; the {', '.join(others)} or {last} decides."
    if found.standing is None:
        return decides
    one = found.standing
    line = f"- {cite(one.id)} by {one.agent_id} (confidence {one.confidence:g}): {one_line(one.value)}"
    return f"{decides} This stands:\n{envelope([line])}"


def _undecided(found: Memory) -> dict[str, Any]:
    if not found.decided_by:
        return {}
    standing = {} if found.standing is None else {"standing": found.standing.id}
    return {"applied": False, **standing, "decided_by": list(found.decided_by)}


def changed(found: Memory, home: TeamName) -> Told:
    """As `saved`, with title and team: the id that was given may have been a part of one."""
    told = saved(found, home)
    return Told(f"{told.text}\n{envelope([_title_line(found)])}", told.values)


def deleted(found: Memory, _home: TeamName) -> Told:
    return Told(f"Deleted.\n{envelope([_title_line(found)])}", {"ok": True, "id": found.id, "team": found.team})


def _title_line(one: Memory) -> str:
    return f"- {cite(one.id)} of team {one.team}: {one_line(one.title)}"


def event(found: IngestionEvent, _home: TeamName) -> Told:
    return Told(f"Kept (event {found.id}). What can be drawn from it follows by itself.", _event(found))


def sent(found: IngestionEvent, _home: TeamName) -> Told:
    return Told(f"On its way to every team below (event {found.id}).", _event(found))


def task(found: TaskRecord, _home: TeamName) -> Told:
    episode = found.episode
    # Told again, what it taught may have been decided about.
    waiting = [one.id for one in found.lessons if one.status is Status.INBOX]
    said = f" {_counted(len(waiting), 'lesson waits', 'lessons wait')} for review." if waiting else ""
    return Told(f"Kept as episode {cite(episode.id)}.{said}", {"episode_id": episode.id, "candidates": waiting})


def episode(found: Episode, home: TeamName) -> Told:
    return Told(envelope([_attempt(found, home)]), _values(found.memory))


def artifact(found: Artifact, home: TeamName) -> Told:
    return Told(envelope([_product(found, home)]), _values(found.memory))


def episodes(found: Page[Episode], home: TeamName) -> Told:
    return Told(_lines(_attempt(one, home) for one in found), {"results": [_values(one.memory) for one in found]})


def rates(found: Iterable[SuccessRate], _home: TeamName) -> Told:
    lines = (
        f"- {one_line(one.name)}: {'no ending yet' if one.rate is None else f'{one.rate:.0%}'} "
        f"({one.completed} completed, {one.failed} failed)"
        for one in found
    )
    return Told(_lines(lines), {})


def artifacts(found: Page[Artifact], home: TeamName) -> Told:
    return Told(_lines(_product(one, home) for one in found), {"results": [_values(one.memory) for one in found]})


def inbox(found: Page[InboxItem], home: TeamName) -> Told:
    lines: list[str] = []
    for item in found:
        said = "" if item.evidence is None else f" Said: “{one_line(item.evidence.quote)}”"
        waits = f"Waits: {one_line(item.reason)}."
        if item.warning is not None:
            waits = f"WARNING, it {one_line(item.warning)}. Approving it needs acknowledge_warning."
        lines.append(f"{bullet(item.memory, home=home)}{_excerpt(item.memory)} {waits}{said}")
    results = [{**_values(item.memory), **({"has_warning": True} if item.warning else {})} for item in found]
    return Told(_lines(lines), {"results": results})


def report(found: Report, _home: TeamName) -> Told:
    """The first actions of many; HTTP and the command line have them all."""
    shown = found.actions[:MOST_ACTIONS]
    actions = [{"kind": one.kind, "id": one.memory_id, "other_id": one.other_id} for one in shown]
    values = {"report_id": found.id, "dry_run": found.dry_run, "count": len(found.actions), "actions": actions}
    if not found.actions:
        return Told("There is nothing to consolidate.", values)
    lines = [f"- {_action(one)}: {one_line(one.why)}" for one in shown]
    if len(found.actions) > len(shown):
        lines.append(f"({len(found.actions) - len(shown)} more.)")
    ending = "Nothing was changed: this is what would be." if found.dry_run else f"Done (report {found.id})."
    return Told(f"{envelope(lines)}\n{ending}", values)


def plain(found: object, _home: TeamName) -> Told:
    """All of a small result, as it is over HTTP."""
    shape = json.loads(to_json(found))
    return Told(envelope([whole_text(json.dumps(shape, ensure_ascii=False, sort_keys=True))]), {})


def verified(found: Verification, home: TeamName) -> Told:
    return Told(plain(found, home).text, {"state": found.state, "size_bytes": found.size_bytes})


def done(text: str) -> Tell:
    def told(_found: object, _home: TeamName) -> Told:
        return Told(text, {"ok": True})

    return told


def candidate_lines(candidates: Iterable[Candidate]) -> list[str]:
    """Write the memories that an ambiguous id may mean, for an envelope."""
    return [f"- {cite(one.id)} of team {one.team}: {one_line(one.title)}" for one in candidates]


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _contest(hit: Hit) -> str:
    return f", {contested_words(hit.contested_by)}" if hit.contested_by else ""


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        **_values(hit.memory),
        "score": round(hit.score, 4),
        "relevance": round(hit.relevance, 3),
        **({"copies": list(hit.copies)} if hit.copies else {}),
        **({"contested_by": hit.contested_by} if hit.contested_by else {}),
    }


def _values(one: Memory) -> dict[str, Any]:
    where = {"author": one.agent_id, "team": one.team}
    return {"id": one.id, "type": one.type, "status": one.status, "version": one.version, **where}


def _event(found: IngestionEvent) -> dict[str, Any]:
    return {"event_id": found.id, "source_id": found.source_id, "state": found.state}


def _action(one: Action) -> str:
    other = "" if one.other_id is None else f", {cite(one.other_id)}"
    return f"{one.kind} {cite(one.memory_id)}{other}"


def _excerpt(one: Memory, snippet: str | None = None) -> str:
    """The whole text if it is short; otherwise the part that matched, or its beginning."""
    whole = note_text(one)
    if estimate_tokens(whole) <= EXCERPT_TOKENS:
        return whole
    part = one_line(snippet or (under_key(one.key, one.summary) if one.summary else whole))
    return shorten(part, EXCERPT_TOKENS) or part


def _attempt(one: Episode, home: TeamName) -> str:
    text = f"{one.action}: {' → '.join(map(one_line, one.account))}"
    return bullet(one.memory, home=home) + (shorten(text, EXCERPT_TOKENS) or text)


def _product(one: Artifact, home: TeamName) -> str:
    size = "" if one.size_bytes is None else f", {one.size_bytes:,} bytes"
    about = f": {one_line(one.description)}" if one.description else ""
    return f"{bullet(one.memory, home=home)}{one_line(one.path)}{size}{about}"


def _lines(lines: Iterable[str]) -> str:
    listed = list(lines)
    return envelope(listed) if listed else NOTHING
