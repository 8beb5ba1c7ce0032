"""What one reader is told of an entry of the log: one rule, whether it reads the log or follows it."""

from __future__ import annotations

from dataclasses import replace

from mycel.access.scope import ReadScope
from mycel.domain.change import Change, ChangeFilter, LogEntry, Operation, Today


def told(entry: LogEntry, today: Today, scope: ReadScope, wanted: ChangeFilter) -> Change | None:
    """None, the change itself, or a removal when the memory left the reader's sight or filter with it.

    What has been hidden since is told to nobody who cannot read it today, but for its removal.
    """
    change = entry.change
    if change.names_another and (today.other is None or not scope.sees(today.other)):
        return None
    if scope.sees(entry.after.audience) and wanted.takes(entry.after):
        return change if today.memory is not None and scope.sees(today.memory) else None
    before = entry.before
    if before is not None and scope.sees(before.audience) and wanted.takes(before):
        return replace(change, operation=Operation.REMOVE, path=before.path)
    return None
