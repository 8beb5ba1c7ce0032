"""What is in the wheel and the sdist, that both can be built again, and what an installed wheel does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from mycel import __version__
from tests.e2e.test_first_use import MEMORIES

ROOT = Path(__file__).resolve().parents[2]
BUILTIN = "mycel/providers/embeddings/builtin"
JUDGE = "mycel/providers/judge/builtin"
# A wheel that grows beyond this has something in it that was not meant to be.
MOST_BYTES = 42_000_000
NAME = f"mycel_memory-{__version__}"
# The kinds of files that a package is made of; anything else came in by accident.
KINDS = {".py", ".pyi", ".typed", ".sql", ".html", ".css", ".js", ".svg", ".md", ".toml", ".json", ".onnx", ""}
SAVING = """
import sys
import mycel

with mycel.open() as workspace:
    for text in sys.argv[1:]:
        workspace.as_operator().save(text)
print(mycel.__file__)
"""


def build(root: Path, folder: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=110, env=environment)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def files_of_the_package() -> set[str]:
    source = ROOT / "src"
    found = (path for path in (source / "mycel").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(source).as_posix() for path in found}


def test_the_wheel_holds_the_package_and_its_papers_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        inside = {name for name in names if name.startswith("mycel/")}
        info = f"{NAME}.dist-info/"
        papers = {name.removeprefix(info) for name in names if name.startswith(info)}
        metadata = archive.read(f"{info}METADATA").decode()
        bill = archive.read(f"{info}sboms/mycel-memory.cdx.json")
    assert len(names) == len(set(names)) == len(inside) + len(papers)
    assert inside == files_of_the_package()
    assert {Path(name).suffix for name in inside} <= KINDS
    assert not [name for name in inside if "test_" in name or "/tests/" in name or "__pycache__" in name]
    assert papers == {
        *("METADATA", "WHEEL", "RECORD", "entry_points.txt", "sboms/mycel-memory.cdx.json", "licenses/LICENSE"),
        *(f"licenses/src/{model}/NOTICE" for model in (BUILTIN, JUDGE)),
    }
    assert bill == (ROOT / "requirements/mycel-memory.cdx.json").read_bytes()
    assert "Name: mycel-memory\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata


def test_the_sdist_builds_the_same_wheel_elsewhere(wheel: Path, tmp_path: Path) -> None:
    sdist = build(ROOT, tmp_path / "sdist", "sdist")
    assert sdist.name == f"{NAME}.tar.gz"
    assert sdist.stat().st_size < MOST_BYTES
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
        archive.extractall(tmp_path / "elsewhere", filter="data")
    assert {f"src/{name}" for name in files_of_the_package()} <= names
    assert {name.partition("/")[0] for name in names} == {
        *("src", "requirements", "CHANGELOG.md", "LICENSE", "README.md", "PKG-INFO", "pyproject.toml", ".gitignore")
    }
    # Other modes and another time than those of the files that the first wheel was made from.
    (root,) = (tmp_path / "elsewhere").iterdir()
    for path in root.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (1_000_000_000, 1_000_000_000))
    again = build(root, tmp_path / "wheel", "wheel")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


@pytest.mark.proof
def test_a_release_is_built_twice_and_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.release", "build", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{NAME}-py3-none-any.whl",
        f"{NAME}.tar.gz",
    ]


@pytest.mark.proof
@pytest.mark.skipif(os.name != "posix", reason="the paths of an environment differ there")
def test_uv_installs_the_wheel_as_a_tool_with_packages_of_the_index_alone(wheel: Path, tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    # What leads to the index on this machine, such as a proxy and its certificate, is in the environment.
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MYCEL_", "XDG_", "UV_TOOL"))}
    here = {**outside, "HOME": str(tmp_path), "MYCEL_DATA": str(tmp_path / "data"), "MYCEL_DAEMON": "off"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=here, cwd=tmp_path, capture_output=True, text=True, check=False)

    installed = run(uv, "tool", "install", "--python", sys.executable, str(wheel))
    if installed.returncode and "Failed to fetch" in installed.stderr:
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    mycel = str(tmp_path / ".local/bin/mycel")
    for text in MEMORIES:
        assert run(mycel, "save", text).returncode == 0
    assert MEMORIES[1] in run(mycel, "search", "the lift is broken", "--limit", "1").stdout
    lacking = run(mycel, "mount", "notes")
    assert "uv tool install 'mycel-memory[mount]'" in lacking.stderr
    assert run(uv, "tool", "run", "--from", str(wheel), "mycel", "--version").stdout == f"mycel {__version__}\n"


def test_the_model_and_its_papers_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in ("model.onnx", "tokenizer.json", "card.json", "SHA256SUMS", "README.md", "NOTICE"):
            source = ROOT / "src" / BUILTIN / name
            assert archive.read(f"{BUILTIN}/{name}") == source.read_bytes(), name
        for name in ("judge.onnx", "card.json", "README.md", "NOTICE"):
            assert archive.read(f"{JUDGE}/{name}") == (ROOT / "src" / JUDGE / name).read_bytes(), name
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    assert "License-File: LICENSE\n" in metadata
    assert f"License-File: src/{BUILTIN}/NOTICE\n" in metadata
    assert any(name.endswith(f".dist-info/licenses/src/{BUILTIN}/NOTICE") for name in names)
    assert wheel.stat().st_size < MOST_BYTES


@pytest.mark.skipif(os.name != "posix", reason="the paths of an environment differ there")
def test_an_installed_wheel_finds_by_meaning_without_a_network(wheel: Path, tmp_path: Path) -> None:
    """The packages Mycel depends on are those of the environment that runs the tests; Mycel itself is the wheel."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed beside this Python")
    venv = tmp_path / "venv"
    here = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    install = [str(uv), "pip", "install", "--offline", "--no-deps", "--no-cache", "--python", str(venv / "bin/python")]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, timeout=60, env=here)
    (packages,) = venv.glob("lib/python*/site-packages")
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(paths)))
    isolated = without_network()
    # Without a network there is no way to a service on the same machine either.
    variables = {**here, "MYCEL_DATA": str(tmp_path / "data"), "MYCEL_DAEMON": "off"}

    def run(*command: str) -> str:
        done = subprocess.run(
            [*isolated, str(venv / "bin" / command[0]), *command[1:]],
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run("python", "-c", SAVING, *MEMORIES) == str(packages / "mycel" / "__init__.py")
    assert MEMORIES[1] in run("mycel", "search", "the lift is broken", "--limit", "1")


def without_network() -> list[str]:
    """A namespace of its own, where the system lets us make one; elsewhere nobody keeps a process from the network."""
    command = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None:
        return []
    return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else []
