"""Which texts say the same thing twice."""

import pytest

from mycel.retrieval.duplicates import HEAD_CHARS, Wording


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Deploys go out on Tuesdays.", "deploys GO out, on tuesday"),
        ("The staging deploy needs a warm cache.", "The staging deploys need a warm cache first."),
        ("Port 5432 is the database.", "The database is port 5432"),
        ("👍", "👍"),
    ],
)
def test_reworded_texts_repeat_each_other(first: str, second: str) -> None:
    assert Wording(first).repeats(Wording(second))
    assert Wording(second).repeats(Wording(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The database listens on port 5432.", "The database listens on port 5433."),
        ("Use version 1.2 of the client", "Use version 1.3 of the client"),
        ("Deploys on Friday are fine for the team", "Deploys on Friday are not fine for the team"),
        ("The weekly deploy of billing goes out on Tuesday", "The weekly deploy of billing goes out on Thursday"),
        ("Herons fish at dawn.", "Storks nest on roofs."),
        ("A heron.", "A heron that stands on one leg in the reeds of the lake at dawn."),
        ("👍", "🔥"),
    ],
)
def test_texts_that_differ_where_it_matters_do_not(first: str, second: str) -> None:
    assert not Wording(first).repeats(Wording(second))
    assert not Wording(second).repeats(Wording(first))


def test_long_texts_are_told_apart_by_what_follows_a_common_beginning() -> None:
    beginning = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(HEAD_CHARS // 6))
    assert len(beginning) > HEAD_CHARS
    assert Wording(beginning).repeats(Wording(f"{beginning} end"))
    assert not Wording(f"{beginning} port 1").repeats(Wording(f"{beginning} port 2"))
    other_end = " ".join(f"other{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(HEAD_CHARS // 6))
    assert not Wording(beginning).repeats(Wording(f"{beginning} {other_end}"))
