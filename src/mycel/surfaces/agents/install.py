"""Puts our entries into an agent's files, and takes them out again: seen first, then written, each file at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mycel import __version__
from mycel.durable_file import replace_file
from mycel.errors import Misconfigured
from mycel.surfaces.agents.agent import Connection
from mycel.surfaces.agents.json_settings import NotEditable
from mycel.surfaces.agents.records import FileRecord, Installed, Records, digest
from mycel.surfaces.agents.site import Form, Site


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file; None is a file that is not there. `merely_own`: others' changes in it are kept."""

    path: Path
    old: bytes | None
    new: bytes | None
    merely_own: bool = False

    @property
    def is_none(self) -> bool:
        return self.old == self.new

    def diff(self) -> Iterator[str]:
        old, new = ((one or b"").decode("utf-8", "replace").splitlines() for one in (self.old, self.new))
        yield from difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="", n=2)


def plan_install(site: Site, connection: Connection) -> list[Change]:
    changes: list[Change] = []
    for path, form in site.forms(connection).items():
        old = _read(path)
        with _explained(path):
            changes.append(Change(path, old, form.merged(_decoded(old)).encode("utf-8")))
    return changes


def install(site: Site, connection: Connection, records: Records) -> None:
    """Of the files as they are now: while a person thinks, an agent may write its own. The record comes first:
    whatever happens after it can be taken back."""
    forms = site.forms(connection)
    changes = plan_install(site, connection)
    known = records.find(site.agent.name, site.scope, site.root)
    files = [_record(change, forms[change.path], known, records) for change in changes]
    records.keep(Installed(site.agent.name, site.scope, str(site.root), connection.member, __version__, files))
    for change in changes:
        if not change.is_none and change.new is not None:
            _write(change.path, change.new)


def plan_uninstall(site: Site, connection: Connection, records: Records) -> list[Change]:
    known = records.find(site.agent.name, site.scope, site.root)
    changes: list[Change] = []
    for path, form in site.forms(connection).items():
        old = _read(path)
        record = known.file(path) if known else None
        if old is None:
            continue
        before = None if record is None or record.before is None else records.find_bytes(record.before)
        is_whole = record is not None and (record.before is None or before is not None)
        if record is not None and is_whole and digest(old) == record.after:
            changes.append(Change(path, old, before))
            continue
        with _explained(path):
            left = form.without_own(_decoded(old), before=_decoded(before) if is_whole else None)
        is_new = record is not None and record.before is None
        is_file = left.strip() not in ({"", "{}"} if is_new else {""})
        changes.append(Change(path, old, left.encode("utf-8") if is_file else None, merely_own=True))
    return [change for change in changes if not change.is_none]


def uninstall(site: Site, connection: Connection, records: Records) -> list[Change]:
    changes = plan_uninstall(site, connection, records)
    known = records.find(site.agent.name, site.scope, site.root)
    for change in changes:
        if change.new is not None:
            _write(change.path, change.new)
        else:
            if change.merely_own and change.old is not None:
                records.keep_bytes(change.old)
            # A link that led nowhere before leads nowhere again.
            change.path.resolve().unlink(missing_ok=True)
    if known is not None:
        for folder in sorted({one for file in known.files for one in file.folders}, key=len, reverse=True):
            _remove_if_empty(Path(folder))
        records.drop(known)
    return changes


def _record(change: Change, form: Form, known: Installed | None, records: Records) -> FileRecord:
    """Of a second run the first one's `before` counts, unless somebody else has changed the file between them."""
    after = digest(change.new or b"")
    earlier = known.file(change.path) if known else None
    if earlier is not None and change.old is not None and digest(change.old) == earlier.after:
        return FileRecord(earlier.path, earlier.before, after, earlier.folders)
    folders = earlier.folders if earlier else _missing_folders(change.path)
    before = change.old
    if before is not None and before.strip():
        # Without entries of ours that an earlier version has left; a file that is nothing else was not there before.
        before = form.without_own(_decoded(before), before=None).encode("utf-8") or None
    return FileRecord(str(change.path), None if before is None else records.keep_bytes(before), after, folders)


def _missing_folders(path: Path) -> list[str]:
    return [str(folder) for folder in reversed(path.parents) if not folder.exists()]


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _write(path: Path, content: bytes) -> None:
    """Through a link to where it leads."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, content)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None


def _decoded(content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise NotEditable("it is not UTF-8") from None


class _explained:  # noqa: N801 - it is used as a function is
    """A file that cannot be understood is left alone, and named."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NotEditable):
            raise Misconfigured(f"{self._path} is left as it is: {error}") from None
