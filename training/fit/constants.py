"""The figures that are fitted, and a way to try others: the functions that use them are those of the product."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from mycel.retrieval import fusion, pipeline, relevance

# Some of them are imported by name, so that each has to be set wherever it stands.
MODULES = (fusion, pipeline, relevance)

# What the order is made of, with the values tried: round ones, and far enough apart to differ by more than noise.
FUSION: Mapping[str, tuple[float, ...]] = {
    "BM25_WEIGHT": (0.0, 1.0, 1.5, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 5.0, 6.0),
    "SHARE_WEIGHT": (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0),
    "NEIGHBOUR_PULL": (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    "WINDOW_WEIGHT": (0.0, 0.5, 1.0, 1.4, 1.75, 2.1, 2.5, 3.0),
    "LEAST_OWN": (0.0, 0.5, 1.0, 1.5, 2.0),
    "SPREAD_TEXTS": (10, 30, 100, 300),
    "EMPHASIS": (1.0, 1.5, 2.0, 3.0),
}
# Only conversations have neighbours that belong together: other sets see what these cost, never what they bring.
OF_NEIGHBOURS = frozenset({"NEIGHBOUR_PULL", "WINDOW_WEIGHT", "LEAST_OWN"})

RELEVANCE = ("TOPIC", "USEFUL", "USEFUL_WORDS")

Values = Mapping[str, Any]


def today() -> dict[str, Any]:
    return {name: getattr(fusion, name) for name in FUSION} | {name: getattr(relevance, name) for name in RELEVANCE}


@contextmanager
def using(values: Values) -> Generator[None]:
    """Other values for as long as it lasts, in every module that has the name."""
    before = [(module, name, getattr(module, name)) for module in MODULES for name in values if hasattr(module, name)]
    if missing := set(values) - {name for _, name, _ in before}:
        raise ValueError(f"no module has {', '.join(sorted(missing))}")
    for module, name, _ in before:
        setattr(module, name, values[name])
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
