"""What is deployed names files, commands, settings and routes that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from mycel.settings import PREFIX, Settings, variable_of

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
# Named by the images of others, or by the composition itself.
OTHERS = {
    *("PGPASSWORD", "POSTGRES_DB", "POSTGRES_PASSWORD"),
    *("MYCEL_NODES", "MYCEL_OWNER_PASSWORD", "MYCEL_LOGIN_PASSWORD"),
}


@pytest.fixture(scope="module")
def composition() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def test_there_are_a_database_two_nodes_and_a_balancer(composition: dict[str, Any]) -> None:
    assert set(composition["services"]) == {"database", "tables", "node-1", "node-2", "balancer"}
    nodes = composition["services"]["balancer"]["environment"]["MYCEL_NODES"].split()
    assert [node.partition(":")[0] for node in nodes] == ["node-1", "node-2"]


def test_every_variable_is_a_setting_or_of_an_image(composition: dict[str, Any]) -> None:
    known = {variable_of(name) for name in Settings.__dataclass_fields__} | OTHERS
    for name, service in composition["services"].items():
        assert set(service.get("environment", {})) <= known, name
    named = set(re.findall(rf"\b{PREFIX}\w+", (DEPLOY / "Containerfile").read_text("utf-8")))
    assert named <= known


def test_every_file_that_is_mounted_or_copied_is_there(composition: dict[str, Any]) -> None:
    for service in composition["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in composition["volumes"], volume
    for line in (DEPLOY / "Containerfile").read_text("utf-8").splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            assert all((ROOT / name).exists() for name in line.split()[1:-1]), line


def test_everything_that_the_build_asks_for_is_copied() -> None:
    """A node is built from the package's sources; a file that the build names and that is not copied would end it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    lines = (DEPLOY / "Containerfile").read_text("utf-8").splitlines()
    copied = {
        name for line in lines if line.startswith("COPY ") and "--from" not in line for name in line.split()[1:-1]
    }
    named = {"pyproject.toml", project["project"]["readme"], "LICENSE", *wheel["packages"], *wheel["sbom-files"]}
    assert {name for name in named if not copied & {name, name.partition("/")[0]}} == set()


def test_nodes_are_asked_whether_they_are_ready() -> None:
    ready = "/health/ready"
    assert ready in (ROOT / "docs/reference/http.md").read_text("utf-8")
    assert f"health_uri {ready}\n" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"7077{ready}'" in (DEPLOY / "Containerfile").read_text("utf-8")
