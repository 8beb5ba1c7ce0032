"""Sections within a token budget."""

from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.domain.context import ContextBundle, Section
from mycel.domain.ids import MemoryId
from mycel.domain.rendering import estimate_tokens, line_tokens
from mycel.retrieval.packing import SHARES, Candidate, Packed, pack
from mycel.testing.store_samples import TEAM, sample


def candidate(content: str, **fields: Any) -> Candidate:
    return Candidate(sample(content, **fields), "why")


def markdown(packed: Packed, *, token_budget: int) -> str:
    return ContextBundle(
        team=TEAM,
        project=None,
        repo=None,
        agent="swe-1",
        task=None,
        token_budget=token_budget,
        sections=packed.sections,
        left_out=packed.left_out,
    ).to_markdown()


def texts(packed: Packed, section: Section) -> list[str]:
    return [item.text for item in packed.sections[section]]


NOTES = st.one_of(
    st.text(min_size=1, max_size=600),
    st.integers(1, 400).map(lambda count: "some words of a note " * count),
    st.sampled_from(["Deploys go out on Tuesdays.", "deploys go out on tuesdays", "東京都の天気予報 " * 40]),
)


@settings(deadline=None)
@given(
    contents=st.fixed_dictionaries({section: st.lists(NOTES, max_size=6) for section in Section}),
    summary=st.none() | st.text(max_size=80),
    budget=st.integers(100, 3000),
)
def test_the_text_keeps_to_its_budget(contents: dict[Section, list[str]], summary: str | None, budget: int) -> None:
    candidates = {
        section: [candidate(content, summary=summary, team="elsewhere") for content in each]
        for section, each in contents.items()
    }
    packed = pack(candidates, token_budget=budget, home=TEAM)
    assert sum(map(line_tokens, markdown(packed, token_budget=budget).splitlines())) <= budget
    told = sum(1 + item.alike for items in packed.sections.values() for item in items)
    assert told + packed.left_out == sum(map(len, contents.values()))


def test_every_section_has_a_share() -> None:
    assert list(SHARES) == list(Section)
    assert sum(SHARES.values()) == 100


def test_a_full_section_does_not_crowd_out_the_next() -> None:
    many = [candidate(f"decision {number} {'word ' * 40}") for number in range(50)]
    candidates = {section: many if section is Section.PROFILE else [candidate(section)] for section in Section}
    packed = pack(candidates, token_budget=2000, home=TEAM)
    assert all(packed.sections.values())


def test_what_a_section_does_not_use_goes_to_the_others() -> None:
    many = [candidate(f"note {number} {'word ' * 20}") for number in range(50)]
    alone = pack({Section.PROFILE: many}, token_budget=2000, home=TEAM)
    assert estimate_tokens(markdown(alone, token_budget=2000)) > 1700


def test_a_long_note_that_is_alone_stays_whole() -> None:
    packed = pack({Section.PROFILE: [candidate("word " * 700)]}, token_budget=2000, home=TEAM)
    assert not packed.sections[Section.PROFILE][0].shortened


def test_a_long_note_is_cut_while_others_wait() -> None:
    notes = [candidate("word " * 3000), candidate("A short one.")]
    packed = pack({Section.RELEVANT: notes}, token_budget=1000, home=TEAM)
    long, short = packed.sections[Section.RELEVANT]
    assert long.shortened
    assert long.text.endswith(" …")
    assert short.text == "A short one."


def test_the_lesson_that_fits_the_task_is_not_passed_over_for_a_shorter_one() -> None:
    long = "An index on `orders` locks the table for minutes: create it concurrently, in an autocommit block, at night."
    short = "Sign the raw body of webhooks."
    for relevance, told in ((0.9, long), (0.05, short)):
        ids = (MemoryId(f"{number:08d}-5028-7bd1-b457-c38653d482db") for number in count(1))
        lessons = [Candidate(sample(long, id=next(ids)), "why", relevance), candidate(short, id=next(ids))]
        others = {
            section: [candidate(f"{section} {number} {'word ' * 12}", id=next(ids)) for number in range(9)]
            for section in Section
        }
        packed = pack({**others, Section.LESSONS: lessons}, token_budget=415, home=TEAM)
        assert texts(packed, Section.LESSONS) == [told]


def test_the_first_section_keeps_what_several_would_show() -> None:
    same = candidate("Deploys go out on Tuesdays.")
    like = candidate("deploys go out on tuesdays")
    packed = pack(
        {Section.DECISIONS: [same], Section.RELEVANT: [same, like], Section.EPISODES: [like]},
        token_budget=2000,
        home=TEAM,
    )
    assert [(item.memory.id, item.alike) for item in packed.sections[Section.DECISIONS]] == [(same.memory.id, 1)]
    assert not packed.sections[Section.RELEVANT]
    assert not packed.sections[Section.EPISODES]
    assert packed.left_out == 0


def test_the_count_of_near_duplicates_is_within_the_budget_too() -> None:
    notes = [candidate(f"note {number // 2}") for number in range(60)]
    for budget in range(500, 560):
        packed = pack({Section.RELEVANT: notes}, token_budget=budget, home=TEAM)
        assert sum(map(line_tokens, markdown(packed, token_budget=budget).splitlines())) <= budget
        assert any(item.alike for item in packed.sections[Section.RELEVANT])


def test_a_match_that_finds_no_room_among_the_decisions_finds_it_as_a_match() -> None:
    # All cited alike, so that how an id happens to be spelt does not decide what fits.
    newer = [Candidate(sample(f"decision {number} {'word ' * 20}"), "why", cited="mem:abc") for number in range(20)]
    match = Candidate(sample("the one that matters"), "why", cited="mem:abc")
    packed = pack(
        {Section.DECISIONS: [*newer, match], Section.RELEVANT: [match]},
        token_budget=700,
        home=TEAM,
    )
    assert texts(packed, Section.RELEVANT) == ["the one that matters"]
