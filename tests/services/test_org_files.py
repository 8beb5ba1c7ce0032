"""Teams and members from `org/teams/*.md`."""

from pathlib import Path

import pytest

from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidInput
from mycel.services.organisation_plan import read_front_matter

pytestmark = pytest.mark.each_database(slow=True)


SQUAD = """---
team: squad
parent: executive
members:
  - id: lead-1
    role: lead
  - id: person-1
    kind: human
  - swe-1
---
# The squad
Anything else is for people.
"""


def org(folder: Path, **files: str) -> Path:
    teams = folder / "org" / "teams"
    teams.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (teams / f"{name}.md").write_text(text, "utf-8")
    return folder / "org"


def front(text: str) -> str:
    return f"---\n{text}\n---\n"


def empty(text: str) -> str:
    return front(f"{text}\nmembers: []")


def test_loads_teams_and_members(workspace: Workspace, tmp_path: Path) -> None:
    path = org(tmp_path, squad=SQUAD, crew=front("parent: squad\nmembers: [swe-9]"))
    loaded = workspace.load_org(path)
    assert [(team.name, team.parent) for team in loaded] == [("crew", "squad"), ("squad", "executive")]
    members = {member.id: (member.team, member.role, member.kind) for member in workspace.members()}
    assert members == {
        "operator": ("executive", "admin", "human"),
        "lead-1": ("squad", "lead", "agent"),
        "person-1": ("squad", "member", "human"),
        "swe-1": ("squad", "agent", "agent"),
        "swe-9": ("crew", "agent", "agent"),
    }
    assert workspace.load_org(path / "teams") == loaded


def test_a_file_without_front_matter_is_a_team_by_its_name(workspace: Workspace, tmp_path: Path) -> None:
    workspace.load_org(org(tmp_path, plain="- swe-1", bare="---\n---\n- swe-2"))
    assert {team.name for team in workspace.teams()} == {"executive", "plain", "bare"}


