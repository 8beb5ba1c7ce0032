"""One round of a vault: look at both sides, refuse what looks like an accident, do the rest, say what was done."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mycel.contracts.memory_api import MemoryApi
from mycel.errors import Conflict, InvalidInput, InvalidState, Misconfigured, NotFound, Unavailable
from mycel.surfaces.vault.agreement import FILE, FOLDER, LOCK, Agreement, KnownVaults, require_own
from mycel.surfaces.vault.compare import Reconcile, SaveNote
from mycel.surfaces.vault.files import VaultFiles
from mycel.surfaces.vault.names import folder_for, free_file
from mycel.surfaces.vault.note_fields import Fields
from mycel.surfaces.vault.perform import KINDS, Done, Performer
from mycel.surfaces.vault.plan import BringBack, CreateNote, DeleteMemory, Forget, Plan, Problem, plan
from mycel.surfaces.vault.scan import SETTLE_SECONDS, Scan, Scanner, Signature
from mycel.surfaces.vault.team_view import TeamView

# Of all notes: more than that is a disk that is away or a slip, not an edit. One may always go.
MOST_GONE = 0.1
# A folder of somebody's own notes is not handed to a team by a slip.
MOST_TAKEN_IN = 20
# Somebody may be faster than a round, but not for ever.
MOST_ROUNDS = 5

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What would otherwise end a round: many deletions on either side, and many files that were never in a vault."""

    deletions: bool = False
    taking_in: bool = False


@dataclass(frozen=True, slots=True)
class VaultReport:
    """What a round did, or what stands before one: files by what became of them."""

    directory: str
    team: str
    member: str
    notes: int
    saved: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_agreed(self) -> bool:
        """Whether nothing was to be done."""
        return not any(getattr(self, kind) for kind in KINDS)


