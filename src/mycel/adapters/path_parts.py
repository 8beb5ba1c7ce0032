"""Names that a framework chose as parts of a path, and back: any text becomes one part, and no two the same one."""

from __future__ import annotations

import re
from urllib.parse import unquote

from mycel.domain.fields import UNPRINTABLE

# What a path cannot hold, what separates its parts, and the sign that stands for such a character.
_ODD = re.compile(rf"[%/\\{UNPRINTABLE}]|^ | $|^\.(?=\.?$)")
# The sign alone: no other text becomes this.
_EMPTY = "%"


def path_part(name: str) -> str:
    """The name itself, with `%2F` and the like for the characters that no part of a path can hold."""
    return _ODD.sub(_escaped, name) or _EMPTY


def name_of(part: str) -> str:
    return "" if part == _EMPTY else unquote(part)


def path_of(folder: str, names: tuple[str, ...]) -> str:
    return "/".join((folder.rstrip("/"), *map(path_part, names))) or "/"


def names_below(folder: str, path: str) -> tuple[str, ...]:
    """The names by which a path continues that of the folder."""
    below = path.removeprefix(folder.rstrip("/")).strip("/")
    return tuple(map(name_of, below.split("/"))) if below else ()


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="surrogatepass"))