@pytest.mark.parametrize("text", ["", "Only prose.", "---\nteam: quiet\n---\n", "# Quiet\n\n## Values\n- Speed\n"])
def test_a_file_that_names_no_member_is_refused(workspace: Workspace, tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^quiet\.md:1: names no member"):
        workspace.load_org(org(tmp_path, quiet=text, good=SQUAD))
    assert [team.name for team in workspace.teams()] == ["executive"]
    workspace.load_org(org(tmp_path, quiet=front("members: []")))
    assert workspace.members(team="quiet") == []


def test_a_byte_order_mark_and_windows_line_ends_are_no_trouble(workspace: Workspace, tmp_path: Path) -> None:
    folder = org(tmp_path)
    (folder / "teams" / "squad.md").write_bytes(b"\xef\xbb\xbf" + SQUAD.replace("\n", "\r\n").encode())
    workspace.load_org(folder)
    assert workspace.resolve_team("lead-1") == "squad"


def test_loading_again_makes_the_files_true_and_leaves_others_alone(workspace: Workspace, tmp_path: Path) -> None:
    workspace.load_org(org(tmp_path, squad=SQUAD, other=front("team: other\nmembers: []")))
    workspace.add_member("swe-7", team="squad")
    workspace.update_member("swe-1", trust="low")
    workspace.remove_member("person-1")
    before = {member.id: member for member in workspace.members()}
    moved = SQUAD.replace("parent: executive", "parent: other").replace("role: lead", "role: orchestrator")
    workspace.load_org(org(tmp_path, squad=moved))
    after = {member.id: member for member in workspace.members()}
    assert {team.name: team.parent for team in workspace.teams()}["squad"] == "other"
    assert after["lead-1"].role == "orchestrator"
    assert after["swe-7"] == before["swe-7"]
    assert (after["swe-1"].trust, after["swe-1"].created_at) == ("low", before["swe-1"].created_at)
    assert "person-1" in after


def test_files_may_name_each_other_in_any_order(workspace: Workspace, tmp_path: Path) -> None:
    workspace.load_org(org(tmp_path, a=empty("parent: z"), z=empty("parent: m"), m=empty("")))
    assert {team.name: team.parent for team in workspace.teams()} == {
        "executive": None,
        "a": "z",
        "z": "m",
        "m": "executive",
    }


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"a": empty("parent: b"), "b": empty("parent: a")}, "parent"),
        ({"a": empty("parent: a")}, "parent"),
        ({"a": empty("parent: nowhere")}, "nowhere"),
        ({"executive": empty("parent: a"), "a": empty("")}, "parent"),
    ],
)
def test_parents_that_lead_nowhere_are_refused(
    workspace: Workspace, tmp_path: Path, files: dict[str, str], named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        workspace.load_org(org(tmp_path, **files))
    assert [team.name for team in workspace.teams()] == ["executive"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (front("team: Bad Name"), "team"),
        (front("team: 7"), "team"),
        (front("team: ''"), "team"),
        (front("parent: [a]"), "parent"),
        (front("members: swe-1"), "members"),
        (front("members: {id: swe-1}"), "members"),
        (front("members: [7]"), "members"),
        (front("members: [{role: lead}]"), "members.id"),
        (front("members: [{id: 'a b'}]"), "members.id"),
        (front("members: [{id: a, role: [lead]}]"), "members.role"),
        (front("members: [{id: a, kind: robot}]"), "members.kind"),
        (front("members: [a\n"), "front matter"),
        (front("- a\n- b"), "front matter"),
        (front("just text"), "front matter"),
        ("---\nteam: a\n", "front matter"),
        (front("a: &x 1\nb: *x"), "front matter"),
        (front("members: &m [a]"), "front matter"),
        (front("team: !!python/object/apply:os.getcwd []"), "front matter"),
        (front("team: !!bool maybe"), "front matter"),
        (front("team: !!timestamp never"), "front matter"),
        (front("team: !!int ''"), "front matter"),
        (front("x: " + "[" * 17 + "]" * 17), "front matter"),
        (front("x: " + "[" * 5000), "front matter"),
        (front("x: " + "y" * 17_000), "front matter"),
        (front("x: 2026-99-99"), "front matter"),
        (front("x: " + "9" * 5000), "front matter"),
    ],
)
def test_an_error_names_the_file_and_the_field(workspace: Workspace, tmp_path: Path, text: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        workspace.load_org(org(tmp_path, good=SQUAD, wrong=text))
    line = 1 if field == "front matter" else 2
    assert refused.value.field == f"wrong.md:{line}"
    assert str(refused.value).startswith(f"wrong.md:{line}: {field}")
    assert len(workspace.teams()) == 1


def test_a_file_that_is_not_text_is_named(workspace: Workspace, tmp_path: Path) -> None:
    folder = org(tmp_path)
    (folder / "teams" / "wrong.md").write_bytes(b"---\nteam: \xff\n---\n")
    with pytest.raises(InvalidInput, match=r"^wrong\.md:1: "):
        workspace.load_org(folder)


def test_a_team_or_member_in_two_places_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="team squad"):
        workspace.load_org(org(tmp_path / "1", squad=SQUAD, copy=front("team: squad\nmembers: []")))
    with pytest.raises(InvalidInput, match="member swe-1"):
        workspace.load_org(org(tmp_path / "2", squad=SQUAD, other=front("members: [swe-1]")))
    with pytest.raises(InvalidInput, match="member a"):
        workspace.load_org(org(tmp_path / "3", other=front("members: [a, a]")))
    assert len(workspace.members()) == 1


def test_all_of_it_is_stored_or_none(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="operator"):
        workspace.load_org(org(tmp_path, a=SQUAD, z=front("members: [{id: operator, role: agent}]")))
    assert [team.name for team in workspace.teams()] == ["executive"]
    assert len(workspace.members()) == 1


def test_a_folder_without_team_files_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InvalidInput) as refused:
            workspace.load_org(path)
        assert refused.value.field == "path"


def test_links_and_folders_are_not_read(workspace: Workspace, tmp_path: Path) -> None:
    folder = org(tmp_path, squad=SQUAD)
    (tmp_path / "outside.md").write_text(front("team: outside"))
    (folder / "teams" / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "teams" / "folder.md").mkdir()
    (folder / "teams" / "notes.txt").write_text(front("team: notes"))
    workspace.load_org(folder)
    assert {team.name for team in workspace.teams()} == {"executive", "squad"}


def test_a_long_text_below_the_front_matter_is_no_trouble() -> None:
    assert read_front_matter(front("team: a") + "prose\n" * 100_000) == {"team": "a"}
    assert read_front_matter("text first\n" + front("team: a")) == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("team: squad\nparnet: executive", "3: parnet: is not part of a team, which has members, name, parent, team"),
        (
            "team: squad\nmembers:\n  - id: swe-1\n    rol: lead",
            "4: members.rol: is not part of a member, which has id, kind, role, title",
        ),
    ],
)
def test_a_key_that_is_not_known_is_refused_by_its_name(
    workspace: Workspace, tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(InvalidInput, match=f"squad.md:{named}"):
        workspace.load_org(org(tmp_path, squad=f"---\n{text}\n---\n"))
    assert [team.name for team in workspace.teams()] == ["executive"]