class Vault:
    """A folder and a member's memory. One sync or watch of a folder runs at a time."""

    def __init__(self, root: Path, memory: MemoryApi, *, known: KnownVaults, settle: float = SETTLE_SECONDS) -> None:
        self.root = root.absolute()
        self._memory = memory
        self._known = known
        self._pause = settle
        self._files = VaultFiles(self.root)
        self.scanner = Scanner(self._files)
        self.view = TeamView(memory)
        self._agreement: Agreement | None = None
        self._is_read = False

    @contextmanager
    def opened(self, *, anew: bool = False) -> Generator[None]:
        """Raises `NotFound`, `Misconfigured` or `Conflict` where nothing may be touched.

        With `anew` what was agreed on is given up: nothing is deleted, and where both sides differ both are kept.
        """
        from filelock import FileLock, Timeout

        if anew:
            self._known.forget(self.root)
        self._require_root()
        require_own(self.root)
        lock = FileLock(self.root / FOLDER / LOCK)
        try:
            (self.root / FOLDER).mkdir(mode=0o700, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            raise Conflict(f"another sync or watch of {self.root} is running: end it first") from None
        except OSError as error:
            raise Unavailable(f"the vault {self.root} cannot be written: {error.strerror}") from None
        try:
            self._agreement = self._begun_anew() if anew else self._agreed()
            self._known.remember(self.root)
            self._files.prepare()
            self._files.close_to_others(one.file for one in self._agreement.notes.values())
            yield
        finally:
            self._agreement = None
            lock.release()

    @property
    def agreement(self) -> Agreement:
        if self._agreement is None:
            raise InvalidState("is not open", field="vault")
        return self._agreement

    def sync(self, allowed: Allowed, progress: Progress | None = None) -> VaultReport:
        """Until both sides agree."""
        total = Done()
        for _ in range(MOST_ROUNDS):
            done = self.round(allowed, progress)
            _add(total, done)
            if not done.again:
                break
            self._is_read = False
        return self._report(total)

    def round(self, allowed: Allowed, progress: Progress | None = None) -> Done:
        agreement = self.agreement
        self._require_root()
        scan = self._settled(progress)
        self._read_team(progress)
        made = plan(agreement, scan, self.view.notes)
        _require_sane(made, len(agreement.notes), allowed)
        _require_later(made, self.view, allowed)
        performer = Performer(self._memory, self._files, agreement, self.view, made, scan)
        done = performer.perform(_counter(progress, "notes", len(made.steps)))
        if not done.is_nothing:
            # Alone it is not worth a write: what came after it is read again.
            agreement.reach(self.view.cursor)
        agreement.drop_gone()
        return done

    def look(self) -> dict[str, Signature]:
        """Whether to look closer; nothing is decided by it."""
        self._require_root()
        return self.scanner.signatures().signatures

    def known_fields(self) -> dict[str, Fields]:
        return {id: one.fields for id, one in self.agreement.notes.items()}

    def read_anew(self) -> None:
        """The next round asks for every memory again."""
        self._is_read = False

    def _read_team(self, progress: Progress | None) -> None:
        if not self._is_read:
            report = _counter(progress, "memories")
            self.view.read(self.known_fields(), cursor=self.agreement.cursor, progress=report)
            self._is_read = True

    def _settled(self, progress: Progress | None) -> Scan:
        agreed = self.agreement.notes
        self.scanner.agreed = {one.file: one for one in agreed.values()}
        files = {one.file: one.sha256 for one in agreed.values()}

        def is_news(scan: Scan) -> bool:
            found = {file: one.sha256 for file, one in scan.notes.items() if not one.is_conflict_copy}
            return found != files

        return self.scanner.settled(is_news, _counter(progress, "files"), self._pause)

    def _require_root(self) -> None:
        if self.root.is_dir():
            was_one = self._agreement is not None or self._known.knows(self.root)
            if was_one and not (self.root / FOLDER).is_dir():
                raise NotFound(
                    f"{self.root} was a vault and has no folder {FOLDER} now: is its disk there? Nothing was changed. "
                    f"`mycel vault sync --begin-anew {self.root}` makes it a new one"
                )
            return
        if self._agreement is not None or self._known.knows(self.root):
            raise NotFound(f"the vault {self.root} is gone: is its disk there? Nothing was changed")
        if self.root.exists() or not self.root.parent.is_dir():
            raise InvalidInput(f"{self.root} is no folder, and none can be made there", field="dir")
        self.root.mkdir(mode=0o700)

    def _agreed(self) -> Agreement:
        is_new = not self._known.knows(self.root) and not (self.root / FOLDER / FILE).exists()
        found = None if is_new else Agreement.read(self.root)
        if found is None:
            found = Agreement.create(self.root, team=self._memory.team, member=self._memory.member_id)
        found.require(team=self._memory.team, member=self._memory.member_id)
        return found

    def _begun_anew(self) -> Agreement:
        team, member = self._memory.team, self._memory.member_id
        was_one = (self.root / FOLDER / FILE).exists()
        with suppress(Misconfigured):
            if was_one and (found := Agreement.read(self.root)) is not None:
                found.require(team=team, member=member)
        return Agreement.create(self.root, team=team, member=member, anew=was_one)

    def _report(self, done: Done) -> VaultReport:
        found = {name: tuple(getattr(done, name)) for name in KINDS}
        whose = (str(self.root), self._memory.team, self._memory.member_id)
        return VaultReport(*whose, len(self.agreement.notes), **found, problems=tuple(dict.fromkeys(done.problems)))


def status(root: Path, memory: MemoryApi) -> VaultReport:
    """What a sync would do now, and what it could not; nothing is touched."""
    found = Agreement.read(root)
    if found is None:
        raise NotFound(f"{root} is no vault: `mycel vault sync {root}` makes it one")
    found.require(team=memory.team, member=memory.member_id)
    view = TeamView(memory)
    view.read({id: one.fields for id, one in found.notes.items()}, cursor=found.cursor)
    scan = Scanner(VaultFiles(root)).scan()
    made = plan(found, scan, view.notes)
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for step in made.steps:
        if isinstance(step, CreateNote) and step.id not in found.notes:
            new = view.notes[step.id].memory
            kinds["written"].append(free_file(folder_for(new.path, made.places.folders), new.title, new.id, taken=()))
        else:
            _sort_in(kinds, step, found)
    kinds["conflicts"] += made.conflict_copies
    counted = {kind: tuple(files) for kind, files in kinds.items()}
    whose = (str(root), memory.team, memory.member_id)
    problems = [*_accident(made, found, view), *made.problems]
    return VaultReport(*whose, len(found.notes), **counted, problems=tuple(problems))


def _accident(made: Plan, agreement: Agreement, view: TeamView) -> list[Problem]:
    """Why a sync would stop before it did any of it."""
    try:
        _require_sane(made, len(agreement.notes), Allowed())
        _require_later(made, view, Allowed())
    except Conflict as error:
        return [Problem("all of it", str(error))]
    return []


def _sort_in(kinds: dict[str, list[str]], step: object, agreement: Agreement) -> None:
    if isinstance(step, SaveNote):
        kinds["saved"].append(step.note.file)
    elif isinstance(step, Reconcile):
        kind = "conflicts" if step.conflicts else "updated" if step.pushes else "written"
        kinds[kind].append(step.note.file)
    elif isinstance(step, CreateNote):
        kinds["written"].append(agreement.notes[step.id].file)
    elif isinstance(step, DeleteMemory):
        kinds["deleted"].append(step.file)
    elif isinstance(step, BringBack):
        kinds["restored"].append(step.note.file)
    elif not isinstance(step, Forget):
        kinds["removed"].append(step.note.file)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]


