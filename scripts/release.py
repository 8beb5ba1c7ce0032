"""Prepare, check and build a release: `python -m scripts.release prepare|check|notes|build`.

`prepare 0.2.0` gives the package and the changelog that version; `check v0.2.0` compares a tag with them; `notes 0.2.0`
prints what the changelog says of the version; `build dist` makes the wheel and the sdist, and fails unless they can be
made again to the byte.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from scripts import sbom

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)")
UNRELEASED = "## [Unreleased]"
SECTION = re.compile(
    r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?\n(?P<notes>.*?)(?=^## \[|\Z)", re.M | re.S
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.release", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare", help="turn Unreleased into a version").add_argument("version")
    commands.add_parser("check", help="compare a tag with the package and the changelog").add_argument("tag")
    notes = commands.add_parser("notes", help="print the changelog's section of a version")
    notes.add_argument("version")
    notes.add_argument(
        "--links", default="", help="where the files are that relative links name, with a slash at its end"
    )
    commands.add_parser("build", help="make the wheel and the sdist").add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    match given.command:
        case "prepare":
            prepare(ROOT, given.version, datetime.now(UTC).date().isoformat())
        case "check":
            check(ROOT, given.tag)
        case "notes":
            sys.stdout.write(RELATIVE_LINK.sub(f"]({given.links}", read_notes(ROOT, given.version)) + "\n")
        case _:
            for built in build(given.folder):
                sys.stdout.write(f"{built}  {built.stat().st_size / 1e6:.1f} MB\n")


def read_version(root: Path) -> str:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def prepare(root: Path, version: str, today: str) -> None:
    """Set the version in the package and the bill of materials, and turn Unreleased into the dated section of it."""
    changelog, project = root / "CHANGELOG.md", root / "pyproject.toml"
    text = changelog.read_text("utf-8")
    sections = {found["version"]: found for found in SECTION.finditer(text)}
    present = read_version(root)
    if not VERSION.fullmatch(version):
        raise SystemExit(f"version: {version!r} is not of the form 1.2.3")
    if version in sections:
        raise SystemExit(f"version: {version} is in the changelog already")
    if number_of(version) < number_of(present) or (version == present and len(sections) > 1):
        raise SystemExit(f"version: {version} must be higher than {present}")
    if "Unreleased" not in sections or not sections["Unreleased"]["notes"].strip():
        raise SystemExit("CHANGELOG.md: there is nothing under Unreleased")
    changelog.write_text(text.replace(f"{UNRELEASED}\n", f"{UNRELEASED}\n\n## [{version}] - {today}\n", 1), "utf-8")
    lines = project.read_text("utf-8")
    project.write_text(lines.replace(f'\nversion = "{present}"\n', f'\nversion = "{version}"\n', 1), "utf-8")
    (root / sbom.SBOM.relative_to(ROOT)).write_text(sbom.render(root), "utf-8")


def number_of(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def check(root: Path, tag: str) -> None:
    """Exit with what is wrong where a tag does not name the version that the package and the changelog have."""
    version = read_version(root)
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, and pyproject.toml has version {version}")
    read_notes(root, version)
    if sbom.render(root) != (root / sbom.SBOM.relative_to(ROOT)).read_text("utf-8"):
        raise SystemExit("the bill of materials is not that of the pins: run python -m scripts.sbom")


def read_notes(root: Path, version: str) -> str:
    """Return the changelog's section of a released version, without its heading."""
    for found in SECTION.finditer((root / "CHANGELOG.md").read_text("utf-8")):
        if found["version"] == version:
            if not found["date"] or not found["notes"].strip():
                raise SystemExit(
                    f"CHANGELOG.md: the section of {version} has no {'notes' if found['date'] else 'date'}"
                )
            return found["notes"].strip()
    raise SystemExit(f"CHANGELOG.md: there is no section of {version}")


def build(folder: Path) -> list[Path]:
    """Make the wheel and the sdist from the tracked files, and keep them if they can be made again to the byte.

    They are made in two copies with other paths, times and modes of files, and the wheel once more from the sdist.
    The time in the archives is that of the commit, unless SOURCE_DATE_EPOCH says another.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct").strip()
    tracked = [name for name in git("ls-files", "-z").split("\0") if name]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        first = run_hatchling(copy(tracked, place / "a", mode=0o644, at=int(epoch)), place / "first", epoch)
        again = run_hatchling(
            copy(tracked, place / "b/elsewhere", mode=0o600, at=1_000_000_000), place / "again", epoch
        )
        sdist = next(path for path in first if path.name.endswith(".tar.gz"))
        shutil.unpack_archive(sdist, place / "unpacked", filter="data")
        (inside,) = (place / "unpacked").iterdir()
        wheels = run_hatchling(inside, place / "from-sdist", epoch, "-t", "wheel")
        for made in [*again, *wheels]:
            if made.read_bytes() != (place / "first" / made.name).read_bytes():
                raise SystemExit(f"{made.relative_to(place)} differs from what was built first")
        folder.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(path, folder)) for path in first]


def git(*command: str) -> str:
    return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S607


def copy(names: Sequence[str], target: Path, *, mode: int, at: int) -> Path:
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
            (target / name).chmod(mode)
            os.utime(target / name, (at, at))
    return target


def run_hatchling(root: Path, folder: Path, epoch: str, *options: str) -> list[Path]:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return sorted(folder.iterdir())


if __name__ == "__main__":
    main()
