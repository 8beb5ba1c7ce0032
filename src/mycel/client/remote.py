"""The methods of the API over a service, made from the table of operations: sync or async, as the sender is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mycel.wire.operations import OPERATIONS, PARTS, Operation

# Takes an operation and its arguments; what it returns is the result, or an awaitable of it.
Caller = Callable[[Operation, Mapping[str, Any]], Any]


class Remote:
    """Every operation of one part as a method with its own name, signature and text."""

    def __init__(self, caller: Caller, *, part: str = "") -> None:
        self._caller = caller
        self._part = part
        for name, operation in _METHODS[part].items():
            setattr(self, name, _method(caller, operation))


class RemoteList(Remote):
    """A part that is called to list it: `memory.projects()`."""

    def __call__(self) -> Any:
        return self._caller(_METHODS[self._part]["list"], {})


class RemoteMemory(Remote):
    """See `contracts.memory_api.MemoryApi`."""

    # What goes as a stream, and is not asked and answered.
    changes: Any
    export: Any
    import_: Any

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self._who: Any = None
        for part in PARTS:
            if part != "workspace":
                kind = RemoteList if part in {"projects", "repos"} else Remote
                setattr(self, part, kind(caller, part=part))

    def who_am_i(self) -> Any:
        return self._ask_who()

    def _ask_who(self) -> Any:
        return self._caller(_METHODS["workspace"]["who_am_i"], {})


class SyncRemoteMemory(RemoteMemory):
    @property
    def member_id(self) -> str:
        return self._me().member_id

    @property
    def team(self) -> str:
        return self._me().team

    def _me(self) -> Any:
        """Asked once: a token is one member's for as long as it works."""
        if self._who is None:
            self._who = self._ask_who()
        return self._who


def _method(caller: Caller, operation: Operation) -> Callable[..., Any]:
    def method(*given: Any, **named: Any) -> Any:
        return caller(operation, operation.arguments(given, named))

    method.__name__ = operation.name.rpartition(".")[2]
    method.__doc__ = operation.function.__doc__
    return method


def _by_part() -> dict[str, dict[str, Operation]]:
    found: dict[str, dict[str, Operation]] = {"": {}, **{part: {} for part in PARTS}}
    for operation in OPERATIONS:
        part, _, name = operation.name.rpartition(".")
        if operation.shows is None:
            # The first of several routes is the one that answers it whole.
            found[part].setdefault(name, operation)
    return found


_METHODS = _by_part()
