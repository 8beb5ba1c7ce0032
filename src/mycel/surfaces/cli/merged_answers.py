"""Answers of several teams as one, for the owner of the files: trees, counts, contexts, briefings, rates."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mycel.domain.briefing import Briefing
from mycel.domain.context import RECENT_MEMORIES, ContextBundle, ContextItem
from mycel.domain.episode import SuccessRate, Tally
from mycel.domain.query import Folder, Page, Statistics, Tree

ItemT = TypeVar("ItemT")


def merge_trees(trees: Mapping[str, Tree]) -> Tree:
    """Count the folders together, and list the memories right here, the newest first."""
    first = next(iter(trees.values()))
    counts: Counter[str] = Counter()
    for tree in trees.values():
        counts.update({folder.path: folder.count for folder in tree.subdirs})
    items = heapq.merge(*(tree.items for tree in trees.values()), key=lambda one: one.created_at, reverse=True)
    more = next((tree.items.next_cursor for tree in trees.values() if tree.items.next_cursor), None)
    return Tree(first.path, Page(tuple(items), more), tuple(Folder(path, counts[path]) for path in sorted(counts)))


def merge_statistics(statistics: Iterable[Statistics]) -> Statistics:
    """Add up what each team counts; a project that two teams have is counted in both."""
    listed = list(statistics)

    def added(name: str) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for one in listed:
            counts.update(getattr(one, name))
        return dict(sorted(counts.items()) if name == "by_day" else counts.most_common())

    return Statistics(
        memories=sum(one.memories for one in listed),
        by_type=added("by_type"),
        by_status=added("by_status"),
        projects=sum(one.projects for one in listed),
        by_day=added("by_day"),
        events=added("events"),
        by_tag=added("by_tag"),
    )


def merge_contexts(bundles: Sequence[ContextBundle], *, token_budget: int) -> ContextBundle:
    """Put the sections of all teams together, a note of each in turn, and leave out from the end what has no room."""
    names = dict.fromkeys(name for bundle in bundles for name in bundle.sections)
    sections: dict[str, list[ContextItem]] = {
        name: interleave([bundle.sections.get(name, ()) for bundle in bundles]) for name in names
    }
    left_out = sum(bundle.left_out for bundle in bundles)
    first = next((one for one in bundles if one.recall_id is not None), bundles[0])

    every = {memory.id: memory for bundle in bundles for memory in bundle.recent}
    newest = tuple(sorted(every.values(), key=lambda one: (one.created_at, one.id), reverse=True))[:RECENT_MEMORIES]

    def merged() -> ContextBundle:
        return replace(
            first,
            team=bundles[0].team,
            token_budget=token_budget,
            sections={name: tuple(items) for name, items in sections.items() if items},
            left_out=left_out,
            degraded=tuple(dict.fromkeys(reason for bundle in bundles for reason in bundle.degraded)),
            recent=newest,
            team_context=tuple(interleave([bundle.team_context for bundle in bundles])),
            found=tuple(interleave([bundle.found for bundle in bundles])),
            recent_decisions=tuple(interleave([bundle.recent_decisions for bundle in bundles])),
        )

    bundle = merged()
    while bundle.tokens > token_budget and any(sections.values()):
        max(sections.values(), key=len).pop()
        left_out += 1
        bundle = merged()
    return bundle


def merge_briefings(briefings: Sequence[Briefing]) -> Briefing:
    return replace(
        briefings[0],
        tried=tuple(interleave([one.tried for one in briefings])),
        avoid=tuple(interleave([one.avoid for one in briefings])),
        worked=tuple(heapq.merge(*(one.worked for one in briefings), key=lambda one: -one.relevance)),
        knowledge=tuple(interleave([one.knowledge for one in briefings])),
        artifacts=tuple(interleave([one.artifacts for one in briefings])),
        agents=tuple(heapq.merge(*(one.agents for one in briefings), key=lambda one: -one.score)),
        waiting=sum(one.waiting for one in briefings),
    )


def merge_rates(rates: Iterable[Sequence[SuccessRate]], *, limit: int | None) -> list[SuccessRate]:
    """Add up the episodes of what has the same name; the order of the first team that names it is kept."""
    tallies: dict[str, Tally] = {}
    for rate in interleave(list(rates)):
        tallies[rate.name] = tallies.get(rate.name, Tally()) + rate.tally
    return [SuccessRate(name, tally) for name, tally in tallies.items()][:limit]


def interleave(lists: Sequence[Sequence[ItemT]]) -> list[ItemT]:
    """Take one of each list in turn: no team comes behind all of another."""
    longest = max(map(len, lists), default=0)
    return [one[place] for place in range(longest) for one in lists if place < len(one)]
