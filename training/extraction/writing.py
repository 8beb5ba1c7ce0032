"""Writes the weights as the module that the package carries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

from mycel.engine.english import weights
from mycel.engine.english.weights import SCALE, TYPES
from mycel.engine.extraction.extract import Row, Weights

LINE_CHARS = 116

_MODULE = '''"""How much each sign and each word speaks for keeping a sentence, and then for each type of memory.

The chance that a sentence is worth keeping is the logistic function of the sum of the first numbers, the chance that it
may then have a type that of the sum of the others, in the order of `TYPES`. Written by `python -m training.extraction`,
which fits them to labelled talk and rounds them: whole numbers add up to the same sum in any order.
"""

from __future__ import annotations

from mycel.domain.memory import MemoryType

TYPES = (
{types}
)

# How many of them make one.
SCALE = {scale}

SIGNS = """
{signs}
"""

WORDS = """
{words}
"""
'''


def as_module(table: Weights) -> str:
    types = "\n".join(f"    MemoryType.{kind.name}," for kind in TYPES)
    return _MODULE.format(types=types, scale=SCALE, signs=_entries(table.signs), words=_entries(table.words))


def _entries(rows: Mapping[str, Row]) -> str:
    lines = [""]
    for name, row in sorted(rows.items()):
        entry = f"{name}:{','.join(map(str, row))}"
        if lines[-1] and len(lines[-1]) + 3 + len(entry) > LINE_CHARS:
            lines.append(entry)
        else:
            lines[-1] = f"{lines[-1]} | {entry}" if lines[-1] else entry
    return indent("\n".join(lines), "    ")


def module_path() -> Path:
    return Path(weights.__file__)
