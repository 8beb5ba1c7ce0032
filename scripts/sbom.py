"""Write the bill of materials that the wheel carries, from the pins and the built-in models: `python -m scripts.sbom`.

It is CycloneDX 1.6 in JSON. Nothing in it depends on when or where it is made, so a test can compare it with the pins.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

ROOT = Path(__file__).resolve().parents[1]
SBOM = ROOT / "requirements" / "mycel-memory.cdx.json"
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\]+))?")
MODELS = {
    "src/mycel/providers/embeddings/builtin": ("model.onnx", "tokenizer.json", "card.json"),
    "src/mycel/providers/judge/builtin": ("judge.onnx", "card.json"),
}
TEACHER = {"type": "machine-learning-model", "name": "snowflake-arctic-embed-s", "publisher": "Snowflake Inc."}


@dataclass
class Pin:
    """One package of a lock: what asks for it, under which marker, and the hashes of its files."""

    name: str
    version: str
    marker: str | None
    hashes: list[str] = field(default_factory=list)
    via: list[str] = field(default_factory=list)

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def main() -> None:
    SBOM.write_text(render(ROOT), encoding="utf-8")


def render(root: Path) -> str:
    """Return the text of the file for a copy of the project; the serial number follows from what the file says."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    required, optional = run_time_pins(root, project)
    pins = sorted([*required, *optional], key=lambda pin: (pin.name, pin.version))
    licences = read_licences(root, pins)
    names = {pin.name for pin in required}
    extras = names_in_extras(project)
    direct = [pin for pin in pins if asks_directly(pin) and (pin.name in names or pin.name in extras)]
    models = [describe_model(root, folder, files) for folder, files in MODELS.items()]
    bill: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "description": project["description"],
                "licenses": [{"expression": project["license"]}],
                "purl": own,
            },
        },
        "components": [
            *models,
            *(describe(pin, licences[pin.name], "required" if pin in required else "optional") for pin in pins),
        ],
        "dependencies": [
            {"ref": own, "dependsOn": [*(model["bom-ref"] for model in models), *(pin.purl for pin in direct)]},
            *({"ref": model["bom-ref"]} for model in models),
            *({"ref": pin.purl, "dependsOn": [one.purl for one in pins if pin.name in one.via]} for pin in pins),
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
    return json.dumps({"serialNumber": f"urn:uuid:{serial}", **bill}, indent=1, sort_keys=True) + "\n"


def read_lock(root: Path, name: str) -> list[Pin]:
    pins: list[Pin] = []
    for line in (root / "requirements" / name).read_text("utf-8").splitlines():
        if found := PIN.match(line):
            pins.append(Pin(found["name"], found["version"], (found["marker"] or "").strip() or None))
        elif "--hash=sha256:" in line:
            pins[-1].hashes.append(line.partition("sha256:")[2].rstrip(" \\"))
        elif pins and line.startswith("    #") and (asker := line.strip(" #").removeprefix("via").strip()):
            pins[-1].via.append(asker)
    return pins


def run_time_pins(root: Path, project: dict[str, Any]) -> tuple[list[Pin], list[Pin]]:
    """Return what every Mycel needs, and what the extras bring; the tools that build it are in neither."""
    base = read_lock(root, "run.txt")
    required = reachable(base, {pin.name for pin in base if asks_directly(pin)})
    every = read_lock(root, "constraints.txt")
    known = {(pin.name, pin.version) for pin in required}
    return required, [pin for pin in reachable(every, names_in_extras(project)) if (pin.name, pin.version) not in known]


def names_in_extras(project: dict[str, Any]) -> set[str]:
    """Return the packages that extras name; `dev` adds nothing to a Mycel in use."""
    extras = project["optional-dependencies"].items()
    return {normal_name(wanted) for extra, packages in extras if extra != "dev" for wanted in packages}


def asks_directly(pin: Pin) -> bool:
    return any(asker.endswith("(pyproject.toml)") for asker in pin.via)


def reachable(pins: Sequence[Pin], names: set[str]) -> list[Pin]:
    """Return the pins with these names, and all that they ask for."""
    found = set(names)
    while more := {pin.name for pin in pins if found & set(pin.via)} - found:
        found |= more
    return [pin for pin in pins if pin.name in found]


def normal_name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def read_licences(root: Path, pins: Iterable[Pin]) -> dict[str, str]:
    """Return the licence of each package as an SPDX expression, or exit with the names of those that have none."""
    table: dict[str, str] = tomllib.loads((root / "requirements" / "licences.toml").read_text("utf-8"))
    found = {pin.name: table.get(pin.name) or licence_in_metadata(pin.name) for pin in pins}
    if unknown := sorted(name for name, licence in found.items() if licence is None):
        raise SystemExit(f"name the licences of these packages in requirements/licences.toml: {', '.join(unknown)}")
    return {name: str(canonicalize_license_expression(licence)) for name, licence in found.items() if licence}


def licence_in_metadata(name: str) -> str | None:
    try:
        card = metadata(name)
        return canonicalize_license_expression(card.get("License-Expression") or card.get("License") or "")
    except (PackageNotFoundError, InvalidLicenseExpression):
        return None


def describe(pin: Pin, licence: str, scope: str) -> dict[str, Any]:
    """Return the component of a pinned package; each hash is that of one of its files in the index."""
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "scope": scope,
        "licenses": [{"expression": licence}],
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in pin.hashes],
        "purl": pin.purl,
    }
    if pin.marker:
        component["properties"] = [{"name": "mycel:environment-marker", "value": pin.marker}]
    return component


def describe_model(root: Path, folder: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the component of a built-in model: its licence, what it began as, and the checksum of every file.

    The number at the end of a model's name is its version; other weights get another name.
    """
    card = json.loads((root / folder / "card.json").read_text("utf-8"))
    shipped = [
        {
            "type": "file",
            "bom-ref": f"{card['name']}/{name}",
            "name": f"{folder.removeprefix('src/')}/{name}",
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256((root / folder / name).read_bytes()).hexdigest()}],
        }
        for name in files
    ]
    return {
        "type": "machine-learning-model",
        "bom-ref": card["name"],
        "name": card["name"],
        "version": card["name"].rpartition("-")[2],
        "scope": "required",
        "licenses": [{"expression": "Apache-2.0"}],
        "copyright": "2026 The Mycel authors",
        "hashes": shipped[0]["hashes"],
        "pedigree": {"ancestors": [{**TEACHER, "licenses": [{"expression": "Apache-2.0"}]}]},
        "components": shipped,
    }


if __name__ == "__main__":
    main()
