"""Completion of arguments: names that the caller may see, for whoever fills in a prompt or an address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from mcp_types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.envelope import one_line
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.prompts import Written
from mycel.surfaces.mcp.resources import TEMPLATE

# The protocol's own bound.
MOST_VALUES = 100
# Enough to know the names in use; an older one can still be typed.
NEWEST = 200


def _projects(memory: MemoryApi) -> Iterable[str]:
    return (project.name for project in memory.projects.list())


def _tags(memory: MemoryApi) -> Iterable[str]:
    return _by_use(tag for one in memory.list(limit=NEWEST) for tag in one.tags)


def _authors(memory: MemoryApi) -> Iterable[str]:
    return _by_use(one.agent_id for one in memory.list(limit=NEWEST))


def _ids(memory: MemoryApi) -> Iterable[str]:
    return (one.id for one in memory.list(limit=NEWEST))


def _by_use(names: Iterable[str]) -> list[str]:
    return [name for name, _ in Counter(names).most_common()]


# An argument of this name means the same wherever it stands.
NAMES: Mapping[str, Callable[[MemoryApi], Iterable[str]]] = MappingProxyType(
    {"agent": _authors, "id": _ids, "project": _projects, "tags": _tags}
)


async def complete(guest: Guest, params: CompleteRequestParams, written: Sequence[Written]) -> CompleteResult:
    """Nothing for what is unknown, as for what has no names to choose from."""
    name, value = params.argument.name, params.argument.value
    if name not in _arguments_of(params, written) or name not in NAMES:
        return _result([])
    # Of several, separated by commas, the last is being written.
    before, comma, begun = value.rpartition(",") if name == "tags" else ("", "", value)
    names = await guest.work(lambda: list(NAMES[name](guest.memory)))
    return _result([before + comma + found for found in _matching(names, begun.strip())])


def _arguments_of(params: CompleteRequestParams, written: Sequence[Written]) -> frozenset[str]:
    if isinstance(params.ref, PromptReference):
        wanted = params.ref.name
        return frozenset(name for prompt in written if prompt.name == wanted for name in prompt.takes)
    return frozenset({"id"}) if params.ref.uri == TEMPLATE.uri_template else frozenset()


def _matching(names: Iterable[str], begun: str) -> list[str]:
    """Those that begin so; one that would have to be rendered safe is no longer a name of anything."""
    wanted = begun.casefold()
    return [name for name in names if name.casefold().startswith(wanted) and one_line(name) == name]


def _result(values: list[str]) -> CompleteResult:
    shown = values[:MOST_VALUES]
    return CompleteResult(completion=Completion(values=shown, total=len(values), has_more=len(values) > len(shown)))
