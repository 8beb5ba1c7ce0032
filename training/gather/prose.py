"""Turns reStructuredText, Markdown, HTML and plain text into paragraphs, sentences and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from training.gather.clean import Text, digest, is_prose, normalise

MAX_PARAGRAPH = 900
# Markup patterns grow slow on very long lines, which are data rather than prose.
MAX_INLINE = 4000
MIN_PARAGRAPH_WORDS = 30
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->|<(script|style|pre|head|nav|footer|table)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
MARKED = re.compile(r"[`*<\[|_\\]|://")
BLOCK_TAG = re.compile(
    r"</?(?:p|div|li|ul|ol|h[1-6]|br|dt|dd|dl|tr|td|section|article|blockquote)\b[^>]*>", re.IGNORECASE
)
HEADING_TAG = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
ROLE = re.compile(r":[\w:+.-]+:`~?!?\.?([^`<]*?)\s*(?:<[^`>]*>)?`")
RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{1,2}")
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)")
MD_LINK = re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])")
URL = re.compile(r"<?(?:https?|ftp)://[^\s>)]+>?")
EMPHASIS = re.compile(r"(\*\*|__|``|`|\*)(\S(?:.*?\S)?)\1(?!\w)_{0,2}")
SUBSTITUTION = re.compile(r"\|([\w .-]+)\|_?|\[[#\w*]+\]_")
BULLET = re.compile(r"^\s*(?:[-*+•o]|\d{1,2}[.)]|#\.)\s+")
UNDERLINE = re.compile(r"^([=\-~^\"'`#*+_.:])\1{2,}\s*$")
LITERAL_DIRECTIVE = re.compile(
    r"^\s*\.\. (?:[\w:+-]*(?:code|math|toctree|image|figure|table|index|plot|ipython|raw|include|parsed|auto\w*|"
    r"test\w*|highlight|literal\w*|prompt|currentmodule|module|contents|graph\w*|mermaid|sourcecode|bibliography|jupyter\w*)[\w:+-]*::|_|\[)"
)
DIRECTIVE = re.compile(r"^\s*(?:\.\.|:::|!!!|\?\?\?)\s?.*$|^\s*:[\w -]+:(?:\s.*)?$")
SENTENCE_END = re.compile(r"(?<=[a-z0-9)\]\"'”][.!?])[\"”']?\s+(?=[A-Z\"“'(])")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Dr|St|Fig|Eq|No|resp|approx|al)\.$")


class Block(NamedTuple):
    """A cleaned paragraph, list item or heading."""

    text: str
    is_heading: bool


def inline(text: str) -> str:
    """Remove inline markup and keep the words it marks; a longer text is no paragraph and is cut."""
    text = text[:MAX_INLINE]
    if not MARKED.search(text):
        return normalise(text)
    text = IMAGE.sub(" ", text)
    text = ROLE.sub(r"\1", text)
    text = RST_LINK.sub(r"\1", text)
    text = MD_LINK.sub(r"\1", text)
    text = TAG.sub("", text)
    text = URL.sub("", text)
    text = EMPHASIS.sub(r"\2", text)
    text = SUBSTITUTION.sub(r"\1" if "|" in text else " ", text)
    return normalise(text.replace("`", "").replace("\\ ", ""))


def blocks(raw: str) -> Iterator[Block]:
    """Yield the readable blocks of a documentation file in order."""
    text = FENCE.sub("\n\n", raw.replace("\r\n", "\n").expandtabs(4))
    literal_indent: int | None = None
    for chunk in re.split(r"\n\s*\n", text):
        lines = [line for line in chunk.split("\n") if line.strip()]
        if not lines:
            continue
        indent = len(lines[0]) - len(lines[0].lstrip())
        if literal_indent is not None:
            if indent > literal_indent:
                continue
            literal_indent = None
        if lines[-1].rstrip().endswith("::") or LITERAL_DIRECTIVE.match(lines[0]):
            literal_indent = indent
            if LITERAL_DIRECTIVE.match(lines[0]):
                continue
        if indent >= 8 or any(">>>" in line or line.lstrip().startswith(("|", "+-", "$ ", "# ---")) for line in lines):
            continue
        yield from _split_chunk(lines)


def _split_chunk(lines: list[str]) -> Iterator[Block]:
    gathered: list[str] = []
    for line in lines:
        if UNDERLINE.match(line):
            if len(gathered) == 1:
                yield Block(inline(gathered[0]), True)
                gathered = []
            continue
        if line.startswith("#") and line.lstrip("#").startswith(" "):
            yield from _flush(gathered)
            yield Block(inline(line.strip("# ")), True)
            gathered = []
            continue
        if DIRECTIVE.match(line):
            continue
        if BULLET.match(line):
            yield from _flush(gathered)
            gathered = [BULLET.sub("", line)]
            continue
        gathered.append(line)
    yield from _flush(gathered)


def _flush(gathered: list[str]) -> Iterator[Block]:
    if gathered:
        text = inline(" ".join(gathered))
        if text.endswith("::"):
            text = text[:-1]
        yield Block(text, False)


def html_to_text(raw: str) -> str:
    """Flatten an HTML page to the plain shape `blocks` reads."""
    text = COMMENT.sub("\n\n", raw)
    text = HEADING_TAG.sub(lambda m: f"\n\n# {' '.join(TAG.sub('', m[1]).split())}\n\n", text)
    text = BLOCK_TAG.sub("\n\n", text)
    text = TAG.sub("", text)
    return "\n".join(line.strip() for line in text.split("\n")).replace("¶", "")


def sentences(text: str) -> list[str]:
    """Split a paragraph at sentence ends, leaving common abbreviations alone."""
    found: list[str] = []
    start = 0
    for match in SENTENCE_END.finditer(text):
        if ABBREVIATED.search(text[start : match.start()]):
            continue
        found.append(text[start : match.start()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [s for s in found if s]


def texts(raw: str, kind: str) -> Iterator[Text]:
    """Mix whole paragraphs, single sentences and headings with the sentence that follows them.

    A short heading is also given alone, as kind `heading`, for question making.
    """
    heading = ""
    for block in blocks(raw):
        if block.is_heading:
            heading = block.text if len(block.text) < 90 else ""
            if heading.endswith("?") and is_prose(heading):
                yield Text("question", heading)
            elif 2 <= len(heading.split()) <= 5 and is_prose(heading, min_words=2):
                yield Text("heading", heading)
            continue
        yield from _block_texts(block.text, heading, kind)
        heading = ""


def _block_texts(text: str, heading: str, kind: str) -> Iterator[Text]:
    choice = digest(text) % 10
    words = text.count(" ") + 1
    if words >= MIN_PARAGRAPH_WORDS and len(text) <= MAX_PARAGRAPH and choice < 3:
        if is_prose(text):
            yield Text(kind, text)
        return
    parts = sentences(text)
    if heading and choice < 6 and is_prose(parts[0]):
        yield Text(kind, f"{heading}: {parts[0]}")
        parts = parts[1:]
    for part in parts:
        if is_prose(part, min_words=5):
            yield Text("question" if part.endswith("?") and len(part) < 200 else kind, part)
