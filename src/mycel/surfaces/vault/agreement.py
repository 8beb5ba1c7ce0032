"""What both sides last agreed on: a log beside the notes, of contents and versions, never of times.

Each line is whole or not there. A log that cannot be read ends the sync: without it nobody can tell what was deleted.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, cast

from mycel.domain.ids import new_id
from mycel.durable_file import replace_file, sync_folder
from mycel.errors import AccessDenied, Misconfigured

FOLDER = ".mycel"
FILE, LOCK, IGNORED = "agreement.jsonl", "lock", ".gitignore"
OWN_FILES = (FILE, LOCK, IGNORED)
UNFINISHED = "unfinished"
FORMAT = 1
_HEADER = ("vault", "format", "team", "member")
_MAY_SAY = {"anew"}
# A log that is mostly past is written anew.
MOST_PAST_LINES = 2000


@dataclass(frozen=True, slots=True)
class Agreed:
    """One note and its memory as they were when they were last the same.

    `sha256` is of the file's bytes, `text` of what its body says, `fields` what front matter and folder say.
    """

    id: str
    file: str
    sha256: str
    version: int
    # When that version was written, by the clock of the team's store.
    at: str
    text: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Intent:
    """A new note that is about to be saved: who comes again after a crash says the same key, and saves it once."""

    file: str
    sha256: str
    key: str


class Agreement:
    """Opened by one sync at a time."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._path = path
        self._header = header
        self._lines = 0
        self.notes: dict[str, Agreed] = {}
        self.intents: dict[tuple[str, str], Intent] = {}
        # Memories that went with their notes: whoever puts such a note back wants its memory back.
        self.deleted: set[str] = set()
        # Up to which change the links of all notes are known.
        self.cursor = 0
        # A memory that was purged leaves no word behind, its title neither.
        self._tells_of_gone = False

    @property
    def vault(self) -> str:
        return str(self._header["vault"])

    @property
    def trusts_versions(self) -> bool:
        """Whether a note that is not agreed on may say of which version it is.

        Not where an agreement was given up: that is done after a backup was restored, and there another text may have
        the same number.
        """
        return not self._header.get("anew", False)

    @classmethod
    def create(cls, root: Path, *, team: str, member: str, anew: bool = False) -> Self:
        """With `anew` in place of one that was given up."""
        folder = root / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        # It is about this folder alone: in a clone it would tell of files that are not there.
        (folder / IGNORED).write_bytes(b"*\n")
        header = {"vault": new_id(), "format": FORMAT, "team": team, "member": member}
        made = cls(folder / FILE, header | {"anew": True} if anew else header)
        made.rewrite()
        sync_folder(root)
        return made

    @classmethod
    def read(cls, root: Path) -> Self | None:
        """None where there is none. Raises `Misconfigured` for one that is not to be used."""
        folder = root / FOLDER
        path = folder / FILE
        require_own(root)
        try:
            if not folder.exists():
                return None
            text = path.read_bytes().decode()
            whole, _, _ = text.rpartition("\n")
            lines = cast(list[dict[str, Any]], [json.loads(line) for line in whole.split("\n")])
            header = lines[0]
            if header["format"] != FORMAT:
                raise Misconfigured(f"{path} was written by another version of Mycel: nothing was changed")
            found = cls(path, {name: header[name] for name in (*_HEADER, *(_MAY_SAY & header.keys()))})
            for line in lines[1:]:
                found._take(line)
        except (OSError, ValueError, LookupError, TypeError):
            raise Misconfigured(
                f"{path} cannot be read, so nobody can tell what was deleted: nothing was changed. Put it back; or "
                f"`mycel vault sync --begin-anew {root}` goes on with the notes as they are"
            ) from None
        found._lines = len(lines)
        return found

    def require(self, *, team: str, member: str) -> None:
        if (self._header["team"], self._header["member"]) != (team, member):
            whose = f"{self._header['member']} in team {self._header['team']}"
            raise AccessDenied(f"this vault is of {whose}, not of {member} in team {team}: choose another folder")

    def agree(self, notes: Iterable[Agreed]) -> None:
        """Kept for good when it returns."""
        lines: list[dict[str, Any]] = []
        for one in notes:
            lines.append(_line(one))
            self._take(lines[-1])
        self._append(lines)

    def forget(self, ids: Iterable[str]) -> None:
        """Until it is rewritten the log still tells of it."""
        lines = [{"gone": id} for id in ids if id in self.notes]
        for line in lines:
            self._take(line)
        self._append(lines)

    def delete(self, id: str) -> None:
        """Forgets a note whose memory was deleted with it, but for the id."""
        self._take_and_append({"deleted": id})

    def give_up(self, id: str) -> None:
        """Whoever puts the note of a deleted memory back does not get it back."""
        self._take_and_append({"gone": id})

    def intend(self, notes: Iterable[tuple[str, str]]) -> list[str]:
        """The keys under which to save new notes, by their files and digests."""
        wanted = list(notes)
        new = [Intent(*note, new_id()) for note in dict.fromkeys(wanted) if note not in self.intents]
        lines = [{"intent": asdict(one)} for one in new]
        for line in lines:
            self._take(line)
        self._append(lines)
        return [self.intents[note].key for note in wanted]

    def reach(self, cursor: int) -> None:
        if cursor != self.cursor:
            self.cursor = cursor
            self._append([{"cursor": cursor}])

    def drop_gone(self) -> None:
        """At the end of a round: what is gone is not told of any more."""
        if self._tells_of_gone:
            self.rewrite()

    def rewrite(self) -> None:
        lines = [self._header, *map(_line, self.notes.values()), {"cursor": self.cursor}]
        lines += [{"intent": asdict(one)} for one in self.intents.values()]
        lines += [{"deleted": id} for id in sorted(self.deleted)]
        replace_file(self._path, _encoded(lines), mode=0o600)
        self._lines = len(lines)
        self._tells_of_gone = False

    def _take(self, line: Mapping[str, Any]) -> None:
        if "note" in line:
            note = Agreed(**line["note"])
            self.notes[note.id] = note
            self.deleted.discard(note.id)
            for key in [key for key in self.intents if key[0] == note.file]:
                del self.intents[key]
        elif "gone" in line:
            self.notes.pop(line["gone"], None)
            self.deleted.discard(line["gone"])
            self._tells_of_gone = True
        elif "deleted" in line:
            self._tells_of_gone |= self.notes.pop(line["deleted"], None) is not None
            self.deleted.add(line["deleted"])
        elif "intent" in line:
            intent = Intent(**line["intent"])
            self.intents[intent.file, intent.sha256] = intent
        else:
            self.cursor = int(line["cursor"])

    def _take_and_append(self, line: dict[str, Any]) -> None:
        self._take(line)
        self._append([line])

    def _append(self, lines: list[dict[str, Any]]) -> None:
        if not lines:
            return
        self._lines += len(lines)
        if self._lines > len(self.notes) * 2 + MOST_PAST_LINES:
            self.rewrite()
            return
        with self._path.open("r+b") as file:
            _drop_torn_line(file)
            file.write(_encoded(lines))
            file.flush()
            os.fsync(file.fileno())


