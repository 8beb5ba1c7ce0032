"""Ways to write an order so that a person overlooks it and a machine still reads it."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable
from urllib.parse import quote

# Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans("aceiopsxyt", "\u0430\u0441\u0435\u0456\u043e\u0440\u0455\u0445\u0443\u03c4")
_LEET = str.maketrans("aeiost", "431057")
_ZERO_WIDTH_SPACE = "\u200b"
_FULL_WIDTH_SHIFT = 0xFEE0


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _shell(text: str) -> str:
    return f"echo {_base64(text)} | base64 -d | sh"


def _full_width(text: str) -> str:
    return "".join(chr(ord(letter) + _FULL_WIDTH_SHIFT) if "!" <= letter <= "~" else letter for letter in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "base64": _base64,
    "base64shell": _shell,
    "hex": lambda text: text.encode().hex(),
    "urlencoded": lambda text: quote(text, safe=""),
    "reversed": lambda text: text[::-1],
    "reversedwords": lambda text: " ".join(reversed(text.split())),
    "leet": lambda text: text.translate(_LEET),
    "homoglyph": lambda text: text.translate(_LOOKALIKES),
    "spaced": " ".join,
    "dotted": lambda text: ".".join(text.replace(" ", "_")),
    "zerowidth": lambda text: _ZERO_WIDTH_SPACE.join(text),
    "fullwidth": _full_width,
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "commented": lambda text: f"<!-- {text} -->",
    "fenced": lambda text: f"```\n{text}\n```",
}
