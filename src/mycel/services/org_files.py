"""Reads `org/teams/*.md`: one team per file, described in its front matter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from mycel.domain import fields
from mycel.domain.team import EXECUTIVE, Kind, Role
from mycel.errors import InvalidInput
from mycel.services.front_matter import read_front_matter
from mycel.services.organisation import PlannedMember, PlannedTeam, read_member_id, read_team_name

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
    teams = [_read_team(file) for file in files]
    _require_unique([team.name for team in teams], what="team")
    _require_unique([member.id for team in teams for member in team.members], what="member")
    return teams


def _read_team(file: Path) -> PlannedTeam:
    try:
        found = read_front_matter(file.read_text("utf-8"))
        name = read_team_name(found.get("team", file.stem))
        above = None if name == EXECUTIVE else EXECUTIVE
        parent = found.get("parent")
        listed = cast(object, found.get("members") or [])
        if not isinstance(listed, list):
            raise InvalidInput("must be a list", field="members")
        return PlannedTeam(
            name=name,
            parent=above if parent is None else read_team_name(parent, field="parent"),
            members=tuple(_read_member(entry) for entry in cast(list[object], listed)),
        )
    except UnicodeDecodeError:
        raise InvalidInput("is not UTF-8 text", field=file.name) from None
    except InvalidInput as error:
        raise InvalidInput(str(error), field=file.name) from None


def _read_member(entry: object) -> PlannedMember:
    if isinstance(entry, str):
        entry = {"id": entry}
    if not isinstance(entry, Mapping):
        raise InvalidInput("each must be an id, or an object with id, kind and role", field="members")
    given = cast(Mapping[str, object], entry)
    kind = fields.choice(given.get("kind", Kind.AGENT), Kind, field="members.kind")
    usual = Role.MEMBER if kind is Kind.HUMAN else Role.AGENT
    return PlannedMember(
        id=read_member_id(given.get("id"), field="members.id"),
        role=fields.choice(given.get("role", usual), Role, field="members.role"),
        kind=kind,
    )


def _require_unique(names: list[str], *, what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput(f"{what} {name} is in more than one place", field=f"{what}s")
        seen.add(name)
