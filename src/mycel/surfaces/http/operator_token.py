"""The operator's token, in a file that only the user of the data directory can read."""

from __future__ import annotations

import logging
from pathlib import Path

from mycel.domain.team import OPERATOR
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, StorageFull
from mycel.settings import replace_file
from mycel.surfaces.http.log_lines import log_event
from mycel.wire.daemon_file import OPERATOR_TOKEN, OWNER_ONLY, read_operator_token

LABEL = "the file operator.token"


def keep_operator_token(workspace: Workspace, data: Path) -> None:
    """Makes one where there is none, or none that works any more; on a full disk, the next start does."""
    file = data / OPERATOR_TOKEN
    if _works(workspace, read_operator_token(data)):
        file.chmod(OWNER_ONLY)
        return
    try:
        replace_file(file, workspace.issue_token(OPERATOR, label=LABEL).encode("ascii") + b"\n", mode=OWNER_ONLY)
    except (StorageFull, OSError):
        log_event("no_operator_token", f"{OPERATOR_TOKEN} cannot be written: make room", level=logging.ERROR)


def _works(workspace: Workspace, secret: str | None) -> bool:
    try:
        return secret is not None and workspace.with_token(secret).member_id == OPERATOR
    except AccessDenied:
        return False
