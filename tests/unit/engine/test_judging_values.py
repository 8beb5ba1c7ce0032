import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.engine.english.values import CLOCK, DATE, MONEY, PERIOD, PLAIN, SHARE, SIZE, TIME, WEEKDAY, Value, read_value


def value(text: str) -> Value | None:
    found = read_value(text.split(), 0)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("first", "second", "dimension"),
    [
        ("30 s", "0.5 min", TIME),
        ("30s", "30-second", TIME),
        ("two weeks", "14 days", TIME),
        ("one year", "12 months", TIME),
        ("1500 ms", "1.5 s", TIME),
        ("half an hour", "30 minutes", TIME),
        ("1 KiB", "1024 bytes", SIZE),
        ("2 GB", "2,000 MB", SIZE),
        ("50 %", "half", SHARE),
        ("25%", "quarter of", SHARE),
        ("10k", "10,000", PLAIN),
        ("1.5 million", "1500000", PLAIN),
        ("twelve", "12", PLAIN),
        ("v2.1", "2.1", PLAIN),
        ("$20", "20 usd", MONEY),
        ("2pm", "14:00", CLOCK),
        ("noon", "12:00", CLOCK),
        ("May 17", "17 May", DATE),
        ("17 May 2025", "2025-05-17", DATE),
        ("Mondays", "Monday", WEEKDAY),
        ("daily", "every day", PERIOD),
        ("once a week", "weekly", PERIOD),
        ("every 24 hours", "daily", PERIOD),
    ],
)
def test_reads_the_same_amount_alike(first: str, second: str, dimension: str) -> None:
    assert value(first) == value(second)
    assert value(first) is not None
    assert read_value(first.split(), 0)[0].dimension == dimension  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize(
    ("first", "second"), [("3.1", "3.10"), ("1 KB", "1 KiB"), ("30 s", "30 min"), ("5 %", "5"), ("14:00", "2:00")]
)
def test_reads_other_amounts_apart(first: str, second: str) -> None:
    assert value(first) != value(second)


@pytest.mark.parametrize("text", ["port", "us-east-1", "S3", "may", "march", "a", "quarter", "utf-8", "x86"])
def test_reads_no_value_from_other_words(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(("first", "second"), [("3", "3.11"), ("3.x", "3.11"), ("June", "17 June 2025")])
def test_a_shorter_form_agrees_with_the_longer(first: str, second: str) -> None:
    one, other = value(first), value(second)
    assert one is not None
    assert other is not None
    assert one.agrees_with(other)
    assert other.agrees_with(one)


def test_other_amounts_and_other_units_do_not_agree() -> None:
    assert not Value(PLAIN, "3.11").agrees_with(Value(PLAIN, "3.9"))
    assert not Value(TIME, "30").agrees_with(Value(SIZE, "30"))
    assert not Value(DATE, "2025-05-17").agrees_with(Value(DATE, "????-06-??"))


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5))
def test_reads_any_words(words: list[str]) -> None:
    found = read_value(words, 0)
    assert found is None or 1 <= found[1] <= len(words)
