"""What the model says, head by head: the order of its outputs."""

from __future__ import annotations

RELATIONS = ("duplicate", "contradiction", "supersedes", "related", "unrelated")
TYPES = ("decision", "lesson", "fact", "convention", "preference", "task_hint", "reference")
KINDS = (
    "explicit_decision",
    "decision_in_passing",
    "lesson",
    "solution",
    "failed_approach",
    "confirmed_fact",
    "correction",
    "standing_instruction",
    "preference",
    "promise",
    "reference",
    "agent_narration",
    "example_text",
    "hypothetical",
    "joke",
    "machine_narrative",
    "name_with_cue",
    "negated",
    "news",
    "not_standalone",
    "other_company",
    "other_team",
    "private",
    "question",
    "quoted_text",
    "status_chatter",
)
# A head of one output says yes or no.
HEADS: dict[str, int] = {"relation": len(RELATIONS), "keep": 1, "active": 1, "type": len(TYPES), "kind": len(KINDS)}
WIDTH = sum(HEADS.values())


def place_of(head: str) -> slice:
    names = list(HEADS)
    start = sum(HEADS[name] for name in names[: names.index(head)])
    return slice(start, start + HEADS[head])
