"""The files of a data directory by which its service and the clients on the same machine find each other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

# Held for as long as a service lives: whoever has it is the one that owns the data directory.
SERVICE_LOCK = "service.lock"
# Held by a client while it starts a service.
START_LOCK = "start.lock"
DAEMON_FILE = "daemon.json"
OPERATOR_TOKEN = "operator.token"  # noqa: S105 - the name of a file
SERVICE_LOG = "service.log"
OLD_SERVICE_LOG = "service.log.1"
STAGING_FOLDER = "staging"
SERVICE_FILES = (
    *(SERVICE_LOCK, START_LOCK, DAEMON_FILE, OPERATOR_TOKEN, SERVICE_LOG, OLD_SERVICE_LOG),
    STAGING_FOLDER,
)
OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class DaemonFile:
    """Where the service of a data directory answers.

    It may be left over from one that was killed, so nobody is trusted before it has proved that it knows the secret:
    see `wire.proof`. The file of an older version has none. `database` marks the one that the workspace is in, where
    it is not in the data directory; `on_demand` says that a command started it, and that it ends by itself.
    """

    url: str
    secret: str | None = field(repr=False)
    pid: int
    version: str
    started_at: datetime
    database: str | None = None
    on_demand: bool = False

    def render(self) -> bytes:
        return json.dumps({**asdict(self), "started_at": self.started_at.isoformat()}).encode() + b"\n"


def read_daemon_file(data: Path) -> DaemonFile | None:
    """None when there is none, or none that can be understood."""
    try:
        found: object = json.loads((data / DAEMON_FILE).read_bytes())
        return _parsed(cast(dict[str, Any], found)) if isinstance(found, dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def database_mark(url: str | None) -> str | None:
    """Tells two databases apart, whoever logs in, and names neither."""
    return None if url is None else hashlib.sha256(url.rpartition("@")[2].encode()).hexdigest()[:16]


def other_version(named: DaemonFile) -> str:
    """What to say of a service that has no way to prove itself."""
    return (
        f"the service at {named.url} is Mycel {named.version}, which cannot prove who it is to this version: "
        f"end process {named.pid}; it is started again by the next command"
    )


def read_operator_token(data: Path) -> str | None:
    try:
        return (data / OPERATOR_TOKEN).read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def _parsed(values: dict[str, Any]) -> DaemonFile | None:
    url, version, secret = values["url"], values["version"], values.get("secret")
    texts = [url, version, *([] if secret is None else [secret])]
    if not all(isinstance(text, str) and text for text in texts) or not isinstance(values["pid"], int):
        return None
    started_at = datetime.fromisoformat(values["started_at"])
    return DaemonFile(
        url, secret, values["pid"], version, started_at, values.get("database"), values.get("on_demand") is True
    )
