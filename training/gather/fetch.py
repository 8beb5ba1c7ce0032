"""Downloads pinned packages with the ordinary clients and unpacks them without running anything they contain."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_MEMBER_BYTES = 60_000_000
PYTHON_ARCHIVES = (".tar.gz", ".tgz", ".zip", ".whl", ".tar.bz2")


@dataclass(frozen=True)
class Source:
    """One pinned package: where it comes from, its licence, and the kinds of text it may give."""

    registry: str
    name: str
    version: str
    licence: str
    kinds: tuple[str, ...]
    form: str = "sdist"
    reader: str = ""

    @property
    def key(self) -> str:
        return f"{self.registry}:{self.name}"

    @property
    def folder(self) -> str:
        return f"{self.registry}/{self.name.replace('/', '__')}-{self.version or 'any'}"


class PythonIndex:
    """pip's own finder and session, so an sdist is fetched as a file and its build code never runs."""

    def __init__(self, form: str) -> None:
        from pip._internal.commands import create_command

        choice = "--no-binary" if form == "sdist" else "--only-binary"
        self._command: Any = create_command("download")
        arguments = ["--no-deps", choice, ":all:", "--python-version", "3.11", "--platform", "any", "x"]
        if form == "sdist":
            arguments = ["--no-deps", choice, ":all:", "x"]
        options, _ = self._command.parse_args(arguments)
        self._options = options

    def fetch(self, name: str, version: str, target: Path) -> tuple[Path, str]:
        """Save the archive of one release in `target`; an empty version means the newest one."""
        with self._command.main_context():
            session = self._command.get_default_session(self._options)
            finder = self._command._build_package_finder(options=self._options, session=session)
            found = [c for c in finder.find_all_candidates(name) if self._wanted(c, version)]
            if not found:
                raise LookupError(f"no release of {name} {version} in this form")
            best = max(found, key=lambda c: c.version)
            path = target / best.link.filename
            if best.link.is_file:
                shutil.copyfile(best.link.file_path, path)
            else:
                answer = session.get(best.link.url_without_fragment)
                answer.raise_for_status()
                path.write_bytes(answer.content)
        return path, str(best.version)

    @staticmethod
    def _wanted(candidate: Any, version: str) -> bool:
        return str(candidate.version) == version if version else not candidate.version.is_prerelease


def unpack(source: Source, work: Path) -> Path:
    """Return the folder with the package's files, downloading it when it is not there yet."""
    folder = work / source.folder
    if (folder / ".complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if source.registry == "pypi":
        archive, _ = PythonIndex(source.form).fetch(source.name, source.version, folder)
        _extract(archive, folder)
        archive.unlink()
    elif source.registry == "npm":
        _fetch_npm(source, folder)
    elif source.registry == "debian":
        _fetch_debian(source, folder)
    (folder / ".complete").touch()
    return folder


def _fetch_npm(source: Source, folder: Path) -> None:
    spec = f"{source.name}@{source.version}" if source.version else source.name
    subprocess.run(
        ["npm", "pack", "--silent", "--ignore-scripts", spec], cwd=folder, check=True, capture_output=True, timeout=300
    )
    for archive in sorted(folder.glob("*.tgz")):
        _extract(archive, folder)
        archive.unlink()


def _fetch_debian(source: Source, folder: Path) -> None:
    spec = f"{source.name}={source.version}" if source.version else source.name
    subprocess.run(
        ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", spec],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=300,
    )
    for archive in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", archive.name, "."], cwd=folder, check=True)
        archive.unlink()


def _extract(archive: Path, folder: Path) -> None:
    if archive.name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(archive) as bundle:
            for info in bundle.infolist():
                if _is_safe(info.filename) and info.file_size < MAX_MEMBER_BYTES:
                    bundle.extract(info, folder)
        return
    with tarfile.open(archive) as bundle:
        for member in bundle:
            if member.isfile() and _is_safe(member.name) and member.size < MAX_MEMBER_BYTES:
                member.mode = 0o644
                bundle.extract(member, folder, set_attrs=False)


def _is_safe(name: str) -> bool:
    return not name.startswith("/") and ".." not in Path(name).parts
