"""The front matter of a markdown note, as far as it can be read: invalid YAML occurs, and costs nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from mycel.engine.chunks import front_matter_end

MAX_FRONT_MATTER = 64 * 1024
_PLAIN = re.compile(r"([A-Za-z_][\w-]{0,60}):[ \t]*+(.*)")
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])[&*][\w-]")


def split_note(text: str) -> tuple[Mapping[str, Any], str, bool]:
    """What the front matter says, the text after it, and whether the front matter was valid."""
    clean = text.replace("\r\n", "\n")
    end = front_matter_end(clean)
    if not end:
        return {}, clean, True
    block = clean[:end].strip().strip("-").strip("\n")
    if len(block) > MAX_FRONT_MATTER:
        return {}, clean, False
    found = _read(block)
    return (found, clean[end:], True) if found is not None else (_plain_lines(block), clean[end:], False)


def _read(block: str) -> Mapping[str, Any] | None:
    # Aliases can make a small text a large value.
    if _ALIAS.search(block):
        return None
    import yaml

    try:
        found: object = yaml.safe_load(block)
        # Python writes no number with more than 4,300 digits; such a one would end the reading of every other note.
        repr(found)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError):
        return None
    if found is None:
        return {}
    return {str(name): one for name, one in cast("dict[Any, Any]", found).items()} if isinstance(found, dict) else None


def _plain_lines(block: str) -> dict[str, Any]:
    """`name: value` lines of a block that is no YAML, such as a description with a colon in it."""
    found: dict[str, Any] = {}
    for line in block.split("\n"):
        match = _PLAIN.fullmatch(line.strip()) if not line.startswith((" ", "\t")) else None
        if match and match[2].strip():
            found[match[1]] = match[2].strip().strip("\"'")
    return found
