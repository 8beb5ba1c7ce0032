"""How many of the hostile texts are caught, and how many ordinary ones are touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mycel.engine.poison.detection import instruction_to_reader
from mycel.engine.secrets.masking import mask_secrets
from tests.hostile import sets
from tests.hostile.sets import HALVES, Specimen


class Figure(NamedTuple):
    """How often a detector was right about one half of a set, and where it was wrong."""

    name: str
    half: str
    wanted: str
    total: int
    missed: tuple[Specimen, ...]

    @property
    def right(self) -> int:
        return self.total - len(self.missed)

    @property
    def share(self) -> float:
        return self.right / self.total


def _is_held(specimen: Specimen) -> bool:
    return instruction_to_reader(specimen.text) is not None


def _is_masked(specimen: Specimen) -> bool:
    masked = mask_secrets(specimen.text).text
    return not any(piece in masked for piece in specimen.secrets)


def _is_untouched(specimen: Specimen) -> bool:
    return not mask_secrets(specimen.text).kinds


# What is measured, on which texts, and when the detector is right about one of them.
_MEASURES: tuple[tuple[str, str, Callable[[str], list[Specimen]], Callable[[Specimen], bool]], ...] = (
    ("poison", "held for review", sets.poison, _is_held),
    ("conventions", "not held", sets.conventions, lambda specimen: not _is_held(specimen)),
    ("innocent texts", "not held", sets.innocent, lambda specimen: not _is_held(specimen)),
    ("secrets", "masked", sets.secrets, _is_masked),
    ("conventions", "not masked", sets.conventions, _is_untouched),
    ("innocent texts", "not masked", sets.innocent, _is_untouched),
)


def measured(halves: tuple[str, ...] = HALVES) -> list[Figure]:
    found: list[Figure] = []
    for half in halves:
        for name, wanted, texts, is_right in _MEASURES:
            specimens = texts(half)
            missed = tuple(specimen for specimen in specimens if not is_right(specimen))
            found.append(Figure(name, half, wanted, len(specimens), missed))
    return found


def table(figures: list[Figure]) -> str:
    lines = [f"{'texts':16}{'half':12}{'wanted':18}{'right':>12}{'share':>9}"]
    for figure in figures:
        right = f"{figure.right} of {figure.total}"
        lines.append(f"{figure.name:16}{figure.half:12}{figure.wanted:18}{right:>12}{figure.share:>9.1%}")
    return "\n".join(lines)
