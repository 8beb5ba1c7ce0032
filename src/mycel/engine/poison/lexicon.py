"""Words and phrases of those who give orders to a reader, and what such a sign means to a reviewer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from mycel.engine.poison.concepts import WORDS
from mycel.engine.poison.concepts import Concept as C  # noqa: N817  # nearly every line names several
from mycel.engine.poison.disguise import DIGIT_AMONG_LETTERS, words_backwards, words_in_rot13

OVERRIDE = "tells its reader to disregard other instructions"
ADDRESS = "speaks to the AI that reads it"
CONCEALMENT = "asks to hide something from people"
DISCLOSURE = "asks to show or send private material"
MARKUP = "imitates messages of a system, a tool or a chat"
PERSONA = "tells its reader to be somebody else"
AUTHORITY = "claims authority over rules, notes or approvals"
STEERING = "dictates what its reader answers or does"
DISGUISE = "hides its words from people"
EXECUTION = "has its reader run what comes from outside"


class Phrase(NamedTuple):
    """A pattern over plain lower-case text, and hints one of which is in every match.

    Without a weight it gives an attack away alone; with one it only adds to other signs near it.
    """

    meaning: str
    hints: tuple[str, ...]
    pattern: str
    weight: float | None = None


class Words(NamedTuple):
    """Words and word groups that attacks use more than ordinary notes do, and how much more.

    They are divided by `|`; a star stands for any one word, and the forms of a word are one.
    """

    meaning: str
    weight: float
    phrases: str


PIECE = re.compile(r"[\w.'~/@$&%+-]{1,80}|[,;:|!]")
_INSIDE = re.compile(r"[^\W_]{1,40}")
_LEAST_BEGINNING_CHARS = 3

_UNDIVIDED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ADDRESS = re.compile(r"https?://|ftp://|[\w.+-]{1,40}@[\w-]{1,40}\.\w|\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b")
_SECRET_FILE = re.compile(
    r"(?:^|[\s/`'\"(~])\.env(?:\.(?:prod\w{0,8}|local|live))?(?![\w-]|\.\w)"
    r"|\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pgpass)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b"
    r"|/etc/(?:passwd|shadow)\b|\bsecrets?\.(?:ya?ml|json|toml|env)\b"
)
_SHELL = r"(?:sudo )?(?:\w{0,20}/)?(?:ba|z|da|k)?sh\b"
_REMOTE_CODE = re.compile(
    rf"\b(?:curl|wget|fetch|iwr)\b[^\n|]{{0,160}}\| ?(?:{_SHELL}|(?:sudo )?(?:python3?|node|perl|ruby)\b)"
    r"|(?:<|\$)\( ?(?:curl|wget)\b|\brm -[rf]{1,2} (?:--no-preserve-root )?[~/*$]"
)
_UNSEEN_CODE = re.compile(
    rf"\b(?:base64 (?:-d|--decode)|xxd -r|openssl enc -d)[^\n|]{{0,40}}\| ?{_SHELL}"
    r"|\beval\(atob\(|\b(?:exec|eval)\([^\n]{0,40}b64decode"
)
_LEAK = re.compile(
    r"\b(?:env|printenv|history|cat [^\n|]{1,80}) ?\| ?(?:curl|nc|ncat|netcat|wget|telnet)\b"
    r"|\bcurl\b[^\n|]{0,120}(?:-d|-f|-t|--data\S{0,8}|--upload-file) ?@?\S{0,40}"
    r"(?:\.env|\.ssh|\.aws|id_rsa|/etc/passwd)"
)
_HIDDEN = re.compile(
    r"<!--|\[//\]: ?#|display: ?none|<\w{1,10} hidden|visibility: ?hidden|font-size: ?0|color: ?white\b"
)
# Enough of a command or a mark to look for the whole in its sentence.
_PROGRAMS = {
    **dict.fromkeys(("curl", "wget", "fetch", "iwr"), C.REMOTE_CODE | C.LEAK | C.RUN),
    **dict.fromkeys(("nc", "ncat", "netcat", "telnet"), int(C.LEAK)),
    **dict.fromkeys(("base64", "xxd", "openssl", "atob", "b64decode"), int(C.UNSEEN_CODE)),
    "rm": C.REMOTE_CODE | C.RUN,
}
_MARK = re.compile(r"<!--|\[//\]|display:|visibility:|font-size:|color:|^hidden")
# The shape of base 64 and base 16 in small letters, and of signs that stand for letters.
_LEAST_ENCODED_CHARS = 20
_ENCODED = re.compile(rf"[a-z0-9+]{{{_LEAST_ENCODED_CHARS}}}|%[0-9a-f]{{2}}|&#|\\[ux][0-9a-f]{{2}}")


_OUTSIDE, _SECRET = int(C.OUTSIDE), int(C.SECRET)
_COMMAND = C.REMOTE_CODE | C.UNSEEN_CODE | C.LEAK


# Signs after a word that say nothing of its shape, but may be a concept of their own.
AFTER_WORD = ".,;!?)"
# What stands alone between signs that spread letters out.
_APART = re.compile(r"(?:^|[._*-])\w(?:[._*-]|$)")


class _Lexicon(NamedTuple):
    exact: dict[str, int]
    beginnings: dict[str, int]
    # By their first word: the words after it, and the concept.
    rows: dict[str, tuple[tuple[tuple[str, ...], int], ...]]
    # What a word by itself hints at: as it is, as the longest of a row, which is met least, turned, or as a program.
    hints: dict[str, int]
    hints_of_beginnings: dict[str, int]
    undivided: tuple[tuple[str, int], ...]


class _Word(NamedTuple):
    """A piece of a sentence: its concepts, what it is without the signs around it, and the rows that begin with it."""

    concepts: int
    forms: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int], ...]


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, int] = {}
    beginnings: dict[str, int] = {}
    rows: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {}
    hints: dict[str, int] = dict(_PROGRAMS)
    hints_of_beginnings: dict[str, int] = {}
    undivided: list[tuple[str, int]] = []
    for word in words_in_rot13() | words_backwards():
        _add(int(C.TURNED), word, hints, hints_of_beginnings)
    for concept, listed in ((int(concept), listed) for concept, listed in WORDS.items()):
        for word in listed.split():
            first, *others = word.split("_")
            if _UNDIVIDED.search(word):
                undivided.append((word.replace("_", " "), concept))
                continue
            if others:
                rows[first] = (*rows.get(first, ()), (tuple(others), concept))
            else:
                _add(concept, first, exact, beginnings)
            _add(concept, max(first, *others, key=len) if others else first, hints, hints_of_beginnings)
    return _Lexicon(exact, beginnings, rows, hints, hints_of_beginnings, tuple(undivided))


def _add(concept: int, word: str, exact: dict[str, int], beginnings: dict[str, int]) -> None:
    listed, key = (beginnings, word[:-1]) if word.endswith("*") else (exact, word)
    listed[key] = listed.get(key, 0) | concept


@lru_cache(maxsize=65_536)
def hints_of(chunk: str) -> int:
    """Every concept that something written without a space may be a part of: more than it is, and quick to ask."""
    bare = chunk.rstrip(AFTER_WORD)
    if 1 < len(bare) < _LEAST_ENCODED_CHARS and bare.isascii() and bare.isalpha() and not bare.startswith("hidden"):
        # Plain letters have no shape to look at.
        found = _hinted_by(bare)
        for sign in chunk[len(bare) :]:
            found |= _hinted_by(sign)
        return found
    found = of_undivided(chunk) | of_shape(chunk)
    for piece in PIECE.findall(chunk):
        for word in _forms_of(piece):
            found |= _hinted_by(word)
    if _ENCODED.search(chunk):
        found |= C.ENCODED
    if DIGIT_AMONG_LETTERS.search(chunk):
        found |= C.LEET
    if _APART.search(chunk):
        found |= C.APART
    return found | C.HIDDEN if _MARK.search(chunk) else found


def _hinted_by(word: str) -> int:
    lexicon = _lexicon()
    found = lexicon.hints.get(word, 0)
    for length in range(_LEAST_BEGINNING_CHARS, len(word) + 1):
        found |= lexicon.hints_of_beginnings.get(word[:length], 0)
    return found


def _forms_of(piece: str) -> Iterator[str]:
    """A piece without the signs around it, and the words inside it."""
    word = piece.strip(".'-/~&%+") or piece
    yield word
    if not word.isalnum():
        yield from _INSIDE.findall(word)


def of_words(pieces: Sequence[str]) -> list[int]:
    """The concepts of each piece of a sentence, and at its first word those of several in a row."""
    words = list(map(_word, pieces))
    found = [word.concepts for word in words]
    for at, word in enumerate(words):
        for others, concept in word.rows:
            following = words[at + 1 : at + 1 + len(others)]
            if len(following) == len(others) and all(map(_is_among, others, following)):
                found[at] |= concept
    return found


@lru_cache(maxsize=16_384)
def _word(piece: str) -> _Word:
    forms = tuple(_forms_of(piece))
    concepts = 0
    for form in forms:
        concepts |= _of_form(form)
    return _Word(concepts, forms, tuple(row for form in forms for row in _lexicon().rows.get(form, ())))


def is_third_person(word: str) -> bool:
    """`sends` beside `send`: somebody does it, and nobody is told to."""
    exact = _lexicon().exact
    return word.endswith("s") and word in exact and (word[:-1] in exact or word[:-2] in exact)


def of_undivided(text: str) -> int:
    """The concepts in a text of a language that does not divide words."""
    found = 0
    if not text.isascii() and _UNDIVIDED.search(text):
        for word, concept in _lexicon().undivided:
            if word in text:
                found |= concept
    return found


def of_shape(text: str, hints: int = -1) -> int:
    """What no word says: an address, a file of secrets, a command that runs what it is sent, marks that hide text.

    Only what the chunks of a text hint at is looked for in it.
    """
    found = 0
    if hints & _OUTSIDE and ("." in text or "://" in text) and _ADDRESS.search(text):
        found |= _OUTSIDE
    if hints & _SECRET and ("." in text or "/" in text or "id_" in text) and _SECRET_FILE.search(text):
        found |= _SECRET
    if hints & _COMMAND and ("|" in text or "(" in text or "rm " in text or "curl" in text):
        found |= _of_command(text)
    return found | C.HIDDEN if hints & C.HIDDEN and _HIDDEN.search(text) else found


def _of_command(text: str) -> int:
    found = 0
    if _REMOTE_CODE.search(text):
        found |= C.REMOTE_CODE | C.RUN
    if _UNSEEN_CODE.search(text):
        found |= C.UNSEEN_CODE
    return found | C.LEAK if _LEAK.search(text) else found


def _of_form(form: str) -> int:
    lexicon = _lexicon()
    found = lexicon.exact.get(form, 0)
    for length in range(_LEAST_BEGINNING_CHARS, len(form) + 1):
        found |= lexicon.beginnings.get(form[:length], 0)
    return found


def _is_among(wanted: str, word: _Word) -> bool:
    if wanted.endswith("*"):
        return any(form.startswith(wanted[:-1]) for form in word.forms)
    return wanted in word.forms
