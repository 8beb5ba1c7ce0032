"""Reads `org/teams/*.md`: one team per file, described in its front matter."""

from __future__ import annotations

from pathlib import Path

from mycel.domain.team import PlannedTeam
from mycel.errors import InvalidInput
from mycel.services.front_matter import read_front_matter
from mycel.services.planning import read_plan, read_planned_team

MAX_FILES = 10_000


def read_org(path: Path) -> list[PlannedTeam]:
    """From a folder of team files, or from an organisation folder with `teams/` in it."""
    folder = path / "teams" if (path / "teams").is_dir() else path
    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {path}", field="path")
    files = sorted(file for file in folder.glob("*.md") if file.is_file() and not file.is_symlink())
    if not files:
        raise InvalidInput(f"there is no team file (*.md) in {folder}", field="path")
    if len(files) > MAX_FILES:
        raise InvalidInput(f"holds more than {MAX_FILES:,} team files", field="path")
    return read_plan(_read_team(file) for file in files)


def _read_team(file: Path) -> PlannedTeam:
    try:
        return read_planned_team({"team": file.stem, **read_front_matter(file.read_text("utf-8"))})
    except UnicodeDecodeError:
        raise InvalidInput("is not UTF-8 text", field=file.name) from None
    except InvalidInput as error:
        raise InvalidInput(str(error), field=file.name) from None