def _require_sane(made: Plan, notes: int, allowed: Allowed) -> None:
    most = max(1, int(notes * MOST_GONE))
    if made.missing > most and not allowed.deletions:
        raise Conflict(
            f"{made.missing} of {notes} notes are gone from the folder: nothing was changed. If they were deleted on "
            "purpose, `mycel vault sync --allow-deletions` deletes their memories"
        )
    if len(made.gone) > most and not allowed.deletions:
        raise Conflict(
            f"{len(made.gone)} of {notes} memories are gone or out of sight: nothing was changed. If that is right, "
            "`mycel vault sync --allow-deletions` removes their notes"
        )
    new = sum(isinstance(step, SaveNote) for step in made.steps)
    if not notes and new > MOST_TAKEN_IN and not allowed.taking_in:
        raise Conflict(
            f"there are {new} notes in this folder that no memory knows: nothing was changed. "
            "`mycel vault sync --take-in` saves them all, for the whole team to read"
        )


def _require_later(made: Plan, view: TeamView, allowed: Allowed) -> None:
    """What was written after a backup stands in the notes alone, once that was restored."""
    others = [*made.with_other_past, *(one.file for one in made.passed if view.has_other_past(one))]
    if others:
        raise Conflict(
            f"{len(others)} memories have another past than at the last sync: was a backup restored? Nothing was "
            "changed. `mycel vault sync --begin-anew` keeps what the notes say beside what the memories say. Such as: "
            f"{', '.join(others[:3])}"
        )
    unknown = set[str]() if allowed.deletions else view.never_told_of(made.gone)
    if unknown:
        raise Conflict(
            f"{len(unknown)} memories are gone, and nobody took them away: was a backup restored, or may you see less "
            "than before? Nothing was changed. `mycel vault sync --begin-anew` keeps their notes, `--allow-deletions` "
            "removes them"
        )


def _counter(progress: Progress | None, part: str, whole: int = 0) -> Callable[[int], None] | None:
    if progress is None:
        return None

    def count(number: int) -> None:
        progress(part, number, max(number, whole))

    return count


def _add(total: Done, done: Done) -> None:
    for name in KINDS:
        getattr(total, name).extend(getattr(done, name))
    total.problems = done.problems
    total.again = done.again
