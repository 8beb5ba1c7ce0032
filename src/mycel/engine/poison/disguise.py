"""Words that were hidden from people: coded, spread out, or written with other letters."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

from mycel.domain.envelope import INVISIBLE

_LEAST_ENCODED_CHARS = 20
_LEAST_DECODED_CHARS = 12
_WORD = re.compile(r"[a-z]{2,20}")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,4096}={0,2}")
_BASE16 = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}:?){12,4096}(?![0-9a-fA-F])")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}|\+)[^%\s]{0,20}%[0-9a-fA-F]{2}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_TO_STANDARD = str.maketrans("-_", "+/")
_LEAST_ENCODED_WORDS = 2

# Words that an order can hardly do without; in rot13 or backwards they are no words of any language.
_COMMON = """
    the and you your all this that must not with from for send ignore forget disregard instructions previous rules
    system prompt reveal print secret secrets password passwords token tokens agent agents assistant upload delete
    user tell nobody file files keys should follow run approve obey address to of
"""


@cache
def words_in_rot13() -> frozenset[str]:
    return frozenset(codecs.encode(word, "rot13") for word in _COMMON.split())


@cache
def words_backwards() -> frozenset[str]:
    return frozenset(word[::-1] for word in _COMMON.split())


def decoded(text: str) -> Iterator[str]:
    """What parts of a text say when decoded, for each encoding of bytes or signs that they have the shape of."""
    is_first = True
    for chunk in text.split():
        if len(chunk) >= _LEAST_ENCODED_CHARS:
            yield from _from_bytes(chunk, is_cut=is_first)
        is_first = False
    yield from _from_signs(text)


def turned(text: str) -> Iterator[str]:
    """What a text says whose letters are turned by thirteen places, or stand backwards."""
    found = set(_WORD.findall(text.lower()))
    if len(found & words_in_rot13()) >= _LEAST_ENCODED_WORDS:
        yield codecs.encode(text, "rot13")
    if len(found & words_backwards()) >= _LEAST_ENCODED_WORDS:
        yield text[::-1]


def _from_bytes(chunk: str, *, is_cut: bool) -> Iterator[str]:
    for found in _BASE16.finditer(chunk):
        yield from _readable(bytes.fromhex(found[0].replace(":", "")))
    for found in _BASE64.finditer(chunk):
        run = found[0].rstrip("=").translate(_TO_STANDARD)
        # A run that was cut off at its beginning may begin in the middle of a group of four.
        for start in range(4 if is_cut else 1):
            yield from _readable(_from_base64(run[start:]))


def _from_base64(run: str) -> bytes:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run + "=" * (-len(run) % 4)
    try:
        return base64.b64decode(whole)
    except binascii.Error:
        return b""


def _from_signs(text: str) -> Iterator[str]:
    if "&#" in text:
        yield html.unescape(text)
    if "%" in text and _PERCENT.search(text):
        yield unquote(text).replace("+", " ")
    if "\\" in text and len(_ESCAPE.findall(text)) >= _LEAST_DECODED_CHARS:
        yield _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)


def _readable(content: bytes) -> Iterator[str]:
    if not content[1::2].strip(b"\0"):
        # As shells of Windows want it: each letter in two bytes.
        content = content[::2]
    if content.isascii() and len(content) >= _LEAST_DECODED_CHARS:
        text = content.decode("ascii")
        if text.replace("\n", " ").replace("\t", " ").isprintable():
            yield text


# One space between words is as it should be.
_SPACES = re.compile(r"[^\S\n ]+ *| (?:[^\S\n]+)")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})

# A quotation that its sentence introduces is spoken about, not said.
_MENTIONED = re.compile(
    r"(\b(?:texts?|phrases?|strings?|sentences?|samples?|prompts?|tests?|patterns?|payloads?|wording|inputs?|attacks?"
    r"|injections?|filters?|classif\w+|detect\w+|says?|said|called|titled|named|flag\w*|block\w*|contain\w*|like"
    r"|such as|e\.g\.|example|quot\w+|match\w*|case|label\w*|summari[sz]er)\b[^.\"`\n]{0,24})"
    r"(?:\"[^\"\n]{3,200}\"|`[^`\n]{3,200}`)"
)

# Single letters with a sign between them: i g n o r e, i.g.n.o.r.e. A wider gap ends a word.
_SPACED_OUT = re.compile(r"(?<![^\W_])(?:[^\W\d_][ ._*-]){3,}[^\W\d_](?![^\W_])")
# The cheapest sign of it.
_LONE_LETTERS = re.compile(r"[ ._*-]\w[ ._*-]\w[ ._*-]")
_SPACED_LETTERS = re.compile(r"(?<![^\W_])(?:[^\W\d_][ ._*-])+[^\W\d_](?![^\W_])")
_BETWEEN_LETTERS = re.compile(r"[ ._*-]")
_HIDDEN_IN_WORD = re.compile("(?:[a-z][\u200b-\u200f\u2060-\u2064\u00ad\ufeff]+){3,}", re.IGNORECASE)
# Between letters, and in no number of base 16.
_DIGIT_FOR_LETTER = re.compile(r"\b(?=\w{0,20}[g-z])(?=\w{0,20}[a-z][013457]{1,2}[a-z])[a-z013457]{4,20}\b")
_DIGIT_LIKE_LETTER = re.compile(r"\b(?=\w{0,20}[013457])[a-z013457]{1,20}\b")
DIGIT_AMONG_LETTERS = re.compile(r"[a-z][013457]{1,2}[a-z]")
# The digit 1 stands for an i as well as for an l.
_DIGITS = tuple(str.maketrans("013457", letters) for letters in ("oieast", "oleast"))
_MIXED_SCRIPT = re.compile(r"[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]")
# Cyrillic and Greek letters in the shape of Latin ones.
_LOOKALIKES = str.maketrans(
    "\u0430\u0432\u0441\u0501\u0435\u04bb\u0456\u0458\u043a\u04cf\u043c\u043f\u043e\u0440\u051b\u0433\u0455\u0442\u0443\u0445\u0475\u0461"
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3",
    "abcdehijklmnopqrstyxvwabenikvoptuxy",
)


def plain(text: str) -> str:
    """Lower case, compatibility forms resolved, nothing invisible, one space between words; lines stay lines."""
    if text.isascii():
        if text.isprintable() and "  " not in text:
            # Nothing to take out: no control, no tab or line break, no wide gap.
            return text.lower().strip()
        # Nearly every text: the long list of what is invisible need not be gone through.
        return _SPACES.sub(" ", _CONTROLS.sub("", text.lower())).strip()
    visible = INVISIBLE.sub("", unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).translate(_QUOTES))
    return _SPACES.sub(" ", visible.lower()).strip()


def without_mentions(said: str) -> str:
    """Without the quotations that a plain text only speaks about."""
    return _MENTIONED.sub(r"\1…", said) if '"' in said or "`" in said else said


def undisguised(text: str, *, said: str, is_apart: bool, has_digits: bool) -> Iterator[str]:
    """What else a text says, given what it plainly says: with tricks undone that only somebody with intent uses.

    The caller knows whether letters stand apart in it, and whether digits stand among its letters.
    """
    if is_apart:
        wide = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()
        yield _SPACES.sub(" ", _SPACED_LETTERS.sub(lambda found: _BETWEEN_LETTERS.sub("", found[0]), wide))
    if not text.isascii() and _HIDDEN_IN_WORD.search(text):
        yield said
    if has_digits and len(_DIGIT_FOR_LETTER.findall(said)) >= 2:
        for table in _DIGITS:
            yield _DIGIT_LIKE_LETTER.sub(lambda found, table=table: found[0].translate(table), said)
    if not said.isascii() and _MIXED_SCRIPT.search(said):
        yield said.translate(_LOOKALIKES)


def letters_stand_apart(text: str) -> bool:
    return _LONE_LETTERS.search(text) is not None and _SPACED_OUT.search(text) is not None


def spelled_out(text: str) -> str:
    """The letters of a text that stand apart, all joined: where no gap is wider, words run into each other."""
    return "".join(_BETWEEN_LETTERS.sub("", run) for run in _SPACED_OUT.findall(text)).lower()
