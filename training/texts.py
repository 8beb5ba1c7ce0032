"""What the student is taught on: the gathered texts, as memories and as questions, in the forms memories have."""

from __future__ import annotations

import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

SEED = 20261115
# A question is seldom longer, in characters.
SHORT = 160
# A mention of this many times makes a capitalised word a name to put before a turn of a dialogue.
NAME_MENTIONS = 8
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,9}\b")


@dataclass(frozen=True, slots=True)
class Item:
    """A text and the side it is embedded for."""

    text: str
    question: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of one kind, in the order they were written in: neighbours belong together."""

    kind: str
    lines: Sequence[str]


def items(folders: Sequence[Path]) -> list[Item]:
    """Every item once, always the same ones in the same order."""
    sources = [source for folder in folders for source in _read(folder)]
    names = _names(sources)
    found: dict[Item, None] = {}
    for source in sources:
        chance = random.Random(f"{SEED} {source.kind}")
        found.update(dict.fromkeys(_forms(source, names, chance)))
    return list(found)


def _read(folder: Path) -> Iterator[Source]:
    """Files of plain lines, or of `kind<TAB>text` and `pair<TAB>question<TAB>text` lines."""
    for path in sorted(folder.glob("*.txt.xz")):
        kinds: dict[str, list[str]] = {}
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                kind, tab, text = line.rstrip("\n").partition("\t")
                if tab:
                    kinds.setdefault(kind, []).append(text)
                else:
                    kinds.setdefault(path.name.removesuffix(".txt.xz"), []).append(kind)
        for kind in sorted(kinds):
            yield Source(kind, kinds[kind])


def _names(sources: Sequence[Source]) -> list[str]:
    """Names as they occur in the dialogues themselves."""
    mentions: Counter[str] = Counter()
    for source in sources:
        if source.kind == "dialogue":
            mentions.update(name for line in source.lines for name in _NAME.findall(line))
    return sorted(name for name, count in mentions.items() if count >= NAME_MENTIONS)


def _forms(source: Source, names: Sequence[str], chance: random.Random) -> Iterator[Item]:
    if source.kind == "pair":
        for line in source.lines:
            question, _, text = line.partition("\t")
            yield Item(_plain(question), question=True)
            yield Item(_plain(text))
        return
    texts = [_plain(line) for line in source.lines]
    for place, text in enumerate(texts):
        if source.kind == "question":
            yield Item(text, question=True)
            if chance.random() < 0.3:
                yield Item(text)
            continue
        yield Item(text)
        if len(text) <= SHORT and chance.random() < 0.4:
            yield Item(text, question=True)
        if source.kind == "dialogue":
            yield from _turns(texts, place, names, chance)
        elif source.kind != "code" and chance.random() < 0.15:
            # Several paragraphs, as longer memories have them.
            yield Item("\n".join(texts[place : place + chance.randint(2, 6)]))


def _turns(texts: Sequence[str], place: int, names: Sequence[str], chance: random.Random) -> Iterator[Item]:
    """One turn with who said it, the same with its date, and now and then several turns."""
    speaker = chance.choice(names) if names else "user"
    yield Item(f"({_moment(chance)}) {speaker}: {texts[place]}")
    if chance.random() < 0.3:
        yield Item(f"{speaker}: {texts[place]}")
    if chance.random() < 0.2:
        other = chance.choice(names) if names else "assistant"
        turns = texts[place : place + chance.randint(2, 5)]
        said = "\n".join(f"{(speaker, other)[number % 2]}: {turn}" for number, turn in enumerate(turns))
        yield Item(f"({_moment(chance)})\n{said}" if chance.random() < 0.5 else said)


def _moment(chance: random.Random) -> str:
    moment = datetime(2019, 1, 1) + timedelta(minutes=chance.randrange(8 * 365 * 24 * 60))  # noqa: DTZ001 - only text
    hour = moment.strftime("%I:%M %p").lstrip("0").lower()
    forms = (
        f"{hour} on {moment.day} {moment:%B, %Y}",
        f"{moment.day} {moment:%B %Y}",
        f"{moment:%B} {moment.day}, {moment:%Y}",
        f"{moment:%Y-%m-%d}",
        f"{moment:%Y-%m-%d %H:%M}",
    )
    return chance.choice(forms)


def _plain(line: str) -> str:
    """Line breaks, tabs and backslashes are written escaped, one text to a line."""
    return re.sub(r"\\([nt\\])", lambda found: {"n": "\n", "t": "\t"}.get(found[1], "\\"), line)
