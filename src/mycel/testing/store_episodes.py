"""What every store promises about the ledger of episodes: entries, rates, months, and approaches that mean the same."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mycel.contracts.store import Store, Transaction
from mycel.domain.episode import Action, Episode, EpisodeDetail, EpisodeFilters, RateBy, Tally, episode_text, month_path
from mycel.domain.memory import MadeBy, MemoryType, Status, Visibility
from mycel.retrieval.terms import packed_terms
from mycel.retrieval.wording import wording_of
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    AUTHOR,
    EVERYTHING,
    START,
    TEAMMATE,
    change,
    delete,
    purge,
    put,
    reader,
    sample,
)

ALL = EpisodeFilters()
MODEL = "words"


def log_episode(
    store: Store, approach: str = "raise the limit", action: Action = Action.COMPLETED, **fields: Any
) -> Episode:
    told = episode_text(approach, action, fields.pop("outcome", None))
    detail = EpisodeDetail(
        agent_id=fields.get("agent_id", AUTHOR),
        action=action,
        approach_end=told.approach_end,
        outcome_start=told.outcome_start,
        wording=wording_of(approach),
        duration_ms=fields.pop("duration_ms", None),
    )
    memory = sample(told.content, title=told.title, type=MemoryType.EPISODE, **fields)
    store.transact(lambda tx: tx.episodes.insert(memory, packed_terms(memory), detail, by=memory.agent_id))
    return Episode(memory, detail)


def prune(store: Store, *episodes: Episode) -> None:
    def work(transaction: Transaction) -> None:
        transaction.rates.count_pruned([episode.memory.id for episode in episodes])

    store.transact(work)
    for episode in episodes:
        change(store, episode.memory.id, status=Status.ARCHIVED)


class StoreEpisodes:
    """Needs the fixtures `store` and `clock`."""

    def test_an_episode_is_found_as_it_was_logged(self, store: Store) -> None:
        first = log_episode(store, "raise the limit", outcome="it held", duration_ms=40)
        second = log_episode(store, "restart it", Action.FAILED, agent_id=TEAMMATE)
        assert store.episodes.find(reader(), first.memory.id) == first
        assert store.episodes.find(reader(), put(store).id) is None
        assert store.episodes.details([first.memory.id, put(store).id]) == {first.memory.id: first.detail}
        page = store.episodes.page(reader(), ALL, limit=1)
        assert list(page) == [second]
        assert list(store.episodes.page(reader(), ALL, limit=9, cursor=page.next_cursor)) == [first]
        assert list(store.episodes.page(reader(), EpisodeFilters(action=Action.FAILED), limit=9)) == [second]

    def test_what_is_hidden_or_deleted_is_in_no_ledger(self, store: Store) -> None:
        hidden = log_episode(store, visibility=Visibility.PRIVATE)
        gone = log_episode(store)
        delete(store, gone.memory.id)
        assert store.episodes.find(reader(TEAMMATE), hidden.memory.id) is None
        assert list(store.episodes.page(reader(TEAMMATE), ALL, limit=9)) == []
        assert store.rates.by(reader(TEAMMATE), ALL, by=RateBy.AGENT) == {}
        assert store.rates.by(reader(), ALL, by=RateBy.AGENT) == {AUTHOR: Tally(completed=1)}

    def test_counts_by_agent_by_approach_and_over_time(self, store: Store) -> None:
        first = log_episode(store, "raise the limit", Action.FAILED)
        log_episode(store, "raise the limit", at=START + timedelta(hours=1), duration_ms=30)
        log_episode(store, "restart it", at=START + timedelta(days=1), agent_id=TEAMMATE)
        tally = Tally(completed=1, failed=1, timed=1, timed_ms=30)
        assert store.rates.by(reader(), ALL, by=RateBy.AGENT) == {AUTHOR: tally, TEAMMATE: Tally(completed=1)}
        by_approach = {"raise the limit": tally, "restart it": Tally(completed=1)}
        assert store.rates.by(reader(), ALL, by=RateBy.APPROACH) == by_approach
        days = [(START + timedelta(days=day), START + timedelta(days=day + 1)) for day in range(3)]
        assert list(store.rates.over_time(reader(), ALL, days)) == [tally, Tally(completed=1), Tally()]
        after = store.rates.outcomes_after(reader(), [first.memory.id])
        assert after == {first.memory.id: Tally(completed=1, failed=1)}

    def test_what_is_pruned_is_counted_by_its_month_and_told_once(self, store: Store, clock: ManualClock) -> None:
        episode = log_episode(store, project_id="web")
        clock.move(timedelta(days=9))
        kept = log_episode(store, at=START + timedelta(days=9))
        found = store.episodes.prunable(EVERYTHING, before=START + timedelta(days=1), limit=9)
        assert [memory.id for memory in found] == [episode.memory.id]
        prune(store, episode)
        assert store.episodes.prunable(EVERYTHING, before=START + timedelta(days=1), limit=9) == []
        assert store.rates.by(reader(), ALL, by=RateBy.AGENT) == {AUTHOR: Tally(completed=2)}
        assert list(store.episodes.page(reader(), ALL, limit=9)) == [kept]
        month = store.rates.untold_month(EVERYTHING)
        assert month is not None
        assert (month.month, month.project_id, month.by_agent) == ("2026-11", "web", {AUTHOR: Tally(completed=1)})
        store.transact(lambda transaction: transaction.rates.mark_told(month))
        assert store.rates.untold_month(EVERYTHING) is None

    def test_the_month_of_a_pruned_episode_is_told_again(self, store: Store) -> None:
        episode, other = log_episode(store), log_episode(store)
        prune(store, episode)
        month = store.rates.untold_month(EVERYTHING)
        assert month is not None
        path = month_path(month.month, None)
        summary = put(store, "one thing worked", path=path, made_by=MadeBy.EPISODE_SUMMARY)
        store.transact(lambda transaction: transaction.rates.mark_told(month))
        assert store.episodes.find_month(reader(), path) == summary
        assert store.transact(lambda transaction: transaction.episodes.tell_again(other.memory)) == []
        assert store.rates.untold_month(EVERYTHING) is None
        assert store.transact(lambda transaction: transaction.episodes.tell_again(episode.memory)) == [summary]
        assert store.rates.untold_month(EVERYTHING) is not None

    def test_wordings_that_mean_the_same_are_counted_together(self, store: Store) -> None:
        log_episode(store, "raise the limit", Action.FAILED)
        log_episode(store, "increase the maximum")
        first, second = store.approaches.next_wordings(MODEL, limit=9)
        assert (first.text, second.text) == ("raise the limit", "increase the maximum")
        grouped = [(first.id, None, bytes([1, 0])), (second.id, first.id, None)]
        store.transact(lambda transaction: transaction.approaches.group(MODEL, grouped))
        assert store.approaches.next_wordings(MODEL, limit=9) == []
        [(id, vector)] = store.approaches.first_wordings(MODEL, limit=9)
        assert (id, vector.tolist()) == (first.id, [1, 0])
        rates = store.rates.by(reader(), ALL, by=RateBy.APPROACH)
        assert rates == {"increase the maximum": Tally(completed=1, failed=1)}
        assert [wording.id for wording in store.approaches.next_wordings("another", limit=9)] == [first.id, second.id]

    def test_a_purged_episode_leaves_nothing_in_the_ledger(self, store: Store) -> None:
        episode = log_episode(store)
        purge(store, episode.memory.id)
        assert store.episodes.find(EVERYTHING, episode.memory.id) is None
        assert store.rates.by(EVERYTHING, ALL, by=RateBy.APPROACH) == {}
        assert store.approaches.next_wordings(MODEL, limit=9) == []
