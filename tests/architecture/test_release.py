"""`scripts/release.py` prepares, checks and describes a version; workflows that may do little publish it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT)
    from scripts import release
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
# Every permission to write that any job has, and why it has it.
WRITES = {
    ("docs", "publish"): {"pages", "id-token"},
    ("release", "attest"): {"attestations", "id-token"},
    ("release", "publish"): {"id-token"},
    ("release", "release"): {"contents"},
}
RUNS_A_DOWNLOAD = re.compile(
    r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:ba|z|da|k)?(?:sh|python[\d.]*)\b"
    r"|<\(\s*(?:curl|wget)\b|[\"`(]\$?\(?\s*(?:curl|wget)\b|\biex\b"
)
CHANGELOG = """# Changelog

About the form: see [the page](https://example.org).

## [Unreleased]

### Fixed
- Nothing is lost ([guide](docs/guides/teams.md#who)).

## [0.1.0] - 2026-11-20

### Added
- Everything.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what a release changes, next to the sources themselves."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    text = re.sub(r'(?m)^version = ".*"$', 'version = "0.1.0"', (ROOT / "pyproject.toml").read_text("utf-8"), count=1)
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    return tmp_path


def read(root: Path, name: str) -> str:
    return (root / name).read_text("utf-8")


def test_preparing_sets_the_version_and_dates_the_section(project: Path) -> None:
    release.prepare(project, "0.2.0", "2026-12-01")
    assert release.read_version(project) == "0.2.0"
    head, _, rest = read(project, "CHANGELOG.md").partition("## [0.2.0] - 2026-12-01\n\n### Fixed\n- Nothing is lost")
    assert head.endswith("## [Unreleased]\n\n")
    assert rest.count("## [") == 1
    assert "pkg:pypi/mycel-memory@0.2.0" in read(project, "requirements/mycel-memory.cdx.json")
    release.check(project, "v0.2.0")


def test_the_first_release_has_the_version_that_the_package_has(project: Path) -> None:
    first = CHANGELOG.partition("## [0.1.0]")[0]
    (project / "CHANGELOG.md").write_text(first)
    release.prepare(project, "0.1.0", "2026-12-01")
    assert release.read_notes(project, "0.1.0") == "### Fixed\n- Nothing is lost ([guide](docs/guides/teams.md#who))."


@pytest.mark.parametrize(
    ("version", "wrong"),
    [
        ("0.2", "'0.2' is not of the form 1.2.3"),
        ("v0.2.0", "'v0.2.0' is not of the form 1.2.3"),
        ("0.2.00", "'0.2.00' is not of the form 1.2.3"),
        ("0.1.0", "0.1.0 is in the changelog already"),
        ("0.0.9", "0.0.9 must be higher than 0.1.0"),
    ],
)
def test_a_version_that_cannot_be_is_refused_and_nothing_changes(project: Path, version: str, wrong: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(wrong)):
        release.prepare(project, version, "2026-12-01")
    assert read(project, "CHANGELOG.md") == CHANGELOG
    assert release.read_version(project) == "0.1.0"


def test_a_release_without_a_change_is_refused(project: Path) -> None:
    (project / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-20\n\n- Everything.\n"
    )
    with pytest.raises(SystemExit, match="nothing under Unreleased"):
        release.prepare(project, "0.2.0", "2026-12-01")


def test_the_notes_are_the_section_of_the_version_alone(project: Path) -> None:
    assert release.read_notes(project, "0.1.0") == "### Added\n- Everything."
    with pytest.raises(SystemExit, match=r"no section of 0\.2\.0"):
        release.read_notes(project, "0.2.0")
    with pytest.raises(SystemExit, match="the section of Unreleased has no date"):
        release.read_notes(project, "Unreleased")


def test_relative_links_of_notes_lead_to_the_files_of_the_tag(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release.prepare(project, "0.2.0", "2026-12-01")
    monkeypatch.setattr(release, "ROOT", project)
    release.main(["notes", "0.2.0", "--links", "https://forge.example/mycel/blob/v0.2.0/"])
    link = "https://forge.example/mycel/blob/v0.2.0/docs/guides/teams.md#who"
    assert capsys.readouterr().out == f"### Fixed\n- Nothing is lost ([guide]({link})).\n"


def test_a_tag_that_is_not_the_version_is_refused(project: Path) -> None:
    release.prepare(project, "0.2.0", "2026-12-01")
    for tag in ("v0.2.1", "0.2.0", "v0.1.0"):
        with pytest.raises(SystemExit, match=r"the tag is .*, and pyproject\.toml has version 0\.2\.0"):
            release.check(project, tag)
    (project / "requirements/mycel-memory.cdx.json").write_text("{}")
    with pytest.raises(SystemExit, match="the bill of materials is not that of the pins"):
        release.check(project, "v0.2.0")


def test_the_changelog_of_the_project_can_be_released() -> None:
    text = read(ROOT, "CHANGELOG.md")
    found = [match["version"] for match in release.SECTION.finditer(text)]
    assert found[0] == "Unreleased"
    assert text.count("\n## ") == len(found)


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text("utf-8"))


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            yield path.stem, name, job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for workflow, name, job in jobs():
        for step in job.get("steps", ()):
            yield f"{workflow}/{name}", step


def test_there_are_three_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "docs", "release"]
    assert load(WORKFLOWS[2])["on"] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}


def test_each_job_may_do_what_it_needs_and_no_more() -> None:
    for path in WORKFLOWS:
        assert load(path)["permissions"] == {}, path.name
    writes = {}
    for workflow, name, job in jobs():
        assert set(job["permissions"].values()) <= {"read", "write"}, name
        if allowed := {what for what, how in job["permissions"].items() if how == "write"}:
            writes[workflow, name] = allowed
        assert "uses" in job or job["timeout-minutes"] <= 90, name
    assert writes == WRITES


def test_every_action_is_pinned_by_the_hash_of_its_commit() -> None:
    for path in WORKFLOWS:
        for used in re.findall(r"uses: (.*)", path.read_text("utf-8")):
            own = used.startswith("./") and (ROOT / used).is_file()
            assert own or re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used


def test_no_step_runs_what_it_downloads_or_what_somebody_else_has_typed() -> None:
    for place, step in steps():
        line = step.get("run", "")
        assert not RUNS_A_DOWNLOAD.search(line), place
        assert "${{" not in line, f"{place}: hand values over by env, which a shell does not read as commands"
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, place


@pytest.mark.parametrize(
    "line",
    [
        "curl -fsSL https://example.org/install.sh | sh",
        "wget -qO- https://example.org/x | sudo bash -s",
        "curl https://example.org/x | python3",
        "bash <(curl -s https://example.org/x)",
        'sh -c "$(curl -fsSL https://example.org/x)"',
    ],
)
def test_every_way_to_run_a_download_is_recognised(line: str) -> None:
    assert RUNS_A_DOWNLOAD.search(line)


def test_no_workflow_needs_a_secret_that_somebody_keeps() -> None:
    for path in WORKFLOWS:
        assert "secrets." not in path.read_text("utf-8"), path.name


def test_nothing_is_published_that_was_not_checked() -> None:
    needs = {name: set(job.get("needs", ())) for workflow, name, job in jobs() if workflow == "release"}
    assert needs == {
        "check": set(),
        "build": set(),
        "attest": {"check", "build"},
        "publish": {"attest"},
        "release": {"publish"},
    }
    assert [step["run"] for place, step in steps() if place == "ci/check" and "run" in step][-1] == ".ci/run"


def test_workflows_call_targets_and_commands_that_there_are() -> None:
    makefile = read(ROOT, "Makefile").replace("$(INSTALLED):", ".venv/.installed:")
    called = [
        shlex.split(line)
        for _, step in steps()
        for line in step.get("run", "").replace("\\\n", " ").splitlines()
        if line.startswith(("make ", ".venv/bin/python -m scripts."))
    ]
    assert {words[-1] for words in called if words[0] == "make"} == {".venv/.installed", "dist", "docs"}
    for words in called:
        if words[0] == "make":
            assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), words
    commands = {words[3] for words in called if words[0] != "make"}
    assert commands == {"check", "notes"}
    for command in commands:
        with pytest.raises(SystemExit) as stopped:
            release.main([command, "--help"])
        assert stopped.value.code == 0


def test_forms_have_what_the_forge_needs() -> None:
    folder = ROOT / ".github/ISSUE_TEMPLATE"
    forms = {path.stem: load(path) for path in folder.glob("*.yml")}
    assert forms.pop("config") == {"blank_issues_enabled": False}
    assert set(forms) == {"bug", "idea", "question"}
    for name, form in forms.items():
        assert form["name"], name
        assert form["description"], name
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(set(ids)) == len(ids)
        for part in form["body"]:
            assert part["type"] in {"markdown", "textarea", "input", "dropdown", "checkboxes"}
            assert part["attributes"]["value" if part["type"] == "markdown" else "label"], name
        assert any(part.get("validations", {}).get("required") for part in form["body"]), name


def test_newer_actions_are_proposed() -> None:
    found = load(ROOT / ".github/dependabot.yml")
    assert found["version"] == 2
    assert {one["package-ecosystem"] for one in found["updates"]} == {"github-actions", "pip"}
    for one in found["updates"]:
        assert (ROOT / one["directory"].lstrip("/")).is_dir()
