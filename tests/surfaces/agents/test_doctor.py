"""`mycel doctor` beside a real service: one that is away, hangs, or takes the agent for somebody else."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mycel.services.embeddings import LITTLE
from mycel.surfaces.agents.checks import OK, WARNING, check_index
from mycel.testing.embedder import WordEmbedder
from tests.service_process import Service, connected, environment, service
from tests.squad import open_squad

MYCEL = str(Path(sys.executable).with_name("mycel"))
# A doctor is asked while a person waits; on a busy machine it takes some of them to start.
FEW_SECONDS = 30.0
REVOKED = "mycel_revoked"


class Clinic(NamedTuple):
    home: Path
    running: Service

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        whole = environment(HOME=str(self.home), MYCEL_DATA=str(self.running.data), **variables)
        return subprocess.run([MYCEL, *words], env=whole, cwd=self.home, capture_output=True, text=True, timeout=60)

    def checks(self, **variables: str) -> dict[str, dict[str, str]]:
        told = self.run("doctor", "--json", **variables)
        return {one["name"]: one for one in json.loads(told.stdout)["checks"]}

    def token(self, member: str) -> str:
        with connected(self.running) as workspace:
            return workspace.issue_token(member)

    def entry(self, **members: Any) -> None:
        """In the settings of Claude Code."""
        path = self.home / ".claude.json"
        found = json.loads(path.read_text())
        found["mcpServers"]["mycel"] = members
        path.write_text(json.dumps(found))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "home").mkdir()
    with service(folder / "data") as running:
        with connected(running) as workspace:
            workspace.add_team("engineering")
            workspace.add_member("swe-1", team="engineering")
        found = Clinic(folder / "home", running)
        told = found.run("install", "claude-code", "--yes", "--team", "engineering")
        assert told.returncode == 0, told.stderr
        yield found


@pytest.fixture
def clinic(opened: Clinic) -> Iterator[Clinic]:
    """As it was installed."""
    files = {name: (opened.home / name).read_bytes() for name in (".claude.json", ".claude/settings.json")}
    yield opened
    for name, content in files.items():
        (opened.home / name).write_bytes(content)


def test_all_is_well_and_the_room_is_named(clinic: Clinic) -> None:
    found = clinic.checks(MYCEL_HOOK_SECONDS="5")["claude-code"]
    assert "acts as claude-code of engineering, a hook takes" in found["text"]
    assert found["text"].endswith("6 tools")


def test_a_token_that_makes_somebody_else_act_is_told(clinic: Clinic) -> None:
    found = clinic.checks(MYCEL_TOKEN=clinic.token("swe-1"))["claude-code"]
    assert found["state"] == "warning"
    assert found["text"] == "acts as swe-1 by MYCEL_TOKEN, and was set up as claude-code"
    assert "mycel token issue claude-code" in found["advice"]


def test_a_token_of_its_own_is_well(clinic: Clinic) -> None:
    assert "acts as claude-code" in clinic.checks(MYCEL_TOKEN=clinic.token("claude-code"))["claude-code"]["text"]


@pytest.mark.parametrize("place", ["environment", "entry"])
def test_a_token_that_is_worth_nothing_is_told(clinic: Clinic, place: str) -> None:
    if place == "entry":
        line = {"command": MYCEL, "args": ["mcp", "--data", str(clinic.running.data)]}
        clinic.entry(**line, env={"MYCEL_AGENT": "claude-code", "MYCEL_TOKEN": REVOKED})
    found = clinic.checks(**({"MYCEL_TOKEN": REVOKED} if place == "environment" else {}))["claude-code"]
    assert found["state"] == "problem"
    assert "unknown, expired or revoked" in found["text"]
    assert "mycel token issue claude-code" in found["advice"]
    assert REVOKED not in json.dumps(found)


def test_a_token_in_the_entry_that_makes_somebody_else_act_is_told(clinic: Clinic) -> None:
    line = {"command": MYCEL, "args": ["mcp", "--data", str(clinic.running.data)]}
    clinic.entry(**line, env={"MYCEL_TOKEN": clinic.token("swe-1")})
    found = clinic.checks()["claude-code"]
    assert (found["state"], found["text"].partition(",")[0]) == ("warning", "acts as swe-1 by the token in its entry")


def over_http(url: str, token: str) -> dict[str, Any]:
    return {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {token}"}}


def test_an_entry_over_http_is_asked_as_the_agent_would(clinic: Clinic) -> None:
    clinic.entry(**over_http(clinic.running.url, clinic.token("claude-code")))
    found = clinic.checks()["claude-code"]
    assert f"tools at {clinic.running.url}/mcp" in found["text"]
    assert "acts as claude-code of engineering" in found["text"]
    clinic.entry(**over_http(clinic.running.url, clinic.token("swe-1")))
    assert "acts as swe-1 by the token in its entry" in clinic.checks()["claude-code"]["text"]
    clinic.entry(**over_http(clinic.running.url, REVOKED))
    assert clinic.checks()["claude-code"]["state"] == "problem"
    clinic.entry(**over_http(clinic.running.url, "${MYCEL_TOKEN}"))
    assert "wants MYCEL_TOKEN, which is not set here" in clinic.checks()["claude-code"]["text"]


@pytest.fixture
def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def silent_port() -> Iterator[str]:
    """Takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_an_entry_over_http_that_leads_nowhere_is_told(clinic: Clinic, closed_port: str, silent_port: str) -> None:
    clinic.entry(**over_http(closed_port, "x"))
    found = clinic.checks()["claude-code"]
    assert found["state"] == "problem"
    assert f"nothing answers at {closed_port}" in found["text"]
    assert "mycel install claude-code" in found["advice"]
    clinic.entry(**over_http(silent_port, "x"))
    assert f"{silent_port} takes connections and does not answer" in clinic.checks()["claude-code"]["text"]


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_a_dead_address_is_told_in_a_few_seconds(clinic: Clinic, closed_port: str, silent_port: str, kind: str) -> None:
    url = closed_port if kind == "closed" else silent_port
    began = time.monotonic()
    found = clinic.checks(MYCEL_URL=url, MYCEL_TOKEN="x")
    assert time.monotonic() - began < FEW_SECONDS
    assert found["service"]["state"] == "problem"
    assert url in found["service"]["text"]
    assert "MYCEL_URL" in found["service"]["advice"]
    assert "not tried, since the service does not answer" in found["claude-code"]["text"]


