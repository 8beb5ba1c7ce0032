"""What every way into a team's memory promises about context bundles."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mycel.domain.context import ContextBundle, Section
from mycel.errors import InvalidInput
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_cast import Cast


def contents(bundle: ContextBundle, section: Section) -> list[str]:
    return [item.memory.content for item in bundle.sections[section]]


def everything(bundle: ContextBundle) -> str:
    """All that a bundle says, in every form."""
    lists = bundle.to_agent_context().values()
    listed = [memory.content for memories in lists for memory in memories]
    return "\n".join([bundle.to_markdown(), bundle.to_team_memory(), bundle.to_past_knowledge(), *listed])


class ApiContext:
    """Needs the fixtures `cast` and `clock`."""

    def test_a_thread_stands_for_its_topic(self, cast: Cast) -> None:
        known = cast.author.save("Invoices are sent on the first working day.")
        cast.author.save("The parrot is fed at noon.")
        talk = [{"role": "user", "content": "Let us look at when they go out."}]
        cast.author.capture_conversation(talk, thread_id="thread-7", title="Sending invoices", capture_mode="store")
        cast.author.capture_conversation(
            "Private words.", thread_id="thread-8", title="Sending invoices", visibility="private", capture_mode="store"
        )
        found = cast.teammate.context_for(thread="thread-7").to_agent_context()["project_memory"]
        assert [memory.id for memory in found] == [known.id]
        for unknown in ("thread-8", "thread-9"):
            bundle = cast.teammate.context_for(thread=unknown)
            assert (bundle.task, bundle.to_agent_context()["project_memory"]) == (None, [])
        assert cast.author.context_for(thread="thread-8").task == "Sending invoices"

    def test_a_bundle_has_a_section_for_each_sort_of_memory(self, cast: Cast, clock: ManualClock) -> None:
        cast.human.save("Prefers short answers.", type="profile")
        cast.author.save("The billing service runs in Frankfurt.", project="billing")
        clock.move(timedelta(seconds=1))
        cast.author.save("Money is kept in cents.", project="billing", category="convention")
        cast.lead.save("Invoices are immutable.", type="decision", project="billing")
        cast.author.save("Invoices need a number before they are sent.", type="lesson", project="billing")
        cast.author.save("Renamed the ledger tables.", type="episode", project="billing")
        cast.author.save(
            "Sending invoices in one batch ran into the rate limit.",
            type="episode",
            project="billing",
            metadata={"outcome": "failed"},
        )
        bundle = cast.teammate.context_for(project="billing", task="send the invoices")
        assert contents(bundle, Section.PROFILE) == ["Prefers short answers."]
        assert contents(bundle, Section.CONVENTIONS) == ["Money is kept in cents."]
        assert contents(bundle, Section.PROJECT) == ["The billing service runs in Frankfurt."]
        assert contents(bundle, Section.DECISIONS) == ["Invoices are immutable."]
        assert contents(bundle, Section.LESSONS) == ["Invoices need a number before they are sent."]
        assert contents(bundle, Section.FAILURES) == ["Sending invoices in one batch ran into the rate limit."]
        # Whether it also matches the task is for the search to say.
        assert "Renamed the ledger tables." in contents(bundle, Section.EPISODES) + contents(bundle, Section.RELEVANT)
        assert (bundle.team, bundle.project, bundle.agent, bundle.left_out) == ("squad", "billing", "swe-2", 0)
        assert bundle.recall_id
        assert all(item.why for items in bundle.sections.values() for item in items)

    def test_without_a_task_the_newest_episodes_are_told_whatever_came_of_them(self, cast: Cast) -> None:
        cast.author.save("Renamed the ledger tables.", type="episode")
        cast.author.save("Lost the ledger tables.", type="episode", tags=["failed"])
        bundle = cast.teammate.context_for()
        assert contents(bundle, Section.EPISODES) == ["Lost the ledger tables.", "Renamed the ledger tables."]
        assert not bundle.sections[Section.RELEVANT]

    def test_without_a_task_the_lessons_of_the_project_and_the_team_are_told(self, cast: Cast) -> None:
        cast.author.save("Never deploy billing on Fridays.", type="lesson", project="billing")
        cast.author.save("Read the runbook first.", type="lesson")
        cast.author.save("Search takes a minute to warm up.", type="lesson", project="search")
        taught = cast.lead.inject_learning("swe-1", "Ask before you migrate.", "best-practice")
        cast.lead.inject_learning("swe-2", "Your branches live too long.", "mistake-pattern", private=True)
        cast.author.save_many([{"content": f"Lesson number {n} of many.", "type": "lesson"} for n in range(120)])
        bundle = cast.teammate.context_for(project="billing", token_budget=4000)
        lessons = contents(bundle, Section.LESSONS)
        assert lessons[:2] == [taught.content, "Never deploy billing on Fridays."]
        assert contents(bundle, Section.OWN) == ["Your branches live too long."]
        assert not any("Search takes" in lesson for lesson in lessons)
        told = cast.author.context_for(project="billing", token_budget=8000)
        assert "Your branches" not in everything(told)
        assert "## Lessons" in told.to_markdown()

    def test_lessons_of_the_project_stand_beside_those_of_the_team(self, cast: Cast) -> None:
        cast.author.save("Never deploy billing on Fridays.", type="lesson", project="billing")
        cast.author.save("Read the runbook first.", type="lesson")
        lessons = contents(cast.teammate.context_for(project="billing"), Section.LESSONS)
        assert lessons == ["Never deploy billing on Fridays.", "Read the runbook first."]

    def test_a_citation_leads_to_the_memory(self, cast: Cast) -> None:
        memory = cast.author.save("Herons fish at dawn.", type="decision")
        bundle = cast.teammate.context_for()
        [item] = bundle.sections[Section.DECISIONS]
        assert item.citation == f"[m:{memory.id[-8:]}]"
        assert f"- {item.citation} swe-1 today: Herons fish at dawn." in bundle.to_markdown()
        assert cast.teammate.get(item.citation) == memory

    def test_the_recent_team_memory_has_the_lines_of_recent(self, cast: Cast) -> None:
        cast.author.save_many([{"content": f"note {number}", "type": "lesson"} for number in range(12)])
        lines = cast.teammate.context_for().to_team_memory().splitlines()
        start = lines.index("## Recent Team Memory") + 1
        expected = [f"[{memory.type}][{memory.agent_id}] {memory.content}" for memory in cast.teammate.recent(10)]
        assert lines[start : start + 11] == [*expected, "</stored-notes>"]

    def test_nothing_stored_gives_an_empty_bundle(self, cast: Cast) -> None:
        bundle = cast.author.context_for(task="anything", project="p")
        assert (bundle.to_markdown(), bundle.to_team_memory(), bundle.to_past_knowledge()) == ("", "", "")
        assert (bundle.tokens, bundle.left_out) == (0, 0)
        assert not any(bundle.to_agent_context().values())

    def test_other_projects_stay_out(self, cast: Cast) -> None:
        for type in ("fact", "decision", "episode", "lesson"):
            cast.author.save(f"the {type} elsewhere", type=type, project="q")
        cast.author.save("the elsewhere convention", category="convention", project="q")
        for task in (None, "paint the office"):
            assert cast.teammate.context_for(project="p", task=task).to_markdown() == ""

    @pytest.mark.parametrize("type", ["fact", "decision", "lesson", "episode", "profile"])
    def test_what_is_hidden_from_the_caller_is_in_no_part(self, cast: Cast, type: str) -> None:
        fields: dict[str, Any] = {"type": type, "task_id": "t-1", "tags": ["failed"], "category": "convention"}
        cast.human.save("a secretword of one", visibility="private", **fields)
        cast.human.save("a secretword for leads", visibility="role", allowed_roles=["lead"], path="/context", **fields)
        cast.human.save("a secretword to review", needs_review=True, **fields)
        for task in ("secretword", "t-1", None):
            assert "secretword" not in everything(cast.teammate.context_for(task=task))
            assert "secretword of one" in everything(cast.human.context_for(task=task))
        assert "secretword for leads" in everything(cast.lead.context_for(task="secretword"))

    def test_naming_another_agent_grants_nothing_and_gives_away_nothing(self, cast: Cast) -> None:
        cast.author.save("a secretword of the author", visibility="private", scope="agent")
        cast.lead.save("a secretword of the lead", visibility="private")
        cast.lead.save("a secretword among leads", visibility="role", allowed_roles=["lead"], type="decision")
        for agent in ("swe-1", "swe-2", "nobody"):
            assert "secretword" not in everything(cast.lead.context_for(agent=agent, task="secretword"))
        assert "secretword of the lead" in everything(cast.lead.context_for(task="secretword"))

    def test_an_agent_gets_its_own_notes(self, cast: Cast) -> None:
        cast.author.save("I keep my branches short.", scope="agent", project="q")
        cast.teammate.save("I keep my branches long.", scope="agent", project="q")
        assert contents(cast.author.context_for(project="p"), Section.OWN) == ["I keep my branches short."]
        assert contents(cast.author.context_for(project="p", agent="swe-2"), Section.OWN) == []

    def test_a_lead_also_gets_what_the_parent_team_decided(self, cast: Cast) -> None:
        cast.author.save("Herons are protected.", type="decision")
        assert " swe-1 of team squad today: " in cast.child_lead.context_for().to_markdown()

    def test_a_task_can_be_named_by_its_id(self, cast: Cast) -> None:
        cast.author.save("first try", type="episode", task_id="T-17", tags=["failed"])
        cast.author.save("a remark", type="note", task_id="T-17")
        bundle = cast.teammate.context_for(task="T-17")
        assert contents(bundle, Section.FAILURES) == ["first try"]
        assert contents(bundle, Section.RELEVANT) == ["a remark"]

    def test_near_duplicates_become_one_that_counts_them(self, cast: Cast) -> None:
        for content in ("The database listens on port 5432.", "the database LISTENS on port 5432"):
            cast.author.save(content, type="decision")
        cast.author.save("The database listens on port 5433.", type="decision")
        items = cast.author.context_for().sections[Section.DECISIONS]
        assert [(item.memory.content, item.alike) for item in items] == [
            ("The database listens on port 5433.", 0),
            ("the database LISTENS on port 5432", 1),
        ]

    def test_the_budget_holds_and_what_found_no_room_is_counted(self, cast: Cast) -> None:
        cast.author.save_many([{"content": f"heron {n} " + "word " * 300, "type": "decision"} for n in range(20)])
        bundle = cast.author.context_for(task="heron", token_budget=400)
        assert 200 < bundle.tokens <= 400
        assert len(bundle.to_markdown()) / 4 <= 400
        assert bundle.left_out > 0
        assert f"({bundle.left_out} more did not fit the token budget.)" in bundle.to_markdown()
        assert all(item.text.endswith(" …") and item.shortened for item in bundle.sections[Section.DECISIONS])

    def test_the_same_state_gives_the_same_text(self, cast: Cast) -> None:
        for number in range(30):
            type = ("decision", "fact", "episode", "lesson")[number % 4]
            cast.author.save(f"heron number {number}", type=type, project="p")
        bundles = [cast.author.context_for(project="p", task="heron", token_budget=900) for _ in range(3)]
        assert len({everything(bundle) for bundle in bundles}) == 1

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("project", "a/b"),
            ("repo", ""),
            ("agent", "a\nb"),
            ("task", 5),
            ("task", "\ud800"),
            ("task", "x" * 300_000),
            ("token_budget", 99),
            ("token_budget", 100_001),
            ("token_budget", "many"),
            ("token_budget", True),
        ],
    )
    def test_refuses_what_it_cannot_read(self, cast: Cast, field: str, value: Any) -> None:
        request: dict[str, Any] = {field: value}
        with pytest.raises(InvalidInput) as refused:
            cast.author.context_for(**request)
        assert refused.value.field == field
