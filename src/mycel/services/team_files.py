"""Team files: `org/teams/*.md`, a team each, as front matter, lists and tables describe it.

What is not understood is refused with its file and line. What only may have been meant for a member, in a list of
another section, is a note for whoever loads the files.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import Kind, PlannedMember, PlannedTeam, Role, role_of_title
from mycel.errors import InvalidInput, InvalidState
from mycel.services.organisation import read_team_name
from mycel.services.organisation_plan import (
    load_block,
    read_member,
    read_planned_team,
    require_known,
    split_front_matter,
)

_log = logging.getLogger("mycel.organisation")

MAX_FILES = 10_000
NO_MEMBERS = (
    "names no member: list them as `- swe-1 (swe)`, in a table with the columns Agent and Role, or as `members` in its"
    " front matter, which is `members: []` for a team without any"
)
NOT_A_MEMBER = (
    "is not understood as a member, such as `- swe-1 (swe)`, nor as `Parent: platform`; what is for people goes below a"
    " heading of its own, such as `## Notes`"
)

# Possessive throughout: a line of spaces or dashes takes no longer than a line of words.
_HEADING = re.compile(r"(#{1,6})\s++(\S.*)$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
# An id, what stands behind it in parentheses, and what is said of it behind a dash or a colon.
_MEMBER = re.compile(
    r"@?(?P<id>[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}?)\s*+(?:\((?P<inside>[^()]*+)\))?"
    r"(?:\s*+(?:[\u2014\u2013:,]|(?<=\s)--?)\s++(?P<after>\S.*?))?\.?$"
)
_KEYED = re.compile(r"(?P<key>[A-Za-z ]{2,20}?)\s*+:\s++(?P<value>\S.*)$")
_RULE = re.compile(r"\s*+\|?\s*+:?-{2,}+:?\s*+(?>(?:\|\s*+:?-{2,}+:?\s*+)*)\|?\s*+$")
_EMPHASIS = re.compile(r"[*`]++|(?<!\w)__?|__?(?!\w)")
_WORDS = re.compile(r"[a-z]++")
_ENTRIES, _PARTS = re.compile("[,;]"), re.compile("[,;/]")
_PARENT = frozenset({"parent", "parent team", "reports to"})
_NAME = frozenset({"team", "name"})
_KINDS: Mapping[str, Kind] = {"human": Kind.HUMAN, "person": Kind.HUMAN, "agent": Kind.AGENT}
_MEMBERS = frozenset({"agent", "crew", "human", "member", "people", "person", "roster", "staff", "team"})
_ID_COLUMNS, _NAME_COLUMNS = frozenset({"agent", "agent id", "id", "member"}), frozenset({"name", "who"})
_ROLE_COLUMNS = frozenset({"job", "job title", "position", "role", "title"})
_KIND_COLUMNS = frozenset({"kind", "type"})


@dataclass(frozen=True, slots=True)
class OrgFiles:
    """The teams of an organisation folder, and what was passed over, with file and line."""

    teams: tuple[PlannedTeam, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Text:
    """What the text below the front matter says: members as they would stand in front matter, each with its line."""

    name: str | None = None
    parent: tuple[str, int] | None = None
    members: list[tuple[dict[str, Any], int]] = field(default_factory=list[tuple[dict[str, Any], int]])
    notes: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    problems: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


def read_org(path: Path) -> tuple[PlannedTeam, ...]:
    """Read the teams of a folder; what was passed over goes to the log."""
    files = read_org_files(path)
    for note in files.notes:
        _log.warning("%s", note)
    return files.teams


def as_requested(teams: Iterable[PlannedTeam]) -> list[dict[str, Any]]:
    """Return teams as a request gives them."""
    return [asdict(team) for team in teams]


def read_org_files(path: Path) -> OrgFiles:
    """Read a folder of team files, or an organisation folder with `teams/` in it; nobody is in two places."""
    folder = path / "teams" if (path / "teams").is_dir() else path
    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {path}", field="path")
    files = sorted(file for file in folder.glob("*.md") if file.is_file() and not file.is_symlink())
    if not files:
        raise InvalidInput(f"there is no team file (*.md) in {folder}", field="path")
    if len(files) > MAX_FILES:
        raise InvalidInput(f"holds more than {MAX_FILES:,} team files", field="path")
    teams: dict[TeamName, tuple[PlannedTeam, str]] = {}
    members: dict[MemberId, str] = {}
    notes: list[str] = []
    for file in files:
        team, lines, passed_over = _read_file(file)
        if team.name in teams:
            raise InvalidState(f"team {team.name} is in {teams[team.name][1]} too", field=file.name)
        teams[team.name] = team, file.name
        for member, line in zip(team.members, lines, strict=True):
            place = f"{file.name}:{line}"
            if member.id in members:
                raise InvalidState(f"member {member.id} is in {members[member.id]} too", field=place)
            members[member.id] = place
        notes += (f"{file.name}:{line}: {note}" for note, line in passed_over)
    return OrgFiles(tuple(team for team, _ in teams.values()), tuple(notes))


def _read_file(file: Path) -> tuple[PlannedTeam, list[int], list[tuple[str, int]]]:
    """Return the team, the line of each of its members, and what was passed over."""
    with _at(file, 1):
        try:
            block, lines = split_front_matter(file.read_text("utf-8"))
        except UnicodeDecodeError:
            raise InvalidInput("is not UTF-8 text", field="text") from None
        front = load_block(block)
    keys, places = _lines_of(block) if front else ({}, [])
    for key in front:
        with _at(file, keys.get(str(key), 1)):
            require_known({key: None}, also=frozenset({"team"}))
    text = _TextReader(lines).read()
    named = next((key for key in ("name", "team") if key in front), None)
    stem = "-".join(file.stem.casefold().split())
    with _at(file, keys.get(named or "", 1)):
        name = read_team_name(front[named] if named else text.name or stem, field=named or "team")
    parent, line = (front["parent"], keys["parent"]) if "parent" in front else text.parent or (None, 1)
    with _at(file, line):
        team = read_planned_team({"name": name, "parent": parent})
    if "members" in front:
        listed = front["members"]
        if listed is not None and not isinstance(listed, list):
            with _at(file, keys["members"]):
                read_planned_team({"name": name, "members": listed})
        entries = list(zip(cast(list[object], listed or []), places, strict=True))
        known = {str(cast(dict[str, object], one).get("id") if isinstance(one, dict) else one) for one, _ in entries}
        notes = [(_passed_over(entry["id"]), line) for entry, line in text.members if entry["id"] not in known]
    else:
        # Only now: what is not understood in the text of a file that lists its members in front is for people.
        for problem, line in text.problems[:1]:
            raise InvalidInput(problem, field=f"{file.name}:{line}")
        entries, notes = list[tuple[object, int]](text.members), text.notes
        if not entries:
            raise InvalidInput(NO_MEMBERS, field=f"{file.name}:1")
    members: dict[MemberId, tuple[PlannedMember, int]] = {}
    for entry, line in entries:
        with _at(file, line):
            member = _read_entry(entry, name)
            if member.id in members:
                raise InvalidState(f"member {member.id} is in line {members[member.id][1]} too", field="members")
        members[member.id] = member, line
    found = PlannedTeam(team.name, team.parent, tuple(member for member, _ in members.values()))
    return found, [line for _, line in members.values()], notes


def _passed_over(id: str) -> str:
    return f"{id} is not read as a member: the front matter lists them"


def _read_entry(entry: object, team: TeamName) -> PlannedMember:
    """Read a member as front matter has it; a role that is none of Mycel's is a job title."""
    if isinstance(entry, dict):
        given = dict(cast(dict[str, object], entry))
        if _slug(str(given.pop("team", team))) != team:
            raise InvalidInput(f"is of another team, in the file of {team}", field="team")
        require_known({"members": [given]})
        role = given.get("role")
        if isinstance(role, str) and role not in list(Role) and "title" not in given:
            given["title"] = given.pop("role")
        if given.get("role") is None:
            given.pop("role", None)
        return read_member(given)
    return read_member(entry)


