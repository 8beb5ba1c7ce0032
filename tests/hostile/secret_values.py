"""Secrets made up when asked for, whole or broken over lines as people and programs break them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.unit.engine.planted_secrets import ALNUM, BASE64, DIGITS, HEX, KEYS, UPPER, Maker


class Value(NamedTuple):
    """What stands in the text, and the pieces of it that must not stay there."""

    written: str
    pieces: tuple[str, ...]


def _words(maker: Maker) -> str:
    return "-".join(maker.word() for _ in range(4)) + f"-{maker.of(DIGITS, 2)}"


# A name, and perhaps a length after a colon.
_KINDS: dict[str, Callable[[Maker, int], str]] = {
    "alnum": lambda maker, length: maker.of(ALNUM, length),
    "hex": lambda maker, length: maker.of(HEX, length),
    "hexupper": lambda maker, length: maker.of(HEX, length).upper(),
    "base64": lambda maker, length: maker.of(BASE64, length),
    "aws_secret": lambda maker, _: maker.of(BASE64, 40),
    "age": lambda maker, _: "AGE-SECRET-KEY-1" + maker.of(UPPER + DIGITS, 58),
    "words": lambda maker, _: _words(maker),
    "password": lambda maker, _: maker.generated_password() if maker.random.random() < 0.5 else maker.chosen_password(),
    "pem": lambda maker, _: maker.private_key(maker.random.choice(["RSA ", "EC ", "OPENSSH ", ""])),
    "aws_id": lambda maker, _: KEYS["aws id"](maker),
    "github": lambda maker, _: KEYS["github classic"](maker),
    "slack": lambda maker, _: KEYS["slack bot"](maker),
    "slack_hook": lambda maker, _: "https://" + KEYS["slack webhook"](maker),
    # Every key of a known format under its own name.
    **{name: lambda maker, _, name=name: KEYS[name](maker) for name in KEYS},
}
# How two halves of a value come to stand apart.
_BREAKS = {
    "newline": "\n",
    "backslash": "\\\n",
    "plus": '" + "',
    "adjacent": '"\n    "',
    "yaml": "\n  ",
    "hyphen": "-\n",
    "indent": "\n    ",
}


def make_value(kind: str, maker: Maker) -> Value:
    """A kind is `name[:length][|how it is broken]`."""
    name, _, broken = kind.partition("|")
    name, _, length = name.partition(":")
    whole = _KINDS[name](maker, int(length or 0))
    if name == "pem":
        return _key_block(whole, broken)
    if not broken:
        return Value(whole, (whole,))
    half = len(whole) // 2 + maker.random.randrange(-3, 4)
    return Value(whole[:half] + _BREAKS[broken] + whole[half:], (whole[:half], whole[half:]))


def _key_block(block: str, broken: str) -> Value:
    first, *body, last = block.split("\n")
    joined = "".join(body)
    if broken == "folded":
        body = [joined[at : at + 37] for at in range(0, len(joined), 37)]
    written = {
        "": "\n".join([first, *body, last]),
        "folded": "\n".join([first, *body, last]),
        "indented": "\n".join("      " + line for line in [first, *body, last]),
        "quoted": "\n".join("> " + line for line in [first, *body, last]),
        "escaped": "\\n".join([first, *body, last]),
        "concatenated": " +\n".join(f'"{line}\\n"' for line in [first, *body, last]),
        "oneline": " ".join([first, *body, last]),
        "headless": "\n".join([*body, last]),
        "cut": "\n".join([first, *body]),
    }[broken]
    return Value(written, tuple(body))
