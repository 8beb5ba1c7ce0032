"""Decides which texts are clean enough to keep, and keeps each of them once."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections import Counter
from typing import NamedTuple

MIN_CHARACTERS = 12
MAX_CHARACTERS = 1500
MIN_LETTER_SHARE = 0.70
PREFIX_CHARACTERS = 40
CODE_PREFIX_CHARACTERS = 70
CODE_KINDS = frozenset({"code", "pair"})
# Headings and docs open alike in many packages ("The following table shows ..."), so they get more room.
PREFIX_LIMITS = {"docs": 10, "question": 6, "dialogue": 6, "gloss": 6, "science": 6}
DEFAULT_PREFIX_LIMIT = 3

ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.|\S+ (?:at|AT) \S+ (?:dot|DOT) |(?<![\w/])@[A-Za-z]\w{2,}(?![\w(./])")
BLOB = re.compile(r"\b[0-9a-fA-F]{24,}\b|[A-Za-z0-9+/=_-]{60,}")
CREDIT = re.compile(
    r"\b(?:copyright|\(c\) \d{4}|all rights reserved|warrant(?:y|ies)|thanks to|contributed by|"
    r"patch(?:es)? (?:by|from)|reported by|"
    r"courtesy of|maintainer|signed-off|authors?:|licen[cs]ed under|co-authored|spdx)\b",
    re.IGNORECASE,
)
MARKUP_LEFT = re.compile(r"\{[{%#]|[}%#]\}|<!--|-->|\]\(|::$|^\W*$|^\.\. |\|.*\|.*\||={4,}|-{5,}|~{4,}|\+\+\+|>>> ")
# The sets the model is measured on must not reach its training text, not even by their names.
BENCHMARKS = re.compile(
    r"\b(?:locomo|scifact|cosqa|codesearchnet|sts-?b(?:enchmark)?|sick-?r|stsbenchmark)\b", re.IGNORECASE
)
LETTERS = b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SPACES = re.compile(r"\s+")
DIGITS = re.compile(r"\d+")


class Text(NamedTuple):
    """One training text; `query` is set only for a pair."""

    kind: str
    text: str
    query: str = ""


def normalise(text: str) -> str:
    """NFC, entities decoded, one space between words."""
    return SPACES.sub(" ", unicodedata.normalize("NFC", html.unescape(text))).strip()


def is_prose(text: str, *, min_words: int = 3) -> bool:
    """Whether a normalised text is readable English without addresses, blobs, credits or left-over markup."""
    if not MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS or text.count(" ") < min_words - 1:
        return False
    if not text.isprintable() or BLOB.search(text) or ADDRESS.search(text) or MARKUP_LEFT.search(text):
        return False
    plain = text.encode("ascii", "ignore")
    letters = len(plain) - len(plain.translate(None, LETTERS))
    return letters >= MIN_LETTER_SHARE * len(text) and not CREDIT.search(text) and not _is_name_list(text)


def is_code(text: str) -> bool:
    """Whether a code text is short enough and free of addresses and blobs."""
    if not MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS or BLOB.search(text) or CREDIT.search(text):
        return False
    plain = text.replace("\n", "").replace("\t", "")
    return (
        plain.isprintable()
        and len(plain.encode("ascii", "ignore")) >= 0.95 * len(plain)
        and not re.search(r"[\w.+-]+@[\w-]+\.\w", text)
    )


def escape(text: str) -> str:
    r"""One line per text: a backslash is written `\\`, a newline `\n`, a tab `\t`."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def digest(text: str) -> int:
    """A stable 64-bit number for a text, used for deduplication and for every seeded choice."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Sieve:
    """Remembers what was accepted, so a duplicate or one more text of the same opening is refused."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._openings: Counter[int] = Counter()
        self._local: Counter[tuple[str, int]] = Counter()

    def accepts(self, item: Text, package: str) -> bool:
        """True once for each normalised text, while its opening is still rare."""
        if BENCHMARKS.search(item.text) or BENCHMARKS.search(item.query):
            return False
        if item.kind == "question" and '"' in item.text:
            return False
        key = digest(_folded(item.text))
        if key in self._seen:
            return False
        size = CODE_PREFIX_CHARACTERS if item.kind in CODE_KINDS else PREFIX_CHARACTERS
        opening = digest(item.kind + item.text[:size].lower())
        if len(item.text) > size:
            if self._openings[opening] >= PREFIX_LIMITS.get(item.kind, DEFAULT_PREFIX_LIMIT):
                return False
            if self._local[package, opening] >= DEFAULT_PREFIX_LIMIT and item.kind == "docs":
                return False
            self._openings[opening] += 1
            if item.kind == "docs":
                self._local[package, opening] += 1
        self._seen.add(key)
        return True


def _folded(text: str) -> str:
    return DIGITS.sub("0", SPACES.sub(" ", text.lower())).strip(" .!?:;,\"'")


def _is_name_list(text: str) -> bool:
    words = [w for w in text.split() if w[:1].isalpha()]
    capitals = sum(1 for w in words if w[0].isupper())
    return len(words) >= 6 and capitals > 0.6 * len(words) and not text.isupper()
