"""Text that was encoded so that people cannot read it: what it says once it is decoded."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

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
