"""The YAML block at the head of a markdown file, read with the parts of YAML that can do harm left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from mycel.errors import InvalidInput

MAX_BYTES = 16 * 1024
MAX_DEPTH = 16
FENCE = "---"


def read_front_matter(text: str) -> dict[str, Any]:
    """An empty mapping when there is none."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        return {}
    end = next((index for index, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise InvalidInput("does not end with ---", field="front matter")
    block = "\n".join(lines[1:end])
    if len(block.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InvalidInput(f"is longer than {MAX_BYTES:,} bytes", field="front matter")
    return _load(block)


def _load(block: str) -> dict[str, Any]:
    # Imported here: few commands read such a file, and every one would pay for it.
    import yaml

    try:
        _refuse_tricks(block)
        found: object = yaml.safe_load(block)
    # The constructors of dates, numbers and booleans raise whatever their parsing stumbles over.
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError):
        raise InvalidInput("is not valid YAML", field="front matter") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInput("must be names and values", field="front matter")
    return cast(dict[str, Any], found)


def _refuse_tricks(block: str) -> None:
    """Aliases expand a small text into gigabytes, and deep nesting exhausts the reader's stack."""
    import yaml

    depth = 0
    events = cast(Iterator[yaml.Event], yaml.parse(block, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidInput("must not use anchors or aliases", field="front matter")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field="front matter")
