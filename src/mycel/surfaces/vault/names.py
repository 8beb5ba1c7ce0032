"""Names of files and folders: readable, the same on every file system, and never two for one place.

A name is compared as the strictest file system does: without case and in one Unicode form.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping

from mycel.domain.draft import MAX_TITLE
from mycel.domain.fields import one_line

SUFFIX = ".md"
# Of one name. File systems take 255 bytes, and something may still be added.
MAX_NAME_BYTES = 150
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{one}" for one in "0123456789¹²³"), *(f"lpt{one}" for one in "0123456789¹²³")}
)
# No file system but one takes the first; the others mean something inside a wiki link.
_FORBIDDEN = re.compile(r'[\\/:*?"<>|\[\]#^\x00-\x1f\x7f]')
_ESCAPED = re.compile(r"%([0-9A-F]{2})")


def folded(name: str) -> str:
    """Equal for two names of which some file system keeps only one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_hidden(name: str) -> bool:
    """Such as the folders of git and Obsidian."""
    return name.startswith(".")


def is_note(name: str) -> bool:
    """What editors, browsers and sync programs have not finished ends otherwise (`~`, `.swp`, `.tmp`), or is hidden."""
    return name[-len(SUFFIX) :].lower() == SUFFIX and not name.startswith((".", "~$"))


def stem_of(file: str) -> str:
    """In the one Unicode form, whichever a file system keeps."""
    return unicodedata.normalize("NFC", file.rpartition("/")[2][: -len(SUFFIX)])


def folder_of(file: str) -> str:
    return file.rpartition("/")[0]


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def natural_stem(title: str, id: str) -> str:
    """What a note of this title is called where nothing else is."""
    words = unicodedata.normalize("NFC", one_line(_FORBIDDEN.sub(" ", title)))
    stem = _cut(" ".join(words[:MAX_TITLE].split())).strip(". ~")
    # "%" begins an escape in folders; in notes it is an ordinary sign.
    if not is_note(stem + SUFFIX) or not stem:
        return f"note {_mark(id)}"
    return f"{stem} {_mark(id)}" if folded(stem).split(".")[0].strip() in _RESERVED else stem


def free_file(folder: str, title: str, id: str, *, taken: Iterable[str] | Mapping[str, object]) -> str:
    """A file for a new note; `taken` are folded names of files."""
    stem = natural_stem(title, id)
    for name in (stem, f"{stem} ({_mark(id)})", f"{stem} ({id})"):
        file = joined(folder, name + SUFFIX)
        if folded(file) not in taken:
            return file
    raise AssertionError("an id names one note")


def folder_for(path: str, known: Mapping[str, str]) -> str:
    """The folder of a logical path; `known` are folders by what they are folded, with their logical paths."""
    folder = logical = ""
    for part in path.split("/")[1:]:
        if not part:
            break
        logical = f"{logical}/{part}"
        name = _folder_name(part)
        if known.get(folded(joined(folder, name)), logical) != logical:
            name = _twin(name, logical)
        folder = joined(folder, name)
    return folder


def is_folder_of(folder: str, path: str) -> bool:
    """Whether this folder could have been made for this path, whatever other paths there were."""
    names = folder.split("/") if folder else []
    parts = [part for part in path.split("/") if part]
    logical = ""
    for name, part in zip(names, parts, strict=False):
        logical = f"{logical}/{part}"
        plain = _folder_name(part)
        if folded(name) not in {folded(plain), folded(_twin(plain, logical))}:
            return False
    return len(names) == len(parts)


def path_for(folder: str, known: Mapping[str, str]) -> str:
    """The logical path of a folder that somebody made, or that a memory's path had made."""
    path = place = ""
    folder = unicodedata.normalize("NFC", folder)
    for name in folder.split("/") if folder else ():
        place = joined(place, name)
        path = known.get(folded(place)) or f"{path}/{_ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)}"
    return path or "/"


def known_folders(paths: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Folders, folded, with their logical paths, from files and the paths of their memories."""
    known: dict[str, str] = {}
    for place in {(folder_of(file), path): None for file, path in paths}:
        folder, logical = place
        while folder and logical != "/":
            known.setdefault(folded(folder), logical)
            folder, logical = folder_of(folder), logical.rpartition("/")[0] or "/"
    return known


def _folder_name(part: str) -> str:
    """Reversible, but for what is too long."""
    part = unicodedata.normalize("NFC", part)
    escaped = "".join(_escape(one) if one in '\\/:*?"<>|%' else one for one in part)
    if is_hidden(escaped) or folded(escaped).split(".")[0].strip() in _RESERVED:
        escaped = _escape(escaped[0]) + escaped[1:]
    if escaped[-1] in ". ~":
        escaped = escaped[:-1] + _escape(escaped[-1])
    return escaped if len(escaped.encode()) <= MAX_NAME_BYTES else f"{_cut(escaped)} ~{_digest(part)}"


def _twin(name: str, logical: str) -> str:
    return f"{_cut(name)} ~{_digest(logical)}"


def _escape(character: str) -> str:
    return f"%{ord(character):02X}" if ord(character) < 0x80 else character


def _cut(name: str) -> str:
    return name.encode()[: MAX_NAME_BYTES - 20].decode("utf-8", "ignore").rstrip()


def _mark(id: str) -> str:
    # The end of an id is what tells two of the same moment apart.
    return id[-6:]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