def _lines_of(block: str) -> tuple[dict[str, int], list[int]]:
    """Return the line of each key of the front matter, and of each entry of its members."""
    import yaml

    root = cast(Any, yaml.compose(block, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    # The fence above it is the first line of the file.
    keys = {str(key.value): int(key.start_mark.line) + 2 for key, _ in root.value}
    members = next((value for key, value in root.value if key.value == "members"), None)
    listed = cast(list[Any], members.value) if isinstance(members, yaml.SequenceNode) else []
    return keys, [int(item.start_mark.line) + 2 for item in listed]


@contextmanager
def _at(file: Path, line: int) -> Generator[None]:
    """Say of what is refused in which file and line it stands."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(str(error), field=f"{file.name}:{line}") from None


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the text, from its heading on: whether its lists name members, and what they are called there."""

    level: int = 0
    heading: str = ""
    lists_members: bool = True
    title: str | None = None
    kind: Kind | None = None


class _TextReader:
    """Reads the text of a team file, line by line.

    Lists below the first heading, and below one that names members or leads, hold members and nothing else. Tables with
    a column for agents hold them wherever they stand.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._text = _Text()
        self._sections = [_Section()]
        self._tops: set[int] = set()
        self._top = 0

    def read(self) -> _Text:
        fence, place, nested_below = "", 0, -1
        while place < len(self._lines):
            line, number = self._lines[place].rstrip(), place + 1
            place += 1
            mark = line.lstrip()[:3]
            if fence or mark in {"```", "~~~"}:
                fence = ("" if mark == fence else fence) if fence else mark
            elif line.lstrip().startswith("<!--"):
                while "-->" not in self._lines[place - 1] and place < len(self._lines):
                    place += 1
            elif heading := _HEADING.match(line):
                self._begin(len(heading[1]), _plain(heading[2].rstrip("# \t")), number)
            elif (
                "|" in line
                and place < len(self._lines)
                and "-" in self._lines[place]
                and _RULE.match(self._lines[place])
            ):
                place = self._read_table(place - 1)
            elif item := _ITEM.match(line):
                indent = len(item[1].expandtabs(4))
                is_nested = nested_below >= 0 and indent >= nested_below + 2
                nested_below = nested_below if is_nested else indent
                self._read_item(_plain(item[2]), number, is_nested=is_nested)
            elif not line.strip():
                continue
            else:
                nested_below = -1
                self._read_keyed(_plain(line), number)
        return self._text

    def _begin(self, level: int, heading: str, number: int) -> None:
        """Begin a section. One below a list of members is one too, unless its heading says something else."""
        while self._sections[-1].level >= level:
            self._sections.pop()
        above = self._sections[-1] if len(self._sections) > 1 else _Section(lists_members=False)
        words = {word.removesuffix("s") for word in _WORDS.findall(heading.casefold())}
        title = heading.removesuffix("s")
        leads = role_of_title(title, Kind.AGENT) is Role.LEAD
        names = leads or bool(words & _MEMBERS)
        inherits = above.level >= 2 and above.lists_members
        kind = Kind.HUMAN if words & {"human"} else above.kind
        self._sections.append(
            _Section(level, heading, level == 1 or names or inherits, title if leads and level > 1 else None, kind)
        )
        if level == 1:
            self._top = number

    def _read_item(self, said: str, number: int, *, is_nested: bool) -> None:
        section = self._sections[-1]
        if not is_nested and self._read_keyed(said, number):
            return
        entry = _member_in(said)
        if entry is not None and section.lists_members and not is_nested:
            self._add(entry, number)
        elif entry is not None:
            where = "below another item" if is_nested else f"below the heading {section.heading!r}"
            self._text.notes.append((f"{entry['id']} is not read as a member: it is {where}", number))
        elif section.lists_members and not is_nested:
            self._text.problems.append((NOT_A_MEMBER, number))

    def _read_keyed(self, said: str, number: int) -> bool:
        """Read a line such as `Parent: platform` or `Director: eng-director`; tell whether it is one."""
        found = _KEYED.match(said)
        if found is None or not self._sections[-1].lists_members:
            return False
        key, value = found["key"].casefold(), found["value"].strip()
        if key in _PARENT:
            self._text.parent = _slug(value), number
        elif key in _NAME:
            self._text.name = _slug(value)
        elif key.removesuffix("s") in _MEMBERS or role_of_title(key.removesuffix("s"), Kind.AGENT) is Role.LEAD:
            title = None if key.removesuffix("s") in _MEMBERS else found["key"].removesuffix("s")
            for one in _ENTRIES.split(value):
                entry = _member_in(one.strip())
                if entry is None:
                    self._text.problems.append((NOT_A_MEMBER, number))
                else:
                    self._add({**({"title": title} if title else {}), **entry}, number)
        else:
            return False
        return True

    def _read_table(self, place: int) -> int:
        """Read the table that begins here, and return the place behind it."""
        columns = [_plain(cell).casefold() for cell in _cells(self._lines[place])]
        has_role = any(column in _ROLE_COLUMNS for column in columns)
        wanted = _ID_COLUMNS | (_NAME_COLUMNS if has_role else frozenset[str]())
        who = next((at for at, column in enumerate(columns) if column in wanted), None)
        known = wanted | _ROLE_COLUMNS | _KIND_COLUMNS | {"team"}
        for column in columns:
            if who is not None and column not in known:
                self._text.notes.append((f"the column {column!r} is not read", place + 1))
        place += 2
        while place < len(self._lines) and "|" in self._lines[place]:
            cells = dict(zip(columns, map(_plain, _cells(self._lines[place])), strict=False))
            place += 1
            if who is None or not any(cells.values()):
                continue
            entry = _member_in(cells.get(columns[who], ""))
            if entry is None:
                self._text.problems.append((f"names no agent in the column {columns[who]!r}", place))
                continue
            for names, said in ((_ROLE_COLUMNS, "role"), (_KIND_COLUMNS, "kind"), (frozenset({"team"}), "team")):
                value = next((cells[column] for column in columns if column in names and cells.get(column)), None)
                if value is not None:
                    entry[said] = value.casefold() if said == "kind" or value.casefold() in list(Role) else value
            self._add(entry, place)
        return place

    def _add(self, entry: dict[str, Any], number: int) -> None:
        section = self._sections[-1]
        if section.title and "title" not in entry and "role" not in entry:
            entry["title"] = section.title
        if section.kind and "kind" not in entry:
            entry["kind"] = section.kind.value
        self._tops.add(self._top)
        if len(self._tops) > 1:
            self._text.problems.append(("is below a second top heading: a file holds one team", number))
        self._text.members.append((entry, number))


def _member_in(said: str) -> dict[str, Any] | None:
    """Read `swe-1 (swe)`, `eng-director: director` or the like; None where it says something else."""
    found = _MEMBER.match(said)
    if found is None:
        return None
    entry: dict[str, Any] = {"id": found["id"]}
    before, is_more, more = (found["after"] or "").removesuffix(")").rpartition("(")
    after = f"{before},{more}" if is_more else more
    for part in _PARTS.split(f"{found['inside'] or ''},{after}"):
        word = part.strip().casefold()
        if word in _KINDS and "kind" not in entry:
            entry["kind"] = _KINDS[word].value
        elif word in list(Role) and not {"role", "title"} & entry.keys():
            entry["role"] = word
        elif word and not {"role", "title"} & entry.keys():
            entry["title"] = part.strip()
    return entry


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _plain(text: str) -> str:
    """Return the text without the marks of emphasis, code and links."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", text)).strip()


def _slug(text: str) -> str:
    return "-".join(text.strip().strip(".").casefold().split())
