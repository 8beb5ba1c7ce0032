from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.surfaces.vault.bench import Bench
from tests.surfaces.vault.two_vaults import TwoVaults


def run(two: TwoVaults, steps: int) -> None:
    for _ in range(steps):
        two.step()
    two.end()
    before = [bench.everything() for bench in two.benches]
    for _ in range(10):
        for bench in two.benches:
            bench.sync()
    assert [bench.everything() for bench in two.benches] == before


@pytest.mark.parametrize("other", ["lead-2", "swe-1"])
def test_two_members_editing_at_once_lose_no_text(bench_of: Callable[[str], Bench], other: str) -> None:
    run(TwoVaults(bench_of("lead-1"), bench_of(other), seed=7), 60)


@pytest.mark.proof
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("other", ["lead-2", "swe-1"])
def test_a_thousand_random_steps_of_two_members_lose_no_text(
    bench_of: Callable[[str], Bench], other: str, seed: int
) -> None:
    run(TwoVaults(bench_of("lead-1"), bench_of(other), seed=seed), 1000)
