"""Where a hook runs: the project of a folder, and which files that an agent writes are memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.hook_event import Happening

FILE_NAME = ".mycel.toml"
# What the service keeps of a name.
MOST_OF_NAME = 200
_MOST_BYTES = 256 * 1024


class Place(NamedTuple):
    """All worktrees of one repository have one `repo`; `root` is that of the worktree, or the folder itself."""

    root: Path
    repo: str | None = None
    project: str | None = None
    hooks: bool = True
    memory_folders: tuple[Path, ...] = ()

    def belongings(self) -> dict[str, str]:
        """As fields of a request."""
        named = {"project": self.project, "repo": self.repo}
        return {name: value for name, value in named.items() if value}


def find_place(folder: Path) -> Place:
    root, git_dir = _find_repository(folder)
    repo = None if git_dir is None else _name(git_dir)
    told = _read_toml(root / FILE_NAME)
    project = _plain_name(told.get("project")) or repo
    return Place(root, repo, project, told.get("hooks") is not False, tuple(_folders(root, told)))


def _find_repository(folder: Path) -> tuple[Path, Path | None]:
    """The root of the worktree, and the git directory that all worktrees share."""
    for root in (folder, *folder.parents):
        marker = root / ".git"
        if marker.is_dir():
            return root, marker
        if marker.is_file():
            git_dir = _resolved(root, _read(marker).removeprefix("gitdir:").strip())
            shared = _read(git_dir / "commondir").strip()
            return root, _resolved(git_dir, shared) if shared else git_dir
    return folder, None


def _resolved(folder: Path, relative: str) -> Path:
    return (folder / relative).resolve()


def _name(git_dir: Path) -> str | None:
    """The last part of the address of `origin`, or the name of the folder that holds the main worktree."""
    found = _origin(_read(git_dir / "config"))
    if found is None:
        found = (git_dir.parent if git_dir.name == ".git" else git_dir).name
    return _plain_name(found.rstrip("/").replace("\\", "/").replace(":", "/").rpartition("/")[2].removesuffix(".git"))


def _origin(config: str) -> str | None:
    section = ""
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section.replace(" ", "").lower() == '[remote"origin"]':
            name, _, value = text.partition("=")
            if name.strip().lower() == "url" and value.strip():
                return value.strip().strip('"')
    return None


def _plain_name(value: object) -> str | None:
    """What the service takes as the name of a project or repo; None for anything else."""
    if not isinstance(value, str):
        return None
    found = "".join(sign for sign in value if sign.isprintable() and sign not in "/\\").strip()[:MOST_OF_NAME]
    return None if found in {"", ".", ".."} else found


def _folders(root: Path, told: dict[str, Any]) -> list[Path]:
    """Only below the root: the file comes with the repository, and must not have others' files read."""
    listed = told.get("memory_folders")
    given = cast("list[object]", listed) if isinstance(listed, list) else []
    found = [(root / one).resolve() for one in given if isinstance(one, str) and one.strip()]
    return [folder for folder in found if folder.is_relative_to(root.resolve())]


def _read_toml(path: Path) -> dict[str, Any]:
    """A file that cannot be understood may have said `hooks = false`: then nothing is done here."""
    if not path.is_file():
        return {}
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {"hooks": False}


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


_PRIVATE = "private"


def memory_files(happened: Happening, place: Place, settings: HookSettings) -> list[tuple[Path, dict[str, str]]]:
    """Each with the fields it is indexed by; worktrees, and homes of one user, give a file the same name."""
    found = [(file, _fields(file.resolve(), place, settings)) for file in happened.files]
    return [(file, named) for file, named in found if named]


def _fields(file: Path, place: Place, settings: HookSettings) -> dict[str, str]:
    for folder in place.memory_folders:
        if file.is_relative_to(folder):
            inside = file.relative_to(place.root.resolve()).as_posix()
            return {"path": f"{place.repo or place.root.name}/{inside}"}
    if file.is_relative_to(Path(settings.shared_memory_folder).resolve()):
        return {"path": str(file)}
    if file.is_relative_to(Path(settings.personal_memory_folder).resolve()):
        return {"path": str(file), "visibility": _PRIVATE}
    projects = (settings.home / ".claude/projects").resolve()
    if file.is_relative_to(projects) and file.relative_to(projects).parts[1:2] == ("memory",):
        # What the agent notes for itself and its user; sharing it is their decision.
        return {"path": f"~/.claude/projects/{file.relative_to(projects).as_posix()}", "visibility": _PRIVATE}
    return {}
