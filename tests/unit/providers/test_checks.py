"""Vectors get length one, whatever their size was."""

from __future__ import annotations

import numpy as np
import pytest

from mycel.errors import Unavailable
from mycel.providers.embeddings.checks import unit_rows


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_any_size_becomes_one(size: float) -> None:
    assert np.allclose(unit_rows(np.array([[3.0, 4.0]]) * size, source="the model"), [[0.6, 0.8]])


@pytest.mark.parametrize(
    ("row", "problem"), [([0.0, 0.0], "zeros"), ([1.0, np.nan], "not finite"), ([1.0, -np.inf], "not finite")]
)
def test_what_has_no_direction_is_refused(row: list[float], problem: str) -> None:
    with pytest.raises(Unavailable, match=f"the model gave .*{problem}"):
        unit_rows(np.array([[1.0, 1.0], row]), source="the model")


def test_no_rows_are_no_problem() -> None:
    assert unit_rows(np.empty((0, 4)), source="the model").shape == (0, 4)
