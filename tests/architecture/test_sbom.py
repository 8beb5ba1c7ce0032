"""The bill of materials names every pinned package of a Mycel in use, and the built-in models, as CycloneDX 1.6."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.licenses import canonicalize_license_expression

ROOT = Path(__file__).resolve().parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT)
    from scripts import sbom
# What the schema allows for the members that are used here.
COMPONENT_TYPES = {"application", "library", "machine-learning-model", "file"}
MEMBERS = {
    *("type", "bom-ref", "name", "version", "description", "scope", "hashes", "licenses", "copyright", "purl"),
    *("pedigree", "components", "properties", "publisher"),
}
SERIAL = re.compile(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return json.loads(sbom.SBOM.read_text("utf-8"))


def libraries(bill: dict[str, Any], scope: str | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (one["name"], one["version"]): one
        for one in bill["components"]
        if one["type"] == "library" and scope in (None, one["scope"])
    }


def every_component(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ancestors = [one for part in parts for one in part.get("pedigree", {}).get("ancestors", ())]
    inner = [one for part in parts for one in part.get("components", ())]
    return [*parts, *ancestors, *(every_component(inner) if inner else [])]


def test_it_is_that_of_the_pins() -> None:
    assert sbom.SBOM.read_text("utf-8") == sbom.render(ROOT), "run: python -m scripts.sbom"


def test_it_has_the_form_of_cyclonedx(bill: dict[str, Any]) -> None:
    assert set(bill) == {
        "bomFormat",
        "specVersion",
        "serialNumber",
        "version",
        "metadata",
        "components",
        "dependencies",
    }
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert SERIAL.fullmatch(bill["serialNumber"])
    components = every_component([bill["metadata"]["component"], *bill["components"]])
    for one in components:
        assert set(one) <= MEMBERS, one["name"]
        assert one["type"] in COMPONENT_TYPES
        assert one["name"]
        assert one.get("scope", "required") in {"required", "optional"}
        for digest in one.get("hashes", ()):
            assert digest["alg"] == "SHA-256"
            assert re.fullmatch(r"[0-9a-f]{64}", digest["content"])
        for licence in one.get("licenses", ()):
            assert licence == {"expression": canonicalize_license_expression(licence["expression"])}
    references = [one["bom-ref"] for one in components if "bom-ref" in one]
    assert len(set(references)) == len(references)
    listed = [one["ref"] for one in bill["dependencies"]]
    assert len(set(listed)) == len(listed)
    assert {*listed, *(needed for one in bill["dependencies"] for needed in one.get("dependsOn", ()))} <= {*references}


def test_every_package_that_run_time_needs_is_in_it_with_version_licence_and_hashes(bill: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    build = {sbom.normal_name(one) for one in project["dependency-groups"]["build"]}
    lines = (ROOT / "requirements/run.txt").read_text("utf-8")
    blocks = [lines[a:b] for a, b in pairwise([*(m.start() for m in re.finditer(r"(?m)^[a-z]", lines)), len(lines)])]
    required = libraries(bill, "required")
    left_out: dict[str, str] = {}
    for block in blocks:
        name, version = re.match(r"([\w.-]+)==([^\s;]+)", block).groups()
        if (name, version) not in required:
            left_out[name] = block
            continue
        hashes = re.findall(r"--hash=sha256:(\w+)", block)
        assert [one["content"] for one in required[name, version]["hashes"]] == hashes != []
        assert required[name, version]["licenses"]
        assert required[name, version]["purl"] == f"pkg:pypi/{name}@{version}"
    # Only what building needs is left out: neither Mycel nor anything that is in the bill asks for it.
    assert not set(left_out) & {sbom.normal_name(one) for one in project["project"]["dependencies"]}
    for name, block in left_out.items():
        assert name in build or set(re.findall(r"(?m)^    # +(?:via +)?(?!via$)([\w.-]+)$", block)) <= set(left_out)


def test_the_extras_are_in_it_as_optional(bill: dict[str, Any]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    names = {name for name, _ in libraries(bill)}
    for extra in set(extras) - {"dev"}:
        assert {sbom.normal_name(one) for one in extras[extra]} <= names, extra
    assert {name for name, _ in libraries(bill, "optional")}.isdisjoint({"pytest", "ruff", "hatchling", "playwright"})


def test_the_models_are_in_it_with_licence_origin_and_checksums(bill: dict[str, Any]) -> None:
    models = {one["name"]: one for one in bill["components"] if one["type"] == "machine-learning-model"}
    cards = (ROOT / "src/mycel/providers").glob("*/builtin/card.json")
    folders = {json.loads(card.read_text("utf-8"))["name"]: card.parent for card in cards}
    assert set(models) == set(folders)
    for name, folder in folders.items():
        assert models[name]["licenses"] == [{"expression": "Apache-2.0"}]
        assert "Licensed under the Apache License, Version 2.0" in (folder / "NOTICE").read_text("utf-8")
        (ancestor,) = models[name]["pedigree"]["ancestors"]
        assert ancestor["name"] in (folder / "NOTICE").read_text("utf-8")
        shipped = {one["name"]: one["hashes"][0]["content"] for one in models[name]["components"]}
        weights = {path for path in folder.iterdir() if path.suffix in {".onnx", ".json"}}
        assert shipped == {
            path.relative_to(ROOT / "src").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in weights
        }


def test_a_package_without_a_licence_is_named(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/licences.toml").write_text('known = "MIT"\n')
    known, unknown = sbom.Pin("known", "1", None), sbom.Pin("no-such-package", "1", None)
    assert sbom.read_licences(tmp_path, [known]) == {"known": "MIT"}
    with pytest.raises(SystemExit, match=r"requirements/licences\.toml: no-such-package"):
        sbom.read_licences(tmp_path, [known, unknown])
