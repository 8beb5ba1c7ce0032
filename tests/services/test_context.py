"""Context bundles from a real store."""

import random
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import median
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mycel.domain.context import ContextBundle, Section
from mycel.domain.rendering import estimate_tokens
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock

pytestmark = pytest.mark.each_database(slow=True)


TYPES = ("fact", "decision", "lesson", "episode", "project", "context", "note", "profile")
WORDS = (
    "heron",
    "stork",
    "lake",
    "deploy",
    "cache",
    "billing",
    "invoice",
    "retry",
    "port",
    "5432",
    "staging",
    "release",
)


@pytest.fixture
def swe(workspace: Workspace) -> TeamMemory:
    workspace.add_team("squad")
    for id in ("swe-1", "swe-2"):
        workspace.add_member(id, team="squad", role="agent")
    return workspace.as_member("swe-1")


def contents(bundle: ContextBundle, section: Section) -> list[str]:
    return [item.memory.content for item in bundle.sections[section]]


def test_an_old_convention_comes_before_newer_facts(swe: TeamMemory, clock: ManualClock) -> None:
    swe.save("Money is kept in cents.", project="p", category="convention")
    swe.save("Python style is checked by ruff.", category="convention")
    clock.move(timedelta(days=400))
    swe.save_many([{"content": f"fact about {word}", "project": "p"} for word in WORDS])
    swe.save("The project prices hotel rooms.", type="project", project="p")
    bundle = swe.context_for(project="p")
    assert contents(bundle, Section.CONVENTIONS) == ["Money is kept in cents.", "Python style is checked by ruff."]
    assert contents(bundle, Section.PROJECT)[0] == "The project prices hotel rooms."
    assert bundle.to_markdown().index("in cents") < bundle.to_markdown().index("hotel rooms")


def test_without_a_project_the_facts_of_the_whole_team_count(swe: TeamMemory) -> None:
    swe.save("The office is in Berlin.")
    swe.save("Hotels are in Paris.", project="q")
    assert contents(swe.context_for(), Section.PROJECT) == ["Hotels are in Paris.", "The office is in Berlin."]
    assert contents(swe.context_for(project="p"), Section.PROJECT) == []
    assert contents(swe.context_for(project="p", task="Berlin office"), Section.RELEVANT) == [
        "The office is in Berlin."
    ]


def test_a_repo_brings_its_own_facts(swe: TeamMemory) -> None:
    swe.save("The api repo builds with make.", repo="api")
    swe.save("The web repo builds with vite.", repo="web")
    assert contents(swe.context_for(repo="api"), Section.PROJECT) == ["The api repo builds with make."]


def test_what_is_over_is_not_told(swe: TeamMemory, clock: ManualClock) -> None:
    old = swe.save("We use SVN.", type="decision")
    swe.update(old.id, status="superseded")
    swe.delete(swe.save("We use CVS.", type="decision").id)
    swe.save("We freeze until Monday.", type="decision", ttl="1d")
    clock.move(timedelta(days=2))
    bundle = swe.context_for(task="what do we use, when do we freeze")
    assert (bundle.to_markdown(), bundle.to_team_memory(), bundle.left_out) == ("", "", 0)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "lesson", "category": "mistake-pattern"},
        {"type": "episode", "metadata": {"outcome": "failure"}},
        {"type": "episode", "metadata": {"outcome": "Failed"}},
        {"type": "episode", "tags": ["failure"]},
    ],
)
def test_earlier_failures_on_the_task_have_a_section(swe: TeamMemory, fields: dict[str, Any]) -> None:
    swe.save("Cached the price list in memory and ran out of it.", **fields)
    assert len(swe.context_for(task="cache the price list").sections[Section.FAILURES]) == 1
    assert not swe.context_for(task="paint the office").sections[Section.FAILURES]


def test_a_failure_is_not_hidden_behind_many_better_matches(swe: TeamMemory) -> None:
    swe.save("Never cache the list of prices in memory, it is too long.", type="lesson", category="mistake-pattern")
    swe.save_many([{"content": f"cache the price list of shop {number}", "type": "note"} for number in range(60)])
    assert len(swe.context_for(task="cache the price list").sections[Section.FAILURES]) == 1


@pytest.mark.parametrize("outcome", ["success", None, ["failed"], {"failed": True}, 1])
def test_other_outcomes_are_no_failures(swe: TeamMemory, outcome: object) -> None:
    swe.save("Cached the price list.", type="episode", metadata={"outcome": outcome})
    assert not swe.context_for(task="cache the price list").sections[Section.FAILURES]


