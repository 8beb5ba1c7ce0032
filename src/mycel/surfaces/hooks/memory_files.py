"""Which files that an agent writes are memories, and by which name the service knows them. Most are not."""

from __future__ import annotations

from pathlib import Path

from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.hook_event import Happening
from mycel.surfaces.hooks.place import Place

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
