"""Our own hostile and ordinary texts. One half was written before the detectors were tuned and is kept apart from that.

A file is a list of texts, each after a line `%% kind disguise`. In poison a disguise is put on what stands in
double braces, or on the whole; in secrets the braces name a value to make up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.hostile.disguises import DISGUISES
from tests.hostile.secret_values import make_value
from tests.unit.engine.planted_secrets import Maker

Texts = Callable[[str], "list[Specimen]"]
HALVES = ("tuning", "held_out")
_FOLDER = Path(__file__).parent
_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_VALUES_FOR_EACH_TEXT = 4


class Specimen(NamedTuple):
    """A text, what sort of text it is, and the pieces of secrets in it."""

    text: str
    kind: str
    secrets: tuple[str, ...] = ()


def poison(half: str) -> list[Specimen]:
    return [Specimen(_disguised(text, disguise), kind) for text, kind, disguise in _texts(half, "poison")]


def conventions(half: str) -> list[Specimen]:
    return [Specimen(text, "convention") for text, _, _ in _texts(half, "conventions")]


def innocent(half: str) -> list[Specimen]:
    return [Specimen(text, "innocent") for text, _, _ in _texts(half, "innocent")]


def secrets(half: str) -> list[Specimen]:
    return [
        _planted(text, kind, Maker(1000 * number + seed))
        for number, (text, kind, _) in enumerate(_texts(half, "secrets"))
        for seed in range(_VALUES_FOR_EACH_TEXT)
    ]


def _texts(half: str, name: str) -> Iterator[tuple[str, str, str]]:
    head, body = "", []
    for line in [*(_FOLDER / half / f"{name}.txt").read_text("utf-8").splitlines(), "%%"]:
        if not line.startswith("%%"):
            body.append(line)
            continue
        if body:
            kind, _, disguise = head.partition(" ")
            yield "\n".join(body), kind, disguise
        head, body = line[2:].strip(), []


def _disguised(text: str, disguise: str) -> str:
    if not disguise:
        return text
    put_on = DISGUISES[disguise]
    return _BRACES.sub(lambda found: put_on(found[1]), text) if _BRACES.search(text) else put_on(text)


def _planted(text: str, kind: str, maker: Maker) -> Specimen:
    pieces: list[str] = []

    def planted(found: re.Match[str]) -> str:
        value = make_value(found[1], maker)
        pieces.extend(value.pieces)
        return value.written

    return Specimen(_BRACES.sub(planted, text), kind, tuple(pieces))
