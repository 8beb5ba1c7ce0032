"""What a page is: a row with its address, template and readers, and a function from a request to what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.workspace_api import WorkspaceApi
from mycel.domain.team import Caller

JSON_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """One request for a page or by a form: who asks, what stands in the address, and what was filled in.

    `memory` and `workspace` are the operations that every client has; a page uses nothing else.
    """

    caller: Caller
    memory: MemoryApi
    workspace: WorkspaceApi
    # The memory of any team by its name, for the operator alone.
    memory_of: Callable[[str], MemoryApi]
    address: str
    now: datetime
    # When this browser was last here before this visit; None on the first.
    last_visit: datetime | None = None
    in_path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    # The part of the page that its script puts in place of the old one; None for all of it.
    part: str | None = None
    # What the form before left to be shown here for a little while, such as the secret of a new token.
    shown_once: str | None = None
    # What anybody may know of the service's stores.
    condition: Mapping[str, object] = field(default_factory=dict[str, object])

    def one(self, name: str) -> str | None:
        """The value of a parameter of the address; an empty one is none."""
        return next((value for value in self.query.get(name, ()) if value.strip()), None)

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for value in self.query.get(name, ()) if value.strip())

    def filled(self, name: str) -> str | None:
        return self.form.get(name, "").strip() or None

    def with_query(self, **changes: object) -> str:
        """This address with other parameters; None leaves one out. A change of anything begins at the first page."""
        kept = {name: list(values) for name, values in self.query.items() if name not in {"cursor", "did"}}
        changed = {name: value for name, value in changes.items() if value is not None}
        return address_of(self.address, {**{n: v for n, v in kept.items() if n not in changes}, **changed})


@dataclass(frozen=True, slots=True)
class Shown:
    """`facts` are the page's rows and counts, which its `.json` answers as they are; `beside` only a template needs."""

    facts: Mapping[str, object]
    beside: Mapping[str, object] = field(default_factory=dict[str, object])
    title: str | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class SeeOther:
    """Where a form leads. `to` is an address of ours, `did` the name of what to say there (`notices.py`).

    `shown_once` goes to the page there and to no other, in a cookie of this browser that lasts two minutes and is
    signed; an empty one forgets it.
    """

    to: str
    did: str | None = None
    shown_once: str | None = None
    cookies: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that is read. Those with a `label` stand in the navigation, and are opened by `g` and their `key`."""

    address: str
    template: str
    show: Callable[[PageRequest], Shown]
    title: str
    label: str | None = None
    key: str | None = None

    @property
    def json_address(self) -> str:
        return f"{'/index' if self.address == '/' else self.address}{JSON_SUFFIX}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a form of a page does. It comes with the page's token, or is refused.

    It answers with where to go, or shows its page again with what was filled in. One that `takes_long` keeps nobody
    else waiting.
    """

    address: str
    act: Callable[[PageRequest], SeeOther | Shown]
    template: str = ""
    takes_long: bool = False


def address_of(path: str, query: Mapping[str, Any] | None = None) -> str:
    """A path of ours with its query; values of the path are quoted where it is made."""
    given = {name: value for name, value in (query or {}).items() if value not in (None, "", (), [])}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def in_path(value: str) -> str:
    """A value as one part of a path."""
    return quote(value, safe="")
