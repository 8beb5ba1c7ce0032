"""Writes the types and the reference of a memory's fields from their table. `python -m scripts.memory_fields`."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from mycel.contracts import written_fields
from mycel.domain.memory import FIELDS, WRITTEN
from mycel.domain.memory_field import FieldRow

REPOSITORY = Path(__file__).resolve().parents[1]
STUB = REPOSITORY / "src" / "mycel" / "contracts" / "written_fields.pyi"
PAGE = REPOSITORY / "docs" / "reference" / "fields.md"
HEAD = '''"""Made by `python -m scripts.memory_fields` from the table of a memory's fields; change that."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict
'''
PAGE_HEAD = """# The fields of a memory

Made by `python -m scripts.memory_fields` from the table in `mycel/domain/memory.py`; change that.

## What a writer can say

The same names in Python, HTTP and MCP. `save` takes all of them but `status`; `update` takes all; the values of
[knowledge](../guides/knowledge.md) take those with a mark. A field that can be emptied is emptied by None (`null`, or
`--clear`). What is found is searched by words.

| name | what it says | option | knowledge | emptied | found | tool `save_memory` |
|---|---|---|---|---|---|---|
"""
PAGE_MIDDLE = """
## What a memory has

As Python has them and JSON writes them. Whatever somebody wrote is
[screened](../decisions/0024-screened-by-default.md) before it is stored.

| name | what it says | set by | archives |
|---|---|---|---|
"""


def main() -> None:
    STUB.write_text(stub(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def stub() -> str:
    return HEAD + "".join(_class(name, about) for name, about in written_fields.DOCS.items())


def page() -> str:
    written = (_written(row) for row in WRITTEN.values())
    known = (_known(row) for row in FIELDS.values())
    return PAGE_HEAD + "".join(map(_line, written)) + PAGE_MIDDLE + "".join(map(_line, known))


def _class(name: str, about: str) -> str:
    annotations = getattr(written_fields, name).__annotations__
    lines = [f"    {field}: {_type(hint)}\n" for field, hint in annotations.items()]
    return f'\nclass {name}(TypedDict, total=False):\n    """{about}"""\n\n{"".join(lines)}'


def _type(hint: Any) -> str:
    if hint is types.NoneType:
        return "None"
    name = hint.__name__ if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) else str(hint)
    return re.sub(r"\b(?:collections\.abc|datetime|typing)\.", "", name)


def _written(row: FieldRow) -> Iterator[str]:
    yield f"`{row.request}`"
    yield row.help + _options(row.options)
    yield f"`{row.option}`" if row.option else ""
    yield "✓" if row.of_values else ""
    yield "✓" if row.emptied else ""
    yield row.index or ""
    yield "✓" if row.offered else ""


def _known(row: FieldRow) -> Iterator[str]:
    yield f"`{row.name}`"
    yield row.help + _options(row.options)
    yield f"`{row.request}`" if row.written else ""
    yield "✓" if row.stored else ""


def _options(options: type[StrEnum] | None) -> str:
    return "" if options is None else f" One of {', '.join(f'`{option.value}`' for option in options)}."


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
