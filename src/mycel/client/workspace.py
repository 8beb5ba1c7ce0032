"""A workspace behind a service, as `mycel.open` gives one on local files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from mycel.client.archives import Archives
from mycel.client.changes import Changes
from mycel.client.exchanges import Sent, attempts, exchange
from mycel.client.remote import Remote, SyncRemoteMemory
from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.workspace_api import WorkspaceApi
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.team import EXECUTIVE, PlannedTeam
from mycel.errors import Misconfigured, Unavailable
from mycel.settings import load_settings
from mycel.wire.daemon_file import other_version, read_daemon_file
from mycel.wire.http1 import OWN_NAMING
from mycel.wire.operations import Operation

# Called with how many records are done.
Progress = Callable[[int], None]
DEFAULT_URL = "http://127.0.0.1:7077"
SIGN_IN_LINKS = "/api/sign-in-links"
AS_MEMBER, IN_TEAM, KNOWN_ONLY = "mycel-as", "mycel-team", "mycel-known-only"


if TYPE_CHECKING:
    from mycel.client.senders import Place, Sender

    class _Operations(Remote, WorkspaceApi):
        """The methods that `Remote` makes, as whoever checks types sees them."""

else:
    _Operations = Remote


class RemoteWorkspace(_Operations):
    """The token says who you are. See `contracts.workspace_api.WorkspaceApi` for what the methods promise."""

    def __init__(
        self, url: str, *, token: str, service_secret: str | None = None, sender: Sender | None = None
    ) -> None:
        """`service_secret` is that of a service of this machine, which must prove that it knows it."""
        self._sender = sender or _pooled(url, service_secret)
        self._headers = {"authorization": f"Bearer {token}", **OWN_NAMING}
        super().__init__(self._call, part="workspace")

    @classmethod
    def at(cls, url: str, *, token: str, service_secret: str | None = None) -> Self:
        return cls(url, token=token, service_secret=service_secret)

    @classmethod
    def lasting(cls, place: Place, *, token: str, locate: Callable[[], Place | None]) -> Self:
        """For a process that outlives its service: it goes on with the next one that proves to be of the same data."""
        from mycel.client.senders import Sender

        return cls(place.url, token=token, sender=Sender(place.url, secret=place.secret, locate=locate))

    @classmethod
    def here(cls, url: str, *, token: str, service_secret: str) -> Self:
        """For one command or a few on the machine of the service: it starts in a fraction of the time."""
        from mycel.client.local_sender import LocalSender

        return cls(url, token=token, sender=cast("Sender", LocalSender(url, secret=service_secret)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def me(self) -> MemoryApi:
        """The memory of whoever the token was issued to."""
        return self._memory({})

    def as_member(self, id: str, *, may_be_new: bool = False) -> MemoryApi:
        """Return the memory of a member's team, as that member; for the operator.

        The first call refuses a name that nobody has; with `may_be_new` such a name works in `executive`.
        """
        return self._memory(acting_as(id, may_be_new=may_be_new))

    def as_operator(self, team: str = EXECUTIVE) -> MemoryApi:
        return self._memory({IN_TEAM: team})

    def issue_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> str:
        """The secret; it is shown this once and only its hash is kept."""
        return self.new_token(member_id, label=label, ttl=ttl).secret

    def sign_in_link(self, member_id: str | None = None) -> dict[str, Any]:
        """A link that signs a browser in, once, and when it ends; for the caller, or for whom the operator names."""
        body = b"{}" if member_id is None else json.dumps({"member_id": member_id}).encode()
        headers = {**self._headers, "content-type": "application/json"}
        came = self._sender.send(attempts(Sent("POST", SIGN_IN_LINKS, [], body, headers), repeatable=True))
        return json.loads(came.body)

    def load_org(self, path: str | Path) -> tuple[PlannedTeam, ...]:
        """Makes the teams and members of `org/teams/*.md` on this machine true in the workspace."""
        return self.arrange(planned(path))

    def export(self, file: str | Path, *, team: str = EXECUTIVE, progress: Progress | None = None) -> ExportReport:
        """All of a team into one archive on this machine, private memories included."""
        report = self._archives(team).export(file, whole=True)
        if progress is not None:
            progress(sum(report.counts.values()))
        return report

    def import_(
        self, file: str | Path, *, team: str = EXECUTIVE, dry_run: bool = False, progress: Progress | None = None
    ) -> MoveReport:
        """Takes in the archive of a whole team, with ids, times and authors; what is newer or purged there stays so."""
        report = self._archives(team).import_(file, whole=True, dry_run=dry_run)
        if progress is not None:
            progress(sum(number for found in report.counts.values() for number in found.values()))
        return report

    def close(self) -> None:
        self._sender.close()

    def _archives(self, team: str) -> Archives:
        return Archives(self._sender, {**self._headers, IN_TEAM: team})

    def _memory(self, headers: Mapping[str, str]) -> MemoryApi:
        self._sender.require_open()

        def call(operation: Operation, arguments: Mapping[str, Any]) -> Any:
            return self._sender.send(exchange(operation, arguments, {**self._headers, **headers}))

        memory = SyncRemoteMemory(call)
        memory.changes = Changes(self._sender, {**self._headers, **headers})
        archives = Archives(self._sender, {**self._headers, **headers})
        memory.export, memory.import_ = archives.export, archives.import_
        return cast(MemoryApi, memory)

    def _call(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        return self._sender.send(exchange(operation, arguments, self._headers))


def acting_as(id: str, *, may_be_new: bool) -> dict[str, str]:
    return {AS_MEMBER: id} if may_be_new else {AS_MEMBER: id, KNOWN_ONLY: "yes"}


def _pooled(url: str, secret: str | None) -> Sender:
    from mycel.client.senders import Sender

    return Sender(url, secret=secret)


def connect(url: str | None, *, token: str | None) -> RemoteWorkspace:
    """What is not given is taken from the settings."""
    reached = find_service(url, token)
    return RemoteWorkspace.at(reached.url, token=reached.token, service_secret=reached.secret)


class Reached(NamedTuple):
    """A service and what to show it; one of this machine that its file names must prove itself first."""

    url: str
    token: str
    secret: str | None


def find_service(url: str | None, token: str | None) -> Reached:
    settings = load_settings()
    shown = token or settings.token
    if shown is None:
        raise Misconfigured("a token is needed: give one, or set MYCEL_TOKEN; `mycel token issue MEMBER` makes one")
    if (given := url or settings.url) is not None:
        return Reached(given, shown, None)
    named = read_daemon_file(settings.data)
    if named is None or named.url != DEFAULT_URL:
        return Reached(DEFAULT_URL, shown, None)
    if named.secret is None:
        raise Unavailable(other_version(named))
    return Reached(DEFAULT_URL, shown, named.secret)


def planned(path: str | Path) -> list[dict[str, Any]]:
    """The organisation files of this machine as the service reads them."""
    from mycel.services.team_files import as_requested, read_org

    return as_requested(read_org(Path(path)))
