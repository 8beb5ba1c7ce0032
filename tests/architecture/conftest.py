"""What the architecture tests look at: the repository and the modules of the package."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def package(repository: Path) -> Path:
    return repository / "src" / "mycel"


@pytest.fixture(scope="session")
def modules(package: Path) -> list[Path]:
    found = sorted(package.rglob("*.py"))
    assert found, f"no modules under {package}: these tests would pass without looking at anything"
    return found
