"""Pruning the ledger: old episodes are archived, and each of their months is summed up before it is forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mycel.access.scope import engine_scope, everyones_scope
from mycel.contracts.episode_store import MonthOfEpisodes
from mycel.contracts.store import Store, Transaction
from mycel.domain.draft import default_scope
from mycel.domain.envelope import one_line
from mycel.domain.episode import Tally, month_path
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.memory import MadeBy, Memory, MemoryType, SourceKind, Status, Visibility
from mycel.domain.policy import Policy
from mycel.domain.rendering import shorten
from mycel.domain.team import ENGINE, Trust
from mycel.services.approach_groups import Grouping
from mycel.services.attempts import Attempts, in_batches
from mycel.services.prepared import PreparedMemory, unwritten

# One transaction each: a writer waits no longer than one of them takes.
BATCH = 8
TOKENS_PER_APPROACH = 60


class Pruning:
    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping

    def prune(self, store: Store, policy: Policy) -> int:
        """Archives what is older than the policy keeps; returns how many episodes that were."""
        if policy.episodes_kept is None:
            return 0
        self._group(store)
        kept = policy.episodes_kept

        def work(transaction: Transaction) -> list[MemoryId]:
            old = transaction.episodes.prunable(engine_scope(store.team), before=transaction.now - kept, limit=BATCH)
            if old:
                # Before they leave the ledger, which says whether everybody could count them.
                transaction.rates.count_pruned([memory.id for memory in old])
                archive(transaction, old, reason="older than episodes are kept")
            return [memory.id for memory in old]

        pruned = in_batches(lambda: store.transact(work))
        # Summed up outside of the transactions, for which writers would wait.
        in_batches(lambda: _tell_next_month(store))
        return pruned

    def _group(self, store: Store) -> None:
        """What is pruned is told by the groups known by then; a model that is away must not hold up the night."""
        Attempts().run(lambda: self._grouping.finish(store))


def archive(transaction: Transaction, memories: Sequence[Memory], *, reason: str) -> None:
    for memory in memories:
        archived = replace(
            memory, status=Status.ARCHIVED, version=memory.version + 1, updated_at=transaction.committed_at
        )
        transaction.memories.replace(memory, archived, by=ENGINE, reason=reason)


def _tell_next_month(store: Store) -> list[tuple[str, str | None, int]]:
    """Which month that was, with how many episodes: more of them may leave the ledger meanwhile."""
    month = store.rates.untold_month(everyones_scope(store.team))
    if month is None:
        return []
    _tell_month(store, month)
    return [(month.month, month.project_id, sum(tally.episodes for tally in month.by_agent.values()))]


def _tell_month(store: Store, month: MonthOfEpisodes) -> None:
    scope = engine_scope(store.team)
    summary = _summary(month, store.team)

    def work(transaction: Transaction) -> None:
        standing = transaction.episodes.find_month(scope, summary.values["path"])
        if standing is None:
            transaction.memories.insert([(summary.at(transaction), summary.words)], by=ENGINE)
        else:
            content = summary.values["content"]
            renewed = replace(
                standing, content=content, version=standing.version + 1, updated_at=transaction.committed_at
            )
            transaction.memories.replace(
                standing, renewed, by=ENGINE, reason="more of the month was pruned", words=summary.words
            )
        transaction.rates.mark_told(month)

    store.transact(work)


def _summary(month: MonthOfEpisodes, team: TeamName) -> PreparedMemory:
    where = f" in {month.project_id}" if month.project_id else ""
    values: dict[str, Any] = {
        "team": team,
        "type": MemoryType.NOTE,
        "title": f"Episodes of {month.month}{where}",
        "content": "\n".join(_lines(month, where=where)),
        "path": month_path(month.month, month.project_id),
        "project_id": month.project_id,
        "scope": default_scope(month.project_id, None),
        "visibility": Visibility.TEAM,
        "status": Status.ACTIVE,
        "agent_id": ENGINE,
        "trust": Trust.NORMAL,
        "confidence": 1.0,
        "source_kind": SourceKind.RUN,
        "made_by": MadeBy.EPISODE_SUMMARY,
    }
    return unwritten(values, ttl=None)


def _lines(month: MonthOfEpisodes, *, where: str) -> Iterator[str]:
    whole = sum(month.by_agent.values(), start=Tally())
    yield f"{month.month}{where}: {_told(whole)}."
    yield from _part("By approach:", month.by_approach)
    yield from _part("By agent:", month.by_agent)


def _part(heading: str, tallies: Mapping[str, Tally]) -> Iterator[str]:
    if tallies:
        yield from ("", heading)
    for name, tally in tallies.items():
        shown = one_line(name)
        yield f"- {shorten(shown, TOKENS_PER_APPROACH) or shown}: {_told(tally)}"


def _told(tally: Tally) -> str:
    counts = [f"{tally.episodes:,} episode{'' if tally.episodes == 1 else 's'}"]
    counts += [f"{tally.completed:,} completed, {tally.failed:,} failed"] if tally.rate is not None else []
    rate = "" if tally.rate is None else f" ({tally.rate:.0%})"
    return ", ".join(counts) + rate
