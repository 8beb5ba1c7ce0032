"""Which file each note has in a mount, and what lies in which folder: names alone, no text and no request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mycel.domain.draft import first_sentence
from mycel.surfaces.vault.compare import Places
from mycel.surfaces.vault.names import folded, folder_for, folder_of, free_file, joined, known_folders
from mycel.surfaces.vault.note_fields import Remote
from mycel.surfaces.vault.wiki_links import NoteNames

SEARCH, RECENT = "search", "recent"
# No path is called so: a memory's folder of that name gets another one.
_NOBODYS = "\0"


class NoteTree:
    def __init__(self) -> None:
        self.file_of: dict[str, str] = {}
        self.id_at: dict[str, str] = {}
        # The path and title that gave a note its name.
        self._named: dict[str, tuple[str, str]] = {}
        self._taken: set[str] = set()
        self._folders: dict[str, str] = {SEARCH: _NOBODYS, RECENT: _NOBODYS}
        # Of each folder its entries, in the order they came; the value says whether it is a folder.
        self._entries: dict[str, dict[str, bool]] = {"": {}}
        # Folders that somebody made or emptied: they stay without a note.
        self._kept: set[str] = set()
        self._names: NoteNames | None = None

    @property
    def places(self) -> Places:
        if self._names is None:
            self._names = NoteNames(dict(self.file_of), {})
        return Places(self._names, self._folders)

    def place(self, remote: Remote) -> None:
        """Gives a note a file, or another one when its memory was moved or somebody gave it a title.

        A title that follows from the text renames nothing: the file would move away under its reader's hands.
        """
        memory = remote.memory
        wanted = (memory.path, memory.title)
        named = self._named.get(memory.id)
        if named is not None:
            if named == wanted:
                return
            if named[0] == wanted[0] and memory.title == first_sentence(memory.content):
                self._named[memory.id] = wanted
                return
            self.drop(memory.id)
        folder = folder_for(memory.path, self._folders)
        self.bind(remote, free_file(folder, memory.title, memory.id, taken=self._taken))

    def bind(self, remote: Remote, file: str) -> None:
        """Says that this is the note's file, wherever it was before."""
        memory = remote.memory
        if self.file_of.get(memory.id) != file:
            self.drop(memory.id)
            self.file_of[memory.id] = file
            self.id_at[file] = memory.id
            self._taken.add(folded(file))
            self._names = None
        self._named[memory.id] = (memory.path, memory.title)
        for folder, path in known_folders([(file, memory.path)]).items():
            self._folders.setdefault(folder, path)
        self.add(file)

    def drop(self, id: str, *, keep_folder: bool = False) -> None:
        file = self.file_of.pop(id, None)
        if file is not None:
            del self.id_at[file]
            del self._named[id]
            self._taken.discard(folded(file))
            self._names = None
            self.remove(file, keep_folder=keep_folder)

    def add(self, file: str) -> None:
        """An entry, and the folders on the way to it."""
        name, folder, is_folder = file.rpartition("/")[2], folder_of(file), False
        while name not in self._entries.setdefault(folder, {}):
            self._entries[folder][name] = is_folder
            if not folder:
                break
            name, folder, is_folder = folder.rpartition("/")[2], folder_of(folder), True

    def remove(self, file: str, *, keep_folder: bool = False) -> None:
        """And the folders that only it had kept."""
        folder = folder_of(file)
        self._entries.get(folder, {}).pop(file.rpartition("/")[2], None)
        if keep_folder and folder:
            self._kept.add(folder)
        while folder and not self._entries.get(folder) and folder not in self._kept:
            self._entries.pop(folder, None)
            parent = folder_of(folder)
            self._entries[parent].pop(folder.rpartition("/")[2], None)
            folder = parent

    def make_folder(self, folder: str) -> None:
        self._kept.add(folder)
        self._entries.setdefault(folder, {})
        self._entries[folder_of(folder)][folder.rpartition("/")[2]] = True

    def remove_folder(self, folder: str) -> None:
        """One that is empty."""
        self._kept.discard(folder)
        self._entries.pop(folder, None)
        self._entries[folder_of(folder)].pop(folder.rpartition("/")[2], None)

    def is_folder(self, name: str) -> bool:
        return name in self._entries

    def entries(self, folder: str) -> list[str]:
        return list(self._entries[folder])

    def folders_below(self, folder: str) -> list[str]:
        """With the folder itself, the deepest last."""
        return sorted(name for name in self._entries if name == folder or name.startswith(f"{folder}/"))

    def files_below(self, folder: str) -> Iterator[str]:
        for one in self.folders_below(folder):
            yield from [joined(one, name) for name, is_folder in self._entries[one].items() if not is_folder]


def listed(ids: Iterable[str], tree: NoteTree, *, ranked: bool) -> dict[str, str]:
    """Names for notes in a folder of their own, by id: the best first, as `ls` sorts them."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for number, id in enumerate((id for id in ids if id in tree.file_of), 1):
        stem = tree.file_of[id].rpartition("/")[2].removesuffix(".md")
        name = free_file("", f"{number:02} {stem}" if ranked else stem, id, taken=taken)
        taken.add(folded(name))
        found[name] = id
    return found