def test_a_service_that_hangs_is_told_in_a_few_seconds(clinic: Clinic) -> None:
    os.kill(clinic.running.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        told = clinic.run("doctor")
        assert time.monotonic() - began < FEW_SECONDS
    finally:
        os.kill(clinic.running.process.pid, signal.SIGCONT)
    assert told.returncode == 1
    assert "takes connections and does not answer" in told.stdout
    assert f"end process {clinic.running.process.pid}" in told.stdout


def test_it_tells_of_a_language_model_that_is_a_command(opened: Clinic) -> None:
    assert "language model" not in opened.checks()
    found = opened.checks(MYCEL_LLM="command", MYCEL_LLM_COMMAND=f"{sys.executable} -p", MYCEL_LLM_MODEL="m")
    assert found["language model"]["state"] == "ok"
    assert "answers as m; not asked now" in found["language model"]["text"]
    gone = opened.checks(MYCEL_LLM="command", MYCEL_LLM_COMMAND="no-such-program -p")["language model"]
    assert (gone["state"], gone["text"]) == ("problem", "no-such-program cannot be found")
    for wrong in ({"MYCEL_LLM": "command"}, {"MYCEL_LLM": "openai"}, {"MYCEL_LLM": "horse"}):
        assert opened.checks(**wrong)["language model"]["state"] == "problem"


def test_it_tells_that_an_agent_is_asked_what_it_learned(opened: Clinic) -> None:
    assert opened.run("install", "claude-code", "--yes", "--team", "engineering", "--reflect").returncode == 0
    try:
        assert "is asked once in a session what it learned" in opened.checks()["claude-code"]["text"]
    finally:
        opened.run("install", "claude-code", "--yes", "--team", "engineering")
    assert "is asked once" not in opened.checks()["claude-code"]["text"]
    refused = opened.run("install", "gemini", "--yes", "--reflect")
    assert refused.returncode != 0
    assert "its hooks cannot have the agent go on" in refused.stderr


def test_what_the_next_search_finds_by_meaning_anyway_is_no_warning(tmp_path: Path) -> None:
    with open_squad(tmp_path, embedder=WordEmbedder()).workspace as workspace:
        operator = workspace.as_operator()
        operator.save("Deploys are on Tuesdays.")
        found = check_index(workspace, operator)
        assert (found.state, found.text.split(", ")[-1]) == (OK, "1 more with the next search")
        for number in range(LITTLE):
            operator.save(f"Port {8000 + number} is taken.")
        assert check_index(workspace, operator).state == WARNING
        workspace.embed_pending()
        found = check_index(workspace, operator)
        assert (found.state, found.text.split(" (")[0]) == (OK, "executive: 9 found by words, 9 also by meaning")
