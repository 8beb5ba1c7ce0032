"""Everything that takes the id of a memory takes a part of it: the walk that notices a new operation."""

from __future__ import annotations

from mycel.wire.operations import OPERATIONS
from tests.conformance.memory_api_short_ids import FINDS, NAMES, OTHERS, USES, WHOLE


def takes_an_id(field: str) -> bool:
    return field in NAMES or field.endswith(("_id", "_ids"))


def test_every_field_that_takes_an_id_is_covered() -> None:
    fields = {
        f"{operation.name}.{field}" for operation in OPERATIONS for field in operation.fields if takes_an_id(field)
    }
    others = {one for one in fields if one in OTHERS or one.rpartition(".")[2] in OTHERS}
    assert fields == USES.keys() | WHOLE | FINDS | others
