"""Which operation a request means: one step per part of its path, however many operations there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mycel.wire.operations import Operation


@dataclass(slots=True)
class _Place:
    named: dict[str, _Place] = field(default_factory=dict[str, "_Place"])
    # Any other part of a path, such as an id.
    other: _Place | None = None
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])


class Paths:
    def __init__(self, operations: Iterable[Operation], *, taken: Iterable[str] = ()) -> None:
        """`taken` are paths that somebody else answers, which must not be read as an id."""
        self._root = _Place()
        for path in taken:
            self._place(path)
        for operation in operations:
            self._add(operation)

    def find(self, path: str) -> tuple[Mapping[str, Operation], list[str]]:
        """The operations of a path by method, and its parts that are no fixed name; none when it is unknown."""
        place, values = self._root, list[str]()
        for part in path.split("/")[1:]:
            step = place.named.get(part)
            if step is None:
                if place.other is None:
                    return {}, []
                step = place.other
                values.append(part)
            place = step
        return place.operations, values

    def _add(self, operation: Operation) -> None:
        self._place(operation.path).operations[operation.method] = operation

    def _place(self, path: str) -> _Place:
        place = self._root
        for part in path.split("/")[1:]:
            if part.startswith("{"):
                place.other = place.other or _Place()
                place = place.other
            else:
                place = place.named.setdefault(part, _Place())
        return place