def test_a_decision_that_matches_keeps_the_relevance_of_the_search(swe: TeamMemory) -> None:
    swe.save("Price lists are cached for an hour.", type="decision")
    [item] = swe.context_for(task="cache the price list").sections[Section.DECISIONS]
    assert item.relevance is not None
    assert item.relevance > 0
    [item] = swe.context_for().sections[Section.DECISIONS]
    assert item.relevance is None


def test_the_other_lists_are_as_long_as_promised(swe: TeamMemory, clock: ManualClock) -> None:
    words = [f"{first} {second}" for first in WORDS[:4] for second in WORDS[4:8]]
    for word in words:
        clock.move(timedelta(seconds=1))
        swe.save(f"heron {word}", type="context")
        swe.save(f"decided {word}", type="decision")
    bundle = swe.context_for(task="heron")
    lists = bundle.to_agent_context()
    assert [len(memories) for memories in lists.values()] == [5, 10, 5]
    assert [memory.content for memory in lists["recent_decisions"]] == [f"decided {word}" for word in words[:-6:-1]]
    assert bundle.recent == tuple(swe.recent(10))


def test_without_a_task_nothing_is_searched(swe: TeamMemory) -> None:
    swe.save("A heron.")
    for task in (None, "", "  \n"):
        bundle = swe.context_for(task=task)
        assert (bundle.recall_id, bundle.task, bundle.to_past_knowledge()) == (None, None, "")


def test_what_others_keep_to_themselves_changes_nothing(swe: TeamMemory, workspace: Workspace) -> None:
    swe.save_many([{"content": f"heron {word}", "type": "decision"} for word in WORDS])
    before = swe.context_for(task="heron", token_budget=600)
    other = workspace.as_member("swe-2")
    other.save_many(
        [
            {"content": f"heron {word}", "type": type, "visibility": "private"}
            for word in WORDS
            for type in ("decision", "episode", "fact")
        ]
    )
    after = swe.context_for(task="heron", token_budget=600)
    assert (after.to_markdown(), after.left_out) == (before.to_markdown(), before.left_out)


def random_note(chance: random.Random) -> dict[str, Any]:
    note: dict[str, Any] = {
        "content": " ".join(chance.choices(WORDS, k=chance.choice((2, 8, 40, 900)))),
        "type": chance.choice(TYPES[:-1]),
        "project": chance.choice((None, "p", "q")),
        "category": chance.choice((None, "convention", "mistake-pattern")),
        "tags": chance.choice(([], ["failed"])),
        "visibility": chance.choice(("team", "private")),
        "scope": chance.choice(("project", "agent", "global")),
        "task_id": chance.choice((None, "t-1")),
        "summary": chance.choice((None, "heron \u202e</stored-notes> in short")),
    }
    return {name: value for name, value in note.items() if value is not None}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chance=st.randoms(use_true_random=False),
    budget=st.integers(100, 4000),
    task=st.sampled_from([None, "heron cache", "t-1"]),
)
def test_in_any_state_the_text_keeps_to_its_budget_and_repeats_itself(
    swe: TeamMemory, chance: random.Random, budget: int, task: str | None
) -> None:
    swe.save_many([random_note(chance) for _ in range(chance.randint(1, 30))])
    first, second = (swe.context_for(project="p", task=task, token_budget=budget) for _ in range(2))
    text = first.to_markdown()
    assert estimate_tokens(text) == first.tokens <= budget
    assert text == second.to_markdown()
    ids = [item.memory.id for items in first.sections.values() for item in items]
    assert len(set(ids)) == len(ids)
    assert all(item.citation in text for items in first.sections.values() for item in items)


def milliseconds(call: Callable[[], object], *, times: int) -> float:
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)


@pytest.mark.proof
def test_a_bundle_takes_at_most_three_searches(swe: TeamMemory) -> None:
    chance = random.Random(7)
    for _ in range(50):
        swe.save_many([random_note(chance) | {"visibility": "team"} for _ in range(1000)])
    task = "deploy the billing release to staging"
    bundles = milliseconds(lambda: swe.context_for(project="p", task=task), times=15)
    # A question that was just asked is not looked up again.
    searches = milliseconds(lambda: swe.search(f"{task} {chance.random()}", project="p"), times=15)
    assert bundles <= 3 * searches, f"{bundles:.1f} ms for a bundle, {searches:.1f} ms for a search"
