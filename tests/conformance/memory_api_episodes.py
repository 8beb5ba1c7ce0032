"""What every way into a team's memory promises about the ledger of episodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mycel.domain.episode import Action
from mycel.errors import AccessDenied, Conflict, InvalidInput, NotFound
from tests.conformance.memory_api_access import member_of
from tests.conformance.memory_api_cast import Cast, check_refused, outcome
from tests.template import ABSENT

WRONG: list[tuple[str, Callable[[Any], object]]] = [
    ("action", lambda api: api.episodes.log(action="done", approach="x")),
    ("approach", lambda api: api.episodes.log(action="failed", approach=" ")),
    ("approach", lambda api: api.episodes.log(action="failed", approach="x" * 9000)),
    ("outcome", lambda api: api.episodes.log(action="failed", approach="x", outcome="")),
    ("duration_ms", lambda api: api.episodes.log(action="failed", approach="x", duration_ms=-1)),
    ("tokens_in", lambda api: api.episodes.log(action="failed", approach="x", tokens_in=True)),
    ("tokens_out", lambda api: api.episodes.log(action="failed", approach="x", tokens_out=2**60)),
    ("agent_id", lambda api: api.episodes.log(action="failed", approach="x", agent_id="not an id")),
    ("status", lambda api: api.episodes.log(action="failed", approach="x", status="active")),
    (
        "items[1].approach",
        lambda api: api.episodes.log_many([{"action": "failed", "approach": "x"}, {"action": "failed"}]),
    ),
    ("items[0].item", lambda api: api.episodes.log_many(["x"])),
    ("action", lambda api: api.episodes.list(action="done")),
    ("cursor", lambda api: api.episodes.list(cursor="x")),
    ("since", lambda api: api.episodes.list(since="yesterday")),
    ("kind", lambda api: api.episodes.list(kind="x")),
    ("task", lambda api: api.episodes.similar("")),
    ("by", lambda api: api.episodes.success_rates("colour")),
    ("since", lambda api: api.episodes.success_rates("day", since="2001-01-01T00:00:00Z")),
    ("id", lambda api: api.episodes.get("x")),
]


class ApiEpisodes:
    """Needs the fixture `cast`."""

    def test_an_episode_keeps_what_was_said_of_it(self, cast: Cast) -> None:
        logged = cast.author.episodes.log(
            task_id="T-1",
            action="failed",
            approach="raise the pool size",
            outcome="the database ran out of connections",
            duration_ms=1200,
            tokens_in=10,
            tokens_out=20,
            project="billing",
        )
        for found in (logged, cast.teammate.episodes.get(logged.id), cast.lead.episodes.list(task_id="T-1")[0]):
            assert (found.task_id, found.agent_id, found.action) == ("T-1", "swe-1", Action.FAILED)
            assert (found.approach, found.outcome) == ("raise the pool size", "the database ran out of connections")
            assert (found.duration_ms, found.tokens_in, found.tokens_out) == (1200, 10, 20)
            assert found.project_id == "billing"
        assert cast.author.get(logged.id).type.value == "episode"
        assert cast.author.search("pool size").hits[0].memory.id == logged.id

    def test_filters_hold_together_and_pages_go_on(self, cast: Cast) -> None:
        for number in range(5):
            cast.author.episodes.log(task_id="T-1", action="failed", approach=f"way {number}")
        cast.teammate.episodes.log(task_id="T-1", action="completed", approach="way 9", project="billing")
        cast.teammate.episodes.log(task_id="T-2", action="failed", approach="way 8")

        def approaches(**filters: Any) -> list[str]:
            return [episode.approach for episode in cast.human.episodes.list(**filters)]

        assert approaches(agent_id="swe-2", action="failed") == ["way 8"]
        assert approaches(task_id="T-1", action="completed") == ["way 9"]
        assert approaches(project="billing") == ["way 9"]
        assert approaches(task_id="T-3") == []
        first = cast.human.episodes.list(task_id="T-1", limit=4)
        rest = cast.human.episodes.list(task_id="T-1", limit=4, cursor=first.next_cursor)
        assert [one.approach for one in (*first, *rest)] == ["way 9", *(f"way {n}" for n in (4, 3, 2, 1, 0))]
        assert rest.next_cursor is None

    def test_a_private_episode_is_its_author_s_alone_and_counts_for_nobody_else(self, cast: Cast) -> None:
        hidden = cast.author.episodes.log(task_id="T-1", action="failed", approach="hush", visibility="private")
        assert [one.id for one in cast.author.episodes.list(task_id="T-1")] == [hidden.id]
        assert [rate.name for rate in cast.author.episodes.success_rates()] == ["hush"]
        for member in (cast.teammate, cast.lead, cast.admin, cast.outsider):
            outcome(lambda member=member: member.episodes.get(hidden.id), NotFound)
            assert list(member.episodes.list(task_id="T-1")) == []
            for by in ("approach", "agent", "day", "month"):
                assert member.episodes.success_rates(by) == []
            assert member.episodes.similar("hush") == []
            assert member.episodes.best_agents("hush") == []

    def test_whoever_hands_out_work_writes_down_what_others_did(self, cast: Cast) -> None:
        logged = cast.orchestrator.episodes.log(action="completed", approach="as told", agent_id="swe-2")
        assert (logged.agent_id, logged.memory.agent_id) == ("swe-2", "orchestrator-1")
        outcome(lambda: cast.author.episodes.log(action="completed", approach="x", agent_id="swe-2"), AccessDenied)

    def test_a_retried_log_is_one_episode(self, cast: Cast) -> None:
        first = cast.author.episodes.log(action="failed", approach="x", idempotency_key="k")
        assert cast.author.episodes.log(action="failed", approach="x", idempotency_key="k").id == first.id
        assert len(cast.author.episodes.list()) == 1
        outcome(lambda: cast.author.episodes.log(action="failed", approach="y", idempotency_key="k"), Conflict)

    def test_many_at_once_are_all_there_in_order_or_none(self, cast: Cast) -> None:
        cast.author.episodes.log_many([{"action": "failed", "approach": f"way {number}"} for number in range(3)])
        assert [one.approach for one in cast.author.episodes.list()] == ["way 2", "way 1", "way 0"]
        wrong = [{"action": "failed", "approach": "good"}, {"action": "gone", "approach": "bad"}]
        outcome(lambda: cast.author.episodes.log_many(wrong), InvalidInput)
        assert len(cast.author.episodes.list()) == 3

    def test_rates_by_agent_and_approach(self, cast: Cast) -> None:
        for action in ("completed", "failed", "attempted"):
            cast.author.episodes.log(action=action, approach="the old way", duration_ms=10)
        cast.teammate.episodes.log(action="completed", approach="The OLD way")
        (rate,) = cast.human.episodes.success_rates("approach")
        assert (rate.name, rate.completed, rate.failed, rate.episodes) == ("The OLD way", 2, 1, 4)
        assert rate.tally.mean_duration_ms == 10
        by_agent = {rate.name: rate.rate for rate in cast.human.episodes.success_rates("agent")}
        assert by_agent == {"swe-1": 0.5, "swe-2": 1.0}

    def test_a_task_that_was_reported_is_in_the_ledger(self, cast: Cast) -> None:
        cast.author.complete_task(task_id="T-1", output="The build is green.", approach="clear the cache")
        cast.author.fail_task(task_id="T-1", what_went_wrong="The cache was stale.", duration_ms=5)
        failed, done = cast.teammate.episodes.list(task_id="T-1")
        assert (done.action, done.approach, done.outcome) == (
            Action.COMPLETED,
            "clear the cache",
            "The build is green.",
        )
        assert (failed.action, failed.approach, failed.duration_ms) == (
            Action.FAILED,
            "Failed: The cache was stale.",
            5,
        )

    def test_what_happened_does_not_change(self, cast: Cast) -> None:
        logged = cast.author.episodes.log(action="failed", approach="x", outcome="y")
        with pytest.raises(InvalidInput) as refused:
            cast.author.update(logged.id, content="another story")
        assert refused.value.field == "content"
        cast.author.update(logged.id, tags=["later"], task_id="T-9")
        assert cast.author.episodes.list(task_id="T-9")[0].outcome == "y"

    def test_an_episode_that_is_gone_is_gone_from_the_ledger(self, cast: Cast) -> None:
        logged = cast.author.episodes.log(task_id="T-1", action="failed", approach="x")
        cast.author.delete(logged.id)
        assert list(cast.author.episodes.list(task_id="T-1")) == []
        assert cast.author.episodes.success_rates() == []
        cast.author.restore(logged.id)
        assert len(cast.author.episodes.success_rates()) == 1
        cast.author.purge(logged.id)
        outcome(lambda: cast.author.episodes.get(logged.id), NotFound)
        assert cast.author.episodes.success_rates() == []
        outcome(lambda: cast.author.episodes.get(ABSENT), NotFound)

    def test_a_lead_reads_the_ledger_of_the_parent_team(self, cast: Cast) -> None:
        logged = cast.author.episodes.log(task_id="T-1", action="failed", approach="x")
        assert [one.id for one in cast.child_lead.episodes.list(team="squad")] == [logged.id]
        assert cast.child_lead.episodes.get(logged.id).id == logged.id
        outcome(lambda: cast.outsider.episodes.list(team="squad"), NotFound)
        outcome(lambda: cast.outsider.episodes.success_rates(team="squad"), NotFound)

    @pytest.mark.parametrize("who", ["author", "outsider"])
    def test_what_is_wrong_is_named_in_the_ledger(self, cast: Cast, who: str) -> None:
        check_refused(member_of(cast, who), WRONG)
