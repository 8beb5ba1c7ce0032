"""What is installed from the wheel: the built-in model with its papers, and nothing has to be fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.e2e.test_first_use import MEMORIES

ROOT = Path(__file__).resolve().parents[2]
BUILTIN = "mycel/providers/embeddings/builtin"
JUDGE = "mycel/providers/judge/builtin"
# A wheel that grows beyond this has something in it that was not meant to be.
MOST_BYTES = 42_000_000
SAVING = """
import sys
import mycel

with mycel.open() as workspace:
    for text in sys.argv[1:]:
        workspace.as_operator().save(text)
print(mycel.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=110)
    (built,) = folder.glob("*.whl")
    return built


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
    assert not [name for name in names if not name.startswith("mycel")]
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
