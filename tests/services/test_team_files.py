"""Team files as people write them: headings and lists, tables, front matter, and what is passed over or refused."""

import re
from pathlib import Path

import pytest

from mycel.domain.team import PlannedTeam
from mycel.errors import InvalidInput
from mycel.services.team_files import OrgFiles, read_org_files


def read(folder: Path, **files: str) -> OrgFiles:
    teams = folder / "org" / "teams"
    teams.mkdir(parents=True)
    for name, text in files.items():
        (teams / f"{name}.md").write_text(text, "utf-8")
    return read_org_files(folder / "org")


def members(team: PlannedTeam) -> list[tuple[str, str | None, str, str]]:
    return [(one.id, one.title, one.role.value, one.kind.value) for one in team.members]


LIST = """# Engineering

Builds the product.

- swe-1 (swe)
- **eng-director** — director
- `swe-2`: backend engineer, on call in May
- [swe-3](agents/swe-3.md) - Staff Engineer
1. jane@example.org (human)
* pm_1 (human, product manager)
- swe-4
  - owns billing
"""
EXPECTED = [
    ("swe-1", "swe", "agent", "agent"),
    ("eng-director", "director", "lead", "agent"),
    ("swe-2", "backend engineer", "agent", "agent"),
    ("swe-3", "Staff Engineer", "agent", "agent"),
    ("jane@example.org", None, "member", "human"),
    ("pm_1", "product manager", "lead", "human"),
    ("swe-4", None, "agent", "agent"),
]
SECTIONS = """---
parent: platform
---
# Storage

## Mission
- Keep every byte
- Reliability

## Directors
- storage-director

## Members
### Backend
- swe-1 (swe)
### Humans
- jane

<!-- - swe-9 (swe) -->
```
- swe-8 (swe)
```
"""
TABLE = """# Engineering
Parent: executive

| Agent | Role | Team | Memory DB |
|-------|------|------|-----------|
| swe-1 | swe | engineering | `agent/org/teams/engineering/memory.sqlite` |
| **eng-director** | eng-director | engineering | `agent/org/teams/engineering/memory.sqlite` |
"""
KEYED = """# Platform

**Parent:** division
**Head:** platform-head
Agents: swe-1, swe-2 (swe)
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lists_name_members_with_their_titles(tmp_path: Path, ends: str) -> None:
    files = read(tmp_path, engineering=LIST.replace("\n", ends))
    [team] = files.teams
    assert (team.name, team.parent) == ("engineering", "executive")
    assert members(team) == EXPECTED
    assert files.notes == ()


def test_sections_say_who_is_what_and_lists_of_others_are_named(tmp_path: Path) -> None:
    files = read(tmp_path, storage=SECTIONS)
    [team] = files.teams
    assert team.parent == "platform"
    assert members(team) == [
        ("storage-director", "Director", "lead", "agent"),
        ("swe-1", "swe", "agent", "agent"),
        ("jane", None, "member", "human"),
    ]
    assert files.notes == ("storage.md:8: Reliability is not read as a member: it is below the heading 'Mission'",)


def test_tables_name_members(tmp_path: Path) -> None:
    files = read(tmp_path, engineering=TABLE)
    [team] = files.teams
    assert members(team) == [("swe-1", "swe", "agent", "agent"), ("eng-director", "eng-director", "lead", "agent")]
    assert files.notes == ("engineering.md:4: the column 'memory db' is not read",)


def test_lines_with_a_key_name_the_parent_and_members(tmp_path: Path) -> None:
    [team] = read(tmp_path, platform=KEYED).teams
    assert team.parent == "division"
    assert members(team) == [
        ("platform-head", "Head", "lead", "agent"),
        ("swe-1", None, "agent", "agent"),
        ("swe-2", "swe", "agent", "agent"),
    ]


def test_members_in_front_are_all_there_are_and_others_are_named(tmp_path: Path) -> None:
    front = "---\nmembers:\n  - swe-1\n  - {id: lead-1, role: Head of Storage}\n---\n"
    files = read(tmp_path, storage=front + "# Storage\n- swe-1\n- swe-2 (swe)\n- Be kind.\n")
    [team] = files.teams
    assert members(team) == [("swe-1", None, "agent", "agent"), ("lead-1", "Head of Storage", "lead", "agent")]
    assert files.notes == ("storage.md:8: swe-2 is not read as a member: the front matter lists them",)


@pytest.mark.parametrize(
    ("title", "role"),
    [
        *((title, "lead") for title in ("director", "Director of Engineering", "tech lead", "Lead Engineer")),
        *((title, "lead") for title in ("Engineering Manager", "head of data", "Chief of Staff", "chief architect")),
        *((title, "agent") for title in ("swe", "ceo", "helps the lead with reviews", "assistant to the director")),
        *((title, "agent") for title in ("headhunter", "misleading", "leader of none")),
    ],
)
def test_a_title_stands_for_a_role(tmp_path: Path, title: str, role: str) -> None:
    [team] = read(tmp_path, a=f"- swe-1 — {title}").teams
    assert members(team) == [("swe-1", title, role, "agent")]


def test_a_role_of_mycel_is_a_role_and_no_title(tmp_path: Path) -> None:
    text = "- a-1 (lead)\n- b-1 (Orchestrator)\n- c-1 (agent)\n"
    [team] = read(tmp_path, a=text).teams
    assert members(team) == [
        ("a-1", None, "lead", "agent"),
        ("b-1", None, "orchestrator", "agent"),
        ("c-1", None, "agent", "agent"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n\n- swe-1\n- Ships the product every week\n", "a.md:4: is not understood as a member"),
        ("# A\n- swe-1\n- swe-1 (swe)\n", "a.md:3: members: member swe-1 is in line 2 too"),
        ("# A\n- swe-1\n# B\n- swe-2\n", "a.md:4: is below a second top heading"),
        ("| Agent | Team |\n|--|--|\n| swe-1 | b |\n", "a.md:3: team: is of another team, in the file of a"),
        ("| Agent | Role |\n|--|--|\n| | swe |\n", "a.md:3: names no agent in the column 'agent'"),
        ("| Agent | Kind |\n|--|--|\n| swe-1 | robot |\n", "a.md:3: members.kind: "),
        ("Parent: No Such!\n- swe-1\n", "a.md:1: parent: must be"),
        ("- engine\n", "a.md:1: members.id: engine is the name of Mycel's own hand"),
        ("## Values\n- Reliability\n", "a.md:1: names no member"),
    ],
)
def test_what_is_not_understood_is_refused_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, a=text)
    assert str(refused.value).startswith(said)


def test_a_member_of_two_teams_is_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^b\.md:3: member swe-1 is in a\.md:2 too$"):
        read(tmp_path, a="# A\n- swe-1\n", b="---\nmembers:\n  - swe-1\n---\n")


@pytest.mark.parametrize("stem", ["engineering", "Engineering", "eng team"])
def test_the_name_of_the_file_names_the_team(tmp_path: Path, stem: str) -> None:
    [team] = read(tmp_path, **{stem: "# Something else\n- swe-1\n"}).teams
    assert team.name == stem.casefold().replace(" ", "-")


def test_long_and_strange_lines_are_read_at_once(tmp_path: Path) -> None:
    text = (
        "- swe-1\n"
        + "## Notes\n"
        + "- "
        + "a" * 200_000
        + "!\n"
        + "- "
        + "a:" * 100_000
        + "\n"
        + "|-" * 50_000
        + "\n" * 1000
    )
    assert len(read(tmp_path, a=text).teams[0].members) == 1


def test_the_examples_of_the_guide_are_read_as_it_says(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs/guides/teams.md"
    blocks = re.findall(r"```markdown\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    people = [("swe-1", "swe", "agent", "agent"), ("eng-director", "director", "lead", "agent")]
    found = [members(read(tmp_path / str(number), engineering=block).teams[0]) for number, block in enumerate(blocks)]
    assert found == [
        [*people, ("release-manager", "manager", "lead", "human")],
        people,
        [
            people[0],
            ("eng-director", "Director of Engineering", "lead", "agent"),
            ("release-manager", None, "member", "human"),
        ],
    ]
