"""The plan of an organisation: teams and their members, as files and requests describe them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.fields import MAX_TEAMS
from mycel.domain.team import EXECUTIVE, PlannedMember, PlannedTeam
from mycel.errors import InvalidInput, InvalidState
from mycel.services.organisation import read_member_id, read_role, read_team_name, read_title

MAX_BYTES = 16 * 1024
MAX_DEPTH = 16
FENCE = "---"


def read_front_matter(text: str) -> dict[str, Any]:
    """Return the values of the front matter; an empty mapping when there is none."""
    return load_block(split_front_matter(text)[0])


def split_front_matter(text: str) -> tuple[str, list[str]]:
    """Return the YAML between the fences, and the lines of the whole text with those of the front matter emptied."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        return "", lines
    end = next((index for index, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise InvalidInput("does not end with ---", field="front matter")
    block = "\n".join(lines[1:end])
    if len(block.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InvalidInput(f"is longer than {MAX_BYTES:,} bytes", field="front matter")
    return block, [""] * (end + 1) + lines[end + 1 :]


def load_block(block: str) -> dict[str, Any]:
    # Imported here: few commands read such a file, and every one would pay for it.
    import yaml

    try:
        _refuse_tricks(block)
        found: object = yaml.safe_load(block)
    # The constructors of dates, numbers and booleans raise whatever their parsing stumbles over.
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError):
        raise InvalidInput("is not valid YAML", field="front matter") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInput("must be names and values", field="front matter")
    return cast(dict[str, Any], found)


def _refuse_tricks(block: str) -> None:
    """Aliases expand a small text into gigabytes, and deep nesting exhausts the reader's stack."""
    import yaml

    depth = 0
    events = cast(Iterator[yaml.Event], yaml.parse(block, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidInput("must not use anchors or aliases", field="front matter")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field="front matter")


_TEAM_NAMES = ("name", "team")
_OF_A_TEAM = frozenset({"name", "parent", "members"})
_OF_A_MEMBER = frozenset({"id", "kind", "role", "title"})


def read_plan(teams: Iterable[PlannedTeam]) -> list[PlannedTeam]:
    """Nobody and nothing stands in two places."""
    planned = list(teams)
    _require_unique([team.name for team in planned], what="team")
    _require_unique([member.id for team in planned for member in team.members], what="member")
    return planned


def read_planned_teams(given: object) -> list[PlannedTeam]:
    """As a request gives them: objects with `name`, `parent` and `members`."""
    found: list[PlannedTeam] = []
    for place, entry in enumerate(fields.several(given, field="teams", most=MAX_TEAMS)):
        if not isinstance(entry, Mapping):
            raise InvalidInput("must be an object with name, parent and members", field=f"teams[{place}]")
        team = cast(Mapping[str, object], entry)
        require_known(team, field=f"teams[{place}].")
        try:
            found.append(read_planned_team(team))
        except InvalidInput as error:
            raise type(error)(error.problem, field=f"teams[{place}].{error.field}") from None
    return read_plan(found)


def require_known(team: Mapping[str, object], *, field: str = "", also: frozenset[str] = frozenset()) -> None:
    """Refuse what is misspelt: a `rol` that is passed over makes somebody an agent who should lead."""
    known = _OF_A_TEAM | also
    if unknown := sorted(str(name) for name in team if name not in known):
        raise InvalidInput(f"is not part of a team, which has {_listed(known)}", field=f"{field}{unknown[0]}")
    members = team.get("members")
    for member in cast(list[object], members) if isinstance(members, list) else []:
        named = cast(Mapping[str, object], member) if isinstance(member, Mapping) else dict[str, object]()
        if unknown := sorted(str(name) for name in named if name not in _OF_A_MEMBER):
            problem = f"is not part of a member, which has {_listed(_OF_A_MEMBER)}"
            raise InvalidInput(problem, field=f"{field}members.{unknown[0]}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def read_planned_team(given: Mapping[str, object]) -> PlannedTeam:
    """Read a team from an object with its name, its parent and its members."""
    field = next((name for name in _TEAM_NAMES if name in given), _TEAM_NAMES[0])
    name = read_team_name(given.get(field), field=field)
    above = None if name == EXECUTIVE else EXECUTIVE
    parent = given.get("parent")
    members = given.get("members")
    listed = list[object]() if members is None else members
    if not isinstance(listed, list | tuple):
        raise InvalidInput("must be a list", field="members")
    return PlannedTeam(
        name=name,
        parent=above if parent is None else read_team_name(parent, field="parent"),
        members=tuple(read_member(entry) for entry in cast(list[object], listed)),
    )


def read_member(entry: object) -> PlannedMember:
    if isinstance(entry, str):
        entry = {"id": entry}
    if not isinstance(entry, Mapping):
        raise InvalidInput("each must be an id, or an object with id, kind, role and title", field="members")
    given = cast(Mapping[str, object], entry)
    title = read_title(given.get("title"), field="members.title")
    role, kind = read_role(given.get("role"), given.get("kind"), title, within="members.")
    id = read_member_id(given.get("id"), field="members.id")
    return PlannedMember(id=id, role=role, kind=kind, title=title)


def _require_unique(names: list[str], *, what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidState(f"{what} {name} is in more than one place", field=f"{what}s")
        seen.add(name)