def require_own(root: Path) -> None:
    """Raises `Misconfigured` where a link stands in place of what a vault keeps about itself."""
    own = root / FOLDER
    folders = (own, own / UNFINISHED)
    for path in (*folders, *(own / name for name in OWN_FILES)):
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if not (stat.S_ISDIR(mode) if path in folders else stat.S_ISREG(mode)):
                raise Misconfigured(f"{path} is a link or no plain file or folder: nothing was changed")


def _line(one: Agreed) -> dict[str, Any]:
    # As `asdict`, which copies each list and takes as long as all else.
    return {"note": {name: getattr(one, name) for name in Agreed.__slots__}}


def _encoded(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines).encode()


def _drop_torn_line(file: Any) -> None:
    """What a killed process has left of its last line; the place is then right to go on."""
    end = file.seek(0, os.SEEK_END)
    size = min(end, 1 << 20)
    file.seek(end - size)
    tail = file.read(size)
    if not tail.endswith(b"\n"):
        file.truncate(end - size + tail.rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)


class KnownVaults:
    """Where this user's vaults are: a folder that was one and is empty now is a disk that is away, not a new vault."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def knows(self, root: Path) -> bool:
        with suppress(OSError):
            return self._file(root).exists()
        return False

    def forget(self, root: Path) -> None:
        self._file(root).unlink(missing_ok=True)

    def remember(self, root: Path) -> None:
        if not self.knows(root):
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._file(root), f"{root}\n".encode("utf-8", "surrogateescape"), mode=0o600)

    def _file(self, root: Path) -> Path:
        import hashlib

        return self._folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:32]
