"""Ids sort by the moment they were made, whatever clock and threads do."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from mycel.domain import ids
from mycel.domain.ids import new_id, parse_id
from mycel.errors import InvalidInput


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests in this process move the clock years ahead, and ids never go back."""
    monkeypatch.setattr(ids, "_ticks", type(ids._ticks)())


def test_an_id_is_a_uuid_of_version_7_with_the_present_in_it() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    # Several ids of one moment borrow from the next, so an id may be slightly ahead of the clock.
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 5


def test_ids_grow_in_the_order_they_are_made() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_grow_though_the_clock_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_id()
    now = time.time_ns()
    made = []
    for days in (0, -3, -300, -3, 0):
        monkeypatch.setattr(time, "time_ns", lambda days=days: now + days * 86_400 * 10**9)
        made += [new_id() for _ in range(100)]
    assert [first, *made] == sorted([first, *made])
    assert len(set(made)) == len(made)


def test_threads_never_make_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: [new_id() for _ in range(2_000)], range(8)))
    assert len({id for batch in batches for id in batch}) == 16_000
    assert all(batch == sorted(batch) for batch in batches)


def test_the_random_part_differs_between_ids_of_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    assert len({new_id()[19:] for _ in range(100)}) == 100


def test_reads_an_id_in_any_case_and_with_outer_spaces() -> None:
    made = new_id()
    assert parse_id(f" {made.upper()}\n") == made


@pytest.mark.parametrize("value", ["", "x", None, 5, b"a", "019a0000-0000-7000-8000-00000000000", "{" + "0" * 36 + "}"])
def test_refuses_what_is_not_an_id(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_id(value, field="memory")
    assert refused.value.field == "memory"


@pytest.mark.parametrize("digit", ["\N{ARABIC-INDIC DIGIT ZERO}", "g", " ", "-"])
def test_refuses_digits_that_are_not_hexadecimal(digit: str) -> None:
    with pytest.raises(InvalidInput):
        parse_id(f"019a0000-{digit}000-7000-8000-000000000000")
