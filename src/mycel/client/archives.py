"""Archives from and to a service: streamed into a file that is complete or not there, and out of one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.domain.archive import ExportReport, MoveReport
from mycel.errors import InvalidInput, NotFound, Unavailable
from mycel.held_files import open_unheld
from mycel.wire.operations import EXPORT, IMPORT, REPORT
from mycel.wire.reading import read_text

if TYPE_CHECKING:
    from mycel.client.senders import Sender

CHUNK_BYTES = 1024 * 1024


class Archives:
    def __init__(self, sender: Sender, headers: Mapping[str, str]) -> None:
        self._sender = sender
        self._headers = headers

    def export(self, file: str | Path, *, whole: bool = False) -> ExportReport:
        target = Path(file)
        if target.is_dir() or not target.parent.is_dir():
            raise InvalidInput("must name a file in a folder that is there", field="file")
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
        query = {"whole": whole, "packed": target.name.endswith(".gz")}
        try:
            with (
                self._sender.fetch(EXPORT, query, self._headers) as (headers, parts),
                os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened,
            ):
                for part in parts:
                    opened.write(part)
                opened.flush()
                os.fsync(opened.fileno())
            unfinished.replace(target)
        except OSError as error:
            raise Unavailable(f"cannot write {target.name}: {error.strerror}") from error
        finally:
            unfinished.unlink(missing_ok=True)
        return read_text(ExportReport, headers[REPORT])

    def import_(self, file: str | Path, *, whole: bool = False, dry_run: bool = False) -> MoveReport:
        source = Path(file)
        if not source.is_file():
            raise NotFound(f"there is no file {source}")
        query = {"whole": whole, "dry_run": dry_run, "packed": source.name.endswith(".gz")}
        return read_text(MoveReport, self._sender.submit(IMPORT, query, self._headers, _chunks(source)))


def _chunks(file: Path) -> Iterator[bytes]:
    with open_unheld(file) as opened:
        while part := opened.read(CHUNK_BYTES):
            yield part
