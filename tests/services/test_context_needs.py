"""What an agent would be sorry not to have been told: at the start of a session, and before a task."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.domain.context import Section
from mycel.domain.rendering import note_text
from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


LESSONS = [
    "Run migrations inside autocommit_block, or they lock the table.",
    "The staging cluster drops connections after 60 seconds of silence.",
    "Snapshots of the price list must carry their currency.",
    "Retry uploads with jitter, all clients wake at the full minute.",
]


def test_at_session_start_lessons_and_injected_learnings_are_all_told(squad: Squad) -> None:
    for number, lesson in enumerate(LESSONS):
        squad.author.save(lesson, type="lesson", project="pricing", repo="api" if number % 2 else None)
    taught = [
        squad.lead.inject_learning("swe-1", learning, "best-practice").content
        for learning in ("Ask before you migrate.", "Name branches after their ticket.")
    ]
    squad.clock.move(timedelta(days=1))
    for number in range(60):
        squad.author.save(f"Fact number {number} of the shop is that shelf {number * 7} is full.", project="pricing")
    text = squad.teammate.context_for(project="pricing", repo="api", token_budget=800).to_markdown()
    assert [one for one in (*LESSONS, *taught) if one not in text] == []


def test_decisions_are_told_with_their_rationale_on_one_line(squad: Squad) -> None:
    squad.author.save("We use RabbitMQ", type="decision", rationale="Kafka needs a team\nof its own.")
    squad.author.save("Prices are cached, because imports are slow.", type="decision", rationale="imports are slow")
    text = squad.teammate.context_for().to_markdown()
    assert "swe-1 today: We use RabbitMQ. Why: Kafka needs a team of its own.\n" in text
    assert "Prices are cached, because imports are slow.\n" in text


def test_with_a_small_budget_the_lesson_that_matters_is_told_before_a_note_that_shares_a_word(squad: Squad) -> None:
    squad.author.save("Anything unbounded is streamed, a whole export in memory killed three pods.", type="lesson")
    for number in range(12):
        squad.author.save(f"The webhook of shop {number} sends its export of orders to address {number * 13}.")
    bundle = squad.teammate.context_for(task="Add an export of orders as CSV.", token_budget=400)
    assert "streamed" in bundle.to_markdown()


def test_ids_are_a_small_part_of_the_text(squad: Squad) -> None:
    for lesson in LESSONS:
        squad.author.save(lesson, type="lesson")
    bundle = squad.teammate.context_for()
    items = [item for items in bundle.sections.values() for item in items]
    assert sum(len(item.citation) for item in items) < 0.25 * len(bundle.to_markdown())
    assert all(squad.teammate.get(item.citation).id == item.memory.id for item in items)


def test_wishes_of_who_asked_come_first_and_those_of_others_wait(squad: Squad) -> None:
    squad.person.save("person-1 wants the tests first in the diff.", type="profile", category="preference")
    squad.lead.save("lead-1 wants a screenshot in each ticket.", category="preference")
    for asked in ({"asked_by": "person-1"}, {"task": "person-1 asks for a CSV export"}):
        first, *_ = squad.teammate.context_for(**asked).sections[Section.PROFILE]
        assert note_text(first.memory).startswith("person-1 wants")
    first, *_ = squad.teammate.context_for(asked_by="lead-1").sections[Section.PROFILE]
    assert note_text(first.memory).startswith("lead-1 wants")


def test_what_is_said_of_another_repo_gives_way(squad: Squad) -> None:
    here = squad.author.save("Run make lint before every push.", category="convention", project="shop", repo="api")
    there = squad.author.save("Run pnpm lint before every push.", category="convention", project="shop", repo="web")
    told = squad.teammate.context_for(project="shop", repo="api").sections[Section.CONVENTIONS]
    assert [item.memory.id for item in told] == [here.id, there.id]
    lesson = squad.author.save("Streams are closed by whoever opened them, or pods die.", type="lesson", project="shop")
    small = squad.teammate.context_for(project="shop", repo="api", token_budget=118)
    told = {item.memory.id for items in small.sections.values() for item in items}
    assert told == {here.id, lesson.id}


def test_the_next_session_begins_with_what_the_last_one_left_open(squad: Squad) -> None:
    said = [
        {"role": "user", "name": "swe-1", "content": "The webhook check lets unsigned calls through, please look."},
        {
            "role": "assistant",
            "content": "The check compared the signature with the raw body. I fixed it in hooks/check.py.",
        },
        {"role": "user", "name": "swe-1", "content": "I will merge the branch hook-sig on Monday."},
    ]
    squad.author.capture_session(said, session_id="c1", project="shop", repo="api")
    squad.workspace.run_pending()
    (summary,) = squad.author.list(type="episode")
    assert summary.title == "The webhook check lets unsigned calls through, please look."
    bundle = squad.teammate.context_for(project="shop", repo="api")
    first, *_ = bundle.sections[Section.OPEN]
    assert first.memory.id == summary.id
    assert re.search(r"swe-1 will merge the branch hook-sig on \d{4}-\d\d-\d\d\.", first.text)
    assert not squad.teammate.context_for(project="shop", repo="web").sections[Section.OPEN]
    assert bundle.to_markdown().count("hook-sig") == 1
