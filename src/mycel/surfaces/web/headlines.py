"""A memory in a line or two of a list: its title, what its text says beyond it, and the words that were looked for."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from mycel.domain.hidden_text import with_hidden_named
from mycel.domain.memory import Memory

# Two lines of a list.
MOST_EXCERPT = 240
# No longer than a title and its excerpt together.
SHORT_TEXT = 160
# A first line that is the title and no more than so much around it says nothing new.
_LITTLE_MORE = 24
_CODE = re.compile(r"`([^`\n]+)`")
# What markdown begins a line with: quotes, headings, items, rules of tables and fences.
_BEGINNING = re.compile(r"[ \t>]*+(?:(#{1,6}|[-*+]|\d{1,3}[.)])[ \t]+|(?:```|~~~).*$|\|?[-: |]{3,}$)?")


def headline(memory: Memory) -> str:
    """Its title; of a short text that begins with it, all of the text."""
    is_short = len(memory.content) <= SHORT_TEXT and "\n" not in memory.content.strip()
    return memory.content if begins_with_title(memory) and is_short else memory.title


def begins_with_title(memory: Memory) -> bool:
    return memory.content.startswith(memory.title.removesuffix("…"))


def shown_headline(memory: Memory) -> Markup:
    return coded(headline(memory))


def coded(text: str) -> Markup:
    """One line in which code is code."""
    parts = _CODE.split(with_hidden_named(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )


def beyond_headline(memory: Memory) -> str:
    """What its text says that the line above does not: a title is often its first sentence, or the beginning of it."""
    head, content = headline(memory), memory.content[: 8 * MOST_EXCERPT]
    said = head.removesuffix("…")
    if not content.startswith(said):
        first, _, rest = content.partition("\n")
        return in_one_line(rest if _says_the_same(first, said) else content)[:MOST_EXCERPT]
    rest = content.removeprefix(said)
    is_cut = said != head or rest[:1] not in {".", "!", "?", "\n"}
    told = in_one_line(rest.lstrip(".!?,;: \n"))[:MOST_EXCERPT]
    return f"… {told}" if told and is_cut else told


def _says_the_same(line: str, title: str) -> bool:
    """One of the two holds the other, and little more."""
    shorter, longer = sorted((line.casefold().strip(" ."), title.casefold().strip(" .")), key=len)
    return bool(shorter) and shorter in longer and len(longer) - len(shorter) <= _LITTLE_MORE


def in_one_line(text: str) -> str:
    """Lines of markdown as one, without what begins them; items stand apart."""
    told = ""
    for line in text.splitlines():
        begins = _BEGINNING.match(line)
        said = line[begins.end() :].strip() if begins else line.strip()
        if said:
            apart = begins is not None and begins[1] is not None and told and told[-1] not in ".:;,!?"
            told += f"{' · ' if apart else ' ' if told else ''}{said}"
    return told


def marked(snippet: str) -> Markup:
    """A snippet whose matched words stand between two pairs of stars."""
    parts = with_hidden_named(snippet).split("**")
    pieces = (
        Markup("<mark>{}</mark>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts) if part
    )
    return Markup("").join(pieces)


def head_and_rest(snippet: str, memory: Memory) -> tuple[Markup, Markup]:
    """The headline of a hit and what its snippet says beyond it; its marks stand in both where the one begins so."""
    told = headline(memory)
    said = told.removesuffix("…")
    parts, left = snippet.split("**"), len(said)
    if not "".join(parts).startswith(said):
        return escape(with_hidden_named(told)), marked(snippet)
    head: list[str] = []
    while left > len(parts[0]):
        left -= len(parts[0])
        head.append(parts.pop(0))
    # A word that the cut goes through is marked on both sides of it.
    opening = [""] if len(head) % 2 else []
    rest = "**".join([*opening, parts[0][left:], *parts[1:]])
    beyond = marked(rest.lstrip(".!?,;: \n"))
    head.append(parts[0][:left])
    if said == told or not beyond:
        return marked("**".join(head)), beyond
    return marked("**".join(head)) + "…", Markup("… ") + beyond
