"""A service on a throw-away workspace, and requests to it made up from its own description."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from mycel.app import open_workspace
from mycel.settings import Settings
from mycel.wire.answers import Answers
from mycel.wire.naming import camel_definitions
from mycel.wire.operations import OPERATIONS
from tests.serving import served

TEAM = "engineering"
# No schema says what an archive is: what is made up is none, and rightly refused.
UNDESCRIBABLE = ["/api/import"]
EXCLUDED = """[[operations]]
include-path = "{}"
[operations.checks]
positive_data_acceptance.enabled = false
"""
UNHURRIED = Settings(data=Path(), requests_per_second=1e6)
# Who asks: the operator, an agent, a person and a lead.
MEMBERS: Mapping[str, Mapping[str, str]] = {
    "swe-1": {"role": "agent"},
    "person-1": {"kind": "human"},
    "eng-director": {"role": "lead"},
}


@dataclass(frozen=True)
class Service:
    url: str
    tokens: Mapping[str, str]


@contextmanager
def throw_away_service(data: Path) -> Iterator[Service]:
    with open_workspace(data) as workspace:
        workspace.add_team(TEAM)
        for id, fields in MEMBERS.items():
            workspace.add_member(id, team=TEAM, **fields)
        tokens = {id: workspace.issue_token(id) for id in ("operator", *MEMBERS)}
        with served(workspace, settings=UNHURRIED) as url:
            yield Service(url, tokens)


def closed_answers(document: dict[str, Any]) -> dict[str, Any]:
    """The same description, for a service that says nothing beside it."""
    answers = Answers()
    for operation in OPERATIONS:
        answers.of(operation)
    schemas = dict(document["components"]["schemas"])
    for name in {*answers.definitions, *camel_definitions(answers.definitions)} & schemas.keys():
        if "properties" in schemas[name]:
            schemas[name] = {**schemas[name], "additionalProperties": False}
    return {**document, "components": {**document["components"], "schemas": schemas}}


def prove(
    schema: Any, service: Service, route: tuple[str, str], *, token: str, examples: int, forbidden: bool = True
) -> None:
    """Every check, on requests that the description allows and on others that it forbids."""
    method, path = route
    operation = schema[path][method]
    headers = {"Authorization": f"Bearer {token}"}
    excluded = [positive_data_acceptance] if path in UNDESCRIBABLE else []
    # Where nothing is taken, nothing can be forbidden.
    takes = any(True for _ in operation.iter_parameters()) or len(operation.body) > 0
    for mode in GenerationMode if forbidden and takes else [GenerationMode.POSITIVE]:

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            case.call_and_validate(base_url=service.url, headers=headers, excluded_checks=excluded)

        ask()


def run_schemathesis(service: Service, *args: str, token: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As somebody would who knows nothing but the address and a token."""
    address = f"{service.url}/openapi.json"
    (folder / "schemathesis.toml").write_text("".join(map(EXCLUDED.format, UNDESCRIBABLE)))
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, "-H", f"Authorization: Bearer {token}", *args]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )


def routes_of(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(method.upper(), path) for path, item in document["paths"].items() for method in item]


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document)
