"""What is said outright stands by itself only if what is said around it leaves it standing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mycel.contracts.judge import Judge, Sentence, SentenceOdds
from mycel.domain.marks import EXPLICIT
from mycel.domain.memory import MemoryType
from mycel.domain.source import Transcript
from mycel.engine.extraction.extract import extract
from mycel.engine.transcripts.reading import read_transcript
from mycel.errors import Unavailable
from mycel.providers.judge.shipped import builtin_judge
from tests.unit.engine.judge_double import ToldJudge, odds


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = builtin_judge()
    assert found is not None
    return found


def talk(*lines: tuple[str, str]) -> Transcript:
    return read_transcript([{"role": who, "content": said} for who, said in lines])


def standing(judge: Judge | None, *lines: tuple[str, str]) -> list[str]:
    found = extract(talk(*lines), judge=judge)
    return [one.content for one in found if one.grounds == EXPLICIT and one.type is not MemoryType.PROFILE]


class Wavering(ToldJudge):
    """Takes a sentence for meant, except where it is asked in one of the ways."""

    def __init__(self, *, unless: str) -> None:
        super().__init__({})
        self._unless = unless

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
        return [self._odds(sentence) for sentence in sentences]

    def _odds(self, sentence: Sentence) -> SentenceOdds:
        way = "before" if sentence.before else "led up" if sentence.text.startswith("Hello") else "alone"
        return odds("convention", "joke" if way == self._unless else "standing_instruction", keep=0.9)


READERS = [None, Wavering(unless="never")]
RULE = "Rule: nobody runs a migration of the ledger without a backup."
ANNOUNCED = [
    "I found this in the handbook of the agency we bought:",
    "Write me a sample record, for example with this text:",
    "Please check the grammar of this paragraph:",
    "The bot answered:",
]


@pytest.mark.parametrize("announced", ANNOUNCED)
@pytest.mark.parametrize("reader", READERS)
def test_what_a_colon_announces_as_some_text_waits(reader: Judge | None, announced: str) -> None:
    rules = f"Always run the backup as root.\n{RULE}"
    assert standing(reader, ("user", announced), ("user", rules), ("assistant", "I see.")) == []
    assert standing(reader, ("user", f"{announced}\n\n{rules}\n\nWhat do you think of it?")) == []
    assert standing(reader, ("user", f"{announced}\n- a table\n\n{RULE}")) == [RULE]
    assert standing(reader, ("user", announced), ("assistant", "Yes?"), ("user", RULE)) == [RULE]


@pytest.mark.parametrize(
    "announced", ["What we agreed on today:", "Two rules for everybody in this repo:", "Please remember:", "Decisions:"]
)
def test_what_is_announced_as_the_teams_own_stands(announced: str) -> None:
    assert standing(Wavering(unless="never"), ("user", f"{announced}\n- {RULE}")) == [RULE]


@pytest.mark.parametrize(
    "taken_back",
    [
        "No wait, scratch that.",
        "Sorry, wrong chat.",
        "I was kidding.",
        "Eh, that is not settled yet.",
        "Hm, we did not really decide that.",
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_taken_back_soon_after_does_not_stand(reader: Judge | None, taken_back: str) -> None:
    assert standing(reader, ("user", f"{RULE} {taken_back}")) == []
    assert standing(reader, ("user", RULE), ("assistant", "Really?"), ("user", taken_back)) == []
    assert standing(reader, ("user", RULE), ("assistant", taken_back)) == [RULE]
    assert standing(reader, ("user", taken_back), ("assistant", "ok"), ("user", RULE)) == [RULE]


def test_what_speaks_of_something_else_takes_nothing_back() -> None:
    for said in ("Don't forget that we freeze on Monday.", "You're kidding!", "The name of the service is still open."):
        assert standing(Wavering(unless="never"), ("user", RULE), ("user", said)) == [RULE]


@pytest.mark.parametrize("reader", READERS)
def test_what_is_told_of_a_supposed_case_waits(reader: Judge | None) -> None:
    assert standing(reader, ("user", "Let us play through that a bank buys us."), ("user", RULE)) == []
    assert standing(reader, ("user", f"Imagine a bank buys us. {RULE}")) == []
    assert standing(reader, ("user", f"A bank has bought us. {RULE}")) == [RULE]


@pytest.mark.parametrize(
    "before",
    [
        "My old boss had a saying.",
        "The poster of our landlord:",
    ],
)
def test_the_judge_sees_whose_words_follow(judge: Judge, before: str) -> None:
    rule = "Always run the contract tests before a release."
    assert standing(judge, ("user", before), ("user", rule)) == []
    assert standing(judge, ("user", "That was the third time this week."), ("user", rule)) == [rule]


@pytest.mark.parametrize(
    "line",
    [
        "Always print the value in this debug run please, we remove it afterwards.",
        "Never touch the lock file for now.",
        "Always answer with yes or no to the next three questions.",
        "always nice to see green tests",
        "Always with the semicolons, this linter.",
    ],
)
def test_an_order_for_the_moment_and_a_feeling_are_no_rules(judge: Judge, line: str) -> None:
    assert standing(judge, ("user", line), ("assistant", "ok")) == []


@pytest.mark.parametrize("unless", ["before", "alone", "led up"])
def test_a_judge_that_wavers_makes_nothing_stand(unless: str) -> None:
    lines = ("user", "Hello over there, team. Rule: no force pushes to main.")
    assert standing(Wavering(unless=unless), lines) == []
    assert standing(Wavering(unless="never"), lines) == ["Rule: no force pushes to main."]


def test_a_judge_that_is_gone_when_asked_again_makes_nothing_stand() -> None:
    class Leaving(Wavering):
        def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]:
            if not any(sentence.before for sentence in sentences):
                raise Unavailable("it could not be run")
            return super().weigh(sentences)

    assert standing(Leaving(unless="never"), ("user", "Hello over there. Rule: no force pushes to main.")) == []
