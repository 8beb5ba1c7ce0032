from __future__ import annotations

from datetime import date

from mycel.surfaces.cli.display import BAR_WIDTH, bars, days


def texts(lines: list[object]) -> list[str]:
    return ["".join(piece for piece, _ in one.pieces) for one in lines]  # type: ignore[attr-defined]


def test_the_longest_bar_is_the_greatest_count_and_nothing_that_is_there_is_invisible() -> None:
    first, second, third = texts([*bars({"lesson": 400, "fact": 200, "note": 1})])
    assert first == f"lesson  400  {'█' * BAR_WIDTH}"
    assert second == f"fact    200  {'█' * (BAR_WIDTH // 2)}"
    assert third == "note      1  ▏"


def test_the_days_end_today_and_empty_ones_stay_empty() -> None:
    (told,) = texts([days({"2026-11-16": 8, "2026-11-14": 1, "2026-10-01": 50}, until=date(2026, 11, 16))])
    assert told == "           ▂ █ 03 Nov to 16 Nov, 9 written"
