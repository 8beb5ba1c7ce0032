"""Looking at the files of a vault: what is there, what cannot be read now, and what somebody is still writing."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from mycel.engine.english.sentences import fenced_blocks, is_inside
from mycel.errors import InvalidInput
from mycel.surfaces.vault.agreement import Agreed
from mycel.surfaces.vault.files import VaultFiles, digest
from mycel.surfaces.vault.front_matter import Note, read_note
from mycel.surfaces.vault.names import folder_of, is_hidden, is_note, joined
from mycel.surfaces.vault.note_fields import CONFLICT_OF, id_in

IS_EMPTY = "is empty; delete the file to delete the memory"
UNMERGED = "holds both sides of a conflict of git: settle it first"
_MERGE = tuple(re.compile(sign, re.MULTILINE) for sign in (r"^<{7} ", r"^={7}\r?$", r"^>{7} "))
# No memory is so long; what is, is not read.
MAX_FILE_BYTES = 1024 * 1024
# An editor that empties a file and fills it again, or writes another and renames it, has done so by then.
SETTLE_SECONDS = 0.25
MOST_LOOKS = 12

# Whether to look again; what is decided is decided by contents alone.
Signature = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class LocalNote:
    """One file. Without a `text` it cannot be read, and `problem` says why: nothing is concluded from it."""

    file: str
    sha256: str
    text: str | None = None
    problem: str | None = None
    id: str | None = None
    is_conflict_copy: bool = False

    @property
    def note(self) -> Note:
        """Taken apart when it is asked for: of most notes nobody asks."""
        if self.text is None:
            raise InvalidInput("cannot be read", field="note")
        return read_note(self.text)


@dataclass(slots=True)
class Scan:
    notes: dict[str, LocalNote] = field(default_factory=dict[str, LocalNote])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])
    # What is there but not to be had: names of files and folders.
    unseen: dict[str, str] = field(default_factory=dict[str, str])
    folders: set[str] = field(default_factory=set[str])

    def hides(self, file: str) -> bool:
        """Whether a file that was not found may be there all the same."""
        parts = file.split("/")
        return any("/".join(parts[:end]) in self.unseen for end in range(1, len(parts) + 1)) or "" in self.unseen


class Scanner:
    """Reads again only what changed since it last looked."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files
        # By files: what both sides agreed on needs no reading again.
        self.agreed: Mapping[str, Agreed] = {}
        self._read: dict[str, tuple[Signature, LocalNote]] = {}

    def signatures(self) -> Scan:
        scan = Scan()
        for file, signature in self._walk("", scan):
            scan.signatures[file] = signature
        return scan

    def scan(self, progress: Callable[[int], None] | None = None) -> Scan:
        scan = self.signatures()
        for number, (file, signature) in enumerate(scan.signatures.items(), 1):
            known = self._read.get(file)
            note = known[1] if known is not None and known[0] == signature else self._look(file, signature)
            self._read[file] = (signature, note)
            scan.notes[file] = note
            if progress is not None:
                progress(number)
        self._read = {file: self._read[file] for file in scan.signatures}
        return scan

    def settled(
        self,
        is_news: Callable[[Scan], bool],
        progress: Callable[[int], None] | None = None,
        pause: float = SETTLE_SECONDS,
    ) -> Scan:
        """A look at which nobody was writing; what is never at rest is left for later, as if it were not to be had."""
        scan = self.scan(progress)
        restless: set[str] = set()
        for _ in range(MOST_LOOKS):
            if not is_news(scan):
                return scan
            time.sleep(pause)
            again = self.scan()
            restless = {file for file, _ in scan.signatures.items() ^ again.signatures.items()}
            scan = again
            if not restless:
                return scan
        for file in restless:
            scan.notes.pop(file, None)
            scan.unseen[file] = "somebody is still writing it"
        return scan

    def _walk(self, top: str, scan: Scan) -> Iterator[tuple[str, Signature]]:
        """A folder where its name stands among the files; folders may be nested deeper than calls may."""
        under_way = [self._entries(top, scan)]
        while under_way:
            found = next(under_way[-1], None)
            if found is None:
                under_way.pop()
                continue
            name, entry = found
            if entry.name.startswith(".") and entry.name.endswith(".icloud"):
                scan.unseen[joined(folder_of(name), entry.name[1 : -len(".icloud")])] = "is in the cloud alone"
            elif is_hidden(entry.name):
                continue
            elif not _is_text(entry.name):
                scan.unseen[name] = "has a name that is not Unicode"
            elif entry.is_symlink():
                if is_note(entry.name) or entry.is_dir():
                    scan.unseen[name] = "is a link, which is not followed"
            elif entry.is_dir(follow_symlinks=False):
                scan.folders.add(name)
                under_way.append(self._entries(name, scan))
            elif is_note(entry.name) and (signature := _signed(name, entry, scan)) is not None:
                yield name, signature

    def _entries(self, folder: str, scan: Scan) -> Iterator[tuple[str, os.DirEntry[str]]]:
        try:
            with os.scandir(self._files.root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            scan.unseen[folder] = f"cannot be read: {error.strerror}"
            entries = []
        return iter([(joined(folder, entry.name), entry) for entry in entries])

    def _look(self, file: str, signature: Signature) -> LocalNote:
        if signature[0] > MAX_FILE_BYTES:
            return LocalNote(file, "", problem="is too large for a memory")
        try:
            content = self._files.read(file)
            known = self.agreed.get(file)
            if known is not None and known.sha256 == digest(content):
                return LocalNote(file, known.sha256, content.decode(), None, known.id)
            if not content.strip():
                return LocalNote(file, digest(content), problem=IS_EMPTY)
            # Also where the signs of the conflict stand in the front matter.
            if _is_unmerged(content.decode("utf-8", "replace")):
                return LocalNote(file, digest(content), problem=UNMERGED)
            return local_note(file, content)
        except InvalidInput as error:
            return LocalNote(file, "", problem=str(error))
        except OSError as error:
            return LocalNote(file, "", problem=f"cannot be read: {error.strerror}")


def _is_unmerged(text: str) -> bool:
    """Whether git has left both sides of a conflict in it; what stands there as code only shows how that looks."""
    place = 0
    for sign in _MERGE:
        found = sign.search(text, place)
        if found is None or (not place and is_inside(found.start(), fenced_blocks(text))):
            return False
        place = found.end()
    return True


def local_note(file: str, content: bytes) -> LocalNote:
    """Raises `InvalidInput` for what is no text, or whose front matter cannot be read."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InvalidInput("is not UTF-8 text", field="note") from None
    note = read_note(text)
    return LocalNote(file, digest(content), text, None, id_in(note), CONFLICT_OF in note.spans)


def _signed(name: str, entry: os.DirEntry[str], scan: Scan) -> Signature | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        scan.unseen[name] = f"cannot be read: {error.strerror}"
        return None
    if not stat.S_ISREG(found.st_mode):
        scan.unseen[name] = "is no plain file"
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
